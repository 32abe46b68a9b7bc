//! Events of Alea, and their order.

use crate::state::{Clock, GridState, JobIndex, JobRequest, executed_time, work};
use sim_core::{
    Context, EventPriority, Fact, Job, JobId, JobLog, JobRecord, Model, Prioritized, Rejection, Sim, SiteId, Span, Time,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Clusters behind one scheduler that sends one job at a time.
///
/// A scheduling pass sends one job at most, under Best Gap one to each cluster. Their processors count as taken at
/// once, but the first starts 8 ms later, a second one 8 ms after it, and no further pass runs until all have started:
/// jobs that arrive in the meantime are only queued or planned. The last start calls the next pass. So a batch that was
/// decided at `t` starts at `t` + 0.008, `t` + 0.016, …, and two limits are hardly ever reached at one instant.
///
/// A cluster looks for finished jobs whenever one of its jobs has run for ⌊work + 1⌋ seconds, and then finds all whose
/// work is done. So a job runs a second too long, unless its cluster looks in that last second.
///
/// It emits [`Fact::Submitted`], [`Fact::Started`] with the cluster as the site, [`Fact::Finished`] and, for jobs that
/// no cluster suits, [`Fact::Rejected`].
#[derive(Clone, Debug)]
pub struct World<P> {
    /// Jobs with their true run times, which the policy does not see.
    jobs: Arc<[Job]>,
    state: GridState,
    policy: P,
    /// Start of each job, once it runs.
    starts: Vec<Clock>,
    /// Running jobs by the instant at which their work is done, for each cluster.
    working: Vec<BinaryHeap<Reverse<(Time, JobIndex)>>>,
    /// Number of jobs submitted and not ended.
    present: usize,
    on_their_way: usize,
    pass_is_due: bool,
    /// Instant at which jobs submitted earlier are sent.
    start_up: Time,
}

/// Event of a [`World`]. At one instant, the event that was posted first happens first.
#[derive(Clone, Debug)]
pub enum Event {
    /// A job arrives.
    Arrive(JobIndex),
    /// The policy selects jobs to send.
    Pass(Clock),
    /// The job that was sent to this cluster starts.
    Start(JobIndex, SiteId, Clock),
    /// A cluster looks for finished jobs.
    Look(SiteId, Clock),
    /// The policy may improve its plan.
    Search(Clock),
}

/// Scheduler of Alea, as a set of reactions to events. It sees the [`GridState`], and no run times.
#[expect(unused_variables, reason = "a method with a default body documents its arguments")]
pub trait Policy {
    /// Called when a job arrives that some cluster suits.
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState);

    /// Removes the jobs to send next from the queue or the plan, and appends them to `sent`, each with its cluster,
    /// which has room for it; at most one to each cluster.
    fn select(&mut self, now: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>);

    /// Called when a job that was sent starts.
    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, state: &GridState) {}

    /// Called when a job has ended that started at `start`.
    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {}

    /// Period of the calls of [`search`](Self::search), if any.
    fn period(&self) -> Option<Span> {
        None
    }

    /// Improves the plan.
    fn search(&mut self, now: Clock, state: &GridState) {}
}

/// Returns the instant at which a simulator of these clusters, each with its nodes and its processors per node, is up:
/// 29.2416 s on Wagap ((20, 80) and (48, 12)), 16.9688 s on 120 nodes of 2. See [`World`].
///
/// It waits for 10 s, queries the composition of every cluster, and admits jobs 5 s after the last answer
/// (`Scheduler.body`). Queries and answers pass lines of 10 000 bits per second (`baudRate`): a query has 12 bytes, an
/// answer 49, 4 more for each node and 8 for each processor (`getByteSize` of GridSim's `ResourceCharacteristics`,
/// `Machine` and `PE`; 25 of the 49 are the words "Pentium 4" and "Scientific Linux").
pub fn start_up(clusters: impl IntoIterator<Item = (u32, u32)>) -> Time {
    let bytes = |(nodes, per_node): (u32, u32)| {
        let (nodes, per_node) = (u64::from(nodes), u64::from(per_node));
        12 + 49 + nodes * (4 + 8 * per_node)
    };
    let bytes: u64 = clusters.into_iter().map(bytes).sum();
    Time::from_secs(15) + Span::from_nanos(800_000 * bytes)
}

/// Delay from the decision to the start.
const TRAVEL: Span = Span::from_nanos(8_000_000);

/// Time from the first period of the search to the first job: the simulator starts its timer 5 s before it admits jobs.
const TIMER_LEAD: Span = Span::from_secs(5);

impl Prioritized for Event {
    /// The same for every event: Alea has no priorities, only the order of posting.
    fn priority(&self) -> EventPriority {
        EventPriority::ARRIVE
    }
}

impl<P: Policy> World<P> {
    /// Returns idle clusters of these `processors`, the largest first, scheduled by `policy`, to which `jobs` arrive.
    ///
    /// # Panics
    ///
    /// If the clusters are not in order of size, if there are more than 127, or if the jobs are not in order of submission.
    pub fn new(processors: &[u32], policy: P, jobs: impl Into<Arc<[Job]>>) -> Self {
        let jobs = jobs.into();
        assert!(processors.len() <= 127, "a job distinguishes at most 127 clusters, not {}", processors.len());
        assert!(processors.is_sorted_by(|a, b| a >= b), "clusters come in order of size, not {processors:?}");
        assert!(jobs.is_sorted_by_key(|job| job.submit), "jobs come in order of submission");
        Self {
            policy,
            starts: vec![Clock::at(Time::ZERO); jobs.len()],
            working: vec![BinaryHeap::new(); processors.len()],
            present: 0,
            on_their_way: 0,
            pass_is_due: false,
            start_up: start_up([(20, 80), (48, 12)]),
            state: GridState::new(processors),
            jobs,
        }
    }

