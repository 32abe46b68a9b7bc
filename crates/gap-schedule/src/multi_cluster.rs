//! Event-driven world of several machines of different size and speed behind one queue.

mod usage;

pub use usage::{Usage, UsageOver};

use crate::policy::{Policy, PolicyError};
use crate::predict::{Expired, Predictions};
use crate::queue::{Queue, QueuedJob};
use crate::view::{Machine, Running, RunningJob, Starts, View, site};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sim_core::{Context, EventKey, EventPriority, Fact, Job, JobId, Model, Prioritized, Rejection, SiteId, Span, Time};

/// One or more machines behind one queue: jobs from `J` arrive, the policy `P` decides which of them start and where,
/// and each job then holds its processors of one machine for its runtime at that machine's speed.
///
/// Policies see the run times that users requested, or predictions: see [`with_predictions`](Self::with_predictions).
///
/// The events of one instant have an order: predictions that expire, releases, arrivals, one scheduling pass (one of the
/// [`Passes`] has another order). The policy is not called while no job waits, unless it
/// [wants every event](Policy::wants_every_event). Jobs are pulled from `J` one at a time, each when its predecessor has arrived,
/// so memory follows the jobs in the system and not the length of a log.
///
/// It emits [`Fact::Submitted`], [`Fact::Started`] with the machine's index as the site, [`Fact::Finished`] and, for jobs
/// wider than every machine that they may use, [`Fact::Rejected`].
///
/// # Panics
///
/// While it runs: if `J` goes back in time, if two jobs in the system have the same id, if the policy starts a job that does
/// not wait, does not fit or may not run there, or requests a wakeup in the past.
#[derive(Clone, Debug)]
pub struct MultiCluster<P, J> {
    policy: P,
    arrivals: J,
    state: WorldState,
}

/// State of the world, its policy and inputs apart.
#[derive(Clone, Debug, Default)]
struct WorldState {
    machines: Vec<Machine>,
    queue: Queue,
    free: Vec<u32>,
    running: Vec<Running>,
    /// Jobs that wait or run. Never iterated.
    jobs: FxHashMap<JobId, WorldJob>,
    predictions: Option<Predictions>,
    passes: Passes,
    /// Next posted pass: that of the present instant, or the wakeup that the policy requested.
    posted: Option<(Time, EventKey)>,
    /// Result of the policy; scratch buffer, reused across passes.
    starts: Starts,
    /// Error of the policy, which is not called any more.
    error: Option<PolicyError>,
    /// Next arrival, if any: kept here, not in its event, so that events are small and the calendar moves little.
    coming: Option<Job>,
}

/// Job that waits or runs, with the facts that only the world knows.
#[derive(Clone, Debug)]
struct WorldJob {
    job: Job,
    /// Prediction at its submission, or the estimate of its user.
    expected: Option<Span>,
    run: Option<JobRun>,
}

