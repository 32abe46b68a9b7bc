//! For whom a policy is better: jobs by class, and by user.

use crate::label::Label;
use metrics::{Blocks, JobClass, Mean, job};
use sim_core::{JobRecord, Time};
use std::collections::BTreeMap;

/// Jobs by class and by user.
pub(crate) struct Classes {
    classes: [Class; 4],
    users: BTreeMap<Option<u32>, User>,
}

/// The jobs of one [`JobClass`].
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) jobs: u64,
    pub(crate) blocks: Blocks,
    pub(crate) wait: Mean,
    pub(crate) bounded_slowdown: Mean,
}

/// The jobs of one user.
#[derive(Default)]
pub(crate) struct User {
    /// `None` for the jobs of which the log does not tell.
    pub(crate) label: Option<Label>,
    pub(crate) jobs: u64,
    /// Processor-seconds.
    pub(crate) work: f64,
    pub(crate) wait: Mean,
    pub(crate) bounded_slowdown: Mean,
}

impl Default for Classes {
    fn default() -> Self {
        let class = |name| Class {
            name,
            jobs: 0,
            blocks: Blocks::new(),
            wait: Mean::default(),
            bounded_slowdown: Mean::default(),
        };
        Self { classes: JobClass::ALL.map(|one| class(one.name())), users: BTreeMap::new() }
    }
}

impl Classes {
    /// Records a submission; see [`Blocks::note_submission`].
    pub(super) fn note_submission(&mut self, submit: Time, queue_was_empty: bool) {
        self.classes.iter_mut().for_each(|class| class.blocks.note_submission(submit, queue_was_empty));
    }

    /// Takes in one finished job.
    pub(super) fn add(&mut self, record: &JobRecord, user: Option<&Label>) {
        let wait = record.wait().as_secs_f64();
        let slowdown = job::bounded_slowdown(record, metrics::Summary::THRESHOLD);
        let class = &mut self.classes[JobClass::of(record) as usize];
        class.jobs += 1;
        class.wait.add(wait);
        class.bounded_slowdown.add(slowdown);
        class.blocks.add(record);
        let entry = self.users.entry(record.job.request.user);
        let user = entry.or_insert_with(|| User { label: user.cloned(), ..User::default() });
        user.jobs += 1;
        user.work += f64::from(record.processors) * record.finish.since(record.start).as_secs_f64();
        user.wait.add(wait);
        user.bounded_slowdown.add(slowdown);
    }

    /// In the order of [`JobClass::ALL`].
    pub(crate) fn classes(&self) -> &[Class; 4] {
        &self.classes
    }

    /// The user of a number; `None` for all jobs of which the log does not tell.
    pub(crate) fn user(&self, number: Option<u32>) -> Option<&User> {
        self.users.get(&number)
    }

    /// Those who had the most processor-seconds, most first.
    pub(crate) fn heaviest(&self, most: usize) -> Vec<(Option<u32>, &User)> {
        let mut users: Vec<_> = self.users.iter().map(|(number, user)| (*number, user)).collect();
        users.sort_by(|(_, a), (_, b)| b.work.total_cmp(&a.work));
        users.truncate(most);
        users
    }

    /// How many users there are.
    pub(crate) fn users(&self) -> usize {
        self.users.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Job, JobId, SiteId, Span, Time};

    fn ran(processors: u32, seconds: u64, user: u32) -> JobRecord {
        let mut job = Job::new(JobId(0), Time::ZERO, processors, Span::from_secs(seconds));
        job.request.user = Some(user);
        let start = Time::from_secs(100);
        JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors }
    }

    #[test]
    fn an_hour_on_eight_processors_is_short_and_narrow_and_a_second_or_a_processor_more_is_not() {
        let mut classes = Classes::default();
        for (processors, seconds) in [(8, 3600), (9, 3600), (8, 3601), (9, 3601), (1, 1)] {
            classes.add(&ran(processors, seconds, 1), None);
        }
        assert_eq!(classes.classes().each_ref().map(|class| class.jobs), [2, 1, 1, 1]);
        assert_eq!(classes.classes()[3].wait.mean(), Some(100.0));
    }

    #[test]
    fn users_come_by_what_they_used() {
        let mut classes = Classes::default();
        for (processors, user) in [(1, 7), (9, 3), (2, 7)] {
            classes.add(&ran(processors, 10, user), None);
        }
        let heaviest: Vec<_> = classes.heaviest(5).into_iter().map(|(number, user)| (number, user.jobs)).collect();
        assert_eq!(heaviest, [(Some(3), 1), (Some(7), 2)]);
        assert_eq!(classes.heaviest(1).len(), 1);
    }
}
