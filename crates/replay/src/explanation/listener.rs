//! Listens to a run of space-shared machines: to the policy's reasons, and to what happens.

use super::history::{About, Step};
use super::pass::{Numbers, Pass};
use crate::label::Label;
use gap_schedule::{Reason, ReasonProbe, Starts, View};
use sim_core::{Fact, JobId, Probe, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::LogJob;

/// What was heard, for whoever drives the run.
pub(crate) type Shared = Rc<RefCell<Listener>>;

/// Follows some jobs.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// Numbers of jobs that have not come yet.
    wanted: Vec<u64>,
    /// Of all jobs in the system.
    numbers: Numbers,
    tales: BTreeMap<JobId, Tale>,
    /// How many of those wait.
    waiting: usize,
    /// What the policy was shown at this pass and said, if one of them waits.
    pass: Pass,
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

impl Listener {
    /// Follows the jobs of these numbers.
    pub(crate) fn new(numbers: &[u64]) -> Shared {
        Rc::new(RefCell::new(Self { wanted: numbers.to_vec(), ..Self::default() }))
    }

    /// The log's next job, before it is submitted.
    pub(crate) fn comes(&mut self, job: &LogJob) {
        self.numbers.enter(job.job.id, Label::of_job(job));
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

    fn begin_pass(&mut self, view: &View<'_>) {
        self.pass = Pass::default();
        if self.waiting == 0 {
            return;
        }
        self.pass = Pass::of(view);
        for (job, tale) in self.tales.iter_mut().filter(|(_, tale)| tale.waits) {
            // What was predicted, if anybody predicts.
            tale.about.expected = self.pass.expected(*job);
            let before = || self.numbers.of_all(self.pass.before(*job));
            tale.about.came_behind.get_or_insert_with(before);
        }
    }

    fn end_pass(&mut self, starts: &Starts) {
        if self.waiting == 0 {
            return;
        }
        self.tells |= self.pass.tells();
        let (pass, numbers) = (&self.pass, &self.numbers);
        for (job, tale) in self.tales.iter_mut().filter(|(_, tale)| tale.waits) {
            let step = match starts.iter().find(|(other, _)| other == job) {
                Some((_, machine)) => Step::Starts(pass.start(*job, *machine, starts, numbers)),
                None => Step::Waits(pass.wait(*job, starts, numbers)),
            };
            if let Some(Step::Waits(last)) = tale.steps.last_mut() {
                last.until = pass.now();
            }
            tale.steps.push(step);
        }
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
        self.numbers.remove(job);
        if let Some(tale) = self.tales.get_mut(&job) {
            tale.is_over = true;
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
        self.0.borrow_mut().pass.hear(job, reason, starts);
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
