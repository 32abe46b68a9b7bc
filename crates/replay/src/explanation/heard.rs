//! What is heard of some jobs in worlds where every event is a line of its own.

use super::history::About;
use super::line::{Explanation, Line};
use super::words;
use serde_json::{Map, Value};
use sim_core::{JobId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::LogJob;

/// What was heard, for whoever drives the run.
pub(crate) type SharedHeard = Rc<RefCell<Heard>>;

/// Follows some jobs.
#[derive(Default)]
pub(crate) struct Heard {
    /// Numbers of jobs that have not come yet.
    wanted: Vec<u64>,
    followed: BTreeMap<JobId, Followed>,
}

struct Followed {
    about: About,
    lines: Vec<Line>,
    is_over: bool,
}

impl Heard {
    /// Follows the jobs of these numbers.
    pub(crate) fn of(numbers: &[u64]) -> SharedHeard {
        Rc::new(RefCell::new(Self { wanted: numbers.to_vec(), ..Self::default() }))
    }

    /// The log's next job, before it is submitted.
    pub(crate) fn comes(&mut self, job: &LogJob) {
        let Some(found) = self.wanted.iter().position(|number| *number == job.number) else { return };
        self.wanted.remove(found);
        self.followed.insert(job.job.id, Followed { about: About::of(job), lines: Vec::new(), is_over: false });
    }

    /// Whether anything is asked about the job.
    pub(crate) fn follows(&self, job: JobId) -> bool {
        self.followed.contains_key(&job)
    }

    /// Whether all is known.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty() && self.followed.values().all(|followed| followed.is_over)
    }

    /// Something happens to the job: an event of that kind, told in `words`, with further `facts`.
    pub(crate) fn push(
        &mut self,
        job: JobId,
        at: Time,
        event: &'static str,
        words: impl FnOnce() -> String,
        facts: impl FnOnce() -> Map<String, Value>,
    ) {
        if let Some(followed) = self.followed.get_mut(&job) {
            let mut facts = facts();
            facts.insert("event".to_owned(), event.into());
            followed.lines.push(Line { from: at, until: None, words: words(), facts });
        }
    }

    /// Nothing more will happen to the job.
    pub(crate) fn end(&mut self, job: JobId) {
        if let Some(followed) = self.followed.get_mut(&job) {
            followed.is_over = true;
        }
    }

    /// An explanation of each job. Of events of the kind `often`, neighbours are one line in brief.
    pub(crate) fn finish(&mut self, policy: &str, often: &str) -> Vec<Explanation> {
        let followed = std::mem::take(&mut self.followed).into_values();
        followed
            .map(|Followed { about, lines, .. }| Explanation {
                policy: policy.to_owned(),
                job: about.label.clone(),
                about: words::about(&about),
                facts: about.facts(),
                brief: in_brief(&lines, often),
                history: lines,
                note: None,
            })
            .collect()
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
