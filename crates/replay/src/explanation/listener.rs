//! Listens to a run of space-shared machines: to the policy's reasons, and to what happens.

use super::heard::Followed;
use super::line::Explanation;
use super::pass::{Names, Pass};
use super::reason::{Site, Step, explanation};
use crate::label::Label;
use gap_schedule::{Reason, ReasonProbe, Starts, View};
use sim_core::{Fact, JobId, Probe, Time};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use workload::LogJob;

/// What was heard, for whoever drives the run.
pub(crate) type Shared = Rc<RefCell<Listener>>;

#[derive(Debug)]
pub(crate) struct Listener {
    followed: Followed<Step>,
    /// Of all jobs in the system, and of the machines.
    names: Names,
    /// Jobs that are followed and wait.
    waiting: BTreeSet<JobId>,
    /// What the policy was shown at this pass and said, if one of them waits.
    pass: Pass,
    /// Whether it has ever said anything.
    tells: bool,
}

impl Listener {
    pub(crate) fn new(numbers: &[u64], sites: &[String]) -> Shared {
        let site = |name: &String| Site { name: name.as_str().into(), is_only: sites.len() == 1 };
        let names = Names { sites: sites.iter().map(site).collect(), ..Names::default() };
        let (followed, waiting, pass) = (Followed::new(numbers), BTreeSet::new(), Pass::default());
        Rc::new(RefCell::new(Self { followed, names, waiting, pass, tells: false }))
    }

    /// The log's next job, before it is submitted.
    pub(crate) fn comes(&mut self, job: &LogJob) {
        self.names.labels.insert(job.job.id, Label::of_job(job));
        self.followed.comes(job);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.followed.is_done()
    }

    pub(crate) fn explanations(&mut self, policy: &str) -> Vec<Explanation> {
        let tells = self.tells;
        self.followed.finish().map(|tale| explanation(policy, &tale.about, tale.steps, tells)).collect()
    }

    fn begin_pass(&mut self, view: &View<'_>) {
        self.pass = if self.waiting.is_empty() { Pass::default() } else { Pass::of(view) };
        for job in &self.waiting {
            let Some(tale) = self.followed.tale(*job) else { continue };
            // What was predicted, if anybody predicts.
            tale.about.expected = self.pass.expected(*job);
            let before = || self.names.of_all(self.pass.before(*job));
            tale.about.came_behind.get_or_insert_with(before);
        }
    }

    fn end_pass(&mut self, starts: &Starts) {
        if self.waiting.is_empty() {
            return;
        }
        self.tells |= self.pass.tells();
        let (pass, names) = (&self.pass, &self.names);
        for job in &self.waiting {
            let Some(tale) = self.followed.tale(*job) else { continue };
            let step = match starts.iter().find(|(other, _)| other == job) {
                Some((_, machine)) => Step::Starts(pass.start(*job, *machine, starts, names)),
                None => Step::Waits(pass.wait(*job, starts, names)),
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
                let site = self.names.sites[site.index()].clone();
                self.push(*job, Step::Interrupted { at: now, site });
            }
            Fact::Finished { job } => {
                self.push(*job, Step::Ends { at: now });
                self.end(*job);
            }
            Fact::Rejected { job, .. } => {
                self.set_waiting(*job, false);
                self.push(*job, Step::Rejected { at: now });
                self.end(*job);
            }
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }

    fn set_waiting(&mut self, job: JobId, waits: bool) {
        if !waits {
            self.waiting.remove(&job);
        } else if self.followed.follows(job) {
            self.waiting.insert(job);
        }
    }

    fn push(&mut self, job: JobId, step: Step) {
        if let Some(tale) = self.followed.tale(job) {
            tale.steps.push(step);
        }
    }

    fn end(&mut self, job: JobId) {
        self.names.labels.remove(&job);
        self.followed.end(job);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Ear(pub(crate) Shared);

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
