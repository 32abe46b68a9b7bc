//! Jann and others.

use super::{check_counts, check_distribution, check_first, check_refused, jobs};
use proptest::prelude::*;
use sim_core::testkit::mean_and_stderr;
use sim_core::{Span, Streams};
use statrs::distribution::{ContinuousCDF, Gamma};
use std::io::Cursor;
use workload::model::{HyperErlang, Jann, JannRange, WorkloadModel};
use workload::{SwfReader, SwfRecord, SwfWriter};

/// Returns one range of the default alone.
fn alone(range: usize) -> Jann {
    Jann { ranges: vec![Jann::default().ranges[range].clone()] }
}

fn below(distribution: HyperErlang, value: f64) -> f64 {
    let gamma = |stage: f64| Gamma::new(f64::from(distribution.order), 1.0 / stage).expect("a shape and a rate");
    let [first, second] = distribution.stages.map(|stage| gamma(stage).cdf(value));
    distribution.first * first + (1.0 - distribution.first) * second
}

/// Returns the mean of the k-th power.
fn moment(distribution: &HyperErlang, k: u32) -> f64 {
    let rising: f64 = (0..k).map(|step| f64::from(distribution.order + step)).product();
    let [first, second] = distribution.stages.map(|stage| (0..k).map(|_| stage).product::<f64>());
    rising * (distribution.first * first + (1.0 - distribution.first) * second)
}

#[test]
fn value_stability() {
    let expected = [(20.0, 2, 290.0), (106.0, 2, 48_093.0), (114.0, 2, 156.0), (245.0, 1, 1_245.0)];
    check_first(&Jann::default(), &expected);
}

#[test]
fn each_range_has_its_sizes_its_arrivals_and_its_run_times() {
    for range in 0..Jann::default().ranges.len() {
        let model = alone(range);
        let JannRange { sizes, interarrival, runtime } = &model.ranges[0];
        let jobs = jobs(&model, 20_000);
        let runtimes = jobs.iter().map(|job| job.job.runtime.as_secs_f64()).collect();
        check_distribution("run times", runtimes, |seconds| below(*runtime, seconds));
        // Gaps between whole seconds are at most a second off, which moves the distribution by at most its density.
        let submits: Vec<f64> = jobs.iter().map(|job| job.job.submit.as_secs_f64()).collect();
        let gaps: Vec<f64> = submits.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap >= 1.0).collect();
        let (low, high) = (below(*interarrival, 0.5), 1.0 - below(*interarrival, 0.5));
        check_distribution("gaps", gaps, |gap| (below(*interarrival, gap + 0.5) - low) / high);
        let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
        let counts: Vec<u32> = sizes
            .iter()
            .map(|(size, _)| jobs.iter().map(|job| u32::from(job.job.request.processors == *size)).sum())
            .collect();
        let shares: Vec<f64> = sizes.iter().map(|(_, weight)| weight / total).collect();
        check_counts("sizes", &counts, &shares);
    }
}

#[test]
fn ranges_arrive_at_their_own_rates() {
    let model = Jann::default();
    let jobs = jobs(&model, 50_000);
    assert!(jobs.is_sorted_by_key(|job| job.job.submit));
    for (range, queue) in model.ranges.iter().zip(0..) {
        let submits: Vec<f64> =
            jobs.iter().filter(|job| job.queue == Some(queue)).map(|job| job.job.submit.as_secs_f64()).collect();
        let gaps: Vec<f64> = submits.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (mean, stderr) = mean_and_stderr(&gaps);
        let expected = moment(&range.interarrival, 1);
        assert!((mean - expected).abs() < 4.0 * stderr, "range {queue}: {mean} ± {stderr}, not {expected}");
    }
}

proptest! {
    /// Moments determine a distribution that has them.
    #[test]
    fn a_distribution_has_the_moments_that_made_it(
        order in 1..9_u32,
        first in 0.05..0.95_f64,
        short in 0.1..100.0_f64,
        ratio in 1.5..500.0_f64,
    ) {
        let drawn = HyperErlang { order, first, stages: [short, short * ratio] };
        let moments = [1, 2, 3].map(|k| moment(&drawn, k));
        let found = HyperErlang::with_moments(moments).expect("there is one");
        prop_assert!(found.order <= order);
        for (k, expected) in (1..).zip(moments) {
            prop_assert!((moment(&found, k) / expected - 1.0).abs() < 1e-6, "moment {} of {:?}", k, found);
        }
    }
}

#[test]
fn no_distribution_has_moments_that_nothing_has() {
    // Less variance than that of a hundred stages; less skew than any; NaN.
    for moments in [[1.0, 1.001, 1.003], [1.0, 2.0, 1.0], [f64::NAN; 3], [0.0; 3]] {
        assert_eq!(HyperErlang::with_moments(moments), None, "{moments:?}");
    }
}

fn log(jobs: impl Iterator<Item = (u64, u64, u32)>) -> SwfReader {
    let mut log = SwfWriter::new(Vec::new());
    for ((submit, runtime, processors), number) in jobs.zip(1..) {
        let record = SwfRecord {
            submit: Some(Span::from_secs(submit)),
            runtime: Some(Span::from_secs(runtime)),
            allocated_processors: Some(processors),
            ..SwfRecord::numbered(number)
        };
        log.record(&record).expect("memory does not fail");
    }
    SwfReader::from_read("a.swf", Cursor::new(log.into_inner())).expect("a log")
}

