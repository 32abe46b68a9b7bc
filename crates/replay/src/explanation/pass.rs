//! One pass of a policy: what it was shown, and what it said.

use super::reason::{By, Holder, Obstacle, Promise, Site, Start, Wait, When};
use crate::label::Label;
use gap_schedule::{Machine, Reason, RunningJob, Starts, View};
use rustc_hash::FxHashMap;
use sim_core::{JobId, Request, SiteId, Span, Time};
use std::rc::Rc;

/// Behind jobs that have outlived what was expected of them, starts are planned a few nanoseconds ahead.
const MOMENT: Span = Span::from_nanos(1_000_000);

/// From here on, nothing is expected to end.
const NEVER: Time = Time::from_nanos(u64::MAX - 1);

#[derive(Debug, Default)]
pub(super) struct Names {
    /// Never iterated.
    pub(super) labels: FxHashMap<JobId, Label>,
    pub(super) sites: Vec<Site>,
}

impl Names {
    fn of(&self, job: JobId) -> Label {
        self.labels.get(&job).cloned().expect("every job was entered when it came")
    }

    pub(super) fn of_all(&self, jobs: impl IntoIterator<Item = JobId>) -> Vec<Label> {
        jobs.into_iter().map(|job| self.of(job)).collect()
    }
}

/// What the policy was shown, and what it said.
#[derive(Debug, Default)]
pub(super) struct Pass {
    shown: Shown,
    told: Vec<Told>,
}

/// What was said of a job, when those had started whom the pass had started before.
#[derive(Debug)]
struct Told {
    job: JobId,
    reason: Reason,
    before: Rc<Starts>,
}

#[derive(Debug, Default)]
struct Shown {
    now: Time,
    machines: Vec<Machine>,
    free: Vec<u32>,
    running: Vec<Vec<RunningJob>>,
    queue: Vec<(JobId, Request)>,
}

impl Pass {
    /// A pass that begins.
    pub(super) fn of(view: &View<'_>) -> Self {
        let shown = Shown {
            now: view.now,
            machines: view.machines.to_vec(),
            free: view.free.to_vec(),
            running: view.running.iter().map(|running| running.iter().copied().collect()).collect(),
            queue: view.queue.iter().map(|queued| (queued.job, queued.request)).collect(),
        };
        Self { shown, told: Vec::new() }
    }

    /// What is said, when the pass has come to the job.
    pub(super) fn hear(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        // A pass starts one after the other: of equal length, they are the same.
        let before = match self.told.last() {
            Some(last) if last.before.len() == starts.len() => Rc::clone(&last.before),
            _ => Rc::new(starts.clone()),
        };
        self.told.push(Told { job, reason, before });
    }

    pub(super) const fn now(&self) -> Time {
        self.shown.now
    }

    /// Whether the policy has said anything.
    pub(super) fn tells(&self) -> bool {
        !self.told.is_empty()
    }

    /// What the policy expects of the job.
    pub(super) fn expected(&self, job: JobId) -> Option<Span> {
        self.shown.request(job).estimate
    }

    /// Who came before the job, in order of arrival.
    pub(super) fn before(&self, job: JobId) -> Vec<JobId> {
        self.shown.queue.iter().map(|(other, _)| *other).take_while(|other| *other != job).collect()
    }

    /// What was told of the job.
    fn told(&self, job: JobId) -> impl Iterator<Item = &Told> {
        self.told.iter().filter(move |told| told.job == job)
    }

    /// The job starts on the machine, as one of `starts`.
    pub(super) fn start(&self, job: JobId, machine: SiteId, starts: &Starts, names: &Names) -> Start {
        let is_started = |other: &JobId| starts.iter().any(|(start, _)| start == other);
        let overtaken = self.before(job).into_iter().filter(|other| !is_started(other));
        let told = self.told(job).find_map(|told| match &told.reason {
            Reason::Starts { right, passed, .. } => Some((*right, passed, &*told.before)),
            _ => None,
        });
        let (right, passed) =
            told.map_or((None, Vec::new()), |(right, passed, _)| (Some(right), names.of_all(passed.iter().copied())));
        let free = told.map(|(_, _, before)| self.shown.free(machine.index(), before));
        let overtaken = names.of_all(overtaken);
        Start { at: self.now(), site: names.sites[machine.index()].clone(), right, free, passed, overtaken }
    }

