//! What happens on several machines of different size and speed, and in which order.

mod contention;
mod machine;
mod scheduler;
mod usage;

pub use contention::Contention;
pub use machine::Machine;
pub use scheduler::{GridView, Scheduler};
pub use usage::{Usage, UsageOver};

use crate::cluster::Passes;
use crate::queue::Waiting;
use crate::running::{Running, RunningJob};
use rustc_hash::FxHashMap;
use sim_core::{Context, EventKey, Fact, Job, JobId, Model, Rank, Ranked, Rejection, Request, SiteId, Span, Time};

/// Several machines behind one scheduler: jobs from `J` arrive, the scheduler `S` says which of them start and where, and
/// each then holds its processors of one machine for its runtime at that machine's speed.
///
/// What happens at one instant has an order: releases, then arrivals, then one scheduling pass ([`Passes`]). The
/// scheduler is not asked while nobody waits. Jobs are pulled from `J` one at a time, each when its predecessor
/// has arrived, so memory follows the jobs that wait or run and not the length of the log.
///
/// It tells [`Fact::Submitted`], [`Fact::Started`] with the machine's index as the site, [`Fact::Finished`] and, of jobs
/// wider than the widest machine, [`Fact::Rejected`].
///
/// # Panics
///
/// While it runs: if `J` goes back in time, if two jobs that wait have the same id, if the scheduler starts a job that
/// does not wait or does not fit, or wants to be woken in the past.
#[derive(Clone, Debug)]
pub struct Grid<S, J> {
    floor: Floor,
    waiting: FxHashMap<JobId, Waiter>, // never iterated: its order cannot reach a result
    scheduler: S,
    passes: Passes,
    /// The next pass that has been posted: the one of the present instant, or the one the scheduler wished for.
    posted: Option<(Time, EventKey)>,
    /// The scheduler's answer, kept for its memory only.
    starts: Vec<(JobId, SiteId)>,
    arrivals: J,
}

/// What can happen to a [`Grid`].
#[derive(Clone, Debug)]
pub enum GridEvent {
    /// A job comes in.
    Arrive(Job),
    /// A job ends and gives its processors of that machine back.
    Finish(RunningJob, SiteId),
    /// All that happens at this instant has happened: the scheduler is asked.
    Decide,
}

/// The machines and what runs on them.
#[derive(Clone, Debug)]
struct Floor {
    machines: Vec<Machine>,
    free: Vec<u32>,
    running: Vec<Running>,
}

/// A job that waits, and what only the world knows of it.
#[derive(Clone, Debug)]
struct Waiter {
    request: Request,
    runtime: Span,
}

impl Ranked for GridEvent {
    fn rank(&self) -> Rank {
        match self {
            Self::Finish(..) => Rank::RELEASE,
            Self::Arrive(_) => Rank::ARRIVE,
            Self::Decide => Rank::DECIDE,
        }
    }
}

impl<S: Scheduler, J: Iterator<Item = Job>> Grid<S, J> {
    /// An idle grid of `machines` under `scheduler`, to which `arrivals` come in order of submission.
    ///
    /// # Panics
    ///
    /// If a machine has no processors, or a speed that is not a positive number.
    pub fn new(machines: Vec<Machine>, scheduler: S, arrivals: J) -> Self {
        for (index, machine) in machines.iter().enumerate() {
            machine.check(index);
        }
        let free = machines.iter().map(|machine| machine.processors).collect();
        let running = vec![Running::new(); machines.len()];
        Self {
            floor: Floor { machines, free, running },
            waiting: FxHashMap::default(),
            scheduler,
            passes: Passes::PerInstant,
            posted: None,
            starts: Vec::new(),
            arrivals,
        }
    }

    /// The same, with `passes` instead of [`Passes::PerInstant`].
    #[must_use]
    pub fn with_passes(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// The grid at `now`, as its scheduler sees it.
    pub fn view(&self, now: Time) -> GridView<'_> {
        self.floor.view(now)
    }