    /// Sets the instant at which the simulator is up: jobs submitted earlier are sent then, and searches are timed from
    /// then. 29.2416 s by default, as on Wagap; [`start_up`] computes it for other clusters.
    #[must_use]
    pub const fn with_start_up(mut self, start_up: Time) -> Self {
        self.start_up = start_up;
        self
    }

    /// Runs to the end, and returns every job's record, in order of ids.
    pub fn run(self) -> Vec<JobRecord> {
        let (_, log) = Sim::new(self, JobLog::collecting()).run();
        let mut records = log.into_sink();
        records.sort_by_key(|record| record.job.id);
        records
    }

    /// Policy, with its queue or plan.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    fn post_next_arrival(&self, cx: &mut impl Context<Event>) {
        let next = self.state.submitted();
        if let Some(job) = self.jobs.get(next) {
            let index = JobIndex(u32::try_from(next).expect("fewer than 4 billion jobs"));
            cx.post_at(job.submit.max(self.start_up), Event::Arrive(index));
        }
    }

    fn call_for_pass(&mut self, now: Clock, cx: &mut impl Context<Event>) {
        if self.on_their_way == 0 && !self.pass_is_due {
            self.pass_is_due = true;
            cx.post_at(now.time, Event::Pass(now));
        }
    }

    fn arrive(&mut self, job: JobIndex, cx: &mut impl Context<Event>) {
        let mut submitted = *self.job(job);
        self.state.submit(JobRequest::of(&submitted));
        // Alea's results know no users.
        submitted.request.user = None;
        cx.emit(Fact::Submitted(submitted));
        if self.state.cluster_ids().any(|cluster| self.state.suits(cluster, job)) {
            self.present += 1;
            let now = Clock::at(cx.now());
            self.policy.submit(job, now, &self.state);
            self.call_for_pass(now, cx);
        } else {
            cx.emit(Fact::Rejected { job: self.id(job), reason: Rejection::TooWide });
        }
    }

    fn pass(&mut self, now: Clock, cx: &mut impl Context<Event>) {
        if self.on_their_way > 0 {
            return;
        }
        let mut sent = Vec::new();
        self.policy.select(now, &self.state, &mut sent);
        self.on_their_way = sent.len();
        // The line carries one job after the other.
        let mut arrival = now;
        for (job, cluster) in sent {
            self.state.send(job, cluster);
            arrival = arrival.after(TRAVEL);
            cx.post_at(arrival.time, Event::Start(job, cluster, arrival));
        }
    }

    fn begin(&mut self, job: JobIndex, cluster: SiteId, now: Clock, cx: &mut impl Context<Event>) {
        self.state.start(job, cluster, now);
        self.starts[job.index()] = now;
        let done = now.time + work(self.job(job));
        self.working[cluster.index()].push(Reverse((done, job)));
        let end = now.after(executed_time(self.job(job)));
        cx.post_at(end.time, Event::Look(cluster, end));
        let processors = self.state.request(job).processors;
        cx.emit(Fact::Started { job: self.id(job), site: cluster, processors });
        self.policy.start(job, cluster, now, &self.state);
        self.on_their_way -= 1;
        self.pass(now, cx);
    }

    fn look(&mut self, cluster: SiteId, now: Clock, cx: &mut impl Context<Event>) {
        let mut done = Vec::new();
        while let Some(Reverse((at, job))) = self.working[cluster.index()].peek()
            && *at <= now.time
        {
            done.push(*job);
            self.working[cluster.index()].pop();
        }
        // All of them are done before the scheduler is informed of the first.
        for &job in &done {
            self.state.finish(job, cluster);
            self.present -= 1;
            cx.emit(Fact::Finished { job: self.id(job) });
        }
        for &job in &done {
            self.policy.finish(job, cluster, self.starts[job.index()], now, &self.state);
        }
        if !done.is_empty() {
            self.call_for_pass(now, cx);
        }
    }

    fn job(&self, job: JobIndex) -> &Job {
        &self.jobs[job.index()]
    }

    fn id(&self, job: JobIndex) -> JobId {
        self.job(job).id
    }
}

impl<P: Policy> Model for World<P> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        if let Some(period) = self.policy.period() {
            let started = self.start_up.since(Time::ZERO).saturating_sub(TIMER_LEAD);
            let first = Clock::at(Time::ZERO + started + period);
            cx.post_at(first.time, Event::Search(first));
        }
        self.post_next_arrival(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Arrive(job) => {
                self.arrive(job, cx);
                self.post_next_arrival(cx);
            }
            Event::Pass(now) => {
                self.pass_is_due = false;
                self.pass(now, cx);
            }
            Event::Start(job, cluster, now) => self.begin(job, cluster, now, cx),
            Event::Look(cluster, now) => self.look(cluster, now, cx),
            Event::Search(now) => {
                let is_over = self.state.submitted() == self.jobs.len() && self.present == 0;
                if let Some(period) = self.policy.period().filter(|_| !is_over) {
                    self.policy.search(now, &self.state);
                    let next = now.after(period);
                    cx.post_at(next.time, Event::Search(next));
                    self.call_for_pass(now, cx);
                }
            }
        }
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        (**self).submit(job, now, state);
    }

    fn select(&mut self, now: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        (**self).select(now, state, sent);
    }

    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, state: &GridState) {
        (**self).start(job, cluster, now, state);
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        (**self).finish(job, cluster, start, now, state);
    }

    fn period(&self) -> Option<Span> {
        (**self).period()
    }

    fn search(&mut self, now: Clock, state: &GridState) {
        (**self).search(now, state);
    }
}
