//! Event-driven world of several machines of different size and speed behind one queue.

mod contention;
mod machine_pool;
mod predictions;
mod usage;

pub use contention::Contention;
pub use predictions::{PredictionCounts, Predictions};
pub use usage::{Usage, UsageOver};

use crate::policy::{Policy, PolicyError};
use crate::predict::Expired;
use crate::queue::QueuedJob;
use crate::view::{Machine, RunningJob, Starts, View, site};
use machine_pool::{MachinePool, PendingRepair};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sim_core::{
    Context, EventKey, EventPriority, Fact, Job, JobId, Model, Outage, Prioritized, Rejection, Request, SiteId, Span,
    Time,
};
use std::iter::Empty;

/// One or more machines behind one queue: jobs from `J` arrive, the policy `P` decides which of them start and where,
/// and each job then holds its processors of one machine for its runtime at that machine's speed. Machines fail and are
/// repaired according to `O`, by default never: see [`with_outages`](Self::with_outages).
///
/// Policies see the run times that users requested, or predictions: see [`with_predictions`](Self::with_predictions).
///
/// The events of one instant have an order: predictions that expire, releases, repairs, failures, arrivals, one scheduling pass
/// (one of the [`Passes`] has another order). So a job that ends as its machine fails has ended; of two outages that touch, the
/// first is over when the second begins; and no job starts on a machine that fails at that instant. The policy is not called while
/// no job waits, unless it [wants every event](Policy::wants_every_event). Jobs are pulled from `J` one at a time, each when its
/// predecessor has arrived, and outages from `O` likewise, so memory follows the jobs in the system and not the length of a log.
///
/// It emits [`Fact::Submitted`], [`Fact::Started`] with the machine's index as the site, [`Fact::Interrupted`],
/// [`Fact::Finished`] and, for jobs wider than every machine that they may use, [`Fact::Rejected`].
///
/// # Panics
///
/// While it runs: if `J` or `O` goes back in time, if two jobs in the system have the same id, if a job has the id
/// [`RunningJob::OUTAGE`], if an outage ends before it begins or names no machine, if the policy starts a job that does
/// not wait, does not fit or may not run there, or requests a wakeup in the past.
#[derive(Clone, Debug)]
pub struct MultiCluster<P, J, O = Empty<Outage>> {
    pool: MachinePool,
    /// Jobs that wait or run. Never iterated.
    jobs: FxHashMap<JobId, WorldJob>,
    policy: P,
    passes: Passes,
    /// Next posted pass: that of the present instant, or the wakeup that the policy requested.
    posted: Option<(Time, EventKey)>,
    /// Result of the policy; scratch buffer, reused across passes.
    starts: Starts,
    /// Error of the policy, which is not called any more.
    error: Option<PolicyError>,
    arrivals: J,
    /// Next arrival. It is kept here rather than in its event, so that events are small and the calendar moves little.
    coming: Option<Job>,
    /// True if `arrivals` is exhausted.
    all_have_come: bool,
    outages: O,
    predictions: Option<Predictions>,
}

/// Event of a [`MultiCluster`].
#[derive(Clone, Debug)]
pub enum Event {
    /// The next job of the stream arrives.
    Arrive,
    /// A job that is not of the stream arrives.
    Submit(Box<Job>),
    /// A running job outlives its prediction.
    Expire(JobId, SiteId),
    /// A job ends and releases its processors of that machine.
    Finish(JobId, SiteId),
    /// A job ends, where the submissions of an instant come before the ends ([`Passes::Pyss`]).
    FinishLast(JobId, SiteId),
    /// A machine fails.
    Down(Outage),
    /// A machine has been repaired.
    Up(SiteId),
    /// All other events of this instant have happened: the policy is called.
    Decide,
}

/// Times at which the policy is called.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// Once for each instant with an event, after all events: the policy sees the whole instant. (A job of no length
    /// ends at the instant of its start; the pass that follows is the second of that instant.)
    #[default]
    PerInstant,
    /// After every single event, as in older simulators. If two jobs end at one instant, the second still holds its
    /// processors at the first call.
    PerEvent,
    /// In the order of the simulator pyss. At one instant: predictions that expire, submissions, ends; a pass follows
    /// every submission and every end, but no expiry. A pass treats the processors of a job whose expected end and
    /// actual end are this very instant as free, though its end has not been reported yet.
    ///
    /// Its EASY makes the pass after a submission only if the submitted job fits the free processors:
    /// [`OrderedBackfill::if_newcomer_fits`](crate::OrderedBackfill::if_newcomer_fits).
    Pyss,
}

