//! Listener to a run of space-shared machines: receives the policy's reasons, and the events.

use super::history::{Explanation, Followed};
use super::reasons::{At, Began, ByJob, Holder, Obstacle, Promise, SiteName, Stage, Steps, Wait, When, explanation};
use crate::label::Label;
use gap_schedule::{Machine, Reason, ReasonProbe, RunningJob, Starts, View};
use rustc_hash::FxHashMap;
use sim_core::{Fact, JobId, Probe, Request, SiteId, Span, Time};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;
use workload::LogJob;

/// Distance up to which a start is "at any moment": behind jobs that outlive their expected run times, plans are nanoseconds ahead.
const MOMENT: Span = Span::from_nanos(1_000_000);

/// Time from which on no end is expected.
const NEVER: Time = Time::from_nanos(u64::MAX - 1);

#[derive(Debug)]
pub(crate) struct Listener {
    followed: Followed<Steps>,
    names: Labels,
    /// Followed jobs that wait.
    waiting: BTreeSet<JobId>,
    /// Present pass, if one of these jobs waits.
    pass: Pass,
    /// True if the policy has ever reported a reason.
    reports: bool,
}

#[derive(Debug)]
struct Labels {
    /// Labels of all jobs in the system; never iterated.
    labels: FxHashMap<JobId, Label>,
    sites: Vec<SiteName>,
}

impl Labels {
    fn of(&self, job: JobId) -> Label {
        self.labels.get(&job).cloned().expect("every job was entered when it came")
    }

    fn of_all(&self, jobs: impl IntoIterator<Item = JobId>) -> Vec<Label> {
        jobs.into_iter().map(|job| self.of(job)).collect()
    }
}

impl Listener {
    pub(crate) fn new(numbers: &[u64], sites: &[String]) -> Rc<RefCell<Self>> {
        let site = |name: &String| SiteName { name: name.as_str().into(), is_only: sites.len() == 1 };
        let names = Labels { labels: FxHashMap::default(), sites: sites.iter().map(site).collect() };
        let (followed, waiting, pass) = (Followed::new(numbers), BTreeSet::new(), Pass::default());
        Rc::new(RefCell::new(Self { followed, names, waiting, pass, reports: false }))
    }

    /// Enters the log's next job, before it is submitted.
    pub(crate) fn comes(&mut self, job: &LogJob) {
        self.names.labels.insert(job.job.id, Label::of_job(job));
        self.followed.comes(job);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.followed.is_done()
    }

    pub(crate) fn explanations(&mut self, policy: &str) -> Vec<Explanation> {
        let reports = self.reports;
        self.followed.finish().map(|tale| explanation(policy, tale, reports)).collect()
    }

    fn begin_pass(&mut self, view: &View<'_>) {
        self.pass = if self.waiting.is_empty() { Pass::default() } else { Pass::of(view) };
        for job in &self.waiting {
            let Some(tale) = self.followed.tale(*job) else { continue };
            // The prediction, if there is one.
            tale.about.expected = self.pass.request(*job).estimate;
            let before = || self.names.of_all(self.pass.before(*job));
            tale.history.came_behind.get_or_insert_with(before);
        }
    }

    fn end_pass(&mut self, starts: &Starts) {
        if self.waiting.is_empty() {
            return;
        }
        self.reports |= !self.pass.reasons.is_empty();
        let (pass, names) = (&self.pass, &self.names);
        for job in &self.waiting {
            let Some(tale) = self.followed.tale(*job) else { continue };
            let step = match starts.iter().find(|(other, _)| other == job) {
                Some((_, machine)) => Stage::Starts(pass.start(*job, *machine, starts, names)),
                None => Stage::Waits(pass.wait(*job, starts, names)),
            };
            let steps = &mut tale.history.steps;
            if let Some(Stage::Waits(last)) = steps.last_mut() {
                last.until = pass.now;
            }
            steps.push(step);
        }
    }

    /// Adds a step to the history of a followed job.
    fn push(&mut self, job: JobId, step: Stage) {
        if let Some(tale) = self.followed.tale(job) {
            tale.history.steps.push(step);
        }
    }

    fn waits(&mut self, job: JobId) {
        if self.followed.follows(job) {
            self.waiting.insert(job);
        }
    }
}

