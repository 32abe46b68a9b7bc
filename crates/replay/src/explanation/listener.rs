//! Listens to a run of space-shared machines: to the policy's reasons, and to what happens.

use super::history::{About, By, Holder, Obstacle, Promise, Room, Start, Step, Wait};
use gap_schedule::{Machine, Reason, ReasonProbe, Right, RunningJob, Starts, View};
use rustc_hash::FxHashMap;
use sim_core::{Fact, JobId, Probe, Request, SiteId, Span, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::LogJob;

/// Behind jobs that have outlived what was expected of them, starts are planned a few nanoseconds ahead.
const MOMENT: Span = Span::from_nanos(1_000_000);

/// From here on, nothing is expected to end.
const NEVER: Time = Time::from_nanos(u64::MAX - 1);

/// What was heard, for whoever drives the run.
pub(crate) type Shared = Rc<RefCell<Listener>>;

/// Follows some jobs.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// Numbers of jobs that have not come yet.
    wanted: Vec<u64>,
    /// The numbers of all jobs in the system. Never iterated.
    numbers: FxHashMap<JobId, u64>,
    tales: BTreeMap<JobId, Tale>,
    /// How many of those wait.
    waiting: usize,
    /// What the policy was shown at this pass, if one of them waits.
    shown: Shown,
    /// What it said.
    told: Vec<(JobId, Reason, Starts)>,
    /// Whether it has ever said anything.
    tells: bool,
}

/// A job that is followed.
#[derive(Debug)]
pub(crate) struct Tale {
    pub(crate) about: About,
    pub(crate) steps: Vec<Step>,
    waits: bool,
    is_over: bool,
}

/// A view that is kept.
#[derive(Debug, Default)]
struct Shown {
    now: Time,
    machines: Vec<Machine>,
    free: Vec<u32>,
    running: Vec<Vec<RunningJob>>,
    queue: Vec<(JobId, Request)>,
}

impl Listener {
    /// Follows the jobs of these numbers.
    pub(crate) fn new(numbers: &[u64]) -> Shared {
        Rc::new(RefCell::new(Self { wanted: numbers.to_vec(), ..Self::default() }))
    }

    /// The log's next job, before it is submitted.
    pub(crate) fn comes(&mut self, job: &LogJob) {
        self.numbers.insert(job.job.id, job.number);
        let Some(found) = self.wanted.iter().position(|number| *number == job.number) else { return };
        self.wanted.remove(found);
        let tale = Tale { about: About::of(job), steps: Vec::new(), waits: false, is_over: false };
        self.tales.insert(job.job.id, tale);
    }