/// Job that waits or runs, with the facts that only the world knows.
#[derive(Clone, Debug)]
struct WorldJob {
    job: Job,
    /// Prediction at its submission, or the estimate of its user.
    expected: Option<Span>,
    run: Option<JobRun>,
}

/// Run of a job that has started.
#[derive(Clone, Debug)]
struct JobRun {
    /// Entry that policies see, unless the job has released its processors before its end was reported.
    running: RunningJob,
    ends_at: Time,
    end: EventKey,
    /// Present prediction and its number of corrections.
    prediction: Option<Span>,
    corrections: u32,
    expiry: Option<EventKey>,
    is_released: bool,
}

impl WorldJob {
    /// Returns the job as policies see it.
    const fn queued(&self) -> QueuedJob {
        let Job { id: job, submit, request, .. } = self.job;
        QueuedJob { job, request: Request { estimate: self.expected, ..request }, submit }
    }
}

impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Expire(..) => EventPriority::new(1),
            Self::Finish(..) => EventPriority::RELEASE,
            Self::Up(_) => EventPriority::new(3),
            Self::Down(_) => EventPriority::new(4),
            Self::Arrive | Self::Submit(_) => EventPriority::ARRIVE,
            Self::FinishLast(..) => EventPriority::new(8),
            Self::Decide => EventPriority::DECIDE,
        }
    }
}

impl<P: Policy, J: Iterator<Item = Job>> MultiCluster<P, J> {
    /// Returns idle `machines` under `policy`, to which `arrivals` come in order of submission.
    ///
    /// # Panics
    ///
    /// If a machine has no processors, or a speed that is not a positive number.
    pub fn new(machines: Vec<Machine>, policy: P, arrivals: J) -> Self {
        Self::under(MachinePool::new(machines), policy, arrivals, std::iter::empty())
    }

    /// Adds failures of machines: `outages` in order of [`Outage::down`]; the site is the machine's index.
    ///
    /// All jobs on a machine that fails lose their processors and their work. They wait again, in order of id and
    /// behind all jobs that already wait, as if they had just arrived, and will start from the beginning. The machine
    /// has no free processors until it has been repaired. If it fails while it is down, it stays down until the later
    /// of both repairs.
    ///
    /// The policy does not know the time of the repair. It sees an entry, not a job, that holds all processors of a machine
    /// that is down, with the expected repair as its expected end ([`with_repair_expected`](Self::with_repair_expected)). A
    /// repair that takes longer looks like a job that outlives its estimate.
    ///
    /// `outages` may be endless: it is not read further once the last job has left. A run then ends if every job gets a period
    /// between two failures that is as long as it needs. It does not end while a job waits for a machine that is down for ever.
    pub fn with_outages<I: IntoIterator<Item = Outage>>(self, outages: I) -> MultiCluster<P, J, I::IntoIter> {
        let Self { pool, policy, arrivals, passes, predictions, .. } = self;
        let world = MultiCluster::under(pool, policy, arrivals, outages.into_iter());
        MultiCluster { passes, predictions, ..world }
    }
}

impl<P, J, O> MultiCluster<P, J, O> {
    /// Returns the world in its initial state.
    fn under(pool: MachinePool, policy: P, arrivals: J, outages: O) -> Self {
        Self {
            pool,
            jobs: FxHashMap::default(),
            policy,
            passes: Passes::PerInstant,
            posted: None,
            starts: Vec::new(),
            error: None,
            arrivals,
            coming: None,
            all_have_come: false,
            outages,
            predictions: None,
        }
    }
}

