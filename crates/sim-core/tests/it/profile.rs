//! The profile against a count of every second.

use proptest::prelude::*;
use sim_core::{AvailabilityProfile, Span, Time};

const CAPACITY: u32 = 8;

/// Plain twin of the profile: the processors free in each second, and all of them afterwards.
struct Seconds(Vec<u32>);

impl Seconds {
    fn at(&self, second: u64) -> u32 {
        self.0.get(usize::try_from(second).expect("few seconds")).copied().unwrap_or(CAPACITY)
    }

    fn change(&mut self, start: u64, length: u64, new: impl Fn(u32) -> u32) {
        for second in start..start + length {
            let second = usize::try_from(second).expect("few seconds");
            self.0.resize(self.0.len().max(second + 1), CAPACITY);
            self.0[second] = new(self.0[second]);
        }
    }

    /// A request of no length needs its processors at its start.
    fn fits(&self, start: u64, length: u64, processors: u32) -> bool {
        (start..start + length.max(1)).all(|second| self.at(second) >= processors)
    }

    fn earliest(&self, from: u64, length: u64, processors: u32) -> u64 {
        (from..).find(|start| self.fits(*start, length, processors)).expect("no wider than the capacity")
    }

    /// Number of stretches with the same number of free processors, from `now` on.
    fn steps(&self, now: u64) -> usize {
        1 + (now..self.0.len() as u64).filter(|second| self.at(*second) != self.at(second + 1)).count()
    }
}

/// Builds a profile and its twin with the same reservations, each as early as possible.
fn reserved(requests: Vec<(u64, u64, u32)>) -> (AvailabilityProfile, Seconds) {
    let (mut profile, mut twin) = (AvailabilityProfile::new(CAPACITY), Seconds(Vec::new()));
    for (from, length, processors) in requests {
        let start = twin.earliest(from, length, processors);
        profile.reserve(Time::from_secs(start), Span::from_secs(length), processors);
        twin.change(start, length, |free| free - processors);
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
        let mut seconds = (from..from + length.max(1)).map(|second| (Time::from_secs(second), twin.at(second)));
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
            let suits = |start: &u64| twin.fits(*start, length.min(until - start), processors);
            let [from, end, limit] = [first, before, until].map(Time::from_secs);
            prop_assert_eq!(
                profile.earliest_before(from, end, Span::from_secs(length), processors, limit),
                (first..before).find(suits).map(Time::from_secs)
            );
        }
    }

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

    /// Some jobs are cancelled as time passes, and all that are left in the end.
    #[test]
    fn the_profile_answers_like_a_count_of_every_second(
        requests in prop::collection::vec((0..40_u64, 0..30_u64, 1..=CAPACITY, prop::option::of(any::<prop::sample::Index>())), 0..150),
        pass in 0..4_u64,
    ) {
        let (mut profile, mut twin) = reserved(Vec::new());
        let mut reserved: Vec<(u64, u64, u32)> = Vec::new();
        let mut now = 0;
        for (gap, length, processors, cancelled) in requests {
            let (from, span, start) = (now + gap, Span::from_secs(length), twin.earliest(now + gap, length, processors));
            let [at, begin] = [from, start].map(Time::from_secs);
            prop_assert_eq!(profile.earliest(at, span, processors), Some(begin));
            prop_assert_eq!(profile.fits(at, span, processors), begin == at);
            prop_assert_eq!(profile.earliest_before(at, begin, span, processors, Time::MAX), None);
            profile.reserve(begin, span, processors);
            twin.change(start, length, |free| free - processors);
            reserved.push((start, length, processors));
            if let Some(drawn) = cancelled {
                let (start, length, processors) = reserved.swap_remove(drawn.index(reserved.len()));
                if start >= now && length > 0 {
                    let [at, begin] = [now, start].map(Time::from_secs);
                    let ahead = profile.earliest_before(at, begin, Span::from_secs(length), processors, begin);
                    profile.cancel(begin, Span::from_secs(length), processors);
                    twin.change(start, length, |free| free + processors);
                    let without = Some(twin.earliest(now, length, processors)).filter(|without| *without < start);
                    prop_assert_eq!(ahead, without.map(Time::from_secs));
                }
            }
            now += pass;
            profile.forget_before(Time::from_secs(now));
            prop_assert_eq!(profile.steps(), twin.steps(now));
        }
        for (start, length, processors) in reserved.into_iter().filter(|(start, ..)| *start >= now) {
            profile.cancel(Time::from_secs(start), Span::from_secs(length), processors);
            twin.change(start, length, |free| free + processors);
            profile.forget_before(Time::from_secs(now));
            prop_assert_eq!(profile.steps(), twin.steps(now));
        }
        let free_at = |second| profile.shortfall(Time::from_secs(second), Span::ZERO, u32::MAX).map(|(_, free)| free);
        prop_assert!((now..now + 9_000).all(|second| free_at(second) == Some(twin.at(second))));
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
fn a_profile_is_as_before_once_all_is_cancelled() {
    let mut profile = AvailabilityProfile::new(4);
    // At once and for ever, which is one step.
    profile.reserve(Time::ZERO, Span::MAX, 1);
    assert_ne!(profile, AvailabilityProfile::new(4));
    profile.cancel(Time::ZERO, Span::MAX, 1);
    assert_eq!(profile, AvailabilityProfile::new(4));
}
