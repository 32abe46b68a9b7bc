//! The grid as a model: submits jobs, and routes its events to the system that schedules and to the fabric.

mod stations;
pub mod view;

use crate::config::{self, Config, System};
use crate::fabric::jobs::{JobState, Submission, Work};
use crate::fabric::run::{Run, Running};
use crate::fabric::{Cargo, Fabric};
use crate::grid::stations::Stations;
use crate::message::{Address, Envelope, Event, GridCounts, MessageObserver, Payload};
use crate::peers::Peers;
use crate::trees::Trees;
use crate::world::network::Network;
use crate::world::tree::Scheduler;
use crate::world::{Requirement, ServerId, StationId, World, narrow};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use sim_core::{ConfigError, Context, Fact, Job, JobId, Model, Purpose, Rejection, Span, Stream, Streams};
use std::iter::Empty;

/// A grid of sites under one system, with an observer `O` of its messages and submissions `L` from outside.
#[derive(Clone, Debug)]
pub struct Grid<O = (), L = Empty<Submission>> {
    fabric: Fabric<O>,
    system: SystemState,
    source: Source<L>,
    /// Experiment 4: draws of each server's changes; empty without changes.
    changes: Vec<Stream>,
}

#[derive(Clone, Debug)]
enum SystemState {
    Trees(Box<Trees>),
    Peers(Box<Peers>),
}

impl SystemState {
    /// Sends a work station's request to its entry: the root of its tree, or its peer.
    fn request(&mut self, station: StationId, job: JobId, run: &mut impl Run) {
        match self {
            Self::Trees(trees) => trees.request(station, job, run),
            Self::Peers(peers) => peers.request(station, job, run),
        }
    }
}

/// Source of jobs: the work stations of the paper's experiments, or outside.
#[derive(Clone, Debug)]
enum Source<L> {
    Stations(Box<Stations>),
    Outside {
        submissions: L,
        next: Option<Submission>,
        /// True if the work of a job is spread over all CPUs of its server.
        divides: bool,
    },
}

impl<O: MessageObserver> Grid<O> {
    /// A grid whose work stations submit jobs according to `config.experiment`.
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn new(config: Config, streams: &Streams, observer: O) -> Result<Self, ConfigError> {
        let world = World::draw(&config, streams)?;
        Self::in_world(config, world, streams, observer)
    }

    /// Creates a grid in a given world; only the local load of `config.grid` has an effect.
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn in_world(config: Config, world: World, streams: &Streams, observer: O) -> Result<Self, ConfigError> {
        let stations = Stations::new(&config, &world, streams);
        Self::build(config, world, Source::Stations(Box::new(stations)), streams, observer)
    }
}

impl<O: MessageObserver, L: Iterator<Item = Submission>> Grid<O, L> {
    /// A grid that runs jobs from outside, in order of their numbers and submission times; `config.jobs` and
    /// `config.experiment.submission` have no effect. A job wider than every server is rejected.
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn fed(
        config: Config,
        world: World,
        submissions: L,
        streams: &Streams,
        observer: O,
    ) -> Result<Self, ConfigError> {
        let source = Source::Outside { submissions, next: None, divides: false };
        Self::build(config, world, source, streams, observer)
    }

    fn build(
        config: Config,
        world: World,
        source: Source<L>,
        streams: &Streams,
        observer: O,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let network = Network::new(&config.network, &config.readings, &world);
        let (system, seats) = match config.system {
            System::P2p => {
                let peers = Peers::new(&world, &network, config.readings.neighbours, streams);
                (SystemState::Peers(Box::new(peers)), Vec::new())
            }
            System::Trees(trees) => {
                // `validate` knows the sites of `config.grid`; a given world may have fewer.
                config::hold_a_site(trees, world.sites().into())?;
                let trees = Trees::new(trees, &world, &network, streams);
                let seats = trees.forest.schedulers.iter().map(Scheduler::site).collect();
                (SystemState::Trees(Box::new(trees)), seats)
            }
        };
        let changing = if config.experiment.changes.is_some() { narrow(world.servers.len()) } else { 0 };
        let changes = (0..changing).map(|server| streams.stream(Purpose("changes of servers"), server)).collect();
        let fabric = Fabric::new(config, world, network, seats, observer);
        Ok(Self { fabric, system, source, changes })
    }

    /// Simulates messages that are otherwise only counted: every discovery goes from scheduler to scheduler, message by message, and every
    /// resubmission among peers is tried. Slower, for comparison.
    ///
    /// Among peers the run is the same. In trees, events of the same nanosecond may happen in another order, so jobs
    /// may run elsewhere; each discovery finds the same.
    #[must_use]
    pub const fn without_shortcuts(mut self) -> Self {
        self.fabric.shortcuts = false;
        self
    }