    /// The job waits on, when `starts` start.
    pub(super) fn wait(&self, job: JobId, starts: &Starts, names: &Names) -> Wait {
        let (mut machine, mut obstacle, mut promise) = (None, None, None);
        let mut place = self.before(job).len() + 1;
        // Those who had started when the policy came to the job.
        let mut before = starts;
        for Told { reason, before: so_far, .. } in self.told(job) {
            match reason {
                Reason::Turn { place: told } => place = *told,
                Reason::Starts { .. } => {}
                Reason::NoRoom { machine: most, .. } => {
                    (machine, obstacle, before) = (Some(most.index()), Some(Obstacle::NoRoom), so_far);
                }
                Reason::Barred { machine: on, at, left, by } => {
                    let by =
                        by.iter().map(|by| By { job: names.of(by.job), start: by.start, processors: by.processors });
                    let barred = Obstacle::Barred { at: *at, left: *left, most_left: *left, by: by.collect() };
                    (machine, obstacle, before) = (Some(on.index()), Some(barred), so_far);
                }
                Reason::Behind { head } => {
                    (obstacle, before) = (Some(Obstacle::Behind { head: names.of(*head) }), so_far);
                }
                Reason::Kept => obstacle = Some(Obstacle::Kept),
                Reason::Hopeless => promise = Some(Promise { site: None, start: When::Never }),
                Reason::Reserved { machine, start } => {
                    promise = Some(self.shown.promise(&names.sites[machine.index()], *start));
                }
            }
        }
        let (machine, free, held_by) = self.room(job, machine, before, names);
        Wait {
            from: self.now(),
            until: self.now(),
            reason: obstacle,
            passes: 1,
            place,
            last_place: place,
            site: names.sites[machine].clone(),
            free,
            most_free: free,
            held_by,
            first_promise: promise.clone(),
            promised: promise,
        }
    }

    /// The machine, or that with most room, what is free there after these have started, and the holders of what the job lacks.
    fn room(&self, job: JobId, machine: Option<usize>, starts: &Starts, names: &Names) -> (usize, u32, Vec<Holder>) {
        let request = self.shown.request(job);
        let suits = |machine: &usize| self.shown.suits(*machine, request);
        let most = || {
            let suitable = (0..self.shown.machines.len()).filter(suits);
            suitable.max_by_key(|machine| (self.shown.free(*machine, starts), std::cmp::Reverse(*machine)))
        };
        let machine = machine.or_else(most).expect("admission rejects jobs that no machine suits");
        let free = self.shown.free(machine, starts);
        let (mut held, mut left) = (Vec::new(), free);
        for RunningJob { job, processors, expected_end, .. } in self.shown.by_expected_end(machine, starts) {
            if left >= request.processors {
                break;
            }
            left += processors;
            let job = (job != RunningJob::OUTAGE).then(|| names.of(job));
            held.push(Holder { job, processors, expected_until: expected_end });
        }
        (machine, free, held)
    }
}

impl Shown {
    fn request(&self, job: JobId) -> &Request {
        &self.queue.iter().find(|(other, _)| *other == job).expect("it waits").1
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

    fn promise(&self, site: &Site, start: Time) -> Promise {
        let start = match start {
            _ if start >= NEVER => return Promise { site: None, start: When::Never },
            _ if start <= self.now.saturating_add(MOMENT) => When::AnyMoment,
            start => When::At(start),
        };
        Promise { site: Some(site.clone()), start }
    }
}
