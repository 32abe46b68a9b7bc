//! The grid as a model: its events, and what happens.

mod discovery;
mod execution;
mod failing;
mod fallback;
mod leaf;
mod peers;
mod requests;
mod selection;
pub mod view;

use crate::config::{Config, ConfigError, System};
use crate::desk::{Desk, Rules};
use crate::faults::Transport;
use crate::jobs::{Jobs, Stations, Submission};
use crate::message::{Address, Message, Witness};
use crate::network::Network;
use crate::overlay::Overlay;
use crate::post::{Body, Letter, Pools};
use crate::queue::Kind as JobKind;
use crate::tally::Tally;
use crate::tree::{Forest, SchedulerId};
use crate::world::{Bag, ServerId, StationId, World, narrow};
use execution::Flow;
use leaf::Leaf;
use peers::Peers;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use sim_core::{Context, EventKey, JobId, Model, Purpose, Rank, Ranked, SiteId, Span, Stream, Streams, Time};

/// Everything that can happen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message comes in.
    Deliver(Letter),
    /// A work station has thought long enough.
    Due(StationId),
    /// The next job of a log is submitted.
    Submit,
    /// A data transfer has ended.
    Transferred(u32),
    /// A server has run its job.
    Ran(ServerId),
    /// A server has waited in vain for an answer to its offer.
    Silence(ServerId),
    /// A server changes its operating system.
    Change(ServerId),
    /// A change that was known beforehand.
    Alter(ServerId, u32),
    /// The bags of all sites have come in, and nothing about them is new.
    Discovered(u32),
    /// A work station without an offer resubmits its request to its peer.
    Resubmit,
    /// With faults: a copy of a message comes in.
    Arrives(u32),
    /// With faults: an acknowledgement comes in.
    Acknowledged(u32),
    /// With faults: a message has not been acknowledged in time.
    SendAgain(u32),
    /// With faults: a scheduler crashes.
    Crash(SchedulerId),
    /// With faults: a scheduler is up again.
    Restart(SchedulerId),
}

impl Ranked for Event {
    fn rank(&self) -> Rank {
        match self {
            Self::Transferred(_) | Self::Ran(_) | Self::Silence(_) => Rank::RELEASE,
            Self::Change(_) | Self::Alter(..) | Self::Crash(_) | Self::Restart(_) => Rank::new(4),
            Self::Deliver(_)
            | Self::Due(_)
            | Self::Submit
            | Self::Discovered(_)
            | Self::Resubmit
            | Self::Arrives(_)
            | Self::Acknowledged(_)
            | Self::SendAgain(_) => Rank::ARRIVE,
        }
    }
}

/// A source of submissions from outside that has none.
pub type Nothing = std::iter::Empty<Submission>;

/// A grid of sites under one system, with a witness `W` of its messages and submissions `L` from outside.
#[derive(Clone, Debug)]
pub struct Grid<W = (), L = Nothing> {
    config: Config,
    rules: Rules,
    world: World,
    network: Network,
    forest: Forest,
    /// Of every scheduler with children, by its number; those of leaves are empty.
    desks: Vec<Desk>,
    /// Of every LGS, by its site.
    leaves: Vec<Leaf>,
    trees: Vec<Tree>,
    /// Roots as peers of each other.
    roots: Overlay,
    peers: Option<Peers>,
    machines: Vec<Machine>,
    jobs: Jobs,
    source: Source<L>,
    changes: Option<Changes>,
    /// Changes that are known beforehand.
    script: Vec<(Time, ServerId, u32)>,
    /// Whether every message is an event.
    literal: bool,
    /// Whether the work of a job from outside is spread over all CPUs of its server.
    divides: bool,
    flows: slab::Slab<Flow>,
    pools: Pools,
    /// Where messages may fail.
    transport: Option<Box<Transport>>,
    tally: Tally,
    /// CPUs of a server, in the mean: kept, since every job's record needs it.
    mean_cpus: f64,
    witness: W,
}

