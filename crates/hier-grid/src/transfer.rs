//! Data transfers between work stations and servers.

use crate::ids::ServerId;
use crate::world::Distance;
use sim_core::{EventKey, JobId, SiteId};

/// A data transfer under way.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) from: SiteId,
    pub(crate) to: SiteId,
    pub(crate) distance: Distance,
    pub(crate) cargo: Cargo,
    /// The event of its end; rates that are shared anew move it.
    pub(crate) end: Option<EventKey>,
}

/// What a transfer carries.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Cargo {
    /// A job's input, to a server.
    Input(ServerId),
    /// A job's output, from a server.
    Output(ServerId, JobId),
}

/// What has come in with the end of a transfer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The input of a job, which the server runs from now on.
    Input(ServerId, JobId),
    /// The output of a job, which is complete. The server is still the job's where output keeps it busy (R12).
    Output(ServerId, JobId),
}
