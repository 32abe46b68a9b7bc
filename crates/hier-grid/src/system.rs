//! The system that schedules a grid: trees or peers, behind the few questions that both answer.

use crate::event::Event;
use crate::fabric::Fabric;
use crate::ids::{ServerId, StationId};
use crate::message::{Address, CompactPayload};
use crate::observer::MessageObserver;
use crate::peers::Peers;
use crate::trees::Trees;
use sim_core::{Context, JobId};

/// What runs the grid, with all that it knows. [`config::System`](crate::config::System) says which.
#[derive(Clone, Debug)]
pub(crate) enum System {
    /// One grid tree, or the several of a hybrid.
    Trees(Box<Trees>),
    /// Every server is a peer.
    Peers(Box<Peers>),
}

impl System {
    /// The system begins.
    pub(crate) fn open(&mut self, fabric: &mut Fabric<impl MessageObserver>, cx: &mut impl Context<Event>) {
        if let Self::Trees(trees) = self {
            trees.open(fabric, cx);
        }
    }

    /// A work station sends its request to its entry: the root of its tree, or its peer.
    pub(crate) fn request(
        &mut self,
        station: StationId,
        job: JobId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        match self {
            Self::Trees(trees) => trees.request(station, job, fabric, cx),
            Self::Peers(peers) => peers.request(station, job, fabric, cx),
        }
    }

    /// A message comes in that is no part of a job's execution: at a scheduler or at a peer.
    pub(crate) fn receive(
        &mut self,
        from: Address,
        to: Address,
        payload: CompactPayload,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        match (self, to) {
            (Self::Trees(trees), Address::Scheduler(to)) => trees.receive(from, to, payload, fabric, cx),
            (Self::Peers(peers), Address::Server(to)) => peers.receive(from, to, payload, fabric, cx),
            (_, to) => panic!("{from:?} sent {payload:?} to {to:?}"),
        }
    }

    /// A server has become idle: it gets its next job, or asks for one.
    pub(crate) fn server_free(
        &mut self,
        server: ServerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        match self {
            Self::Trees(trees) => trees.refill(server, fabric, cx),
            Self::Peers(peers) => peers.server_free(server, fabric, cx),
        }
    }

    /// A server runs a job whose input has come in.
    pub(crate) fn server_runs(
        &mut self,
        server: ServerId,
        job: JobId,
        fabric: &Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        // An LGS takes a job for started when it gives it to a server: it need not know when the input has come in.
        if let Self::Peers(peers) = self {
            peers.runs(server, job, fabric, cx);
        }
    }

    /// A server offers other operating systems than before.
    pub(crate) fn resources_changed(
        &mut self,
        server: ServerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        match self {
            Self::Trees(trees) => trees.resources_changed(fabric.servers[server.index()].site, fabric, cx),
            Self::Peers(peers) => peers.resources_changed(server, fabric, cx),
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