/// What the root of a tree knows beyond its desk.
#[derive(Clone, Debug, Default)]
struct Tree {
    /// Jobs that have not been through discovery, in order of arrival.
    raw: Vec<JobId>,
    /// Raw jobs that are being matched.
    batch: Vec<JobId>,
    discovering: bool,
    /// Whether discovery may find anything that the last one did not.
    news: bool,
    /// Whether matched jobs are to be matched again, though no raw ones have come.
    rematch: bool,
    /// Matched jobs that have not been told started. The books of the root may know fewer: a job that a scheduler below holds
    /// for one of its branches is missed by a cancel, and taken for started.
    unstarted: u32,
    /// Whether an RFJM waits for raw jobs.
    wanted: bool,
    /// Classes of all jobs that have been through discovery.
    known: Bag,
    /// Whether channels may be out of date: the next discovery goes through all schedulers message by message.
    stale: bool,
    round: u32,
}

/// A server.
#[derive(Clone, Debug)]
struct Machine {
    site: SiteId,
    cpus: u32,
    systems: u32,
    /// What it can run.
    bag: Bag,
    phase: Phase,
    job: Option<JobId>,
    /// Where messages may fail: the event of its patience's end.
    silence: Option<EventKey>,
}

/// What a server does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// It has offered itself to a work station at this instant.
    Offering(Time),
    Fetching,
    Running,
    /// R12: it transfers its output.
    Sending,
}

#[derive(Clone, Debug)]
enum Source<L> {
    Stations(Box<Stations>),
    Outside { submissions: L, next: Option<Submission> },
}

/// Experiment 4.
#[derive(Clone, Debug)]
struct Changes {
    means: Vec<f64>,
    systems: u32,
    draws: Vec<Stream>,
}

impl<W: Witness> Grid<W> {
    /// A grid whose work stations submit jobs as `config.experiment` says.
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn new(config: Config, streams: &Streams, witness: W) -> Result<Self, ConfigError> {
        let world = World::draw(&config, streams)?;
        Self::in_world(config, world, streams, witness)
    }