    /// Spreads the work of jobs from outside, run time × processors, over all CPUs of the server, as for the paper's jobs. A
    /// wide server then takes less than the job's own run time. Without this, a job takes its run time on any server.
    #[must_use]
    pub const fn dividing_work(mut self) -> Self {
        if let Source::Outside { divides, .. } = &mut self.source {
            *divides = true;
        }
        self
    }

    /// Counters so far.
    pub const fn counts(&self) -> &GridCounts {
        &self.fabric.counts
    }

    /// Observer of the grid's messages.
    pub const fn observer(&self) -> &O {
        &self.fabric.observer
    }

    /// The system, and the run in progress for the length of an event.
    fn split<'a, C: Context<Event>>(&'a mut self, context: &'a mut C) -> (&'a mut SystemState, Running<'a, O, C>) {
        (&mut self.system, Running { fabric: &mut self.fabric, context })
    }

    /// Experiment 4: posts the next change of a server.
    fn post_change(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        if let Some(means) = &self.fabric.config.experiment.changes {
            let draws = &mut self.changes[server.index()];
            let mean = means[draws.random_range(0..means.len())];
            let draw: f64 = Exp1.sample(draws);
            cx.post_in(Span::from_secs_f64(mean * draw), Event::Change(server));
        }
    }

    /// Experiment 4: a server draws an operating system, possibly its current one.
    fn change(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        // Changes must not keep a run alive whose jobs are done.
        let expects_jobs = match &self.source {
            Source::Stations(stations) => stations.left > 0,
            Source::Outside { next, .. } => next.is_some(),
        };
        if !expects_jobs && self.fabric.jobs.is_empty() {
            return;
        }
        self.post_change(server, cx);
        let Fabric { servers, world, counts, .. } = &mut self.fabric;
        let systems = 1 << self.changes[server.index()].random_range(0..world.systems);
        let state = &mut servers[server.index()];
        if state.systems == systems {
            return;
        }
        // A job that the server runs finishes.
        (state.systems, state.bag) = (systems, world.bag_of(state.cpus, systems));
        counts.changes += 1;
        match self.split(cx) {
            (SystemState::Trees(trees), mut run) => trees.resources_changed(server, &mut run),
            (SystemState::Peers(peers), mut run) => peers.resources_changed(server, &mut run),
        }
    }

    /// Delivers a message. Offers and refusals are handled here for every system; other messages go to the system.
    fn deliver(&mut self, Envelope { from, to, payload }: Envelope, cx: &mut impl Context<Event>) {
        let (system, mut run) = self.split(cx);
        match (system, to, payload) {
            (_, Address::Station(station), Payload::Offer { job }) => run.offered(station, from, job),
            (system, Address::Station(station), Payload::Decline { job }) => {
                // A peer gives a job back: it is submitted again.
                run.counts.resubmitted += 1;
                system.request(station, job, &mut run);
            }
            (SystemState::Trees(trees), Address::Scheduler(to), payload) => trees.receive(from, to, payload, &mut run),
            (SystemState::Peers(peers), Address::Server(to), payload) => peers.receive(from, to, payload, &mut run),
            (_, to, payload) => panic!("{from:?} sent {payload:?} to {to:?}"),
        }
    }

    /// Makes a server idle: its offer was not answered, or its job is done.
    fn free(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let (system, mut run) = self.split(cx);
        run.release(server);
        match system {
            SystemState::Trees(trees) => trees.refill(server, &mut run),
            SystemState::Peers(peers) => peers.server_free(server, &mut run),
        }
    }

    fn transferred(&mut self, flow: u32, cx: &mut impl Context<Event>) {
        let (system, mut run) = self.split(cx);
        match run.transferred(flow) {
            Cargo::Input(server, job) => {
                // An LGS counts a job as started when it gives it to a server, before the input arrives.
                if let SystemState::Peers(peers) = system {
                    peers.runs(server, job, &mut run);
                }
            }
            Cargo::Output(server, job) => {
                let (station, keeps_server) = (run.complete(job), run.output_keeps_server());
                if keeps_server {
                    self.free(server, cx);
                }
                cx.emit(Fact::Finished { job });
                self.continue_from(station, cx);
            }
        }
    }

    fn ran(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let (_, mut run) = self.split(cx);
        run.send_output(server);
        if !run.output_keeps_server() {
            self.free(server, cx);
        }
    }
}

