//! Free processors as contiguous blocks: a machine of four billion takes no more memory than one of four.

use std::collections::BTreeMap;

/// Free processors of one place: the first of each block, and its length. No two blocks are adjacent.
#[derive(Debug, Default)]
pub(super) struct Free(BTreeMap<u32, u32>);

impl Free {
    /// `count` processors from `first` on.
    pub(super) fn block(first: u32, count: u32) -> Self {
        let mut free = Self::default();
        free.give_back(first, count);
        free
    }

    /// Takes the processors of lowest number as blocks of `(first, count)`; fewer if fewer are free.
    pub(super) fn take_lowest(&mut self, mut wanted: u32) -> Vec<(u32, u32)> {
        let mut taken = Vec::new();
        while wanted > 0
            && let Some((first, count)) = self.0.pop_first()
        {
            let used = count.min(wanted);
            if used < count {
                self.0.insert(first + used, count - used);
            }
            taken.push((first, used));
            wanted -= used;
        }
        taken
    }

    /// Frees `count` processors from `first` on.
    pub(super) fn give_back(&mut self, mut first: u32, mut count: u32) {
        if count == 0 {
            return;
        }
        if let Some((&before, &length)) = self.0.range(..first).next_back()
            && before + length == first
        {
            self.0.remove(&before);
            (first, count) = (before, length + count);
        }
        // There is no processor, and no block, after the last number.
        if let Some(after) = first.checked_add(count)
            && let Some(length) = self.0.remove(&after)
        {
            count += length;
        }
        self.0.insert(first, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn blocks_are_those_of_a_set_of_numbers() {
        let (mut free, mut set) = (Free::block(10, 50), (10..60).collect::<BTreeSet<u32>>());
        let mut held: Vec<Vec<(u32, u32)>> = Vec::new();
        for step in 0..5_000_u32 {
            // Pseudorandom.
            let draw = step.wrapping_mul(2_654_435_761) >> 8;
            if held.is_empty() || draw.is_multiple_of(2) {
                let taken = free.take_lowest(1 + draw % 11);
                let numbers: Vec<u32> = taken.iter().flat_map(|(first, count)| *first..first + count).collect();
                let expected: Vec<u32> = set.iter().copied().take(1 + draw as usize % 11).collect();
                assert_eq!(numbers, expected);
                expected.iter().for_each(|number| assert!(set.remove(number)));
                held.push(taken);
            } else {
                for (first, count) in held.swap_remove(draw as usize % held.len()) {
                    free.give_back(first, count);
                    set.extend(first..first + count);
                }
            }
        }
    }

    #[test]
    fn a_huge_machine_is_one_block() {
        let mut free = Free::block(0, u32::MAX);
        assert_eq!(free.take_lowest(u32::MAX), [(0, u32::MAX)]);
        free.give_back(0, u32::MAX);
        assert_eq!((free.take_lowest(3), free.take_lowest(2)), (vec![(0, 3)], vec![(3, 2)]));
    }
}