impl<P: Policy, J: Iterator<Item = Job>, O: Iterator<Item = Outage>> MultiCluster<P, J, O> {
    /// Replaces [`Passes::PerInstant`] by `passes`.
    #[must_use]
    pub fn with_passes(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// Sets the expected length of repairs: a known mean, or [`Span::MAX`], the default, if none is known.
    #[must_use]
    pub fn with_repair_expected(mut self, span: Span) -> Self {
        self.pool.repair_expected = span;
        self
    }

    /// Predicts run times. Each job gets a prediction when it is submitted, which replaces its estimate in all that a
    /// policy sees. A job that outlives it gets another one from the corrector, if any, and the policy is notified
    /// ([`Policy::on_expiry`]). The expiry causes no pass, since nothing has become free.
    ///
    /// No job is killed by a prediction: it runs for its runtime, which the caller has cut at the request if limits are enforced.
    #[must_use]
    pub fn with_predictions(self, predictions: Predictions) -> Self {
        Self { predictions: Some(predictions), ..self }
    }

    /// Predictions, if any, with the counts so far.
    pub const fn predictions(&self) -> Option<&Predictions> {
        self.predictions.as_ref()
    }

    /// Returns the world at `now`, as its policy sees it.
    pub fn view(&self, now: Time) -> View<'_> {
        self.pool.view(now)
    }

    /// Policy, with its present state.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Error of the policy, if it has failed. No job has started since.
    pub fn error(&self) -> Option<PolicyError> {
        // It may have failed after its last pass.
        self.error.clone().or_else(|| self.policy.error())
    }

    fn post_next_arrival(&mut self, cx: &mut impl Context<Event>) {
        // After an error no further job is needed.
        self.coming = if self.error.is_none() { self.arrivals.next() } else { None };
        match &self.coming {
            Some(job) => {
                cx.post_at(job.submit, Event::Arrive);
            }
            None => self.all_have_come = true,
        }
    }

    fn post_next_outage(&mut self, cx: &mut impl Context<Event>) {
        let Some(outage) = self.outages.next() else { return };
        let Outage { site, down, up } = outage;
        let (now, machines) = (cx.now(), self.pool.machines.len());
        assert!(site.index() < machines, "machine {site} fails at {down} s, but there are {machines}, counted from 0");
        assert!(down >= now, "outages are out of order: machine {site} fails at {down} s, but it is already {now} s");
        assert!(up >= down, "machine {site} fails at {down} s and cannot be repaired at {up} s");
        cx.post_at(down, Event::Down(outage));
    }

    /// Returns true if no job is in the system, and none will arrive, or if the policy has failed.
    fn is_over(&self) -> bool {
        self.error.is_some() || self.all_have_come && self.jobs.is_empty()
    }

    /// Enqueues the job if some machine that it may use could ever hold it; rejects it otherwise.
    fn admit(&mut self, job: &Job, cx: &mut impl Context<Event>) {
        cx.emit(Fact::Submitted(*job));
        if !(0..self.pool.machines.len()).any(|machine| self.view(cx.now()).suits(machine, &job.request)) {
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            return;
        }
        let id = job.id;
        assert!(id != RunningJob::OUTAGE, "job {id} has the id of an outage");
        let runs = self.jobs.get(&id).is_some_and(|present| present.run.is_some());
        assert!(!runs, "job {id} is submitted, but a job of this id still runs");
        let expected = match &mut self.predictions {
            Some(predictions) => predictions.predict(&job.request, job.runtime),
            None => job.request.estimate,
        };
        let present = WorldJob { job: *job, expected, run: None };
        self.enqueue(present.queued(), cx.now());
        self.jobs.insert(id, present);
    }

    fn enqueue(&mut self, job: QueuedJob, now: Time) {
        self.pool.queue.push(job);
        self.policy.on_submit(&job, &self.pool.view(now));
    }

    /// Ends a job: releases its processors, if not released already, and informs the predictor and the policy.
    fn finish(&mut self, job: JobId, machine: SiteId, cx: &mut impl Context<Event>) {
        let WorldJob { job, expected, run } = self.jobs.remove(&job).expect("a job that ends is present");
        if let Some(predictions) = &mut self.predictions {
            predictions.end(&job.request, expected, job.runtime);
        }
        if let Some(run) = run.filter(|run| !run.is_released) {
            self.release(&run.running, machine, cx);
        }
    }

    fn release(&mut self, job: &RunningJob, machine: SiteId, cx: &mut impl Context<Event>) {
        self.pool.release(job, machine);
        cx.emit(Fact::Finished { job: job.job });
        self.policy.on_completion(job, machine, &self.pool.view(cx.now()));
    }