#[test]
fn what_was_drawn_is_measured() {
    let model = Jann::default();
    let drawn = model.jobs(&Streams::new(3, 0)).take(40_000).map(|job| {
        let seconds = |nanos: u64| nanos / 1_000_000_000;
        (seconds(job.job.submit.as_nanos()), seconds(job.job.runtime.as_nanos()), job.job.request.processors)
    });
    let measured = Jann::fit(log(drawn)).expect("a model");
    assert_eq!(measured.validate(), Ok(()));
    assert_eq!(measured.ranges.len(), model.ranges.len());
    for (range, known) in measured.ranges.iter().zip(&model.ranges).take(6) {
        for (found, known) in [(range.runtime, known.runtime), (range.interarrival, known.interarrival)] {
            assert!((moment(&found, 1) / moment(&known, 1) - 1.0).abs() < 0.15, "{found:?}, not {known:?}");
            assert!((moment(&found, 2) / moment(&known, 2) - 1.0).abs() < 0.4, "{found:?}, not {known:?}");
        }
    }
}

#[test]
fn times_that_hardly_vary_are_one_erlang_distribution() {
    let measured = Jann::fit(log((0..50).map(|number| (100 * number, 60, 3)))).expect("a model");
    assert_eq!(measured.ranges.len(), 1);
    let HyperErlang { order, stages, .. } = measured.ranges[0].runtime;
    assert_eq!((order, stages.map(f64::to_bits)), (100, [0.6_f64.to_bits(); 2]));
    let error = Jann::fit(log((0..3).map(|number| (100 * number, 60, 3)))).expect_err("too few");
    assert_eq!(error.to_string(), "expected at least 4 jobs of like size that ran, found fewer; give a longer log");
    let at_once = Jann::fit(log((0..50).map(|_| (0, 60, 3)))).expect("a model");
    assert_eq!(at_once.validate(), Ok(()));
}

/// Every measured model can be drawn from: also for a log in which jobs ran for a hundred years, or all but one arrived at once.
#[test]
fn what_was_measured_is_always_a_model() {
    let century = 3_000_000_000;
    let logs: [Vec<(u64, u64, u32)>; 4] = [
        (0..50).map(|number| (100 * number, century + 10_000_000 * (number % 7), 3)).collect(),
        (0..50).map(|number| (0, if number == 7 { century } else { 1 }, 3)).collect(),
        (0..50).map(|number| (if number == 49 { century } else { 0 }, 60, 3)).collect(),
        (0..50)
            .map(|number| (number * number, 1 + number % 2, 1 + u32::try_from(number % 5).expect("below 5")))
            .collect(),
    ];
    for (which, jobs) in logs.into_iter().enumerate() {
        let measured = Jann::fit(log(jobs.into_iter())).expect("a model");
        assert_eq!(measured.validate(), Ok(()), "log {which}");
        assert_eq!(measured.jobs(&Streams::new(1, 0)).take(100).count(), 100, "log {which}");
    }
}

#[test]
fn the_default_is_the_fit_of_the_log_of_the_paper() {
    let Some(folder) = test_data::traces() else { return };
    let path = folder.join("CTC-SP2-1996-3.1-cln.swf.gz");
    let log = SwfReader::open(&path).unwrap_or_else(|error| panic!("{error}"));
    // From its beginning on the 26th of June to the 12th of September 1996, 78 days and 6:54 later.
    let end = Span::from_secs(78 * 86_400 + 6 * 3_600 + 54 * 60);
    let is_early =
        |record: &Result<SwfRecord, _>| record.as_ref().is_ok_and(|record: &SwfRecord| record.submit < Some(end));
    let measured = Jann::fit(log.take_while(is_early)).unwrap_or_else(|error| panic!("{error}"));
    let known = Jann::default();
    for (range, known) in measured.ranges.iter().zip(&known.ranges) {
        assert_eq!(range.sizes, known.sizes);
        for (found, known) in [(range.runtime, known.runtime), (range.interarrival, known.interarrival)] {
            assert_eq!(found.order, known.order);
            // The preset is written to six digits.
            for (a, b) in
                [(found.first, known.first), (found.stages[0], known.stages[0]), (found.stages[1], known.stages[1])]
            {
                assert!((a / b - 1.0).abs() < 1e-5, "{found:?}, not {known:?}");
            }
        }
    }
    assert_eq!(measured.ranges.len(), known.ranges.len());
    // The archive describes the paper's own table: "Most required only a single stage, but some required as many as 7".
    let orders = known.ranges.iter().flat_map(|range| [range.runtime.order, range.interarrival.order]);
    assert!(orders.clone().max() <= Some(8) && orders.filter(|order| *order == 1).count() >= 8);
}

#[test]
fn impossible_parameters_are_named() {
    let check = |change: &dyn Fn(&mut JannRange), message: &str| {
        let mut model = Jann::default();
        change(&mut model.ranges[1]);
        check_refused(&model, message);
    };
    let distribution = "order from 1 to 100, first from 0 to 1, stages from 1e-6 to 1e8 seconds";
    check(&|range| range.sizes.clear(), "ranges[1].sizes: expected weights from 0 to 1e12, one of them above 0");
    check(&|range| range.sizes[0].0 = 0, "ranges[1].sizes: expected sizes of at least 1");
    check(&|range| range.runtime.order = 0, &format!("ranges[1].runtime: expected {distribution}"));
    check(&|range| range.interarrival.first = f64::NAN, &format!("ranges[1].interarrival: expected {distribution}"));
    check(&|range| range.interarrival.stages[1] = 0.0, &format!("ranges[1].interarrival: expected {distribution}"));
    check_refused(&Jann { ranges: vec![] }, "ranges[0].ranges: expected at least one");
    assert_eq!(Jann::default().validate(), Ok(()));
}
