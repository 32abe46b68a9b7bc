//! Free processors by time, in Alea's order: [`FreeSlots`].

use crate::state::Release;
use std::sync::Arc;

/// Free processors by time, while jobs take them one after the other and return them.
///
/// Alea keeps them in a binary heap, and *its order among equal times is part of the plan*: the choice among equal
/// slots decides the size of the gaps that a collecting job leaves. Three of its rules matter
/// (`ResourceInfo.createBinaryHeap` and `findFirstFreeSlotForWaitingJob`, `BinaryHeap`):
///
/// - Slots of running jobs enter one by one in the order in which a `java.util.HashMap` lists their times; see
///   [`hash_order`].
/// - An entering slot rises while it is *earlier* than its parent, so equal ones stay below.
/// - When the first slot is empty, the last takes its place and sinks while a child is earlier, the left of two equal ones
///   first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeSlots {
    heap: Vec<FreeSlot>,
    /// Heap at each mark. Shared, because a tried plan, which is mostly discarded, begins at the marks of another.
    marks: Vec<Arc<[FreeSlot]>>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct FreeSlot {
    at: f64,
    processors: u32,
}

impl FreeSlots {
    /// Restarts with the releases of running jobs, and sets a mark.
    pub(crate) fn begin(&mut self, releases: impl IntoIterator<Item = Release>) {
        self.heap.clear();
        self.marks.clear();
        for Release { at, processors, .. } in releases {
            self.give_back(at, processors);
        }
        self.mark();
    }

    /// Marks the state of the heap, to begin from here again.
    pub(crate) fn mark(&mut self) {
        self.marks.push(Arc::from(self.heap.as_slice()));
    }

    pub(crate) const fn marks(&self) -> usize {
        self.marks.len()
    }

    /// Returns to a mark, and drops later ones.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.marks.truncate(mark + 1);
        self.heap.clear();
        self.heap.extend_from_slice(&self.marks[mark]);
    }

    /// Copies the state of `other` at its first `marks` marks, at most.
    pub(crate) fn copy(&mut self, other: &Self, marks: usize) {
        self.marks.clear();
        self.marks.extend(other.marks.iter().take(marks).cloned());
    }

    /// Takes at most `missing` processors of the first slot. Returns the instant at which they are free, and their number.
    #[inline]
    pub(crate) fn pop(&mut self, missing: u32) -> (f64, u32) {
        let first = self.heap.first_mut().expect("a job is no wider than its cluster");
        let (at, taken) = (first.at, missing.min(first.processors));
        first.processors -= taken;
        if first.processors == 0 {
            self.remove_first();
        }
        (at, taken)
    }

    /// Takes `processors`, and returns the instant at which the last of them is free.
    #[inline]
    pub(crate) fn take(&mut self, processors: u32) -> f64 {
        let mut missing = processors;
        loop {
            let (at, taken) = self.pop(missing);
            missing -= taken;
            if missing == 0 {
                return at;
            }
        }
    }

    #[inline]
    pub(crate) fn give_back(&mut self, at: f64, processors: u32) {
        let slot = FreeSlot { at, processors };
        let mut hole = self.heap.len();
        self.heap.push(slot);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if slot.at >= self.heap[parent].at {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = slot;
    }

    /// Returns the instant at which `processors` are free.
    pub(crate) fn when(&self, processors: u32) -> f64 {
        let mut slots = self.heap.clone();
        slots.sort_unstable_by(|a, b| a.at.total_cmp(&b.at));
        let mut free = 0;
        let mut enough = slots.iter().skip_while(|slot| {
            free += slot.processors;
            free < processors
        });
        enough.next().expect("a job is no wider than its cluster").at
    }

    /// Returns the instant at which the first processors are free.
    pub(crate) fn first(&self) -> f64 {
        self.heap.first().expect("processors are free some day").at
    }

    /// Returns the instant at which the last processors are free.
    pub(crate) fn last(&self) -> f64 {
        self.heap.iter().map(|slot| slot.at).fold(f64::MIN, f64::max)
    }

    /// Number of processors that are free at the first instant.
    pub(crate) fn at_first(&self) -> u32 {
        let first = self.first();
        self.heap.iter().filter(|slot| slot.at <= first).map(|slot| slot.processors).sum()
    }

    fn remove_first(&mut self) {
        let slot = self.heap.pop().expect("there is a first");
        let len = self.heap.len();
        if len == 0 {
            return;
        }
        let mut hole = 0;
        loop {
            let mut child = 2 * hole + 1;
            if child >= len {
                break;
            }
            if child + 1 < len && self.heap[child + 1].at < self.heap[child].at {
                child += 1;
            }
            if self.heap[child].at >= slot.at {
                break;
            }
            self.heap[hole] = self.heap[child];
            hole = child;
        }
        self.heap[hole] = slot;
    }
}

/// Sorts slots with different times into the order in which a `java.util.HashMap<Double, …>` lists them (OpenJDK 8 and
/// later), if they were inserted in the order of their first processors.
///
/// A key's bin is the low bits of its hash, h ^ h >>> 16 with h the two halves of the double's bits, one xor the other
/// (`Double.hashCode`, `HashMap.hash`). The number of bins, 16 at first, doubles whenever it is three quarters full,
/// and keys of a bin keep their order. (With 64 bins or more, a bin of nine keys would become a tree and might list
/// another key first. This is not modelled, since nine keys in one bin do not occur.)
pub(crate) fn hash_order(slots: &mut [Release]) {
    let mut bins = 16;
    while 4 * slots.len() > 3 * bins {
        bins *= 2;
    }
    let mask = u32::try_from(bins - 1).expect("fewer than 2^32 processors");
    slots.sort_unstable_by_key(|slot| (hash(slot.at) & mask, slot.first));
}

/// Spreads the hash of a double as `HashMap` does.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
const fn hash(key: f64) -> u32 {
    let bits = key.to_bits();
    let hash = (bits ^ (bits >> 32)) as u32;
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 keys: the table has grown four times. The number is Java's Σ 31ⁱ × hash over the listed keys (OpenJDK 17).
    #[test]
    fn times_are_listed_as_a_hash_map_of_java_lists_them() {
        let keys = (0..200).map(|i| 342_342.0 + f64::from(i * 7_919 % 1_000) * 86.4 + 0.008);
        let mut slots: Vec<Release> = (0..).zip(keys).map(|(first, at)| Release { at, processors: 1, first }).collect();
        hash_order(&mut slots);
        #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "as Java does")]
        let hash = |key: f64| (key.to_bits() ^ (key.to_bits() >> 32)) as u32 as i32;
        let sum = slots.iter().fold(0_i64, |sum, slot| sum.wrapping_mul(31).wrapping_add(hash(slot.at).into()));
        assert_eq!(sum, 4_318_448_436_217_847_850);
    }

    /// Among equal slots, the one higher in the heap comes first, not the one inserted first.
    #[test]
    fn equal_times_are_taken_in_the_order_of_the_heap() {
        let mut slots = FreeSlots::default();
        let release = |(at, processors)| Release { at, processors, first: 0 };
        slots.begin([(1.0, 1), (5.0, 2), (3.0, 3), (5.0, 4), (5.0, 5)].map(release));
        let order: Vec<(f64, u32)> = (0..5).map(|_| slots.pop(u32::MAX)).collect();
        assert_eq!(order, [(1.0, 1), (3.0, 3), (5.0, 4), (5.0, 5), (5.0, 2)]);
    }
}
