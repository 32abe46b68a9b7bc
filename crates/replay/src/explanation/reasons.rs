//! Why each job of a small log started then: the last that [`explain`](super::explain) would tell of it, heard in the run itself.

use super::history::{About, Start};
use super::pass::{Numbers, Pass};
use super::words::{self, Names};
use crate::label::Label;
use gap_schedule::{Explained, Policy, Reason, ReasonProbe, Starts, View};
use sim_core::JobId;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use workload::LogJob;

/// Listens to every job of a run. A pass costs as much as its queue is long, so it is for logs that are drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReasonsHeard(Rc<RefCell<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    numbers: Numbers,
    abouts: BTreeMap<JobId, About>,
    /// Of jobs that wait, the last pass that told why, and who started at it.
    kept: BTreeMap<JobId, Rc<(Pass, Starts)>>,
    pass: Pass,
    /// Of an interrupted job, the last start counts.
    started: BTreeMap<JobId, (Start, Option<String>)>,
    /// Names of the machines.
    names: Vec<String>,
    tells: bool,
}

/// What was told of the starts of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reasons {
    /// Whether the policy has told anything.
    pub(crate) tells: bool,
    of: BTreeMap<JobId, Vec<String>>,
}

impl Reasons {
    /// These lines, by the job.
    pub(super) fn told(of: BTreeMap<JobId, Vec<String>>) -> Self {
        Self { tells: of.values().any(|lines| !lines.is_empty()), of }
    }

    /// How long all lines are, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.of.values().flatten().map(String::len).sum()
    }

    /// Why the job started then, line by line.
    pub(crate) fn of(&self, job: JobId) -> &[String] {
        self.of.get(&job).map_or(&[], Vec::as_slice)
    }
}

impl ReasonsHeard {
    /// On machines of these names.
    pub(crate) fn on(names: Vec<String>) -> Self {
        Self(Rc::new(RefCell::new(Heard { names, ..Heard::default() })))
    }

    /// The policy, listened to: its schedule is the same.
    pub(crate) fn listening_to(&self, policy: impl Policy) -> impl Policy {
        Explained::new(policy, self.clone())
    }

    /// The log's next job, before it is submitted.
    pub(crate) fn comes(&self, job: &LogJob) {
        let mut heard = self.0.borrow_mut();
        heard.numbers.enter(job.job.id, Label::of_job(job));
        heard.abouts.insert(job.job.id, About::of(job));
    }

    /// What was told, now that the run is over.
    pub(crate) fn finish(self) -> Reasons {
        let heard = mem::take(&mut *self.0.borrow_mut());
        let Heard { tells, started, abouts, .. } = heard;
        let lines = |(job, (start, kept)): (JobId, (Start, Option<String>))| {
            let by = words::by_right(&start, &abouts[&job]).map(|by| format!("why then: {by}"));
            (job, by.into_iter().chain(kept.map(|kept| format!("until then: {kept}"))).collect())
        };
        let of = if tells { started.into_iter().map(lines).collect() } else { BTreeMap::new() };
        Reasons { tells, of }
    }
}

impl Heard {
    fn end_pass(&mut self, starts: &Starts) {
        let pass = Rc::new((mem::take(&mut self.pass), starts.clone()));
        self.tells |= pass.0.tells();
        for (job, machine) in starts {
            let start = pass.0.start(*job, *machine, starts, &self.numbers);
            let kept = self.kept.remove(job).map(|kept| self.kept_by(*job, &kept));
            self.started.insert(*job, (start, kept));
        }
        for job in pass.0.kept() {
            self.kept.insert(job, Rc::clone(&pass));
        }
    }

    /// What kept the job from starting at that pass.
    fn kept_by(&self, job: JobId, (pass, starts): &(Pass, Starts)) -> String {
        let about = About { expected: pass.expected(job), ..self.abouts[&job].clone() };
        words::obstacle_and_promise(&pass.wait(job, starts, &self.numbers), &about, &Names(self.names.clone()))
    }
}

impl ReasonProbe for ReasonsHeard {
    fn begin_pass(&mut self, view: &View<'_>) {
        self.0.borrow_mut().pass = Pass::of(view);
    }

    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        self.0.borrow_mut().pass.hear(job, reason, starts);
    }

    fn end_pass(&mut self, _: &View<'_>, starts: &Starts) {
        self.0.borrow_mut().end_pass(starts);
    }
}
