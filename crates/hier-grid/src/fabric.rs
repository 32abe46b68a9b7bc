//! State common to trees and peers: the network with its messages and data transfers, the servers with their phases, and the jobs.
//!
//! A [`Fabric`] holds the true state and decides nothing. The knowledge of schedulers and peers is in
//! [`Trees`](crate::trees::Trees) and [`Peers`](crate::peers::Peers). [`Run`](crate::fabric::run::Run) carries decisions out.

pub(crate) mod jobs;
pub(crate) mod run;

use crate::config::{Config, PeerWaitEnds, System};
use crate::fabric::jobs::Jobs;
use crate::message::{Address, GridCounts, Message, MessageObserver, Payload};
use crate::world::network::{Network, Route};
use crate::world::{Bag, Server, ServerId, World};
use sim_core::{EventKey, JobId, SiteId, Span, Time};

#[derive(Clone, Debug)]
pub(crate) struct Fabric<W> {
    pub(crate) config: Config,
    pub(crate) world: World,
    pub(crate) network: Network,
    pub(crate) transfers: slab::Slab<Transfer>,
    pub(crate) servers: Vec<ServerState>,
    pub(crate) jobs: Jobs,
    /// Site of each scheduler, by number.
    seats: Vec<SiteId>,
    pub(crate) counts: GridCounts,
    pub(crate) observer: W,
    /// True if messages with a known outcome are counted instead of simulated.
    pub(crate) shortcuts: bool,
    /// R3: true if the wait of a job of the P2P system ends when a peer accepts it.
    pub(crate) waits_until_accepted: bool,
}

impl<W: MessageObserver> Fabric<W> {
    pub(crate) fn new(config: Config, world: World, network: Network, seats: Vec<SiteId>, observer: W) -> Self {
        Self {
            servers: world.servers.iter().map(|server| ServerState::new(server, &world)).collect(),
            waits_until_accepted: config.system == System::P2p
                && config.readings.peer_wait_ends == PeerWaitEnds::Acceptance,
            config,
            world,
            network,
            transfers: slab::Slab::new(),
            jobs: Jobs::default(),
            seats,
            counts: GridCounts::default(),
            observer,
            shortcuts: true,
        }
    }

    fn site_of(&self, address: Address) -> SiteId {
        match address {
            Address::Station(station) => self.world.site_of(station),
            Address::Scheduler(scheduler) => self.seats[scheduler.index()],
            Address::Server(server) => self.servers[server.index()].site,
        }
    }

    pub(crate) fn latency(&self, from: Address, to: Address) -> Span {
        self.network.latency(self.world.distance(self.site_of(from), self.site_of(to)))
    }

    /// Counts a message and shows it to the observer, without sending it.
    pub(crate) fn record(&mut self, sent: Time, latency: Span, from: Address, to: Address, payload: &Payload) {
        self.counts.count(payload.kind(), 1);
        if W::ENABLED {
            self.observer.observe(Message { sent, arrives: sent + latency, from, to, payload: payload.clone() });
        }
    }

    /// Returns true if the observer looks at messages: messages that are only counted must then be built too.
    pub(crate) const fn is_observed(&self) -> bool {
        W::ENABLED
    }

    /// Share of a server's CPUs that its owners leave to the grid.
    pub(crate) fn grid_share(&self) -> f64 {
        1.0 - self.config.grid.local_load
    }

    /// Checks that every server is idle, every link unused and no message on its way.
    pub(crate) fn is_at_rest(&self) -> Result<(), String> {
        let left = |what: &str| Err(format!("{what} at the end"));
        if !self.servers.iter().all(ServerState::is_idle) {
            return left("a server is busy");
        }
        if !self.network.is_idle() || !self.transfers.is_empty() {
            return left("a link is in use");
        }
        if self.counts.pushed != self.counts.received {
            return Err(format!("{} jobs pushed, {} received", self.counts.pushed, self.counts.received));
        }
        Ok(())
    }
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) route: Route,
    pub(crate) cargo: Cargo,
    /// Event of its end; it moves when rates are shared again.
    pub(crate) end: Option<EventKey>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) enum Cargo {
    /// The input of a job, which the server runs from its arrival on.
    Input(ServerId, JobId),
    /// The output of a job, which is complete with its arrival. Until then the server still belongs to the job if output keeps it busy (R12).
    Output(ServerId, JobId),
}

#[derive(Clone, Debug)]
pub(crate) struct ServerState {
    pub(crate) site: SiteId,
    pub(crate) cpus: u32,
    /// The operating systems that it offers at present, as bits.
    pub(crate) systems: u32,
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
    /// The input of its job is being transferred, or it runs the job.
    Serving,
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
