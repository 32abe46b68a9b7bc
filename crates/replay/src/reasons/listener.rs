//! Listener to a run of space-shared machines: receives the policy's reasons, and the events.

use crate::label::Label;
use crate::reasons::history::Explanation;
use crate::reasons::{Began, ByJob, Holder, Moment, Obstacle, Promise, SiteName, Stage, Tale, Wait};
use gap_schedule::{Reason, ReasonProbe, ReservedStart, RunningJob, Starts, View};
use rustc_hash::FxHashMap;
use sim_core::{Fact, Job, JobId, Probe, Request, SiteId, Span, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::LogJob;

/// Distance up to which a start is "at any moment": behind jobs that outlive their expected run times, plans are nanoseconds ahead.
const MOMENT: Span = Span::from_nanos(1_000_000);

#[derive(Debug, Default)]
struct Heard {
    /// Numbers of followed jobs that have not arrived yet.
    wanted: Vec<u64>,
    tales: BTreeMap<JobId, Tale>,
    /// Labels of all jobs in the system; never iterated.
    labels: FxHashMap<JobId, Label>,
    sites: Vec<SiteName>,
    /// Reasons of the present pass, each with the starts that the pass had made before it.
    reasons: Vec<(JobId, Reason, Starts)>,
    /// True if the policy has ever reported a reason.
    reports: bool,
}

/// Handle for the policy and the run.
#[derive(Clone, Debug)]
pub(crate) struct Listener(Rc<RefCell<Heard>>);

impl Listener {
    pub(crate) fn new(numbers: &[u64], sites: &[String]) -> Self {
        let site = |name: &String| SiteName { name: name.clone(), is_only: sites.len() == 1 };
        let (wanted, sites) = (numbers.to_vec(), sites.iter().map(site).collect());
        Self(Rc::new(RefCell::new(Heard { wanted, sites, ..Heard::default() })))
    }

    /// Enters the log's next job, before it is submitted.
    pub(crate) fn comes(&self, job: &LogJob) {
        let Heard { wanted, tales, labels, .. } = &mut *self.0.borrow_mut();
        labels.insert(job.job.id, Label::of_job(job));
        if let Some(found) = wanted.iter().position(|number| *number == job.record.number) {
            wanted.remove(found);
            tales.insert(job.job.id, Tale::of(job.clone()));
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        let heard = self.0.borrow();
        heard.wanted.is_empty()
            && heard.tales.values().all(|tale| matches!(tale.steps.last(), Some((_, Stage::Ends | Stage::Rejected))))
    }

    /// The explanations of all followed jobs, in order of submission.
    pub(crate) fn explanations(&self, policy: &str) -> Vec<Explanation> {
        let Heard { tales, reports, .. } = self.0.take();
        tales.into_values().map(|tale| tale.explanation(policy, reports)).collect()
    }
}

impl ReasonProbe for Listener {
    fn listens(&self) -> bool {
        self.0.borrow().tales.values().any(|tale| tale.waits)
    }

    fn follows(&self, job: JobId) -> bool {
        self.0.borrow().tales.contains_key(&job)
    }

    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        self.0.borrow_mut().reasons.push((job, reason, starts.clone()));
    }

    fn end_pass(&mut self, view: &View<'_>, starts: &Starts) {
        let Heard { tales, labels, sites, reasons, reports, .. } = &mut *self.0.borrow_mut();
        *reports |= !reasons.is_empty();
        let pass = Pass { view, starts, reasons, labels, sites };
        for (job, tale) in tales.iter_mut().filter(|(_, tale)| tale.waits) {
            // The prediction, if there is one.
            tale.about.job.request.estimate = pass.request(*job).estimate;
            tale.came_behind.get_or_insert_with(|| pass.labels_of(pass.before(*job)));
            let stage = match starts.iter().find(|(other, _)| other == job) {
                Some((_, machine)) => Stage::Starts(pass.start(*job, *machine)),
                None => Stage::Waits(pass.wait(*job)),
            };
            tale.steps.push((view.now, stage));
        }
        reasons.clear();
    }
}

impl Probe for Listener {
    fn observe(&mut self, now: Time, fact: &Fact) {
        let Heard { tales, labels, .. } = &mut *self.0.borrow_mut();
        let (job, stage) = match fact {
            Fact::Submitted(Job { id: job, .. }) | Fact::Started { job, .. } => (*job, None),
            Fact::Finished { job } => (*job, Some(Stage::Ends)),
            Fact::Rejected { job, .. } => (*job, Some(Stage::Rejected)),
            Fact::Seized { .. } | Fact::Released { .. } => return,
        };
        if stage.is_some() {
            labels.remove(&job);
        }
        let Some(tale) = tales.get_mut(&job) else { return };
        tale.waits = matches!(fact, Fact::Submitted(_));
        tale.steps.extend(stage.map(|stage| (now, stage)));
    }
}

struct Pass<'a> {
    view: &'a View<'a>,
    starts: &'a Starts,
    reasons: &'a [(JobId, Reason, Starts)],
    labels: &'a FxHashMap<JobId, Label>,
    sites: &'a [SiteName],
}

