//! The system that schedules a grid: trees or peers, behind the few questions that both answer.

use crate::ids::{ServerId, StationId};
use crate::message::{Address, Payload};
use crate::peers::Peers;
use crate::run::Run;
use crate::trees::Trees;
use sim_core::JobId;

/// What runs the grid, with all that it knows. [`config::System`](crate::config::System) says which.
#[derive(Clone, Debug)]
pub(crate) enum System {
    /// One grid tree, or the several of a hybrid.
    Trees(Box<Trees>),
    /// Every server is a peer.
    Peers(Box<Peers>),
}

impl System {
    pub(crate) fn open(&mut self, run: &mut impl Run) {
        if let Self::Trees(trees) = self {
            trees.open(run);
        }
    }

    /// A work station sends its request to its entry: the root of its tree, or its peer.
    pub(crate) fn request(&mut self, station: StationId, job: JobId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.request(station, job, run),
            Self::Peers(peers) => peers.request(station, job, run),
        }
    }

    /// A message arrives that is no part of a job's execution: at a scheduler or at a peer.
    pub(crate) fn receive(&mut self, from: Address, to: Address, payload: Payload, run: &mut impl Run) {
        match (self, to) {
            (Self::Trees(trees), Address::Scheduler(to)) => trees.receive(from, to, payload, run),
            (Self::Peers(peers), Address::Server(to)) => peers.receive(from, to, payload, run),
            (_, to) => panic!("{from:?} sent {payload:?} to {to:?}"),
        }
    }

    /// A server has become idle: it gets its next job, or asks for one.
    pub(crate) fn server_free(&mut self, server: ServerId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.refill(server, run),
            Self::Peers(peers) => peers.server_free(server, run),
        }
    }

    /// A server runs a job whose input has arrived.
    pub(crate) fn server_runs(&mut self, server: ServerId, job: JobId, run: &mut impl Run) {
        // An LGS takes a job for started when it gives it to a server: it need not know when the input has arrived.
        if let Self::Peers(peers) = self {
            peers.runs(server, job, run);
        }
    }

    /// A server offers other operating systems than before.
    pub(crate) fn resources_changed(&mut self, server: ServerId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.resources_changed(run.servers[server.index()].site, run),
            Self::Peers(peers) => peers.resources_changed(server, run),
        }
    }

    /// The trees, for what happens among them alone.
    ///
    /// # Panics
    ///
    /// Among peers: an event that only trees post was delivered.
    pub(crate) fn trees(&mut self) -> &mut Trees {
        match self {
            Self::Trees(trees) => trees,
            Self::Peers(_) => panic!("peers have no schedulers"),
        }
    }

    /// The peers, for what happens among them alone.
    ///
    /// # Panics
    ///
    /// In trees: an event that only peers post was delivered.
    pub(crate) fn peers(&mut self) -> &mut Peers {
        match self {
            Self::Peers(peers) => peers,
            Self::Trees(_) => panic!("servers of a grid tree are no peers"),
        }
    }
}
