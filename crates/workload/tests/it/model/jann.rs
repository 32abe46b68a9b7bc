//! Jann and others.

use super::{check_counts, check_distribution, check_refused, jobs};
use crate::data::check_mean;
use statrs::distribution::{ContinuousCDF, Gamma};
use workload::model::{HyperErlang, Jann, JannRange, WorkloadModel};

/// Returns one range of the default alone.
fn alone(range: usize) -> Jann {
    Jann { ranges: vec![Jann::default().ranges[range].clone()] }
}

fn below(distribution: HyperErlang, value: f64) -> f64 {
    let gamma = |stage: f64| Gamma::new(f64::from(distribution.order), 1.0 / stage).expect("a shape and a rate");
    let [first, second] = distribution.stages.map(|stage| gamma(stage).cdf(value));
    distribution.first * first + (1.0 - distribution.first) * second
}

fn mean(distribution: &HyperErlang) -> f64 {
    let [first, second] = distribution.stages;
    f64::from(distribution.order) * (distribution.first * first + (1.0 - distribution.first) * second)
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
        let counts: Vec<u32> =
            sizes.iter().map(|(size, _)| jobs.iter().map(|job| u32::from(job.job.processors == *size)).sum()).collect();
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
        check_mean(&format!("range {queue}"), &gaps, mean(&range.interarrival));
    }
}

/// The archive describes the paper's own table: "Most required only a single stage, but some required as many as 7".
#[test]
fn most_distributions_of_the_default_have_one_stage() {
    let known = Jann::default();
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