#[derive(Clone, Debug)]
struct JobRun {
    /// Entry that policies see, unless the job has released its processors before its end was reported.
    running: RunningJob,
    ends_at: Time,
    /// Present prediction and its number of corrections.
    prediction: Option<Span>,
    corrections: u32,
    is_released: bool,
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

impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Expire(..) => EventPriority::new(1),
            Self::Finish(..) => EventPriority::RELEASE,
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
        Self { policy, arrivals, state: WorldState::new(machines) }
    }

    /// Replaces [`Passes::PerInstant`] by `passes`.
    #[must_use]
    pub fn with_passes(mut self, passes: Passes) -> Self {
        self.state.passes = passes;
        self
    }

    /// Predicts run times. Each job gets a prediction when it is submitted, which replaces its estimate in all that a
    /// policy sees. A job that outlives it gets another one from the corrector, if any, and the policy is notified
    /// ([`Policy::on_expiry`]). The expiry causes no pass, since nothing has become free. No job is killed by a prediction.
    #[must_use]
    pub fn with_predictions(mut self, predictions: impl Into<Option<Predictions>>) -> Self {
        self.state.predictions = predictions.into();
        self
    }

    /// Predictions, if any, with the counts so far.
    pub const fn predictions(&self) -> Option<&Predictions> {
        self.state.predictions.as_ref()
    }

    /// Returns the world at `now`, as its policy sees it.
    pub fn view(&self, now: Time) -> View<'_> {
        self.state.view(now)
    }

    /// Policy, with its present state.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Error of the policy, if it has failed. No job has started since.
    pub fn error(&self) -> Option<PolicyError> {
        // It may have failed after its last pass.
        self.state.error.clone().or_else(|| self.policy.error())
    }

    fn post_next_arrival(&mut self, cx: &mut impl Context<Event>) {
        // After an error no further job is needed.
        self.state.coming = if self.state.error.is_none() { self.arrivals.next() } else { None };
        if let Some(job) = &self.state.coming {
            cx.post_at(job.submit, Event::Arrive);
        }
    }

    /// Returns true if no job is in the system, and none will arrive, or if the policy has failed.
    fn is_over(&self) -> bool {
        self.state.error.is_some() || self.state.coming.is_none() && self.state.jobs.is_empty()
    }

    /// Enqueues the job if some machine that it may use could ever hold it; rejects it otherwise.
    fn admit(&mut self, job: &Job, cx: &mut impl Context<Event>) {
        cx.emit(Fact::Submitted(*job));
        if !(0..self.state.machines.len()).any(|machine| self.view(cx.now()).suits(machine, &job.request)) {
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            return;
        }
        let id = job.id;
        let runs = self.state.jobs.get(&id).is_some_and(|present| present.run.is_some());
        assert!(!runs, "job {id} is submitted, but a job of this id still runs");
        let mut queued = QueuedJob::of(job);
        if let Some(predictions) = &mut self.state.predictions {
            queued.request.estimate = predictions.predict(&job.request, job.runtime);
        }
        self.state.queue.push(queued);
        self.policy.on_submit(&queued, &self.state.view(cx.now()));
        self.state.jobs.insert(id, WorldJob { job: *job, expected: queued.request.estimate, run: None });
    }

    /// Ends a job: releases its processors, if not released already, and informs the predictor and the policy.
    fn finish(&mut self, job: JobId, machine: SiteId, cx: &mut impl Context<Event>) {
        let WorldJob { job, expected, run } = self.state.jobs.remove(&job).expect("a job that ends is present");
        if let Some(predictions) = &mut self.state.predictions {
            predictions.end(&job.request, expected, job.runtime);
        }
        if let Some(run) = run.filter(|run| !run.is_released) {
            self.release(&run.running, machine, cx);
        }
    }

    fn release(&mut self, job: &RunningJob, machine: SiteId, cx: &mut impl Context<Event>) {
        self.state.release(job, machine);
        cx.emit(Fact::Finished { job: job.job });
        self.policy.on_completion(job, machine, &self.state.view(cx.now()));
    }

    /// Releases the jobs whose expected end and actual end are this instant, before any end is reported.
    fn release_due(&mut self, cx: &mut impl Context<Event>) {
        let now = cx.now();
        for machine in 0..self.state.machines.len() {
            let due = self.state.running[machine].iter().take_while(|job| job.expected_end <= now);
            let due: Vec<RunningJob> = due.filter(|job| job.expected_end == now).copied().collect();
            for job in due {
                let run = self.state.jobs.get_mut(&job.job).and_then(|present| present.run.as_mut());
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
        let place = self.state.machines[machine.index()];
        let present = self.state.jobs.get_mut(&job).expect("a job whose prediction expires is present");
        let run = present.run.as_mut().expect("a job whose prediction expires runs");
        let predictions = self.state.predictions.as_mut().expect("only a prediction expires");
        let expired = Expired {
            requested: present.job.request.estimate,
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
            cx.post_at(expected_end, Event::Expire(job, machine));
        }
        let after = run.running;
        self.state.release(&before, machine);
        self.state.seize(after, machine);
        self.policy.on_expiry(&before, &after, machine, &self.state.view(now));
    }

    /// Runs a pass now, or schedules a Decide event at the present instant, unless one is pending.
    fn call_for_pass(&mut self, cx: &mut impl Context<Event>) {
        match (self.state.passes, self.state.posted) {
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
        self.state.error.is_none() && (!self.state.queue.is_empty() || self.policy.wants_every_event())
    }

    /// Posts the next pass, replacing the posted one.
    fn post_pass(&mut self, at: Time, cx: &mut impl Context<Event>) {
        self.withdraw_pass(cx);
        self.state.posted = Some((at, cx.post_at(at, Event::Decide)));
    }

    fn withdraw_pass(&mut self, cx: &mut impl Context<Event>) {
        if let Some((_, key)) = self.state.posted.take() {
            cx.cancel(key);
        }
    }

    fn pass(&mut self, cx: &mut impl Context<Event>) {
        self.withdraw_pass(cx);
        if !self.has_something_to_ask() {
            return;
        }
        if self.state.passes == Passes::Pyss {
            self.release_due(cx);
        }
        let now = cx.now();
        let mut starts = std::mem::take(&mut self.state.starts);
        self.policy.schedule(&self.state.view(now), &mut starts);
        self.state.error = self.policy.error();
        if self.state.error.is_some() {
            return;
        }
        for (job, machine) in starts.drain(..) {
            self.start_now(job, machine, cx);
        }
        self.state.starts = starts;
        // Wakeups end with the last job, even if the policy requests them for ever.
        if let Some(at) = self.policy.next_wakeup().filter(|_| !self.is_over()) {
            assert!(at > now, "at {now} s the policy wants to be woken at {at} s, which is not ahead");
            self.post_pass(at, cx);
        }
    }

    fn start_now(&mut self, job: JobId, machine: SiteId, cx: &mut impl Context<Event>) {
        let queued = self.state.queue.remove(job);
        let queued = queued.unwrap_or_else(|| panic!("the policy started job {job}, which does not wait"));
        assert!(
            queued.request.sites.contains(machine),
            "the policy started job {job} on machine {machine}, which it may not use"
        );
        let now = cx.now();
        let place = self.state.machines[machine.index()];
        let running = place.running(job, &queued.request, now);
        let processors = running.processors;
        self.state.seize(running, machine);
        cx.emit(Fact::Started { job, site: machine, processors });
        let present = self.state.jobs.get_mut(&job).expect("a job that waits is present");
        let ends_at = now + place.takes(present.job.runtime);
        let is_last = self.state.passes == Passes::Pyss;
        let end = if is_last { Event::FinishLast(job, machine) } else { Event::Finish(job, machine) };
        cx.post_at(ends_at, end);
        // A prediction that will not expire needs no event. Policies cannot learn the actual run time from that.
        if self.state.predictions.is_some() && running.expected_end < ends_at {
            cx.post_at(running.expected_end, Event::Expire(job, machine));
        }
        let prediction = queued.request.estimate;
        present.run = Some(JobRun { running, ends_at, prediction, corrections: 0, is_released: false });
        self.policy.on_start(&running, machine, &self.state.view(now));
    }
}

impl<P: Policy, J: Iterator<Item = Job>> Model for MultiCluster<P, J> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        self.policy.begin(&self.state.view(cx.now()));
        self.post_next_arrival(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Expire(job, machine) => return self.expire(job, machine, cx),
            Event::Decide => {
                self.state.posted = None;
                return self.pass(cx);
            }
            Event::Finish(job, machine) | Event::FinishLast(job, machine) => self.finish(job, machine, cx),
            Event::Submit(job) => self.admit(&job, cx),
            Event::Arrive => {
                let job = self.state.coming.take().expect("the job of an arrival is here");
                self.admit(&job, cx);
                self.post_next_arrival(cx);
            }
        }
        self.call_for_pass(cx);
    }
}

impl WorldState {
    fn new(machines: Vec<Machine>) -> Self {
        for (index, Machine { processors, speed }) in machines.iter().enumerate() {
            assert!(*processors > 0, "machine {index} has no processors");
            assert!(speed.is_finite() && *speed > 0.0, "machine {index} has speed {speed}; a speed is above 0");
        }
        let free = machines.iter().map(|machine| machine.processors).collect();
        let running = vec![Running::default(); machines.len()];
        Self { machines, free, running, ..Self::default() }
    }

    fn view(&self, now: Time) -> View<'_> {
        View { now, machines: &self.machines, free: &self.free, running: &self.running, queue: &self.queue }
    }

    fn seize(&mut self, job: RunningJob, machine: SiteId) {
        let free = &mut self.free[machine.index()];
        *free = free.checked_sub(job.processors).unwrap_or_else(|| {
            let RunningJob { job, processors, .. } = job;
            panic!(
                "the policy started job {job} on {processors} processors of machine {machine}, where {free} are free"
            )
        });
        self.running[machine.index()].insert(job);
    }

    fn release(&mut self, job: &RunningJob, machine: SiteId) {
        self.running[machine.index()].remove(job);
        self.free[machine.index()] += job.processors;
    }
}
