//! Data transfers between work stations and servers.

use crate::ids::ServerId;
use crate::world::Distance;
use sim_core::{EventKey, JobId, SiteId};

#[derive(Copy, Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) from: SiteId,
    pub(crate) to: SiteId,
    pub(crate) distance: Distance,
    pub(crate) cargo: Cargo,
    /// Event of its end; it moves when rates are shared again.
    pub(crate) end: Option<EventKey>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) enum Cargo {
    Input(ServerId),
    Output(ServerId, JobId),
}

/// Result of a transfer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The input of a job, which the server runs from now on.
    Input(ServerId, JobId),
    /// The output of a job, which is complete. The server still belongs to the job if output keeps it busy (R12).
    Output(ServerId, JobId),
}