    /// Whether all is known.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty() && self.tales.values().all(|tale| tale.is_over)
    }

    /// What is known, and whether the policy has told reasons.
    pub(crate) fn finish(&mut self) -> (Vec<Tale>, bool) {
        (std::mem::take(&mut self.tales).into_values().collect(), self.tells)
    }

    fn number(&self, job: JobId) -> u64 {
        self.numbers.get(&job).copied().expect("every job was entered when it came")
    }

    fn numbers(&self, jobs: impl IntoIterator<Item = JobId>) -> Vec<u64> {
        jobs.into_iter().map(|job| self.number(job)).collect()
    }

    fn begin_pass(&mut self, view: &View<'_>) {
        self.told.clear();
        if self.waiting == 0 {
            return;
        }
        self.shown = Shown {
            now: view.now,
            machines: view.machines.to_vec(),
            free: view.free.to_vec(),
            running: view.running.iter().map(|running| running.iter().copied().collect()).collect(),
            queue: view.queue.iter().map(|queued| (queued.job, queued.request)).collect(),
        };
        let jobs: Vec<JobId> = self.tales.iter().filter(|(_, tale)| tale.waits).map(|(job, _)| *job).collect();
        for job in jobs {
            let before = self.shown.before(job);
            let (before, expected) = (self.numbers(before), self.shown.request(job).estimate);
            let tale = self.tales.get_mut(&job).expect("it is followed");
            // What was predicted, if anybody predicts.
            tale.about.expected = expected;
            tale.about.came_behind.get_or_insert(before);
        }
    }

    fn end_pass(&mut self, starts: &Starts) {
        if self.waiting == 0 {
            return;
        }
        self.tells |= !self.told.is_empty();
        let jobs: Vec<JobId> = self.tales.iter().filter(|(_, tale)| tale.waits).map(|(job, _)| *job).collect();
        for job in jobs {
            let step = match starts.iter().find(|(other, _)| *other == job) {
                Some((_, machine)) => Step::Starts(self.start(job, *machine, starts)),
                None => Step::Waits(self.wait(job, starts)),
            };
            let now = self.shown.now;
            let steps = &mut self.tales.get_mut(&job).expect("it is followed").steps;
            if let Some(Step::Waits(last)) = steps.last_mut() {
                last.until = now;
            }
            steps.push(step);
        }
    }

    /// What was told of the job in this pass.
    fn told(&self, job: JobId) -> impl Iterator<Item = &Reason> {
        self.told.iter().filter(move |told| told.0 == job).map(|told| &told.1)
    }

    fn start(&self, job: JobId, machine: SiteId, starts: &Starts) -> Start {
        let is_started = |other: &JobId| starts.iter().any(|(start, _)| start == other);
        let overtaken = self.shown.before(job).into_iter().filter(|other| !is_started(other));
        let told = self.told(job).find_map(|reason| match reason {
            Reason::Starts { right, passed, .. } => Some((*right, self.numbers(passed.iter().copied()))),
            _ => None,
        });
        let (right, passed): (Option<Right>, _) =
            told.map_or((None, Vec::new()), |(right, passed)| (Some(right), passed));
        Start { at: self.shown.now, machine: machine.index(), right, passed, overtaken: self.numbers(overtaken) }
    }

    fn wait(&self, job: JobId, starts: &Starts) -> Wait {
        let (mut machine, mut obstacle, mut promise) = (None, None, None);
        let mut place = self.shown.before(job).len() + 1;
        // Those who had started when the policy came to the job.
        let mut before = starts;
        for (_, reason, so_far) in self.told.iter().filter(|told| told.0 == job) {
            match reason {
                Reason::Turn { place: told } => place = *told,
                Reason::Starts { .. } => {}
                Reason::NoRoom { machine: most, .. } => {
                    (machine, obstacle, before) = (Some(most.index()), Some(Obstacle::NoRoom), so_far);
                }
                Reason::Barred { machine: on, at, left, by } => {
                    let by =
                        by.iter().map(|by| By { job: self.number(by.job), start: by.start, processors: by.processors });
                    let barred = Obstacle::Barred { at: *at, left: (*left, *left), by: by.collect() };
                    (machine, obstacle, before) = (Some(on.index()), Some(barred), so_far);
                }
                Reason::Behind { head } => {
                    (obstacle, before) = (Some(Obstacle::Behind { head: self.number(*head) }), so_far);
                }
                Reason::Kept => obstacle = Some(Obstacle::Kept),
                Reason::Hopeless => promise = Some(Promise::Never),
                Reason::Reserved { machine, start } => promise = Some(self.shown.promise(machine.index(), *start)),
            }
        }
        let room = self.room(job, machine, before);
        let (now, promises) = (self.shown.now, promise.map(|promise| (promise, promise)));
        Wait { from: now, until: now, passes: 1, places: (place, place), obstacle, room, promises }
    }

    /// What is free on the machine, or on that with most room, after these have started.
    fn room(&self, job: JobId, machine: Option<usize>, starts: &Starts) -> Room {
        let request = self.shown.request(job);
        let suits = |machine: &usize| self.shown.suits(*machine, request);
        let most = || {
            let suitable = (0..self.shown.machines.len()).filter(suits);
            suitable.max_by_key(|machine| (self.shown.free(*machine, starts), std::cmp::Reverse(*machine)))
        };
        let machine = machine.or_else(most).expect("admission rejects jobs that no machine suits");
        let free = self.shown.free(machine, starts);
        let mut held = Vec::new();
        let mut left = free;
        for running in self.shown.by_expected_end(machine, starts) {
            if left >= request.processors {
                break;
            }
            left += running.processors;
            let number = (running.job != RunningJob::OUTAGE).then(|| self.number(running.job));
            held.push(Holder { job: number, processors: running.processors, until: running.expected_end });
        }
        Room { machine, free: (free, free), held }
    }

    fn happens(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(job) => self.set_waiting(job.id, true),
            Fact::Started { job, .. } => self.set_waiting(*job, false),
            Fact::Interrupted { job, site, .. } => {
                self.set_waiting(*job, true);
                self.push(*job, || Step::Loses { at: now, machine: site.index() });
            }
            Fact::Finished { job } => {
                self.push(*job, || Step::Ends { at: now });
                self.end(*job);
            }
            Fact::Rejected { job, .. } => {
                self.set_waiting(*job, false);
                self.push(*job, || Step::Rejected { at: now });
                self.end(*job);
            }
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }

    fn set_waiting(&mut self, job: JobId, waits: bool) {
        let Some(tale) = self.tales.get_mut(&job) else { return };
        tale.waits = waits;
        self.waiting = self.tales.values().filter(|tale| tale.waits).count();
    }

    fn push(&mut self, job: JobId, step: impl FnOnce() -> Step) {
        if let Some(tale) = self.tales.get_mut(&job) {
            tale.steps.push(step());
        }
    }

    fn end(&mut self, job: JobId) {
        self.numbers.remove(&job);
        if let Some(tale) = self.tales.get_mut(&job) {
            tale.is_over = true;
        }
    }
}

