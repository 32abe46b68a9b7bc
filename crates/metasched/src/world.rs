//! The world: events and their order.

use crate::application::{Application, Submission};
use crate::cluster_state::{ClusterState, LocalLoad, NodeRules, work_of};
use crate::completions::Completions;
use crate::config::{Cluster, Config, Forecasts, LocalSlowdown};
use crate::loras::{Loras, WaitingJob};
use crate::outcome::{Outcome, OutcomeSink};
use crate::policy::{Choice, SelectCluster, View};
use crate::predictor::predict;
use crate::users::occupied_clusters;
use sim_core::{
    ConfigError, Context, EventKey, EventPriority, Fact, Job, Model, Prioritized, ProcId, Rejection, SiteId, Span,
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
/// the jobs in the system. As they finish, their [`Outcome`]s go to the [`OutcomeSink`] `L`.
///
/// It emits [`Fact::Submitted`]; for a job that fits on no cluster even if that is empty, [`Fact::Rejected`];
/// [`Fact::Started`] with the cluster as the site; [`Fact::Seized`] and [`Fact::Released`] for each task, nodes numbered cluster
/// by cluster; [`Fact::Finished`].
///
/// # Panics
///
/// Panics, while it runs, if `J` goes back in time, or if the policy chooses a cluster where the job does not fit.
#[derive(Clone, Debug)]
pub struct MetaLoras<P, J, L = ()> {
    config: Config,
    policy: P,
    /// Known state of the clusters.
    clusters: Vec<Loras>,
    /// Unknown state: total work and ends of jobs.
    completions: Vec<Completions>,
    jobs: Slab<JobEntry>,
    input: VecDeque<u32>,
    arrivals: J,
    next: Option<Submission>,
    outcomes: L,
    /// Posted next end for each cluster.
    wakes: Vec<Option<(Time, EventKey)>>,
    deciding: Option<Time>,
    first_nodes: Vec<u32>,
    times: RunTimes,
    places: Vec<u32>,
    due: Vec<u32>,
}

/// Job in the system, with all the world's knowledge of it.
#[derive(Clone, Debug)]
struct JobEntry {
    job: Job,
    app: Application,
    cluster: SiteId,
    dispatched: Time,
    start: Time,
    predicted: Option<Span>,
}

#[derive(Clone, Debug, Default)]
struct RunTimes {
    first_start: Option<Time>,
    last_end: Time,
}

impl<P, J, L> MetaLoras<P, J, L>
where
    P: SelectCluster,
    J: Iterator<Item = Submission>,
    L: OutcomeSink,
{
    /// Idle clusters, to which `arrivals` come. Of `streams`, only local users that are placed at random draw.
    ///
    /// # Errors
    ///
    /// If the configuration is invalid.
    pub fn new(config: Config, policy: P, arrivals: J, outcomes: L, streams: &Streams) -> Result<Self, ConfigError> {
        config.validate()?;
        let occupied = occupied_clusters(&config, streams);
        let (mut clusters, mut first_nodes, mut nodes) = (Vec::new(), Vec::new(), 0);
        for (index, cluster) in (0_u32..).zip(&config.clusters) {
            let queueing = config.readings.local_slowdown == LocalSlowdown::Queueing;
            let weight = queueing.then_some(config.queueing_weight);
            let is_occupied = occupied.binary_search(&index).is_ok();
            clusters.push(Loras::new(ClusterState::new(cluster.nodes, rules(&config, cluster), weight, is_occupied)));
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
            times: RunTimes::default(),
            places: Vec::new(),
            due: Vec::new(),
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

    /// The policy, with its state.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// The sink of outcomes, with the outcomes it has received.
    pub const fn outcomes(&self) -> &L {
        &self.outcomes
    }

    /// Consumes the world and returns its sink of outcomes.
    pub fn into_outcomes(self) -> L {
        self.outcomes
    }

    /// Time from the start of the first job to the end of the last one so far (§3.1); zero if none has ended.
    pub fn makespan(&self) -> Span {
        self.times.first_start.map_or(Span::ZERO, |start| self.times.last_end.saturating_since(start))
    }

    /// Cost to local users until `now`, the end of the run or any moment after the last event.
    pub fn local_load(&self, now: Time) -> LocalLoad {
        LocalLoad::of(self.clusters.iter().map(|cluster| cluster.state.local_sums(now)))
    }

    /// Slowdown of local users (eq. 3) at the end of a run, averaged over the nodes that they occupy and over a `window`
    /// that begins with the first start (R11: one window for all policies that are compared). `None` if they occupy none.
    ///
    /// Beyond the end of the run, nothing disturbs the users.
    ///
    /// # Panics
    ///
    /// Panics if the window ends before the last job does.
    pub fn local_slowdown(&self, window: Span) -> Option<f64> {
        let RunTimes { first_start, last_end } = self.times;
        first_start?;
        let makespan = self.makespan();
        assert!(window >= makespan, "a window of {window} s ends before the run of {makespan} s");
        // R11: slowdowns of several policies are compared over one window, the longest run. The part that a shorter run does
        // not fill counts as undisturbed.
        let occupied: u64 = self.clusters.iter().map(|cluster| cluster.state.occupied()).sum();
        let node_time = u128::from(occupied) * u128::from(window.as_nanos());
        if node_time == 0 {
            return None;
        }
        let node_secs = node_time as f64 / 1e9;
        let load = self.local_load(last_end);
        let excess = match self.config.readings.local_slowdown {
            LocalSlowdown::CpuUsed => load.cpu,
            LocalSlowdown::Queueing => load.queueing,
            LocalSlowdown::PerTask => load.tasks,
        };
        Some(1.0 + excess / node_secs)
    }

    /// Takes the next job from the source and posts its arrival.
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
        if !self.clusters.iter().any(|cluster| cluster.fits(&app)) {
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            return;
        }
        let entry =
            JobEntry { job, app, cluster: SiteId(0), dispatched: Time::ZERO, start: Time::ZERO, predicted: None };
        let key = u32::try_from(self.jobs.insert(entry)).expect("fewer than 2³² jobs at once");
        self.input.push_back(key);
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
        while let Some(&key) = self.input.front() {
            let Self { clusters, places, jobs, config, .. } = self;
            let app = jobs[key as usize].app;
            let mut view = View { now: cx.now(), job: &app, clusters, places, overrun: config.overrun };
            let Some(choice) = self.policy.select(&mut view) else { break };
            self.input.pop_front();
            self.dispatch(key, &app, choice, cx);
        }
    }

    /// The dispatcher (§2.2): the job joins the LoRaS queue of its cluster.
    fn dispatch(&mut self, key: u32, app: &Application, choice: Choice, cx: &mut impl Context<Event>) {
        let Choice { cluster, prediction } = choice;
        let loras = &self.clusters[cluster.index()];
        assert!(loras.fits(app), "the policy sent job {} to cluster {cluster}, where it does not fit", app.job);
        // R7: FFIT and RR do not predict, but the paper judges predictions of all jobs; then the forecast is made
        // here and decides nothing.
        let prediction = prediction.or_else(|| {
            let wanted = self.config.forecasts == Forecasts::EveryJob;
            let startable = loras.can_start(app, &mut self.places).then_some(self.places.as_slice());
            wanted.then(|| predict(cx.now(), loras, app, startable, true, self.config.overrun)).flatten()
        });
        let entry = &mut self.jobs[key as usize];
        entry.cluster = cluster;
        entry.dispatched = cx.now();
        entry.predicted = prediction.map(|prediction| prediction.turnaround);
        self.clusters[cluster.index()].queue.push_back(WaitingJob { key, app: *app });
        // A job behind another waits for it.
        if self.clusters[cluster.index()].queue.len() == 1 {
            self.serve(cluster, cx);
        }
    }

    fn serve(&mut self, cluster: SiteId, cx: &mut impl Context<Event>) {
        let Self { clusters, completions, jobs, places, times, first_nodes, .. } = self;
        let now = cx.now();
        let before = clusters[cluster.index()].queue.len();
        clusters[cluster.index()].start_waiting(
            &mut completions[cluster.index()],
            now,
            places,
            |waiting| work_of(jobs[waiting.key as usize].job.runtime.max(Span::from_nanos(1))),
            |waiting, places, _| {
                let job = waiting.app.job;
                cx.emit(Fact::Started { job, site: cluster, processors: waiting.app.tasks });
                for node in places {
                    cx.emit(Fact::Seized { job, processor: ProcId(first_nodes[cluster.index()] + node) });
                }
            },
        );
        // Jobs that start join the end of the list of running ones: the last `started` of them have just begun.
        let started = before - clusters[cluster.index()].queue.len();
        if started == 0 {
            return;
        }
        let state = &clusters[cluster.index()].state;
        for &slot in &state.live()[state.live().len() - started..] {
            jobs[state.running(slot).key as usize].start = now;
        }
        // The makespan and the window of local slowdown begin with the first start (§3.1).
        if times.first_start.is_none() {
            times.first_start = Some(now);
        }
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

    /// Ends jobs of a cluster; others may start.
    fn wake(&mut self, cluster: SiteId, cx: &mut impl Context<Event>) {
        self.wakes[cluster.index()] = None;
        let Self { clusters, completions, jobs, outcomes, times, due, first_nodes, .. } = self;
        let now = cx.now();
        clusters[cluster.index()].finish_due(&mut completions[cluster.index()], now, due, |key, nodes| {
            let entry = jobs.remove(key as usize);
            let job = entry.job.id;
            for node in nodes {
                cx.emit(Fact::Released { job, processor: ProcId(first_nodes[cluster.index()] + node) });
            }
            cx.emit(Fact::Finished { job });
            times.last_end = now;
            outcomes.record(&Outcome {
                job,
                cluster,
                arrival: entry.job.submit,
                dispatched: entry.dispatched,
                start: entry.start,
                finish: now,
                predicted: entry.predicted,
            });
        });
        self.serve(cluster, cx);
        self.post_wake(cluster, cx);
        self.call_for_decision(cx);
    }
}

fn rules(config: &Config, cluster: &Cluster) -> NodeRules {
    let (user_cpu, user_memory) = config.local.of_node(cluster.memory);
    NodeRules {
        speed: cluster.speed,
        mpl: config.mpl,
        mpl_beside_users: config.readings.mpl_beside_users.min(config.mpl),
        memory: cluster.memory,
        user_cpu,
        user_memory,
        task_overhead: config.task_overhead,
        loss: config.readings.hidden_loss,
        node_choice: config.readings.node_choice,
    }
}

impl<P, J, L> Model for MetaLoras<P, J, L>
where
    P: SelectCluster,
    J: Iterator<Item = Submission>,
    L: OutcomeSink,
{
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
