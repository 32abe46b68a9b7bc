//! Division of steps into blocks, which is visible in run times only.

use super::{AvailabilityProfile, Block};
use crate::time::{Span, Time};

/// Asserts that no block is empty, that none is longer than [`AvailabilityProfile::settle`] allows, that there are not
/// many more than needed, and that each is surveyed.
fn assert_is_well_divided(profile: &AvailabilityProfile) {
    let lengths: Vec<usize> = profile.blocks.iter().map(Block::len).collect();
    assert_eq!(lengths.iter().sum::<usize>(), profile.len);
    let longest = Block::SMALL.max(profile.len.isqrt());
    assert!(lengths.iter().all(|len| (1..=longest).contains(len)), "{lengths:?}");
    assert!(lengths.len() <= 1 + 2 * profile.len / Block::SMALL, "{} steps in {lengths:?}", profile.len);
    if lengths.len() > AvailabilityProfile::MANY {
        for block in &profile.blocks {
            let least = block.steps().map(|(_, free)| free).min().expect("no block is empty");
            assert!(block.is_wide(least) && !block.is_wide(least + 1));
        }
    }
}

#[test]
fn blocks_split_and_merge_as_steps_come_and_go() {
    // Alternately at the end, at the beginning and in the middle of what is reserved. No two touch.
    let starts: Vec<u64> = (0..3_000).flat_map(|number| [6_000 + number, 5_999 - number, 20_000 - number]).collect();
    let mut profile = AvailabilityProfile::new(8);
    let change =
        |number: u64| (Time::from_secs(2 * number), Span::from_secs(1), 1 + u32::try_from(number % 7).expect("few"));
    for (count, number) in starts.iter().enumerate() {
        let (start, span, processors) = change(*number);
        profile.reserve(start, span, processors);
        if count % 50 == 0 || count < 200 {
            assert_is_well_divided(&profile);
        }
    }
    assert!(profile.blocks.len() > 2 * AvailabilityProfile::MANY);
    // In descending order: a block that has become small meets a small one behind it.
    let mut starts = starts;
    starts.sort_unstable();
    for (count, number) in starts.iter().rev().filter(|number| *number % 20 > 0).enumerate() {
        let (start, span, processors) = change(*number);
        profile.cancel(start, span, processors);
        if count % 50 == 0 {
            let lengths = profile.blocks.iter().map(Block::len);
            assert_eq!(lengths.sum::<usize>(), profile.len);
        }
    }
    assert_is_well_divided(&profile);
    // Few blocks are not surveyed: the summaries from when they were many no longer hold.
    assert!(profile.blocks.len() < AvailabilityProfile::MANY);
    for number in starts.iter().filter(|number| *number % 20 == 0) {
        let (between, second) = (Time::from_secs(2 * number + 1), Span::from_secs(1));
        profile.reserve(between, second, 8);
        assert!(!profile.fits(between, second, 1));
        assert_eq!(profile.earliest(between, second, 1), Some(between + second));
        profile.cancel(between, second, 8);
    }
    for number in starts.into_iter().filter(|number| *number % 20 == 0) {
        let (start, span, processors) = change(number);
        profile.cancel(start, span, processors);
    }
    assert!(profile.is_empty() && profile.blocks.len() == 1);
}
