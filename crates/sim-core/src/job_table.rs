//! What is known of the jobs in a system, by their numbers.

use crate::id::JobId;

/// A map from the jobs that are in a system to what is known of each.
///
/// Several tables are asked at every event of a run, with a handful to some thousands of jobs in them, numbered nearly one
/// after the other. So values stay where they were put until they leave, and beside them stands an index of four bytes a place,
/// at most half full, probed from place to place. That takes about half the instructions of a `HashMap` with a fast hash. It
/// cannot be iterated: no order of its own can reach a result. Memory follows the most jobs that were ever in it at once.
#[derive(Clone, Debug)]
pub struct JobTable<V> {
    /// One more than the number of an entry, or zero; as many as a power of two.
    index: Vec<u32>,
    /// How far a product is shifted to the right to be a place in the index.
    shift: u32,
    entries: Vec<Entry<V>>,
    /// Entries that hold nothing.
    vacant: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    job: JobId,
    value: Option<V>,
}

impl<V> Default for JobTable<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> JobTable<V> {
    const SMALLEST: usize = 16;

    /// Of no job.
    pub fn new() -> Self {
        let index = vec![0; Self::SMALLEST];
        Self { index, shift: u32::BITS - Self::SMALLEST.ilog2(), entries: Vec::new(), vacant: Vec::new() }
    }

    /// How many jobs it knows.
    pub const fn len(&self) -> usize {
        self.entries.len() - self.vacant.len()
    }

    /// Whether it knows no job.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it knows the job.
    #[inline]
    pub fn contains(&self, job: JobId) -> bool {
        self.find(job).is_some()
    }

    /// What is known of the job.
    #[inline]
    pub fn get(&self, job: JobId) -> Option<&V> {
        let place = self.find(job)?;
        self.entries[self.entry_at(place)].value.as_ref()
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, job: JobId) -> Option<&mut V> {
        let place = self.find(job)?;
        let entry = self.entry_at(place);
        self.entries[entry].value.as_mut()
    }

    /// Notes something of the job; what was known before, if there was something.
    ///
    /// # Panics
    ///
    /// With more than four billion jobs at once.
    #[inline]
    pub fn insert(&mut self, job: JobId, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(job) {
            return Some(std::mem::replace(known, value));
        }
        if 2 * (self.len() + 1) > self.index.len() {
            self.grow();
        }
        let entry = Entry { job, value: Some(value) };
        let number = if let Some(number) = self.vacant.pop() {
            self.entries[number as usize] = entry;
            number
        } else {
            self.entries.push(entry);
            u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 jobs at once")
        };
        self.enter(job, number);
        None
    }

    /// Forgets the job; what was known of it.
    #[inline]
    pub fn remove(&mut self, job: JobId) -> Option<V> {
        let place = self.find(job)?;
        let number = self.index[place] - 1;
        self.close(place);
        self.vacant.push(number);
        self.entries[number as usize].value.take()
    }

    const fn mask(&self) -> usize {
        self.index.len() - 1
    }

    /// Where the search for a job begins: neighbours by number are spread over the whole index.
    #[inline]
    const fn home(&self, job: JobId) -> usize {
        (job.0.wrapping_mul(0x9E37_79B1) >> self.shift) as usize
    }

    /// The entry that stands at a place in use.
    #[inline]
    fn entry_at(&self, place: usize) -> usize {
        self.index[place] as usize - 1
    }

    /// The place of the job in the index.
    #[inline]
    fn find(&self, job: JobId) -> Option<usize> {
        let mut place = self.home(job);
        while self.index[place] != 0 {
            if self.entries[self.entry_at(place)].job == job {
                return Some(place);
            }
            place = (place + 1) & self.mask();
        }
        None
    }

    /// Writes a job, which is not there, into the index.
    #[inline]
    fn enter(&mut self, job: JobId, number: u32) {
        let mut place = self.home(job);
        while self.index[place] != 0 {
            place = (place + 1) & self.mask();
        }
        self.index[place] = number + 1;
    }

    /// Empties a place, and moves up those behind it that would no longer be found.
    #[inline]
    fn close(&mut self, mut hole: usize) {
        let mask = self.mask();
        let mut place = (hole + 1) & mask;
        while self.index[place] != 0 {
            let home = self.home(self.entries[self.entry_at(place)].job);
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(hole) & mask {
                self.index[hole] = self.index[place];
                hole = place;
            }
            place = (place + 1) & mask;
        }
        self.index[hole] = 0;
    }

    #[cold]
    fn grow(&mut self) {
        let places = 2 * self.index.len();
        self.index.clear();
        self.index.resize(places, 0);
        self.shift -= 1;
        for number in 0..u32::try_from(self.entries.len()).expect("fewer than 2^32 jobs at once") {
            let Entry { job, value } = &self.entries[number as usize];
            if value.is_some() {
                self.enter(*job, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The twin: a map as everybody knows it. Numbers lie close together, far apart, or all where one search begins.
        #[test]
        fn any_coming_and_going_leaves_what_a_map_would_hold(
            steps in prop::collection::vec((0..5_u32, 0..60_u32), 0..600),
            stride in prop::sample::select(vec![1, 2, 3, 1 << 16, 0x1000_0001, u32::MAX / 61]),
        ) {
            let (mut table, mut twin) = (JobTable::new(), BTreeMap::new());
            for (value, (action, number)) in (0_u64..).zip(steps) {
                let job = JobId(number.wrapping_mul(stride));
                match action {
                    0 | 1 => prop_assert_eq!(table.remove(job), twin.remove(&job)),
                    2 => prop_assert_eq!(table.get_mut(job).map(|known| std::mem::replace(known, value)), twin.get_mut(&job).map(|known| std::mem::replace(known, value))),
                    _ => prop_assert_eq!(table.insert(job, value), twin.insert(job, value)),
                }
                prop_assert_eq!((table.len(), table.is_empty()), (twin.len(), twin.is_empty()));
                for number in 0..60_u32 {
                    let job = JobId(number.wrapping_mul(stride));
                    prop_assert_eq!(table.get(job), twin.get(&job));
                    prop_assert_eq!(table.contains(job), twin.contains_key(&job));
                }
            }
        }
    }

    #[test]
    fn memory_follows_the_most_jobs_at_once() {
        let mut table = JobTable::new();
        for job in 0..100_000 {
            table.insert(JobId(job), job);
            if job >= 100 {
                assert_eq!(table.remove(JobId(job - 100)), Some(job - 100));
            }
        }
        assert_eq!((table.len(), table.entries.len(), table.index.len()), (100, 101, 256));
    }
}
