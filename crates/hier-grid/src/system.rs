//! System that schedules a grid: trees or peers, behind their few common operations.

use crate::event::Event;
use crate::message::{Address, Payload};
use crate::peers::Peers;
use crate::run::Run;
use crate::trees::Trees;
use crate::world::{ServerId, StationId};
use sim_core::JobId;

/// Scheduling system of the grid, with its state. [`config::System`](crate::config::System) selects it.
#[derive(Clone, Debug)]
pub(crate) enum SystemState {
    /// One grid tree, or the several of a hybrid.
    Trees(Box<Trees>),
    /// Every server is a peer.
    Peers(Box<Peers>),
}

impl SystemState {
    pub(crate) fn open(&mut self, run: &mut impl Run) {
        if let Self::Trees(trees) = self {
            trees.open(run);
        }
    }

    /// Sends a work station's request to its entry: the root of its tree, or its peer.
    pub(crate) fn request(&mut self, station: StationId, job: JobId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.request(station, job, run),
            Self::Peers(peers) => peers.request(station, job, run),
        }
    }

    /// Delivers a message that is no part of a job's execution to a scheduler or a peer.
    pub(crate) fn receive(&mut self, from: Address, to: Address, payload: Payload, run: &mut impl Run) {
        match (self, to) {
            (Self::Trees(trees), Address::Scheduler(to)) => trees.receive(from, to, payload, run),
            (Self::Peers(peers), Address::Server(to)) => peers.receive(from, to, payload, run),
            (_, to) => panic!("{from:?} sent {payload:?} to {to:?}"),
        }
    }

    /// Handles a server that has become idle: it gets its next job, or sends a request.
    pub(crate) fn server_free(&mut self, server: ServerId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.refill(server, run),
            Self::Peers(peers) => peers.server_free(server, run),
        }
    }

    /// Handles the start of a job whose input has arrived.
    pub(crate) fn server_runs(&mut self, server: ServerId, job: JobId, run: &mut impl Run) {
        // An LGS counts a job as started when it gives it to a server, before the input arrives.
        if let Self::Peers(peers) = self {
            peers.runs(server, job, run);
        }
    }

    /// Handles a change of the operating systems that a server offers.
    pub(crate) fn resources_changed(&mut self, server: ServerId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.resources_changed(run.servers[server.index()].site, run),
            Self::Peers(peers) => peers.resources_changed(server, run),
        }
    }

    /// Handles an event that only trees, or only peers, post.
    pub(crate) fn handle(&mut self, event: &Event, run: &mut impl Run) {
        match (self, event) {
            (Self::Trees(trees), Event::Discovered(tree)) => trees.discovered(*tree, run),
            (Self::Peers(peers), Event::Resubmit) => peers.resubmit(run),
            (_, event) => panic!("{event:?} under the other system"),
        }
    }
}
