//! The world: events and their order; the outcome of each job, and of its prediction.

use crate::application::{Application, Submission};
use crate::config::{Config, Forecasts};
use crate::loras::cluster_state::{ClusterState, WaitingJob, work_of};
use crate::loras::predictor::predict;
use crate::loras::{Completions, Loras};
use crate::policy::{Choice, SelectCluster, View};
use sim_core::{
    ConfigError, Context, EventKey, EventPriority, Fact, JobId, Model, Prioritized, ProcId, Rejection, SiteId, Span,
    Streams, Time,
};
use slab::Slab;
use std::collections::VecDeque;

/// Event of the world.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job of this cluster ends.
    Wake(SiteId),
    /// The next job arrives.
    Arrive,
    /// End of an instant, after all other events: the metascheduler examines its input queue.
    Decide,
}

impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Wake(_) => EventPriority::RELEASE,
            Self::Arrive => EventPriority::ARRIVE,
            Self::Decide => EventPriority::DECIDE,
        }
    }
}

/// MetaLoRaS: an input queue, the cluster selection policy `P`, and clusters, each under its [`Loras`].
///
/// Jobs come from `J` in order of submission, one at a time, each when its predecessor has arrived, so memory follows
/// the jobs in the system. As they finish, their [`Outcome`]s go to `L`, for example a `Vec`.
///
/// It emits [`Fact::Submitted`]; for a job that fits on no cluster even if that is empty, [`Fact::Rejected`];
/// [`Fact::Started`] with the cluster as the site; [`Fact::Seized`] and [`Fact::Released`] for each task, nodes numbered cluster
/// by cluster; [`Fact::Finished`].
///
/// # Panics
///
/// Panics, while it runs, if `J` goes back in time, or if the policy chooses a cluster where the job does not fit.
#[derive(Clone, Debug)]
pub struct MetaLoras<P, J, L = Vec<Outcome>> {
    config: Config,
    policy: P,
    /// Known state of the clusters.
    clusters: Vec<Loras>,
    /// Unknown state: total work and ends of jobs.
    completions: Vec<Completions>,
    jobs: Slab<JobEntry>,
    input: VecDeque<WaitingJob>,
    arrivals: J,
    next: Option<Submission>,
    outcomes: L,
    /// Posted next end for each cluster.
    wakes: Vec<Option<(Time, EventKey)>>,
    deciding: Option<Time>,
    first_nodes: Vec<u32>,
    first_start: Option<Time>,
    last_end: Time,
}

#[derive(Clone, Debug)]
struct JobEntry {
    /// True run time.
    runtime: Span,
    /// Its outcome, as far as it has come.
    outcome: Outcome,
}

/// A finished job, from arrival to end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The job's number.
    pub job: JobId,
    /// Cluster where it ran.
    pub cluster: SiteId,
    /// Time at which it joined the input queue.
    pub arrival: Time,
    /// Time at which it left the input queue for a LoRaS queue.
    pub dispatched: Time,
    /// Time at which its tasks began.
    pub start: Time,
    /// Time at which its tasks ended.
    pub finish: Time,
    /// Predicted time from dispatch to end, by the LoRaS of the chosen cluster.
    pub predicted: Option<Span>,
}

impl Outcome {
    pub(crate) const fn arriving(job: JobId, arrival: Time) -> Self {
        let (cluster, later) = (SiteId(0), Time::ZERO);
        Self { job, cluster, arrival, dispatched: later, start: later, finish: later, predicted: None }
    }

    /// Time from arrival to end.
    pub const fn turnaround(&self) -> Span {
        self.finish.since(self.arrival)
    }

    /// Time from dispatch to end, which is predicted.
    pub const fn since_dispatch(&self) -> Span {
        self.finish.since(self.dispatched)
    }

    /// Returns true if it waited in a LoRaS queue.
    pub fn was_queued(&self) -> bool {
        self.start > self.dispatched
    }

    /// |predicted − actual| / actual, of the time from dispatch to end; `None` without a prediction.
    pub fn prediction_error(&self) -> Option<f64> {
        let actual = self.since_dispatch().as_secs_f64();
        self.predicted.map(|predicted| (predicted.as_secs_f64() - actual).abs() / actual)
    }
}

