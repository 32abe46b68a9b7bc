//! What happens on several machines of different size and speed, and in which order.

mod contention;
mod floor;
mod machine;
mod scheduler;
mod usage;

pub use contention::Contention;
pub use machine::Machine;
pub(crate) use scheduler::site;
pub use scheduler::{GridView, Scheduler};
pub use usage::{Usage, UsageOver};

use crate::cluster::Passes;
use crate::queue::Waiting;
use crate::running::RunningJob;
use floor::{Floor, Repair};
use rustc_hash::FxHashMap;
use sim_core::{
    Context, EventKey, EventPriority, Fact, Job, JobId, Model, Outage, Prioritized, Rejection, Request, SiteId, Span,
    Time,
};
use std::iter::Empty;

/// Several machines behind one scheduler: jobs from `J` arrive, the scheduler `S` says which of them start and where, and
/// each then holds its processors of one machine for its runtime at that machine's speed. Machines fail and are repaired
/// as `O` says, by default never: see [`with_outages`](Self::with_outages).
///
/// What happens at one instant has an order: releases, then repairs, then failures, then arrivals, then one scheduling
/// pass ([`Passes`]). So a job that ends as its machine fails has ended; of two outages that touch, the first is over when
/// the second begins; and nobody is started on a machine that fails at once. The scheduler is not asked while nobody
/// waits. Jobs are pulled from `J` one at a time, each when its predecessor has arrived, and outages from `O` likewise,
/// so memory follows the jobs that wait or run and not the length of a log.
///
/// It tells [`Fact::Submitted`], [`Fact::Started`] with the machine's index as the site, [`Fact::Interrupted`],
/// [`Fact::Finished`] and, of jobs wider than every machine that they may use, [`Fact::Rejected`].
///
/// # Panics
///
/// While it runs: if `J` or `O` goes back in time, if two jobs in the system have the same id, if a job has the id
/// [`RunningJob::OUTAGE`], if an outage ends before it begins or is of no machine, if the scheduler starts a job that
/// does not wait, does not fit or may not run there, or wants to be woken in the past.
#[derive(Clone, Debug)]
pub struct Grid<S, J, O = Empty<Outage>> {
    floor: Floor,
    jobs: FxHashMap<JobId, Present>, // never iterated: its order cannot reach a result
    waiting: usize,
    scheduler: S,
    passes: Passes,
    /// The next pass that has been posted: the one of the present instant, or the one the scheduler wished for.
    posted: Option<(Time, EventKey)>,
    /// The scheduler's answer, kept for its memory only.
    starts: Vec<(JobId, SiteId)>,
    arrivals: J,
    /// Whether there are no more of them.
    all_have_come: bool,
    outages: O,
}

/// What can happen to a [`Grid`].
#[derive(Clone, Debug)]
pub enum GridEvent {
    /// A job comes in.
    Arrive(Job),
    /// A job ends and gives its processors of that machine back.
    Finish(RunningJob, SiteId),
    /// A machine fails.
    Down(Outage),
    /// A machine has been repaired.
    Up(SiteId),
    /// All that happens at this instant has happened: the scheduler is asked.
    Decide,
}

/// A job that waits or runs, and what only the world knows of it.
#[derive(Clone, Debug)]
struct Present {
    request: Request,
    submit: Time,
    runtime: Span,
    /// Its end, while it runs.
    end: Option<EventKey>,
}