    /// The same in a given world; `config.grid` then only tells the local load.
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn in_world(config: Config, world: World, streams: &Streams, witness: W) -> Result<Self, ConfigError> {
        let stations = Stations::new(&config, &world, streams);
        Self::build(config, world, Source::Stations(Box::new(stations)), streams, witness)
    }
}

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// A grid that runs jobs from outside, in order of their numbers and submission times; `config.jobs` and
    /// `config.experiment.submission` have no part in it. A job that no server is wide enough for is rejected.
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn fed(
        config: Config,
        world: World,
        submissions: L,
        streams: &Streams,
        witness: W,
    ) -> Result<Self, ConfigError> {
        Self::build(config, world, Source::Outside { submissions, next: None }, streams, witness)
    }

    fn build(
        config: Config,
        world: World,
        source: Source<L>,
        streams: &Streams,
        witness: W,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let network = Network::new(&config.network, &config.readings, &world);
        let trees = match config.system {
            System::P2p => 0,
            System::Trees(trees) if trees > world.sites() => {
                return Err(ConfigError::Trees { trees, sites: world.sites().into() });
            }
            System::Trees(trees) => trees,
        };
        let forest = if trees == 0 { Forest::default() } else { Forest::plant(&world, trees, &network) };
        let classes = world.classes.len();
        let desk = |scheduler: &crate::tree::Scheduler| {
            if scheduler.is_leaf() { Desk::default() } else { Desk::new(scheduler.degree(), classes) }
        };
        let machine = |server: &crate::world::Server| Machine {
            site: server.site,
            cpus: server.cpus,
            systems: server.systems,
            bag: world.bag_of(server.cpus, server.systems),
            phase: Phase::Idle,
            job: None,
            silence: None,
        };
        let root_sites: Vec<SiteId> = forest.roots.iter().map(|root| forest.schedulers[root.index()].site()).collect();
        let servers = narrow(world.servers.len());
        let readings = &config.readings;
        Ok(Self {
            rules: Rules {
                algorithms: config.algorithms,
                share: readings.share,
                unassigned: readings.unassigned_order,
                branches: readings.branch_order,
                takes: readings.load_balance_takes,
            },
            desks: forest.schedulers.iter().map(desk).collect(),
            leaves: if trees == 0 { Vec::new() } else { vec![Leaf::new(classes); world.sites() as usize] },
            trees: vec![Tree::default(); trees as usize],
            roots: Overlay::new(&root_sites, crate::config::Neighbours::Geographic, (&world, &network), streams),
            peers: (trees == 0).then(|| Peers::new(&world, &network, readings, streams)),
            machines: world.servers.iter().map(machine).collect(),
            jobs: Jobs::default(),
            source,
            changes: config.experiment.changes.as_ref().map(|means| Changes {
                means: means.clone(),
                systems: world.systems,
                draws: (0..servers).map(|server| streams.stream(Purpose("changes of servers"), server)).collect(),
            }),
            script: Vec::new(),
            literal: false,
            divides: false,
            flows: slab::Slab::new(),
            pools: Pools::default(),
            transport: config
                .faults
                .as_ref()
                .map(|faults| Box::new(Transport::new(faults, forest.schedulers.len(), streams))),
            tally: Tally::default(),
            mean_cpus: world.mean_cpus(),
            witness,
            network,
            config,
            world,
            forest,
        })
    }

    /// Has a server offer other operating systems, as a set of bits, from the instant `at` on.
    #[must_use]
    pub fn with_change(mut self, at: Time, server: ServerId, systems: u32) -> Self {
        self.script.push((at, server, systems));
        self
    }

    /// Does without shortcuts: every discovery goes from scheduler to scheduler, and every resubmission among peers is tried.
    /// The same run, but for the order of what happens at the same nanosecond; slower.
    #[must_use]
    pub const fn literally(mut self) -> Self {
        self.literal = true;
        self
    }

    /// Spreads the work of jobs from outside, run time × processors, over all CPUs of the server, as the paper's jobs do. A
    /// wide server then takes less than the job's own run time. Without this, a job takes its run time on any server.
    #[must_use]
    pub const fn dividing_work(mut self) -> Self {
        self.divides = true;
        self
    }

    /// What has been counted so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The world that it runs in.
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// The witness of its messages.
    pub const fn witness(&self) -> &W {
        &self.witness
    }

    /// Gives up the grid for its witness.
    pub fn into_witness(self) -> W {
        self.witness
    }

    fn site_of(&self, address: Address) -> SiteId {
        match address {
            Address::Station(station) => self.world.site_of(station),
            Address::Scheduler(scheduler) => self.forest.schedulers[scheduler.index()].site(),
            Address::Server(server) => self.machines[server.index()].site,
        }
    }

    fn latency(&self, from: Address, to: Address) -> Span {
        self.network.latency(self.world.distance(self.site_of(from), self.site_of(to)))
    }

    /// Sends a message: it comes in after the latency between sender and receiver.
    fn send(&mut self, from: Address, to: Address, body: Body, cx: &mut impl Context<Event>) {
        let latency = self.latency(from, to);
        self.note(cx.now(), latency, from, to, body);
        self.dispatch(Letter { from, to, body }, latency, cx);
    }

    /// Counts a message, and shows it to the witness.
    fn note(&mut self, sent: Time, latency: Span, from: Address, to: Address, body: Body) {
        self.tally.count(body.kind());
        if W::LOOKS {
            let payload = body.payload(&self.pools);
            self.witness.see(Message { sent, arrives: sent + latency, from, to, payload });
        }
    }

    fn send_up(&mut self, scheduler: SchedulerId, body: Body, cx: &mut impl Context<Event>) {
        let parent = self.forest.schedulers[scheduler.index()].parent.expect("a root has no parent to tell");
        self.send(Address::Scheduler(scheduler), Address::Scheduler(parent), body, cx);
    }

    fn send_down(&mut self, scheduler: SchedulerId, slot: u32, body: Body, cx: &mut impl Context<Event>) {
        let child = SchedulerId(self.forest.schedulers[scheduler.index()].children.start + slot);
        self.send(Address::Scheduler(scheduler), Address::Scheduler(child), body, cx);
    }

    /// Where a job stands in a scheduler's lists.
    #[inline]
    fn kind(&self, scheduler: SchedulerId, job: JobId) -> JobKind {
        let ticket = self.jobs.get(job);
        let site = self.world.site_of(ticket.station).0;
        let at = &self.forest.schedulers[scheduler.index()];
        JobKind { class: ticket.class, home: self.forest.home_slot(at, site) }
    }

    /// Share of a server's CPUs that is left to the grid.
    fn speed(&self) -> f64 {
        1.0 - self.config.grid.local_load
    }

    /// Whether jobs are still to come.
    fn expects_jobs(&self) -> bool {
        match &self.source {
            Source::Stations(stations) => stations.left() > 0,
            Source::Outside { next, .. } => next.is_some(),
        }
    }

    /// Whether jobs are still to come, or to be done.
    fn has_work(&self) -> bool {
        self.expects_jobs() || self.tally.submitted > self.tally.completed
    }

    /// Whether jobs are still to come, or copies of them to be found out.
    fn is_active(&self) -> bool {
        self.expects_jobs() || !self.jobs.is_empty()
    }

    fn is_down(&self, scheduler: SchedulerId) -> bool {
        self.transport.as_ref().is_some_and(|transport| transport.down[scheduler.index()])
    }

    /// Experiment 4: posts the next change of a server.
    fn post_change(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        if let Some(Changes { means, draws, .. }) = &mut self.changes {
            let draws = &mut draws[server.index()];
            let mean = means[draws.random_range(0..means.len())];
            let draw: f64 = Exp1.sample(draws);
            cx.post_in(Span::from_secs_f64(mean * draw), Event::Change(server));
        }
    }

    /// A server draws an operating system, which may be the one that it has.
    fn change(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        if !self.is_active() {
            return;
        }
        self.post_change(server, cx);
        let Some(changes) = &mut self.changes else { return };
        let systems = 1 << changes.draws[server.index()].random_range(0..changes.systems);
        self.set_systems(server, systems, cx);
    }

    /// A server offers other operating systems from now on; a job that it runs finishes.
    fn set_systems(&mut self, server: ServerId, systems: u32, cx: &mut impl Context<Event>) {
        let machine = &mut self.machines[server.index()];
        if machine.systems == systems {
            return;
        }
        machine.systems = systems;
        machine.bag = self.world.bag_of(machine.cpus, systems);
        let site = machine.site;
        self.tally.changes += 1;
        if self.peers.is_some() {
            self.peer_changed(server, cx);
        } else {
            self.resources_changed(site, cx);
        }
    }

    /// A message comes in.
    fn deliver(&mut self, Letter { from, to, body }: Letter, cx: &mut impl Context<Event>) {
        match (to, body) {
            (Address::Scheduler(root), Body::Request { job, .. }) => self.root_request(root, job, cx),
            (Address::Scheduler(root), Body::Forward { job, .. }) => self.root_copy(root, job, cx),
            (Address::Server(entry), Body::Request { job, .. }) => self.flood(entry, job, cx),
            (Address::Server(peer), Body::Confirm { job }) => self.peer_queues(peer, job, cx),
            (Address::Server(server), Body::Answer { job }) => self.answered(server, job, cx),
            (Address::Station(station), Body::Offer { job }) => self.offered(station, from, job, cx),
            (Address::Station(station), Body::Decline { job }) => self.declined(station, job, cx),
            (Address::Scheduler(to), body) => {
                let Address::Scheduler(from) = from else { panic!("{from:?} sent {body:?} to a scheduler") };
                self.between_schedulers(from, to, body, cx);
            }
            (to, body) => panic!("{from:?} sent {body:?} to {to:?}"),
        }
    }

    /// A message between neighbours in a tree.
    fn between_schedulers(&mut self, from: SchedulerId, to: SchedulerId, body: Body, cx: &mut impl Context<Event>) {
        let leaf = self.forest.schedulers[to.index()].is_leaf();
        match body {
            Body::Discover { round, known, jobs } if leaf => self.leaf_discovers(to, round, known, jobs, cx),
            Body::Ports { bags } if leaf => self.leaf_ports(to, bags, cx),
            Body::Block { bag, ticket, jobs } if leaf => self.leaf_block(to, bag, ticket, jobs, cx),
            Body::Cancel { by, number, reason, jobs } if leaf => {
                self.leaf_cancels(to, (by, number, reason), jobs, cx);
            }
            Body::Discover { round, known, jobs } => self.passes_discovery(to, round, known, jobs, cx),
            Body::Ports { bags } => self.ports(to, bags, cx),
            Body::Block { bag, ticket, jobs } => self.block(to, bag, ticket, jobs, cx),
            Body::Cancel { by, number, reason, jobs } => self.cancels(to, (by, number, reason), jobs, cx),
            Body::Rfjm { anew } => self.rfjm(to, anew, cx),
            Body::Bags { round, bags, wanting } => self.bags(from, to, round, bags, wanting, cx),
            Body::Rfc { bag, wants, ticket } => self.rfc(from, to, (bag, wants, ticket), cx),
            Body::Cancelled { by, number, reason, asked, jobs } => {
                self.cancelled(to, (by, number, reason), asked, jobs, cx);
            }
            Body::Started { job } => self.started(from, to, job, cx),
            Body::Returned { jobs } => self.returned(from, to, jobs, cx),
            Body::Restarted => self.neighbour_restarted(from, to, cx),
            Body::Request { .. }
            | Body::Forward { .. }
            | Body::Offer { .. }
            | Body::Answer { .. }
            | Body::Accept { .. }
            | Body::Confirm { .. }
            | Body::Decline { .. } => panic!("scheduler {from} sent {body:?} to scheduler {to}"),
        }
    }
}