impl<P: SelectCluster, J: Iterator<Item = Submission>, L: Extend<Outcome>> MetaLoras<P, J, L> {
    /// Idle clusters, to which `arrivals` come, and the collection that receives outcomes. Of `streams`, only local users that are placed at random draw.
    ///
    /// # Errors
    ///
    /// If the configuration is invalid.
    pub fn new(config: Config, policy: P, arrivals: J, outcomes: L, streams: &Streams) -> Result<Self, ConfigError> {
        config.validate()?;
        let occupied = config.occupied_clusters(streams);
        let (mut clusters, mut first_nodes, mut nodes) = (Vec::new(), Vec::new(), 0);
        for (index, cluster) in (0_u32..).zip(&config.clusters) {
            let is_occupied = occupied.binary_search(&index).is_ok();
            let state = ClusterState::new(&config, cluster, is_occupied);
            clusters.push(Loras { state, queue: VecDeque::new() });
            first_nodes.push(nodes);
            nodes += cluster.nodes;
        }
        Ok(Self {
            policy,
            completions: vec![Completions::default(); clusters.len()],
            wakes: vec![None; clusters.len()],
            clusters,
            jobs: Slab::new(),
            input: VecDeque::new(),
            arrivals,
            next: None,
            outcomes,
            deciding: None,
            first_nodes,
            first_start: None,
            last_end: Time::ZERO,
            config,
        })
    }

    /// The clusters, as their LoRaS know them.
    pub fn clusters(&self) -> &[Loras] {
        &self.clusters
    }

    /// Jobs in the system: in the input queue, in LoRaS queues, or running.
    pub fn present(&self) -> usize {
        self.jobs.len()
    }

    /// Outcomes of the jobs that have finished, in this order.
    pub const fn outcomes(&self) -> &L {
        &self.outcomes
    }

    /// Time from the start of the first job to the end of the last one so far (§3.1); zero if none has ended.
    pub fn makespan(&self) -> Span {
        self.first_start.map_or(Span::ZERO, |start| self.last_end.saturating_since(start))
    }

    /// Seconds of disturbance of local users (R10) until the end of the run, added up over their nodes, and the number of these nodes. The
    /// users' slowdown (eq. 3), averaged over the nodes and over a window of time that contains the run, is 1 + disturbance / nodes / window
    /// (R11: one window for all policies that are compared). `None` if there are no users.
    pub fn disturbance(&self) -> Option<(f64, u32)> {
        let states = || self.clusters.iter().map(|cluster| &cluster.state);
        let nodes = states().flat_map(|state| &state.nodes).map(|node| u32::from(node.users)).sum();
        (nodes > 0).then(|| (ClusterState::disturbance(states(), self.last_end), nodes))
    }

    fn pull(&mut self, cx: &mut impl Context<Event>) {
        self.next = self.arrivals.next();
        if let Some(next) = &self.next {
            cx.post_at(next.job.submit, Event::Arrive);
        }
    }

    /// The admission system (§2.2): a job joins the input queue if it fits on at least one cluster.
    fn arrive(&mut self, submission: &Submission, cx: &mut impl Context<Event>) {
        let job = submission.job;
        cx.emit(Fact::Submitted(job));
        let app = Application::of(submission, self.config.default_demand, self.config.default_time);
        // Admission considers the empty clusters: a job that fits on none would block the input queue forever.
        if !self.clusters.iter().any(|cluster| cluster.state.fits(&app)) {
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            return;
        }
        let entry = JobEntry { runtime: job.runtime, outcome: Outcome::arriving(job.id, job.submit) };
        let key = u32::try_from(self.jobs.insert(entry)).expect("fewer than 2³² jobs at once");
        self.input.push_back(WaitingJob { key, app });
        self.call_for_decision(cx);
    }

    /// Schedules a decision on the input queue for the end of this instant.
    fn call_for_decision(&mut self, cx: &mut impl Context<Event>) {
        // One decision per instant, after all ends and arrivals of that instant.
        if !self.input.is_empty() && self.deciding != Some(cx.now()) {
            self.deciding = Some(cx.now());
            cx.post_at(cx.now(), Event::Decide);
        }
    }

    /// Algorithm 1: jobs leave the input queue, first in first out, until the policy lets one wait.
    fn decide(&mut self, cx: &mut impl Context<Event>) {
        self.deciding = None;
        // Each dispatch changes the state for the next job, so the policy is called for each.
        while let Some(head) = self.input.front() {
            let Self { clusters, config, .. } = self;
            let mut view = View { now: cx.now(), job: &head.app, clusters, overrun: config.overrun };
            let Some(choice) = self.policy.select(&mut view) else { break };
            let head = self.input.pop_front().expect("it was just looked at");
            self.dispatch(head, choice, cx);
        }
    }

