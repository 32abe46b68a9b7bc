//! Levels over time, in slices.

use metrics::Timeline;
use proptest::prelude::*;
use sim_core::{Gauge, Span, Time};

#[test]
fn each_slice_holds_the_mean_of_its_time() {
    let mut timeline = Timeline::default();
    timeline.raise(Time::from_secs(1), 4);
    timeline.lower(Time::from_nanos(2_500_000_000), 2);
    let means: Vec<f64> = timeline.means(Time::from_secs(4)).into_iter().map(|(_, mean)| mean).collect();
    assert_eq!(format!("{means:?}"), "[0.0, 4.0, 3.0, 2.0]");
}

proptest! {
    /// The area under the plot equals the area under the level, for any number of merges.
    #[test]
    fn no_area_is_lost(steps in prop::collection::vec((1..3_000_000_000_u64, 0..5_u64), 1..300), pace in 1..400_u64) {
        let (mut timeline, mut gauge) = (Timeline::default(), Gauge::new(Time::ZERO, 0));
        let mut now = Time::ZERO;
        for (gap, level) in steps {
            now += Span::from_nanos(gap) * pace;
            let before = gauge.level();
            gauge.set(now, level);
            if level >= before { timeline.raise(now, level - before) } else { timeline.lower(now, before - level) }
        }
        let area = gauge.area(now);
        let means = timeline.means(now);
        prop_assert!(means.len() <= 1_024);
        let ends = means.iter().skip(1).map(|(begin, _)| *begin).chain([now]);
        let total: f64 = means.iter().zip(ends).map(|((begin, mean), end)| mean * end.since(*begin).as_secs_f64()).sum();
        let expected = area as f64 / 1e9;
        prop_assert!((total - expected).abs() <= 1e-9 * expected.max(1.0), "{total} is not {expected}");
    }
}
