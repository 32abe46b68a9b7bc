//! Times at which a place does not work.

use crate::id::SiteId;
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// A failure and its repair: the site does not work in `[down, up)`.
///
/// Outages are handed to a model as jobs are: in order of `down`, one at a time, from a log or a distribution. The model
/// knows when it will end; its policies do not. The order of outages is that of their beginnings, then that of their sites.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Outage {
    /// When it fails. Jobs that end at this instant have ended.
    pub down: Time,
    /// Which site.
    pub site: SiteId,
    /// From when on it works again, not before `down`; [`Time::MAX`] if it never does.
    pub up: Time,
}