impl Prioritized for GridEvent {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Finish(..) => EventPriority::RELEASE,
            Self::Up(_) => EventPriority::new(3),
            Self::Down(_) => EventPriority::new(4),
            Self::Arrive(_) => EventPriority::ARRIVE,
            Self::Decide => EventPriority::DECIDE,
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
        Self {
            floor: Floor::new(machines),
            jobs: FxHashMap::default(),
            waiting: 0,
            scheduler,
            passes: Passes::PerInstant,
            posted: None,
            starts: Vec::new(),
            arrivals,
            all_have_come: false,
            outages: std::iter::empty(),
        }
    }

    /// The same, where the machines fail as `outages` says, in order of [`Outage::down`]; the site is the machine's index.
    ///
    /// All jobs that run on a machine that fails lose their processors and their work. They wait again, in order of id and
    /// behind all that wait already, as if they had just arrived, and will start from the beginning. The machine has no
    /// processors to give until it has been repaired. If it fails while it is down, it stays down until the later of both
    /// repairs.
    ///
    /// The scheduler does not know when that will be. To it, something that is not a job holds all processors of a machine
    /// that is down, with the expected repair as its expected end ([`with_repair_expected`](Self::with_repair_expected));
    /// a repair that takes longer than that is to it what a job is that outlives its estimate.
    ///
    /// `outages` may be endless: it is not asked for more once the last job has left. A run then ends if every job gets as
    /// long as it needs between two failures; it does not while one waits for a machine that is down for ever.
    pub fn with_outages<I: IntoIterator<Item = Outage>>(self, outages: I) -> Grid<S, J, I::IntoIter> {
        let Self { floor, jobs, waiting, scheduler, passes, posted, starts, arrivals, all_have_come, .. } = self;
        let outages = outages.into_iter();
        Grid { floor, jobs, waiting, scheduler, passes, posted, starts, arrivals, all_have_come, outages }
    }
}

impl<S: Scheduler, J: Iterator<Item = Job>, O: Iterator<Item = Outage>> Grid<S, J, O> {
    /// The same, with `passes` instead of [`Passes::PerInstant`].
    #[must_use]
    pub fn with_passes(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// The same, where repairs are said to take so long: the mean of whoever knows the machines, or [`Span::MAX`], as
    /// from the beginning, where nobody knows.
    #[must_use]
    pub fn with_repair_expected(mut self, span: Span) -> Self {
        self.floor.repair_expected = span;
        self
    }

    /// The grid at `now`, as its scheduler sees it.
    pub fn view(&self, now: Time) -> GridView<'_> {
        self.floor.view(now)
    }