    /// The dispatcher (§2.2): the job joins the LoRaS queue of its cluster.
    fn dispatch(&mut self, waiting: WaitingJob, choice: Choice, cx: &mut impl Context<Event>) {
        let (Choice { cluster, prediction }, app) = (choice, &waiting.app);
        let loras = &self.clusters[cluster.index()];
        assert!(loras.state.fits(app), "the policy sent job {} to cluster {cluster}, where it does not fit", app.job);
        // FFIT and RR do not predict, but the paper judges predictions of all jobs; then the forecast is made
        // here and decides nothing.
        let prediction = prediction.or_else(|| {
            let wanted = self.config.forecasts == Forecasts::EveryJob;
            wanted.then(|| predict(cx.now(), loras, app, true, self.config.overrun)).flatten()
        });
        let outcome = &mut self.jobs[waiting.key as usize].outcome;
        (outcome.cluster, outcome.dispatched) = (cluster, cx.now());
        outcome.predicted = prediction.map(|prediction| prediction.turnaround);
        let queue = &mut self.clusters[cluster.index()].queue;
        queue.push_back(waiting);
        // A job behind another waits for it.
        if queue.len() == 1 {
            self.serve(cluster, cx);
        }
    }

    fn serve(&mut self, cluster: SiteId, cx: &mut impl Context<Event>) {
        let Self { clusters, completions, jobs, first_start, first_nodes, .. } = self;
        let now = cx.now();
        let begin = |waiting: &WaitingJob, nodes: &[u32], _: &ClusterState| {
            let job = waiting.app.job;
            cx.emit(Fact::Started { job, site: cluster, processors: waiting.app.tasks });
            for node in nodes {
                cx.emit(Fact::Seized { job, processor: ProcId(first_nodes[cluster.index()] + node) });
            }
            // The makespan and the window of local slowdown begin with the first start (§3.1).
            first_start.get_or_insert(now);
            let entry = &mut jobs[waiting.key as usize];
            entry.outcome.start = now;
            work_of(entry.runtime.max(Span::from_nanos(1)))
        };
        clusters[cluster.index()].start_waiting(&mut completions[cluster.index()], now, begin);
        self.post_wake(cluster, cx);
    }

    /// Posts the next end of a job of `cluster`, in place of the posted one.
    fn post_wake(&mut self, cluster: SiteId, cx: &mut impl Context<Event>) {
        let next = self.completions[cluster.index()].next_end(&self.clusters[cluster.index()].state);
        let posted = &mut self.wakes[cluster.index()];
        // Most changes leave the next end where it is: the posted event is then kept.
        if posted.map(|(at, _)| at) == next {
            return;
        }
        if let Some((_, key)) = posted.take() {
            cx.cancel(key);
        }
        *posted = next.map(|at| (at, cx.post_at(at, Event::Wake(cluster))));
    }

    fn wake(&mut self, cluster: SiteId, cx: &mut impl Context<Event>) {
        self.wakes[cluster.index()] = None;
        let Self { clusters, completions, jobs, outcomes, last_end, first_nodes, .. } = self;
        let now = cx.now();
        clusters[cluster.index()].finish_due(&mut completions[cluster.index()], now, |key, nodes| {
            let outcome = jobs.remove(key as usize).outcome;
            let job = outcome.job;
            for node in nodes {
                cx.emit(Fact::Released { job, processor: ProcId(first_nodes[cluster.index()] + node) });
            }
            cx.emit(Fact::Finished { job });
            *last_end = now;
            outcomes.extend(Some(Outcome { finish: now, ..outcome }));
        });
        self.serve(cluster, cx);
        self.call_for_decision(cx);
    }
}

impl<P: SelectCluster, J: Iterator<Item = Submission>, L: Extend<Outcome>> Model for MetaLoras<P, J, L> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        self.pull(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Wake(cluster) => self.wake(cluster, cx),
            Event::Arrive => {
                if let Some(submission) = self.next.take() {
                    self.pull(cx);
                    self.arrive(&submission, cx);
                }
            }
            Event::Decide => self.decide(cx),
        }
    }
}
