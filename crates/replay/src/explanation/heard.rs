//! Jobs that are followed through a run, and what is heard of them in worlds where every event is a line of its own.

use super::line::{Explanation, Line};
use super::reason::{About, about as in_words, object};
use serde_json::Value;
use sim_core::{JobId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::LogJob;

/// Some jobs of a log, with what has happened to each.
#[derive(Debug)]
pub(crate) struct Followed<T> {
    /// Numbers of jobs that have not come yet.
    wanted: Vec<u64>,
    tales: BTreeMap<JobId, Tale<T>>,
}

#[derive(Debug)]
pub(crate) struct Tale<T> {
    pub(super) about: About,
    pub(super) steps: Vec<T>,
    is_over: bool,
}

impl<T> Followed<T> {
    pub(super) fn new(numbers: &[u64]) -> Self {
        Self { wanted: numbers.to_vec(), tales: BTreeMap::new() }
    }

    /// Takes note of the log's next job, before it is submitted.
    pub(crate) fn comes(&mut self, job: &LogJob) {
        let Some(found) = self.wanted.iter().position(|number| *number == job.number) else { return };
        self.wanted.remove(found);
        self.tales.insert(job.job.id, Tale { about: About::of(job), steps: Vec::new(), is_over: false });
    }

    /// Whether anything is asked about the job.
    pub(crate) fn follows(&self, job: JobId) -> bool {
        self.tales.contains_key(&job)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty() && self.tales.values().all(|tale| tale.is_over)
    }

    /// The tale of a job that is followed.
    pub(super) fn tale(&mut self, job: JobId) -> Option<&mut Tale<T>> {
        self.tales.get_mut(&job)
    }

    /// Nothing more will happen to the job.
    pub(crate) fn end(&mut self, job: JobId) {
        self.tales.entry(job).and_modify(|tale| tale.is_over = true);
    }

    /// All tales, in order of submission.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Tale<T>> + use<T> {
        std::mem::take(&mut self.tales).into_values()
    }
}

/// Jobs whose every event is a line.
pub(crate) type SharedHeard = Rc<RefCell<Followed<Line>>>;

pub(crate) fn heard(numbers: &[u64]) -> SharedHeard {
    Rc::new(RefCell::new(Followed::new(numbers)))
}

impl Followed<Line> {
    /// Something happens to the job: an event of that kind, reported in `words`, with further `facts`.
    pub(crate) fn push(
        &mut self,
        job: JobId,
        at: Time,
        event: &'static str,
        words: impl FnOnce() -> String,
        facts: impl FnOnce() -> Value,
    ) {
        if let Some(tale) = self.tale(job) {
            let mut facts = object(facts());
            facts.insert("event".to_owned(), event.into());
            tale.steps.push(Line { from: at, until: None, words: words(), facts });
        }
    }

    /// An explanation of each job. Of events of the kind `often`, neighbours are one line in brief.
    pub(crate) fn explanations(&mut self, policy: &str, often: &str) -> Vec<Explanation> {
        let explanation = |Tale { about, steps, .. }: Tale<Line>| Explanation {
            policy: policy.to_owned(),
            job: about.label.clone(),
            about: in_words(&about),
            facts: about.facts(),
            brief: in_brief(&steps, often),
            history: steps,
            note: None,
        };
        self.finish().map(explanation).collect()
    }
}

/// Neighbours of that kind as one line, which tells the first of them.
fn in_brief(lines: &[Line], often: &str) -> Vec<Line> {
    let mut brief: Vec<(Line, u64)> = Vec::new();
    for line in lines {
        match brief.last_mut() {
            Some((last, count)) if line.facts["event"] == often && last.facts["event"] == often => {
                last.until = Some(line.from);
                *count += 1;
            }
            _ => brief.push((line.clone(), 1)),
        }
    }
    let told = |(line, count): (Line, u64)| match count {
        1 => line,
        count => Line { words: format!("{} (the first of {count} such)", line.words), ..line },
    };
    brief.into_iter().map(told).collect()
}