    /// How many jobs wait.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// The scheduler, with whatever it has learnt.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    fn post_next_arrival(&mut self, cx: &mut impl Context<GridEvent>) {
        match self.arrivals.next() {
            Some(job) => {
                cx.post_at(job.submit, GridEvent::Arrive(job));
            }
            None => self.all_have_come = true,
        }
    }

    fn post_next_outage(&mut self, cx: &mut impl Context<GridEvent>) {
        let Some(outage) = self.outages.next() else { return };
        let Outage { site, down, up } = outage;
        let (now, machines) = (cx.now(), self.floor.machines().len());
        assert!(site.index() < machines, "machine {site} fails at {down} s, but there are {machines}, counted from 0");
        assert!(down >= now, "outages are out of order: machine {site} fails at {down} s, but it is already {now} s");
        assert!(up >= down, "machine {site} fails at {down} s and cannot be repaired at {up} s");
        cx.post_at(down, GridEvent::Down(outage));
    }

    /// Whether nobody is here, and nobody will come.
    fn is_over(&self) -> bool {
        self.all_have_come && self.jobs.is_empty()
    }

    /// Lets the job wait, if some machine that it may use could ever hold it.
    fn admit(&mut self, job: &Job, cx: &mut impl Context<GridEvent>) {
        cx.emit(Fact::Submitted(*job));
        if !(0..self.floor.machines().len()).any(|machine| self.floor.view(cx.now()).suits(machine, &job.request)) {
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            return;
        }
        let Job { id, submit, request, runtime, .. } = *job;
        assert!(id != RunningJob::OUTAGE, "job {id} has the id of an outage");
        let before = self.jobs.insert(id, Present { request, submit, runtime, end: None });
        assert!(before.is_none(), "job {id} joined a grid which it has not left yet");
        self.waiting += 1;
        self.scheduler.arrive(&Waiting { job: id, request }, submit, &self.floor.view(cx.now()));
    }

    fn release(&mut self, job: &RunningJob, machine: SiteId, cx: &mut impl Context<GridEvent>) {
        self.floor.release(job, machine);
        self.jobs.remove(&job.job);
        cx.emit(Fact::Finished { job: job.job });
        self.scheduler.finish(job, machine, &self.floor.view(cx.now()));
    }

    /// Takes the machine down, and lets those wait again that ran there.
    fn fail(&mut self, outage: &Outage, cx: &mut impl Context<GridEvent>) {
        let now = cx.now();
        let Outage { site, up, .. } = *outage;
        if let Some(repair) = self.floor.repair_of(site) {
            if repair.at < up {
                if let Some(event) = repair.event {
                    cx.cancel(event);
                }
                *repair = post_repair(site, up, cx);
            }
            return;
        }
        let lost = self.floor.fail(site, post_repair(site, up, cx), now);
        for RunningJob { job, processors, .. } in &lost {
            let present = self.jobs.get_mut(job).expect("a job that runs is here");
            cx.cancel(present.end.take().expect("a job that runs will end"));
            cx.emit(Fact::Interrupted { job: *job, site, processors: *processors });
        }
        self.waiting += lost.len();
        let view = self.floor.view(now);
        self.scheduler.down(site, &lost, &view);
        for RunningJob { job, .. } in lost {
            let Present { request, submit, .. } = self.jobs[&job];
            self.scheduler.arrive(&Waiting { job, request }, submit, &view);
        }
    }

    fn repair(&mut self, machine: SiteId, cx: &mut impl Context<GridEvent>) {
        self.floor.repair(machine);
        self.scheduler.up(machine, &self.floor.view(cx.now()));
    }

    /// Sees to it that the scheduler is asked about what has just happened.
    fn call_for_pass(&mut self, cx: &mut impl Context<GridEvent>) {
        match (self.passes, self.posted) {
            (Passes::PerEvent, _) => self.pass(cx),
            _ if self.waiting == 0 => {}
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
        if self.waiting == 0 {
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
        let present = self.jobs.get_mut(&job).filter(|present| present.end.is_none());
        let present = present.unwrap_or_else(|| panic!("the scheduler started job {job}, which does not wait"));
        assert!(
            present.request.sites.contains(machine),
            "the scheduler started job {job} on machine {machine}, which it may not use"
        );
        let place = self.floor.machines()[machine.index()];
        let running = place.running(job, &present.request, cx.now());
        let processors = running.processors;
        self.floor.seize(running, machine);
        self.waiting -= 1;
        cx.emit(Fact::Started { job, site: machine, processors });
        present.end = Some(cx.post_in(place.takes(present.runtime), GridEvent::Finish(running, machine)));
    }
}

fn post_repair(machine: SiteId, at: Time, cx: &mut impl Context<GridEvent>) -> Repair {
    let event = (at < Time::MAX).then(|| cx.post_at(at, GridEvent::Up(machine)));
    Repair { at, event }
}

impl<S: Scheduler, J: Iterator<Item = Job>, O: Iterator<Item = Outage>> Model for Grid<S, J, O> {
    type Event = GridEvent;

    fn start(&mut self, cx: &mut impl Context<GridEvent>) {
        self.scheduler.begin(&self.floor.view(cx.now()));
        self.post_next_arrival(cx);
        self.post_next_outage(cx);
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
            // With nobody left to notice, even an endless stream of failures ends.
            GridEvent::Down(_) if self.is_over() => {}
            GridEvent::Down(outage) => {
                self.fail(&outage, cx);
                self.post_next_outage(cx);
                self.call_for_pass(cx);
            }
            GridEvent::Up(machine) => {
                self.repair(machine, cx);
                self.call_for_pass(cx);
            }
            GridEvent::Decide => {
                self.posted = None;
                self.pass(cx);
            }
        }
    }
}
