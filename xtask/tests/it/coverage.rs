//! The share of intervals from one log that contain the true difference, at light load. docs/statistics.md has the shares at other loads.

use gap_schedule::{Backfilling, Conservative, Easy, Fcfs, Machine, MultiCluster, Order, OrderedBackfill, Policy};
use lab::parallel::in_parallel;
use metrics::{Blocks, Estimate};
use sim_core::{Job, JobLog, JobRecord, Sim, Span, Streams, Time};
use workload::model::{Lublin, ModelJob, Tsafrir, WorkloadModel};
use workload::{Estimates, HeldLog};

const PROCESSORS: u32 = 128;

/// Years that the true differences are computed from.
const YEARS: u32 = 100;

/// The first of them, which give an interval each.
const INTERVALS: usize = 60;

/// Load that jobs offer, and that of the model as it is published.
const LOADS: [f64; 2] = [0.45, 0.718_86];

const METRICS: [&str; 2] = ["wait_mean", "bounded_slowdown_mean"];

/// Returns a year of Lublin & Feitelson (2003) with estimates of Tsafrir et al. (2005).
fn year(number: u32) -> Vec<Job> {
    let (streams, density) = (Streams::new(1, number), LOADS[0] / LOADS[1]);
    let end = Time::ZERO + Span::from_secs(364 * 86_400).scaled(density);
    let jobs = Lublin::typeless(PROCESSORS).jobs(&streams);
    let mut jobs: Vec<ModelJob> = jobs.take_while(|job| job.job.submit < end).collect();
    let longest = jobs.iter().map(|job| job.job.runtime.as_nanos()).max().expect("a year has jobs");
    let hours = u32::try_from(longest.div_ceil(3_600_000_000_000)).expect("fewer than a million");
    Tsafrir(3_600 * hours).assign(&mut jobs, &streams).expect("no run time is above the longest estimate");
    HeldLog::of_model(jobs.into_iter()).denser(density).with_estimates(Estimates::User, 0)
}

/// Returns the blocks of a log under a policy.
fn blocks(jobs: &[Job], policy: impl Policy) -> Blocks {
    let world = MultiCluster::new(vec![Machine::new(PROCESSORS)], policy, jobs.iter().copied());
    let mut records: Vec<JobRecord> = Sim::new(world, JobLog::collecting()).run().1.into_sink();
    records.sort_by_key(|record| record.job.id);
    let (mut blocks, mut last_start) = (Blocks::default(), None);
    for record in &records {
        // The queue is empty if every earlier job has started.
        let submit = record.job.submit;
        blocks.note_submission(submit, last_start.is_none_or(|last| last < submit));
        blocks.add(record);
        last_start = last_start.max(Some(record.start));
    }
    blocks
}

/// Returns the number of jobs of a year, and the difference of EASY to three policies by each metric.
fn differences(number: u32) -> (f64, Vec<Estimate>) {
    let jobs = year(number);
    let easy = blocks(&jobs, Easy::default());
    let by_prediction = Backfilling { backfill: Order::Spf, ..Backfilling::default() };
    let others = [
        blocks(&jobs, Fcfs::default()),
        blocks(&jobs, Conservative::default()),
        blocks(&jobs, OrderedBackfill::new(by_prediction)),
    ];
    let of = |other: &Blocks| METRICS.map(|metric| easy.difference(other, None, metric, 0.95).expect("jobs"));
    (f64::from(u32::try_from(jobs.len()).expect("few jobs")), others.iter().flat_map(of).collect())
}

#[test]
fn intervals_from_a_year_contain_the_true_difference_in_92_to_98_of_100_years() {
    let numbers: Vec<u32> = (0..YEARS).collect();
    let years = in_parallel(&numbers, |number| Ok(differences(*number))).expect("no year fails");
    for cell in 0..years[0].1.len() {
        // Every policy runs all jobs, so the difference of the means over the jobs of all years is a weighted mean.
        let all: f64 = years.iter().map(|(jobs, _)| jobs).sum();
        let truth = years.iter().map(|(jobs, found)| jobs * found[cell].mean).sum::<f64>() / all;
        let estimates = years.iter().take(INTERVALS).map(|(_, found)| found[cell]);
        let ends: Vec<(f64, f64)> = estimates.filter_map(|one| one.low.zip(one.high)).collect();
        assert!(ends.len() >= 20, "{cell}: {} intervals are too few to measure their coverage", ends.len());
        let count = |number: usize| f64::from(u32::try_from(number).expect("few years"));
        let covered = count(ends.iter().filter(|(low, high)| *low <= truth && truth <= *high).count());
        let percent = 100.0 * covered / count(ends.len());
        // Two standard errors of a share of 95 %.
        let slack = 200.0 * (0.05 * 0.95 / count(ends.len())).sqrt();
        assert!((92.0 - slack..=98.0 + slack).contains(&percent), "{cell}: {percent} % contain {truth}");
    }
}
