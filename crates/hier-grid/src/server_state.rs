//! State of a server during a run: the jobs that it can run now, and its phase.

use crate::world::{Bag, Server, World};
use sim_core::{JobId, SiteId, Time};

#[derive(Clone, Debug)]
pub(crate) struct ServerState {
    pub(crate) site: SiteId,
    pub(crate) cpus: u32,
    /// The operating systems that it offers at present, as bits.
    pub(crate) systems: u32,
    /// The classes of jobs that it can run at present.
    pub(crate) bag: Bag,
    pub(crate) phase: Phase,
    /// The job that it has offered itself for, fetches, runs or sends the output of.
    pub(crate) job: Option<JobId>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Idle,
    /// It has offered itself to a work station at this instant.
    Offering(Time),
    /// The input of its job is being transferred.
    Fetching,
    Running,
    /// It has run its job and transfers the output. Under R12's first answer it is free for the next job meanwhile.
    Sending,
}

impl ServerState {
    pub(crate) fn new(server: &Server, world: &World) -> Self {
        Self {
            site: server.site,
            cpus: server.cpus,
            systems: server.systems,
            bag: world.bag_of(server.cpus, server.systems),
            phase: Phase::Idle,
            job: None,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }
}