/// Submission of jobs: by the work stations of the paper's experiments, or from outside.
impl<O: MessageObserver, L: Iterator<Item = Submission>> Grid<O, L> {
    fn open_source(&mut self, cx: &mut impl Context<Event>) {
        self.pull(cx);
        if let Source::Stations(stations) = &self.source {
            for station in stations.order.clone() {
                self.continue_from(station, cx);
            }
        }
    }

    fn submit(&mut self, state: JobState, job: Job, cx: &mut impl Context<Event>) {
        let station = state.station;
        self.fabric.jobs.push(job.id, state);
        self.fabric.counts.submitted += 1;
        cx.emit(Fact::Submitted(job));
        let (system, mut run) = self.split(cx);
        system.request(station, job.id, &mut run);
    }

    fn submit_from(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        let now = cx.now();
        let (state, mean_cpus) = (stations.make(station, now), stations.mean_cpus);
        // The run time in the record is that on a mean server without other users.
        let mut job = Job::new(self.fabric.jobs.next(), now, 1, state.runtime(mean_cpus, 1.0));
        job.origin = Some(self.fabric.world.site_of(station));
        job.request.estimate = Some(state.estimate(mean_cpus, 1.0));
        self.submit(state, job, cx);
    }

    /// Continues a work station without a job in the grid: it submits or thinks, or rests if no jobs are left.
    fn continue_from(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        if stations.left == 0 {
            return;
        }
        match stations.think_time(station) {
            None => self.submit_from(station, cx),
            Some(span) => {
                cx.post_in(span, Event::Due(station));
            }
        }
    }

    fn due(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        // Experiment 2: a due submission happens with the site's probability; otherwise the work station thinks again.
        if stations.left > 0 && stations.happens(station, self.fabric.world.site_of(station)) {
            self.submit_from(station, cx);
        } else {
            self.continue_from(station, cx);
        }
    }

    fn pull(&mut self, cx: &mut impl Context<Event>) {
        let Source::Outside { submissions, next, .. } = &mut self.source else { return };
        *next = submissions.next();
        if let Some(next) = next {
            cx.post_at(next.job.submit, Event::Submit);
        }
    }

    /// Submits a job from outside, or rejects it if no server is wide enough.
    fn submit_next(&mut self, cx: &mut impl Context<Event>) {
        let Source::Outside { next, divides, .. } = &mut self.source else { return };
        let divides = *divides;
        let Some(Submission { job, station, system, input, output }) = next.take() else { return };
        self.pull(cx);
        // A job of a log requests processors; its class is the narrowest class of servers that is wide enough.
        let requirement = Requirement { system, cpus: job.request.processors };
        let class = self.fabric.world.class_of(requirement);
        let (estimate, actual) = (job.request.estimate.unwrap_or(job.runtime).as_secs_f64(), job.runtime.as_secs_f64());
        let scale = if divides { f64::from(job.request.processors) } else { 1.0 };
        let work = Work { divides, estimate: scale * estimate, actual: scale * actual };
        let state = JobState::new(station, class.unwrap_or(0), work, [input, output], job.submit);
        if class.is_some() {
            self.submit(state, job, cx);
        } else {
            cx.emit(Fact::Submitted(job));
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            // A job's id is its position, so a rejected job takes a position too; it is forgotten like a completed one.
            self.fabric.jobs.push(job.id, JobState { done: true, ..state });
            self.fabric.jobs.forget();
            self.fabric.counts.rejected += 1;
        }
    }
}

impl<O: MessageObserver, L: Iterator<Item = Submission>> Model for Grid<O, L> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        if let (SystemState::Trees(trees), mut run) = self.split(cx) {
            trees.open(&mut run);
        }
        for server in 0..narrow(self.fabric.servers.len()) {
            self.post_change(ServerId(server), cx);
        }
        self.open_source(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Deliver(envelope) => self.deliver(envelope, cx),
            Event::Due(station) => self.due(station, cx),
            Event::Submit => self.submit_next(cx),
            Event::Transferred(flow) => self.transferred(flow, cx),
            Event::Ran(server) => self.ran(server, cx),
            Event::OfferTimeout(server) => self.free(server, cx),
            Event::Change(server) => self.change(server, cx),
            Event::Discovered(_) | Event::Resubmit => match (self.split(cx), event) {
                ((SystemState::Trees(trees), mut run), Event::Discovered(root)) => trees.discovered(root, &mut run),
                ((SystemState::Peers(peers), mut run), Event::Resubmit) => peers.resubmit(&mut run),
                (_, event) => panic!("{event:?} under the other system"),
            },
        }
    }
}