/// Handle of a listener, for the policy and the run.
#[derive(Clone, Debug)]
pub(crate) struct Ear(pub(crate) Rc<RefCell<Listener>>);

impl ReasonProbe for Ear {
    fn listens(&self) -> bool {
        !self.0.borrow().waiting.is_empty()
    }

    fn follows(&self, job: JobId) -> bool {
        self.0.borrow().followed.follows(job)
    }

    fn begin_pass(&mut self, view: &View<'_>) {
        self.0.borrow_mut().begin_pass(view);
    }

    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        let reasons = &mut self.0.borrow_mut().pass.reasons;
        // A pass starts one job after the other: lists of equal length are the same.
        let before = match reasons.last() {
            Some((_, _, last)) if last.len() == starts.len() => Rc::clone(last),
            _ => Rc::new(starts.clone()),
        };
        reasons.push((job, reason, before));
    }

    fn end_pass(&mut self, _: &View<'_>, starts: &Starts) {
        self.0.borrow_mut().end_pass(starts);
    }
}

impl Probe for Ear {
    fn observe(&mut self, now: Time, fact: &Fact) {
        let mut listener = self.0.borrow_mut();
        match fact {
            Fact::Submitted(job) => listener.waits(job.id),
            Fact::Started { job, .. } => {
                listener.waiting.remove(job);
            }
            Fact::Interrupted { job, site, .. } => {
                listener.waits(*job);
                let site = listener.names.sites[site.index()].clone();
                listener.push(*job, Stage::Interrupted { at: now, site });
            }
            Fact::Finished { job } | Fact::Rejected { job, .. } => {
                listener.waiting.remove(job);
                let is_rejected = matches!(fact, Fact::Rejected { .. });
                listener.push(*job, if is_rejected { Stage::Rejected { at: now } } else { Stage::Ends { at: now } });
                listener.names.labels.remove(job);
                listener.followed.end(*job);
            }
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}

/// One pass of a policy: its view, and its reasons.
#[derive(Debug, Default)]
struct Pass {
    now: Time,
    machines: Vec<Machine>,
    free: Vec<u32>,
    running: Vec<Vec<RunningJob>>,
    queue: Vec<(JobId, Request)>,
    /// Reasons, each with the starts that the pass had made before it.
    reasons: Vec<(JobId, Reason, Rc<Starts>)>,
}

impl Pass {
    fn of(view: &View<'_>) -> Self {
        Self {
            now: view.now,
            machines: view.machines.to_vec(),
            free: view.free.to_vec(),
            running: view.running.iter().map(|running| running.iter().copied().collect()).collect(),
            queue: view.queue.iter().map(|queued| (queued.job, queued.request)).collect(),
            reasons: Vec::new(),
        }
    }

    fn request(&self, job: JobId) -> &Request {
        &self.queue.iter().find(|(other, _)| *other == job).expect("it waits").1
    }

    /// Jobs that arrived before the job, in order of arrival.
    fn before(&self, job: JobId) -> impl Iterator<Item = JobId> {
        self.queue.iter().map(|(other, _)| *other).take_while(move |other| *other != job)
    }

    fn reasons_of(&self, job: JobId) -> impl Iterator<Item = (&Reason, &Starts)> {
        self.reasons.iter().filter(move |(other, ..)| *other == job).map(|(_, reason, before)| (reason, &**before))
    }

    /// Start of the job on the machine, as one of `starts`.
    fn start(&self, job: JobId, machine: SiteId, starts: &Starts, names: &Labels) -> Began {
        let waits = |other: &JobId| !starts.iter().any(|(start, _)| start == other);
        let mut start = Began {
            at: self.now,
            site: names.sites[machine.index()].clone(),
            right: None,
            free: None,
            passed: Vec::new(),
            overtaken: names.of_all(self.before(job).filter(waits)),
        };
        for (reason, before) in self.reasons_of(job) {
            if let Reason::Starts { right, passed, .. } = reason
                && start.right.is_none()
            {
                start.right = Some(*right);
                start.free = Some(self.free_after(machine.index(), before));
                start.passed = names.of_all(passed.iter().copied());
            }
        }
        start
    }

    /// Continued wait of the job, when `starts` start.
    fn wait(&self, job: JobId, starts: &Starts, names: &Labels) -> Wait {
        let (mut machine, mut obstacle, mut promise) = (None, None, None);
        let mut place = self.before(job).count() + 1;
        // The starts made before the policy considered the job.
        let mut before = starts;
        for (reason, so_far) in self.reasons_of(job) {
            match reason {
                Reason::Turn { place: turn } => place = *turn,
                Reason::Starts { .. } => {}
                Reason::NoRoom { machine: most, .. } => {
                    (machine, obstacle, before) = (Some(most.index()), Some(Obstacle::NoRoom), so_far);
                }
                Reason::Barred { machine: on, at, left, by } => {
                    let by = by.iter();
                    let by =
                        by.map(|by| ByJob { job: names.of(by.job), start: At(by.start), processors: by.processors });
                    let barred = Obstacle::Barred { at: At(*at), left: *left, most_left: *left, by: by.collect() };
                    (machine, obstacle, before) = (Some(on.index()), Some(barred), so_far);
                }
                Reason::Behind { head } => {
                    (obstacle, before) = (Some(Obstacle::Behind { head: names.of(*head) }), so_far);
                }
                Reason::Kept => obstacle = Some(Obstacle::Kept),
                Reason::Hopeless => promise = Some(Promise { site: None, start: When::Never }),
                Reason::Reserved { start, .. } if *start >= NEVER => {
                    promise = Some(Promise { site: None, start: When::Never });
                }
                Reason::Reserved { machine, start } => {
                    let is_near = *start <= self.now.saturating_add(MOMENT);
                    let start = if is_near { When::ANY_MOMENT } else { When::At(At(*start)) };
                    promise = Some(Promise { site: Some(names.sites[machine.index()].clone()), start });
                }
            }
        }
        let machine = machine.unwrap_or_else(|| self.roomiest(job, before));
        let free = self.free_after(machine, before);
        Wait {
            from: self.now,
            until: self.now,
            reason: obstacle,
            passes: 1,
            place,
            last_place: place,
            site: names.sites[machine].clone(),
            free,
            most_free: free,
            held_by: self.holders(job, machine, before, names),
            first_promise: promise.clone(),
            promised: promise,
        }
    }

    /// The machine with the most room after these starts, among those that the job may use.
    fn roomiest(&self, job: JobId, starts: &Starts) -> usize {
        let request = self.request(job);
        let suits = |machine: &usize| {
            let is_allowed = u32::try_from(*machine).is_ok_and(|site| request.sites.contains(SiteId(site)));
            self.machines[*machine].suits(request) && is_allowed
        };
        let suitable = (0..self.machines.len()).filter(suits);
        let most = suitable.max_by_key(|machine| (self.free_after(*machine, starts), Reverse(*machine)));
        most.expect("admission rejects jobs that no machine suits")
    }

    /// Holders of the processors that the job lacks on the machine after these starts, by expected end.
    fn holders(&self, job: JobId, machine: usize, starts: &Starts, names: &Labels) -> Vec<Holder> {
        let (mut held, mut left) = (Vec::new(), self.free_after(machine, starts));
        let mut running = self.running[machine].clone();
        running.extend(self.starting(machine, starts));
        running.sort_unstable();
        for RunningJob { job: holder, processors, expected_end, .. } in running {
            if left >= self.request(job).processors {
                break;
            }
            left += processors;
            let job = (holder != RunningJob::OUTAGE).then(|| names.of(holder));
            held.push(Holder { job, processors, expected_until: At(expected_end) });
        }
        held
    }

    /// Those of `starts` that start on the machine, as running jobs.
    fn starting<'a>(&'a self, machine: usize, starts: &'a Starts) -> impl Iterator<Item = RunningJob> + 'a {
        let here = starts.iter().filter(move |(_, place)| place.index() == machine);
        here.map(move |(job, _)| self.machines[machine].running(*job, self.request(*job), self.now))
    }

    /// Free processors of the machine after these starts.
    fn free_after(&self, machine: usize, starts: &Starts) -> u32 {
        self.free[machine] - self.starting(machine, starts).map(|job| job.processors).sum::<u32>()
    }
}