    /// Releases the jobs whose expected end and actual end are this instant, before any end is reported.
    fn release_due(&mut self, cx: &mut impl Context<Event>) {
        let now = cx.now();
        for machine in 0..self.pool.machines.len() {
            let due = self.pool.running[machine].iter().take_while(|job| job.expected_end <= now);
            let due: Vec<RunningJob> = due.filter(|job| job.expected_end == now).copied().collect();
            for job in due {
                let run = self.jobs.get_mut(&job.job).and_then(|present| present.run.as_mut());
                if let Some(run) = run.filter(|run| run.ends_at == now) {
                    run.is_released = true;
                    self.release(&job, site(machine), cx);
                }
            }
        }
    }

    /// Replaces the expired prediction of a job by a corrected one.
    fn expire(&mut self, job: JobId, machine: SiteId, cx: &mut impl Context<Event>) {
        let now = cx.now();
        let place = self.pool.machines[machine.index()];
        let present = self.jobs.get_mut(&job).expect("a job whose prediction expires is present");
        let run = present.run.as_mut().expect("a job whose prediction expires runs");
        let predictions = self.predictions.as_mut().expect("only a prediction expires");
        run.expiry = None;
        let expired = Expired {
            job,
            request: present.job.request,
            first: present.expected.expect("only a prediction expires"),
            prediction: run.prediction.expect("only a prediction expires"),
            corrections: run.corrections,
        };
        let Some(corrected) = predictions.correct(&expired) else { return };
        let expected_end = run.running.start.saturating_add(place.takes(corrected));
        if expected_end <= now {
            return;
        }
        predictions.counts.corrections += 1;
        run.prediction = Some(corrected);
        run.corrections += 1;
        let before = run.running;
        run.running.expected_end = expected_end;
        if expected_end < run.ends_at {
            run.expiry = Some(cx.post_at(expected_end, Event::Expire(job, machine)));
        }
        let after = run.running;
        self.pool.release(&before, machine);
        self.pool.seize(after, machine);
        self.policy.on_expiry(&before, &after, machine, &self.pool.view(now));
    }

    /// Takes the machine down, and requeues the jobs that ran there.
    fn fail(&mut self, outage: &Outage, cx: &mut impl Context<Event>) {
        let now = cx.now();
        let Outage { site, up, .. } = *outage;
        if let Some(repair) = &mut self.pool.repairs[site.index()] {
            if repair.at < up {
                if let Some(event) = repair.event {
                    cx.cancel(event);
                }
                *repair = post_repair(site, up, cx);
            }
            return;
        }
        let lost = self.pool.fail(site, post_repair(site, up, cx), now);
        for RunningJob { job, processors, .. } in &lost {
            let run = self.jobs.get_mut(job).and_then(|present| present.run.take());
            let run = run.expect("a job that runs has started");
            cx.cancel(run.end);
            if let Some(expiry) = run.expiry {
                cx.cancel(expiry);
            }
            cx.emit(Fact::Interrupted { job: *job, site, processors: *processors });
        }
        self.policy.on_failure(site, &lost, &self.pool.view(now));
        for RunningJob { job, .. } in lost {
            self.enqueue(self.jobs[&job].queued(), now);
        }
    }

    /// Runs a pass now, or schedules a Decide event at the present instant, unless one is pending.
    fn call_for_pass(&mut self, cx: &mut impl Context<Event>) {
        match (self.passes, self.posted) {
            (Passes::PerEvent | Passes::Pyss, _) => self.pass(cx),
            _ if !self.has_something_to_ask() => {}
            (Passes::PerInstant, Some((at, _))) if at == cx.now() => {}
            // The event would be the next to happen.
            (Passes::PerInstant, _) if cx.is_last_of_instant() => self.pass(cx),
            (Passes::PerInstant, _) => self.post_pass(cx.now(), cx),
        }
    }

    /// Returns true if a pass may change or report something: jobs wait, or the policy wants every event; and it has not failed.
    fn has_something_to_ask(&self) -> bool {
        self.error.is_none() && (!self.pool.queue.is_empty() || self.policy.wants_every_event())
    }

    /// Posts the next pass, replacing the posted one.
    fn post_pass(&mut self, at: Time, cx: &mut impl Context<Event>) {
        self.withdraw_pass(cx);
        self.posted = Some((at, cx.post_at(at, Event::Decide)));
    }