impl Shown {
    fn request(&self, job: JobId) -> &Request {
        &self.queue.iter().find(|(other, _)| *other == job).expect("it waits").1
    }

    /// Who came before the job, in order of arrival.
    fn before(&self, job: JobId) -> Vec<JobId> {
        self.queue.iter().map(|(other, _)| *other).take_while(|other| *other != job).collect()
    }

    fn suits(&self, machine: usize, request: &Request) -> bool {
        let is_allowed = u32::try_from(machine).is_ok_and(|site| request.sites.contains(SiteId(site)));
        self.machines[machine].suits(request) && is_allowed
    }

    /// Those of `starts` that start on the machine, as they will run.
    fn starting<'a>(&'a self, machine: usize, starts: &'a Starts) -> impl Iterator<Item = RunningJob> + 'a {
        let here = starts.iter().filter(move |(_, place)| place.index() == machine);
        here.map(move |(job, _)| self.machines[machine].running(*job, self.request(*job), self.now))
    }

    fn free(&self, machine: usize, starts: &Starts) -> u32 {
        let taken: u32 = self.starting(machine, starts).map(|job| job.processors).sum();
        self.free[machine] - taken
    }

    fn by_expected_end(&self, machine: usize, starts: &Starts) -> Vec<RunningJob> {
        let mut running = self.running[machine].clone();
        running.extend(self.starting(machine, starts));
        running.sort_unstable();
        running
    }

    fn promise(&self, machine: usize, start: Time) -> Promise {
        match start {
            _ if start >= NEVER => Promise::Never,
            _ if start <= self.now.saturating_add(MOMENT) => Promise::AnyMoment { machine },
            start => Promise::At { machine, start },
        }
    }
}

/// Both ears of a listener.
#[derive(Clone, Debug)]
pub(crate) struct Ear(pub(crate) Shared);

impl ReasonProbe for Ear {
    fn listens(&self) -> bool {
        self.0.borrow().waiting > 0
    }

    fn follows(&self, job: JobId) -> bool {
        self.0.borrow().tales.contains_key(&job)
    }

    fn begin_pass(&mut self, view: &View<'_>) {
        self.0.borrow_mut().begin_pass(view);
    }

    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        self.0.borrow_mut().told.push((job, reason, starts.clone()));
    }

    fn end_pass(&mut self, _: &View<'_>, starts: &Starts) {
        self.0.borrow_mut().end_pass(starts);
    }
}

impl Probe for Ear {
    fn observe(&mut self, now: Time, fact: &Fact) {
        self.0.borrow_mut().happens(now, fact);
    }
}
