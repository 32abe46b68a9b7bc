//! Jobs by class over blocks of the log, and names of users: what [`Totals`](metrics::Totals) leave out.

use crate::label::Label;
use metrics::{Blocks, JobClass};
use sim_core::{JobRecord, Time};
use std::collections::BTreeMap;

/// Blocks of the log by [`JobClass`], and labels by user.
#[derive(Default)]
pub(crate) struct Classes {
    /// In the order of [`JobClass::ALL`].
    pub(super) blocks: [Blocks; 4],
    /// Labels of users by number, where the log has them.
    pub(super) labels: BTreeMap<Option<u32>, Label>,
}

impl Classes {
    /// Records a submission; see [`Blocks::note_submission`].
    pub(super) fn note_submission(&mut self, submit: Time, queue_was_empty: bool) {
        self.blocks.iter_mut().for_each(|blocks| blocks.note_submission(submit, queue_was_empty));
    }

    /// Takes in one finished job.
    pub(super) fn add(&mut self, record: &JobRecord, user: Option<&Label>) {
        self.blocks[JobClass::of(record) as usize].add(record);
        if let Some(label) = user {
            self.labels.entry(record.job.request.user).or_insert_with(|| label.clone());
        }
    }
}
