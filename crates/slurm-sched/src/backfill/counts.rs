//! Limits of a pass on the number of jobs by user, partition and association.

use crate::conf::Scheduling;
use crate::queue::Entry;
use std::collections::BTreeMap;

/// Numbers of jobs visited so far, by user, partition and association.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    users: BTreeMap<usize, usize>,
    partitions: BTreeMap<usize, usize>,
    users_of_partitions: BTreeMap<(usize, usize), usize>,
    associations: BTreeMap<Option<usize>, usize>,
}

impl Counts {
    /// Counts an entry, and returns true if it is beyond one of the limits.
    pub(super) fn is_beyond(&mut self, entry: &Entry, settings: &Scheduling) -> bool {
        fn exceeds<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, limit: usize) -> bool {
            if limit == 0 {
                return false;
            }
            let count = counts.entry(key).or_default();
            *count += 1;
            *count > limit
        }
        exceeds(&mut self.partitions, entry.partition, settings.bf_max_job_part)
            || exceeds(
                &mut self.users_of_partitions,
                (entry.demand.user, entry.partition),
                settings.bf_max_job_user_part,
            )
            || exceeds(&mut self.users, entry.demand.user, settings.bf_max_job_user)
            || exceeds(&mut self.associations, entry.demand.association, settings.bf_max_job_assoc)
    }
}