impl<W: Witness, L: Iterator<Item = Submission>> Model for Grid<W, L> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        for site in 0..narrow(self.leaves.len()) {
            self.leaf_opens(SiteId(site), cx);
        }
        for server in 0..narrow(self.machines.len()) {
            self.post_change(ServerId(server), cx);
        }
        for (at, server, systems) in std::mem::take(&mut self.script) {
            cx.post_at(at, Event::Alter(server, systems));
        }
        self.post_crashes(cx);
        self.pull(cx);
        if let Source::Stations(stations) = &self.source {
            for station in stations.order().to_vec() {
                self.continue_from(station, cx);
            }
        }
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Deliver(letter) => self.deliver(letter, cx),
            Event::Due(station) => self.due(station, cx),
            Event::Submit => self.submit_next(cx),
            Event::Transferred(flow) => self.transferred(flow, cx),
            Event::Ran(server) => self.ran(server, cx),
            Event::Silence(server) => self.silence(server, cx),
            Event::Change(server) => self.change(server, cx),
            Event::Alter(server, systems) => self.set_systems(server, systems, cx),
            Event::Discovered(tree) => self.discovered(tree, cx),
            Event::Resubmit => self.resubmit(cx),
            Event::Arrives(parcel) => self.arrives(parcel, cx),
            Event::Acknowledged(parcel) => self.acknowledged(parcel, cx),
            Event::SendAgain(parcel) => self.send_again(parcel, cx),
            Event::Crash(scheduler) => self.crash(scheduler, cx),
            Event::Restart(scheduler) => self.restart(scheduler, cx),
        }
    }
}