impl Pass<'_> {
    fn label(&self, job: JobId) -> Label {
        self.labels.get(&job).cloned().expect("every job was entered when it came")
    }

    fn labels_of(&self, jobs: impl IntoIterator<Item = JobId>) -> Vec<Label> {
        jobs.into_iter().map(|job| self.label(job)).collect()
    }

    fn request(&self, job: JobId) -> &Request {
        &self.view.queue.get(job).expect("it waits").request
    }

    /// Jobs that arrived before the job, in order of arrival.
    fn before(&self, job: JobId) -> impl Iterator<Item = JobId> {
        self.view.queue.iter().map(|queued| queued.job).take_while(move |other| *other != job)
    }

    /// Reasons about the job, each with the starts that were made before it.
    fn reasons_of(&self, job: JobId) -> impl Iterator<Item = (&Reason, &Starts)> {
        self.reasons.iter().filter(move |(other, ..)| *other == job).map(|(_, reason, before)| (reason, before))
    }

    fn start(&self, job: JobId, machine: SiteId) -> Began {
        let waits = |other: &JobId| !self.starts.iter().any(|(start, _)| start == other);
        let right = self.reasons_of(job).find_map(|(reason, before)| match reason {
            Reason::Starts { right, passed, .. } => Some((*right, passed, before)),
            _ => None,
        });
        Began {
            site: self.sites[machine.index()].clone(),
            right: right.map(|(right, ..)| right),
            free: right.map(|(.., before)| self.free_after(machine.index(), before)),
            passed: right.map_or_else(Vec::new, |(_, passed, _)| self.labels_of(passed.iter().copied())),
            overtaken: self.labels_of(self.before(job).filter(waits)),
        }
    }

    fn wait(&self, job: JobId) -> Wait {
        let now = self.view.now;
        let (mut machine, mut obstacle, mut promise) = (None, None, None);
        let mut place = self.before(job).count() + 1;
        // The starts made before the policy considered the job.
        let mut before = self.starts;
        for (reason, so_far) in self.reasons_of(job) {
            match reason {
                Reason::Turn { place: turn } => place = *turn,
                Reason::Starts { .. } => {}
                Reason::NoRoom { machine: most, .. } => {
                    (machine, obstacle, before) = (Some(most.index()), Some(Obstacle::NoRoom), so_far);
                }
                Reason::Barred { machine: on, at, left, by } => {
                    let by = by.iter().map(|ReservedStart { job, start, processors }| ByJob {
                        job: self.label(*job),
                        start: Moment::At(*start),
                        processors: *processors,
                    });
                    let barred = Obstacle::Barred { at: Moment::At(*at), left: *left, by: by.collect() };
                    (machine, obstacle, before) = (Some(on.index()), Some(barred), so_far);
                }
                Reason::Behind { head } => {
                    (obstacle, before) = (Some(Obstacle::Behind { head: self.label(*head) }), so_far);
                }
                Reason::Kept => obstacle = Some(Obstacle::Kept),
                Reason::Reserved { machine, start } if !Moment::At(*start).is_never() => {
                    let start = if *start <= now.saturating_add(MOMENT) { Moment::Soon } else { Moment::At(*start) };
                    promise = Some(Promise { site: Some(self.sites[machine.index()].clone()), start });
                }
                Reason::Hopeless | Reason::Reserved { .. } => {
                    promise = Some(Promise { site: None, start: Moment::At(Time::MAX) });
                }
            }
        }
        let machine = machine.unwrap_or_else(|| self.roomiest(job, before));
        let (site, free) = (self.sites[machine].clone(), self.free_after(machine, before));
        let held_by = self.holders(job, machine, before);
        Wait { reason: obstacle, passes: 1, place, last_place: place, site, free, held_by, promised: promise }
    }

    /// The machine with the most room after these starts, among those that the job may use.
    fn roomiest(&self, job: JobId, starts: &Starts) -> usize {
        let suitable = (0..self.sites.len()).filter(|machine| self.view.suits(*machine, self.request(job)));
        let most = suitable.rev().max_by_key(|machine| self.free_after(*machine, starts));
        most.expect("admission rejects jobs that no machine suits")
    }

    /// Holders of the processors that the job lacks on the machine after these starts, by expected end.
    fn holders(&self, job: JobId, machine: usize, starts: &Starts) -> Vec<Holder> {
        let (mut held, mut left) = (Vec::new(), self.free_after(machine, starts));
        let mut running: Vec<RunningJob> = self.view.running[machine].iter().copied().collect();
        running.extend(self.starting(machine, starts));
        running.sort_unstable();
        for RunningJob { job: holder, processors, expected_end, .. } in running {
            if left >= self.request(job).processors {
                break;
            }
            left += processors;
            held.push(Holder { job: self.label(holder), processors, expected_until: Moment::At(expected_end) });
        }
        held
    }

    fn starting(&self, machine: usize, starts: &Starts) -> impl Iterator<Item = RunningJob> {
        let here = starts.iter().filter(move |(_, place)| place.index() == machine);
        here.map(move |(job, _)| self.view.machines[machine].running(*job, self.request(*job), self.view.now))
    }

    fn free_after(&self, machine: usize, starts: &Starts) -> u32 {
        self.view.free[machine] - self.starting(machine, starts).map(|job| job.processors).sum::<u32>()
    }
}
