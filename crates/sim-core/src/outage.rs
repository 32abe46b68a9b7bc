//! Times at which a site is down.

use crate::id::SiteId;
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// Failure and repair of a site: it does not work in `[down, up)`.
///
/// A model takes outages as it takes jobs: in order of `down`, one at a time, from a log or a distribution. The model
/// knows the end of an outage; its policies do not. Outages are ordered by their beginning, then by their site.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Outage {
    /// Time of the failure. Jobs that end at this instant have ended.
    pub down: Time,
    /// Site that fails.
    pub site: SiteId,
    /// Time of the repair, not before `down`; [`Time::MAX`] if the site never works again.
    pub up: Time,
}