    /// How many jobs wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The scheduler, with whatever it has learnt.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    fn post_next_arrival(&mut self, cx: &mut impl Context<GridEvent>) {
        if let Some(job) = self.arrivals.next() {
            cx.post_at(job.submit, GridEvent::Arrive(job));
        }
    }

    /// Lets the job wait, if some machine could ever hold it.
    fn admit(&mut self, job: &Job, cx: &mut impl Context<GridEvent>) {
        cx.tell(Fact::Submitted(*job));
        if !self.floor.machines.iter().any(|machine| machine.suits(&job.request)) {
            cx.tell(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            return;
        }
        let before = self.waiting.insert(job.id, Waiter { request: job.request, runtime: job.runtime });
        assert!(before.is_none(), "job {} joined a grid in which it waits already", job.id);
        let waiting = Waiting { job: job.id, request: job.request };
        self.scheduler.arrive(&waiting, job.submit, &self.floor.view(cx.now()));
    }

    fn release(&mut self, job: &RunningJob, machine: SiteId, cx: &mut impl Context<GridEvent>) {
        self.floor.running[machine.index()].remove(job);
        self.floor.free[machine.index()] += job.processors;
        cx.tell(Fact::Finished { job: job.job });
        self.scheduler.finish(job, machine, &self.floor.view(cx.now()));
    }

    /// Sees to it that the scheduler is asked about what has just happened.
    fn call_for_pass(&mut self, cx: &mut impl Context<GridEvent>) {
        match (self.passes, self.posted) {
            (Passes::PerEvent, _) => self.pass(cx),
            _ if self.waiting.is_empty() => {}
            (Passes::PerInstant, Some((at, _))) if at == cx.now() => {}
            (Passes::PerInstant, _) => self.post_pass(cx.now(), cx),
        }
    }

    /// Posts the next pass, in place of the one that is posted.
    fn post_pass(&mut self, at: Time, cx: &mut impl Context<GridEvent>) {
        self.withdraw_pass(cx);
        self.posted = Some((at, cx.post_at(at, GridEvent::Decide)));
    }

    fn withdraw_pass(&mut self, cx: &mut impl Context<GridEvent>) {
        if let Some((_, key)) = self.posted.take() {
            cx.cancel(key);
        }
    }

    /// Asks the scheduler, and does as it says.
    fn pass(&mut self, cx: &mut impl Context<GridEvent>) {
        self.withdraw_pass(cx);
        if self.waiting.is_empty() {
            return;
        }
        let now = cx.now();
        self.scheduler.pass(&self.floor.view(now), &mut self.starts);
        let mut starts = std::mem::take(&mut self.starts);
        for (job, machine) in starts.drain(..) {
            self.start_now(job, machine, cx);
        }
        self.starts = starts;
        if let Some(at) = self.scheduler.wake() {
            assert!(at > now, "at {now} s the scheduler wants to be woken at {at} s, which is not ahead");
            self.post_pass(at, cx);
        }
    }

    fn start_now(&mut self, job: JobId, machine: SiteId, cx: &mut impl Context<GridEvent>) {
        let waiter = self.waiting.remove(&job);
        let Waiter { request, runtime } =
            waiter.unwrap_or_else(|| panic!("the scheduler started job {job}, which does not wait"));
        let (free, processors) = (&mut self.floor.free[machine.index()], request.processors);
        *free = free.checked_sub(processors).unwrap_or_else(|| {
            panic!(
                "the scheduler started job {job} on {processors} processors of machine {machine}, where {free} are free"
            )
        });
        let place = self.floor.machines[machine.index()];
        let running = place.running(job, &request, cx.now());
        self.floor.running[machine.index()].insert(running);
        cx.tell(Fact::Started { job, site: machine, processors });
        cx.post_in(place.takes(runtime), GridEvent::Finish(running, machine));
    }
}

impl Floor {
    fn view(&self, now: Time) -> GridView<'_> {
        GridView { now, machines: &self.machines, free: &self.free, running: &self.running }
    }
}

impl<S: Scheduler, J: Iterator<Item = Job>> Model for Grid<S, J> {
    type Event = GridEvent;

    fn start(&mut self, cx: &mut impl Context<GridEvent>) {
        self.scheduler.begin(&self.floor.view(cx.now()));
        self.post_next_arrival(cx);
    }

    fn handle(&mut self, event: GridEvent, cx: &mut impl Context<GridEvent>) {
        match event {
            GridEvent::Finish(job, machine) => {
                self.release(&job, machine, cx);
                self.call_for_pass(cx);
            }
            GridEvent::Arrive(job) => {
                self.admit(&job, cx);
                self.post_next_arrival(cx);
                self.call_for_pass(cx);
            }
            GridEvent::Decide => {
                self.posted = None;
                self.pass(cx);
            }
        }
    }
}
