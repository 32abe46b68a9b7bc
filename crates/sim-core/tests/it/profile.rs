//! The profile against a walk from step to step.

use crate::linear::LinearProfile;
use proptest::prelude::*;
use rand_distr::{Distribution, Uniform};
use sim_core::{AvailabilityProfile, Purpose, Span, Streams, Time};

const CAPACITY: u32 = 8;

/// Builds a profile and its twin with the same reservations, each as early as possible.
fn reserved(requests: Vec<(u64, u64, u32)>) -> (AvailabilityProfile, LinearProfile) {
    let (mut profile, mut twin) = (AvailabilityProfile::new(CAPACITY), LinearProfile::new(CAPACITY));
    for (from, length, processors) in requests {
        let span = Span::from_secs(length);
        let start = twin.earliest(Time::from_secs(from), span, processors).expect("no wider than the capacity");
        profile.reserve(start, span, processors);
        twin.reserve(start, span, processors);
    }
    (profile, twin)
}

proptest! {
    #[test]
    fn a_shortfall_is_the_first_second_in_which_too_few_are_free(
        requests in prop::collection::vec((0..30_u64, 0..12_u64, 1..=CAPACITY), 0..60),
        (from, length, processors) in (0..100_u64, 0..25_u64, 1..=CAPACITY + 1),
    ) {
        let (profile, twin) = reserved(requests);
        let mut seconds = (from..from + length.max(1)).map(|second| (Time::from_secs(second), twin.free_at(Time::from_secs(second))));
        let lacking = seconds.find(|(_, free)| *free < processors);
        prop_assert_eq!(profile.shortfall(Time::from_secs(from), Span::from_secs(length), processors), lacking);
        prop_assert_eq!(profile.fits(Time::from_secs(from), Span::from_secs(length), processors), lacking.is_none());
    }

    /// Compares a start earlier than a held one with a check of every second.
    #[test]
    fn a_start_before_the_one_that_is_held_is_the_first_second_that_suits(
        requests in prop::collection::vec((0..30_u64, 1..12_u64, 1..=CAPACITY), 0..60),
        pass in 0..20_u64,
        (length, processors) in (1..25_u64, 1..=CAPACITY + 1),
        (first, before, until) in (0..60_u64, 0..30_u64, 0..30_u64),
    ) {
        let (mut profile, twin) = reserved(requests);
        profile.forget_before(Time::from_secs(pass));
        let first = pass + first;
        let (before, until) = (first + before, first + before + until);
        for until in [until, u64::MAX / 2_000_000_000] {
            let suits = |start: &u64| {
                let (start, span) = (Time::from_secs(*start), Span::from_secs(length.min(until - start)));
                twin.earliest(start, span, processors) == Some(start)
            };
            let [from, end, limit] = [first, before, until].map(Time::from_secs);
            prop_assert_eq!(
                profile.earliest_before(from, end, Span::from_secs(length), processors, limit),
                (first..before).find(suits).map(Time::from_secs)
            );
        }
    }

    /// Few ends make one block; some hundreds make several.
    #[test]
    fn what_is_held_until_its_end_is_what_is_reserved_from_now_on(
        mut ends in prop::collection::vec((6..400_u64, 1..4_u32), 1..300), now in 0..5_u64,
    ) {
        ends.sort_unstable();
        let (now, mut reserved) = (Time::from_secs(now), AvailabilityProfile::new(1_000));
        let ends: Vec<(Time, u32)> = ends.into_iter().map(|(end, held)| (Time::from_secs(end), held)).collect();
        ends.iter().for_each(|(end, held)| reserved.reserve(now, end.since(now), *held));
        reserved.forget_before(now);
        prop_assert_eq!(AvailabilityProfile::held_until(1_000, now, ends.into_iter()), reserved);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Thousands of steps, many of which are skipped. In the end all is cancelled, so blocks empty and merge.
    #[test]
    fn the_profile_answers_like_a_walk_from_step_to_step(
        seed in any::<u64>(), requests in 0..8_000_u32, capacity in 1..=40_u32, pass in 0..10_u64,
    ) {
        let mut stream = Streams::new(seed, 0).stream(Purpose("requests"), 0);
        let mut draw = |below: u64| Uniform::new(0, below).expect("a range").sample(&mut stream);
        let (mut profile, mut twin) = (AvailabilityProfile::new(capacity), LinearProfile::new(capacity));
        let mut reserved: Vec<(Time, Span, u32)> = Vec::new();
        let mut now = Time::ZERO;
        for _ in 0..requests {
            let from = now + Span::from_secs(draw(20_000));
            // Lengths of all orders of magnitude, and zero.
            let longest = 10_u64.pow(u32::try_from(draw(6)).expect("few"));
            let (span, processors) = (Span::from_secs(draw(longest)), 1 + u32::try_from(draw(capacity.into()))?);
            let start = twin.earliest(from, span, processors);
            prop_assert_eq!(profile.earliest(from, span, processors), start);
            prop_assert_eq!(profile.fits(from, span, processors), start == Some(from));
            let start = start.expect("no wider than the capacity");
            prop_assert_eq!(profile.earliest_before(from, start, span, processors, Time::MAX), None);
            let later = start + Span::from_nanos(1);
            prop_assert_eq!(profile.earliest_before(from, later, span, processors, Time::MAX), Some(start));
            profile.reserve(start, span, processors);
            twin.reserve(start, span, processors);
            reserved.push((start, span, processors));
            if draw(8) == 0 {
                let drawn = usize::try_from(draw(reserved.len() as u64))?;
                let (start, span, processors) = reserved.swap_remove(drawn);
                if start >= now {
                    let ahead = profile.earliest_before(now, start, span, processors, start);
                    profile.cancel(start, span, processors);
                    twin.cancel(start, span, processors);
                    if !span.is_zero() {
                        let without = twin.earliest(now, span, processors).filter(|without| *without < start);
                        prop_assert_eq!(ahead, without);
                    }
                }
            }
            now += Span::from_secs(pass);
            profile.forget_before(now);
            twin.forget_before(now);
            prop_assert_eq!(profile.len(), twin.steps().len());
        }
        prop_assert!(twin.steps().iter().all(|(at, free)| profile.free_at(*at) == *free));
        let copy = profile.clone();
        for (start, span, processors) in reserved.into_iter().filter(|(start, ..)| *start >= now) {
            profile.cancel(start, span, processors);
            twin.cancel(start, span, processors);
            prop_assert_eq!(profile.len(), twin.steps().len());
        }
        prop_assert!(twin.steps().iter().all(|(at, free)| profile.free_at(*at) == *free));
        profile.clone_from(&copy);
        prop_assert_eq!(profile, copy);
    }
}

#[test]
fn a_request_wider_than_what_is_ever_free_has_no_start() {
    let mut profile = AvailabilityProfile::new(4);
    assert_eq!(profile.earliest(Time::ZERO, Span::from_secs(1), 5), None);
    profile.reserve(Time::from_secs(10), Span::MAX, 2); // a machine that leaves for good
    assert_eq!(profile.earliest(Time::ZERO, Span::from_secs(11), 3), None);
    assert_eq!(profile.earliest(Time::ZERO, Span::from_secs(10), 3), Some(Time::ZERO));
}

#[test]
#[should_panic(expected = "where only 4 are free")]
fn nothing_is_reserved_twice() {
    AvailabilityProfile::new(4).reserve(Time::ZERO, Span::from_secs(1), 5);
}

/// Thousands of steps of all widths and lengths, in enough blocks that some are skipped; and the walk.
fn comb(steps: u64, capacity: u32) -> (AvailabilityProfile, LinearProfile) {
    let mut stream = Streams::new(5, 0).stream(Purpose("comb"), 0);
    let (mut profile, mut twin) = (AvailabilityProfile::new(capacity), LinearProfile::new(capacity));
    let mut at = Time::from_secs(100);
    for step in 0..steps {
        let mut draw = |below: u32| Uniform::new(0, below).expect("a range").sample(&mut stream);
        let (length, taken) = (Span::from_secs(1 + u64::from(draw(9))), draw(capacity + 1));
        // An occasional long stretch, wide or not, makes some searches end far away.
        let (length, taken) = if step % 97 == 0 { (length.scaled(40.0), taken / 4) } else { (length, taken) };
        profile.reserve(at, length, taken);
        twin.reserve(at, length, taken);
        at += length;
    }
    (profile, twin)
}

#[test]
fn leaping_finds_what_a_walk_finds_at_the_edge_of_every_step() {
    // The second is wider than the widths that blocks distinguish.
    for (steps, wide) in [(6_000, 20), (4_000, 100_000)] {
        leaping_finds_what_a_walk_finds(steps, wide);
    }
}

fn leaping_finds_what_a_walk_finds(steps: u64, wide: u32) {
    let (profile, twin) = comb(steps, wide);
    assert_eq!(profile.len(), twin.steps().len());
    let nano = Span::from_nanos(1);
    for (number, (at, free)) in twin.steps().iter().copied().enumerate() {
        for from in [Time::from_nanos(at.as_nanos().saturating_sub(1)), at, at + nano] {
            assert_eq!(profile.free_at(from), twin.free_at(from), "at {from}");
            // Lengths: the stretch itself, one nanosecond more, zero, and some found only far away.
            let length = twin.steps().get(number + 1).map_or(Span::from_secs(1), |next| next.0.since(at));
            for span in [Span::ZERO, length, length + nano, Span::from_secs(31 * (number as u64 % 13))] {
                for processors in [free, free + 1, 1 + u32::try_from(number).expect("few") * 7_919 % wide] {
                    if !(1..=wide).contains(&processors) {
                        continue;
                    }
                    let start = twin.earliest(from, span, processors);
                    let asked = || format!("{processors} processors from {from} for {span}");
                    assert_eq!(profile.earliest(from, span, processors), start, "{}", asked());
                    assert_eq!(profile.fits(from, span, processors), start == Some(from), "{}", asked());
                }
            }
        }
    }
}

#[test]
fn profiles_are_equal_if_they_have_the_same_steps_however_these_came_to_be() {
    let reserved = |capacity, reservations: &[(u64, u64, u32)]| {
        let mut profile = AvailabilityProfile::new(capacity);
        for (start, length, processors) in reservations {
            profile.reserve(Time::from_secs(*start), Span::from_secs(*length), *processors);
        }
        profile
    };
    let one = reserved(8, &[(10, 10, 2)]);
    assert_eq!(one, reserved(8, &[(15, 5, 2), (10, 5, 2)]));
    assert_eq!(one, reserved(8, &[(10, 10, 1), (10, 10, 1)]));
    // As many steps, but of other widths, at other instants, or of other machines.
    for other in [reserved(8, &[(10, 10, 3)]), reserved(8, &[(10, 11, 2)]), reserved(9, &[(10, 10, 2)])] {
        assert_ne!(one, other);
    }
    assert_ne!(one, reserved(8, &[]));
}

#[test]
fn the_past_is_judged_by_the_first_step_that_is_kept() {
    let secs = Time::from_secs;
    let mut profile = AvailabilityProfile::new(4);
    profile.reserve(secs(20), Span::from_secs(10), 3);
    profile.forget_before(secs(25)); // from 20 s on, one is free
    let earliest = |processors| profile.earliest(secs(5), Span::from_secs(1), processors);
    assert_eq!((earliest(1), earliest(2), earliest(4)), (Some(secs(5)), Some(secs(30)), Some(secs(30))));
    let before = |processors| profile.earliest_before(secs(5), secs(50), Span::from_secs(1), processors, Time::MAX);
    assert_eq!((before(1), before(2), before(4)), (Some(secs(5)), Some(secs(30)), Some(secs(30))));
    // More is free at the first step than is requested.
    profile.cancel(secs(25), Span::from_secs(5), 1);
    let before = profile.earliest_before(secs(5), secs(50), Span::from_secs(1), 1, Time::MAX);
    assert_eq!(before, Some(secs(5)));
}

#[test]
fn a_profile_knows_its_machine_and_whether_anything_is_reserved() {
    let mut profile = AvailabilityProfile::new(4);
    assert_eq!((profile.capacity(), profile.is_empty()), (4, true));
    // At once and for ever, which is one step; or later.
    profile.reserve(Time::ZERO, Span::MAX, 1);
    assert!(!profile.is_empty());
    profile.cancel(Time::ZERO, Span::MAX, 1);
    assert!(profile.is_empty());
    profile.reserve(Time::from_secs(10), Span::from_secs(10), 1);
    assert_eq!((profile.capacity(), profile.is_empty()), (4, false));
}

#[test]
fn what_is_reserved_for_ever_is_so_in_every_block() {
    let (mut profile, mut twin) = (AvailabilityProfile::new(8), LinearProfile::new(8));
    for number in 0..1_000 {
        let (at, taken) = (Time::from_secs(2 * number), 1 + u32::try_from(number % 3).expect("few"));
        profile.reserve(at, Span::from_secs(1), taken);
        twin.reserve(at, Span::from_secs(1), taken);
    }
    let (before, steps) = (profile.clone(), twin.steps().to_vec());
    for at in [0, 1, 501, 1_000, 1_999, 5_000].map(Time::from_secs) {
        profile.reserve(at, Span::MAX, 4);
        twin.reserve(at, Span::MAX, 4);
        assert_eq!(profile.len(), twin.steps().len(), "from {at} s");
        assert!(twin.steps().iter().all(|(at, free)| profile.free_at(*at) == *free), "from {at} s");
        profile.cancel(at, Span::MAX, 4);
        twin.cancel(at, Span::MAX, 4);
        assert_eq!(profile, before, "from {at} s");
        assert_eq!(twin.steps(), steps);
    }
}