    fn withdraw_pass(&mut self, cx: &mut impl Context<Event>) {
        if let Some((_, key)) = self.posted.take() {
            cx.cancel(key);
        }
    }

    /// Calls the policy and starts its jobs.
    fn pass(&mut self, cx: &mut impl Context<Event>) {
        self.withdraw_pass(cx);
        if !self.has_something_to_ask() {
            return;
        }
        if self.passes == Passes::Pyss {
            self.release_due(cx);
        }
        let now = cx.now();
        self.policy.schedule(&self.pool.view(now), &mut self.starts);
        self.error = self.policy.error();
        if self.error.is_some() {
            self.starts.clear();
            return;
        }
        let mut starts = std::mem::take(&mut self.starts);
        for (job, machine) in starts.drain(..) {
            self.start_now(job, machine, cx);
        }
        self.starts = starts;
        // Wakeups end with the last job, even if the policy requests them for ever.
        if let Some(at) = self.policy.next_wakeup().filter(|_| !self.is_over()) {
            assert!(at > now, "at {now} s the policy wants to be woken at {at} s, which is not ahead");
            self.post_pass(at, cx);
        }
    }

    fn start_now(&mut self, job: JobId, machine: SiteId, cx: &mut impl Context<Event>) {
        let queued = self.pool.queue.remove(job);
        let queued = queued.unwrap_or_else(|| panic!("the policy started job {job}, which does not wait"));
        let present = self.jobs.get_mut(&job).expect("a job that waits is present");
        assert!(
            queued.request.sites.contains(machine),
            "the policy started job {job} on machine {machine}, which it may not use"
        );
        let now = cx.now();
        let place = self.pool.machines[machine.index()];
        let running = place.running(job, &queued.request, now);
        let processors = running.processors;
        self.pool.seize(running, machine);
        cx.emit(Fact::Started { job, site: machine, processors });
        let ends_at = now + place.takes(present.job.runtime);
        let is_last = self.passes == Passes::Pyss;
        let end = if is_last { Event::FinishLast(job, machine) } else { Event::Finish(job, machine) };
        let end = cx.post_at(ends_at, end);
        // A prediction that will not expire needs no event. Policies cannot learn the actual run time from that.
        let expires = self.predictions.is_some() && running.expected_end < ends_at;
        let expiry = expires.then(|| cx.post_at(running.expected_end, Event::Expire(job, machine)));
        let prediction = queued.request.estimate;
        present.run = Some(JobRun { running, ends_at, end, prediction, corrections: 0, expiry, is_released: false });
        self.policy.on_start(&running, machine, &self.pool.view(now));
    }
}

fn post_repair(machine: SiteId, at: Time, cx: &mut impl Context<Event>) -> PendingRepair {
    let event = (at < Time::MAX).then(|| cx.post_at(at, Event::Up(machine)));
    PendingRepair { at, event }
}

impl<P: Policy, J: Iterator<Item = Job>, O: Iterator<Item = Outage>> Model for MultiCluster<P, J, O> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        self.policy.begin(&self.pool.view(cx.now()));
        self.post_next_arrival(cx);
        self.post_next_outage(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Expire(job, machine) => self.expire(job, machine, cx),
            Event::Finish(job, machine) | Event::FinishLast(job, machine) => {
                self.finish(job, machine, cx);
                self.call_for_pass(cx);
            }
            Event::Arrive => {
                let job = self.coming.take().expect("the job of an arrival is here");
                self.admit(&job, cx);
                self.post_next_arrival(cx);
                self.call_for_pass(cx);
            }
            Event::Submit(job) => {
                self.admit(&job, cx);
                self.call_for_pass(cx);
            }
            // Without this, an endless stream of failures would go on after the last job.
            Event::Down(_) if self.is_over() => {}
            Event::Down(outage) => {
                self.fail(&outage, cx);
                self.post_next_outage(cx);
                self.call_for_pass(cx);
            }
            Event::Up(machine) => {
                self.pool.repair(machine);
                self.policy.on_repair(machine, &self.pool.view(cx.now()));
                self.call_for_pass(cx);
            }
            Event::Decide => {
                self.posted = None;
                self.pass(cx);
            }
        }
    }
}
