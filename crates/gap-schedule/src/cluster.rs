//! What happens on one pool of processors, and in which order.

use crate::dispatch::{Dispatch, View};
use crate::queue::Queue;
use crate::running::{Running, RunningJob};
use serde::{Deserialize, Serialize};
use sim_core::{Context, EventPriority, Fact, Job, JobId, Model, Pool, Prioritized, Rejection, SiteId};

/// One pool of processors behind one queue: jobs from `J` arrive, the policy `P` says which of them start, and each
/// then holds its processors for its runtime.
///
/// What happens at one instant has an order: releases, then arrivals, then one scheduling pass ([`Passes`]). The policy
/// is not asked while nobody waits. Jobs are pulled from `J` one at a time, each when its predecessor has
/// arrived, so memory follows the jobs that wait or run and not the length of the log.
///
/// It tells [`Fact::Submitted`], [`Fact::Started`], [`Fact::Finished`] and, of jobs wider than the pool,
/// [`Fact::Rejected`]. It can be a part of a larger model: lift its [`Event`]s, and post [`Event::Arrive`] yourself (with
/// [`std::iter::empty`] for `J`).
///
/// # Panics
///
/// While it runs: if `J` goes back in time, if two jobs that wait have the same id, or if the policy starts a job that
/// does not wait or does not fit.
#[derive(Clone, Debug)]
pub struct Cluster<P, J> {
    site: SiteId,
    pool: Pool,
    queue: Queue,
    running: Running,
    policy: P,
    passes: Passes,
    /// Whether a pass at the present instant has already been posted.
    pass_is_due: bool,
    /// The policy's answer, kept for its memory only.
    starts: Vec<JobId>,
    arrivals: J,
}

/// When the policy is asked.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// Once for each instant at which something happened, after all of it: the policy sees the whole instant. (A job of
    /// no length ends at the instant of its start; the pass that follows is the second of that instant.)
    #[default]
    PerInstant,
    /// After every single event, as older simulators do. Of two jobs that end at one instant, the second then still
    /// holds its processors when the policy is asked for the first time.
    PerEvent,
}

/// What can happen to a [`Cluster`].
#[derive(Clone, Debug)]
pub enum Event {
    /// A job comes in.
    Arrive(Job),
    /// A job ends and gives its processors back.
    Finish(RunningJob),
    /// All that happens at this instant has happened: the policy is asked.
    Decide,
}

impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Finish(_) => EventPriority::RELEASE,
            Self::Arrive(_) => EventPriority::ARRIVE,
            Self::Decide => EventPriority::DECIDE,
        }
    }
}

impl<P: Dispatch, J: Iterator<Item = Job>> Cluster<P, J> {
    /// An empty cluster of `processors`, scheduled by `policy`, to which `arrivals` come in order of submission.
    pub fn new(processors: u32, policy: P, arrivals: J) -> Self {
        Self {
            site: SiteId(0),
            pool: Pool::new(processors),
            queue: Queue::new(),
            running: Running::new(),
            policy,
            passes: Passes::PerInstant,
            pass_is_due: false,
            starts: Vec::new(),
            arrivals,
        }
    }

    /// The same, with `passes` instead of [`Passes::PerInstant`].
    #[must_use]
    pub fn with_passes(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// The same, telling `site` instead of `SiteId(0)` as the place where jobs start.
    #[must_use]
    pub fn at_site(self, site: SiteId) -> Self {
        Self { site, ..self }
    }

    /// Its processors: how many there are, how many are free.
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The jobs that wait.
    pub const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The jobs that run.
    pub const fn running(&self) -> &Running {
        &self.running
    }

    /// The policy, with whatever it has learnt.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    fn post_next_arrival(&mut self, cx: &mut impl Context<Event>) {
        if let Some(job) = self.arrivals.next() {
            cx.post_at(job.submit, Event::Arrive(job));
        }
    }

    /// Queues the job, if the pool could ever hold it.
    fn admit(&mut self, job: &Job, cx: &mut impl Context<Event>) {
        cx.emit(Fact::Submitted(*job));
        if job.request.processors > self.pool.capacity() {
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
        } else {
            self.queue.admit(job);
        }
    }

    fn release(&mut self, job: &RunningJob, cx: &mut impl Context<Event>) {
        self.running.remove(job);
        self.pool.release(job.processors);
        cx.emit(Fact::Finished { job: job.job });
    }

    /// Sees to it that the policy is asked about what has just happened.
    fn call_for_pass(&mut self, cx: &mut impl Context<Event>) {
        match self.passes {
            Passes::PerEvent => self.pass(cx),
            Passes::PerInstant if self.pass_is_due || self.queue.is_empty() => {}
            Passes::PerInstant => {
                self.pass_is_due = true;
                cx.post_at(cx.now(), Event::Decide);
            }
        }
    }

    /// Asks the policy, and does as it says.
    fn pass(&mut self, cx: &mut impl Context<Event>) {
        if self.queue.is_empty() {
            return;
        }
        let view = View {
            now: cx.now(),
            free: self.pool.free(),
            capacity: self.pool.capacity(),
            queue: &self.queue,
            running: &self.running,
        };
        self.policy.dispatch(&view, &mut self.starts);
        let mut starts = std::mem::take(&mut self.starts);
        for job in starts.drain(..) {
            self.start_now(job, cx);
        }
        self.starts = starts;
    }

    fn start_now(&mut self, job: JobId, cx: &mut impl Context<Event>) {
        let (waiting, runtime) =
            self.queue.take(job).unwrap_or_else(|| panic!("the policy started job {job}, which does not wait"));
        let processors = waiting.request.processors;
        let free = self.pool.free();
        assert!(
            self.pool.try_seize(processors),
            "the policy started job {job} on {processors} processors where {free} are free"
        );
        let running = RunningJob::new(job, &waiting.request, cx.now());
        self.running.insert(running);
        cx.emit(Fact::Started { job, site: self.site, processors });
        cx.post_in(runtime, Event::Finish(running));
    }
}

impl<P: Dispatch, J: Iterator<Item = Job>> Model for Cluster<P, J> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        self.post_next_arrival(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::Finish(job) => {
                self.release(&job, cx);
                self.call_for_pass(cx);
            }
            Event::Arrive(job) => {
                self.admit(&job, cx);
                self.post_next_arrival(cx);
                self.call_for_pass(cx);
            }
            Event::Decide => {
                self.pass_is_due = false;
                self.pass(cx);
            }
        }
    }
}
