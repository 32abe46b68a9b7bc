//! Tsafrir, Etsion & Feitelson.

#![expect(clippy::disallowed_methods, reason = "what is expected, within a tolerance: any machine's functions do")]

use super::check_counts;
use sim_core::{Span, Streams, Time};
use std::collections::BTreeMap;
use workload::model::{Lublin, ModelJob, Tsafrir, WorkloadModel};

const HOUR: u32 = 3_600;

fn distribution(model: Tsafrir, jobs: u32, seed: u64) -> Vec<(u64, u32)> {
    let all = model.distribution(jobs, &Streams::new(seed, 0));
    all.into_iter().map(|(time, count)| (time.as_nanos() / 1_000_000_000, count)).collect()
}

/// The first draws are part of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let mut popular = distribution(Tsafrir(18 * HOUR), 10_000, 42);
    popular.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let expected = [(64_800, 2173), (900, 1031), (300, 871), (600, 737), (7_200, 625), (1_200, 530)];
    assert_eq!(popular[..6], expected);
}

#[test]
fn twenty_values_are_used_by_89_per_cent_and_the_longest_is_the_most_popular() {
    for (longest, jobs) in [(18, 10_000), (36, 70_000), (240, 250_000)] {
        for seed in 0..20 {
            let mut popular = distribution(Tsafrir(longest * HOUR), jobs, seed);
            popular.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            assert_eq!(popular[0].0, u64::from(longest * HOUR));
            let head: u32 = popular[..20].iter().map(|(_, count)| count).sum();
            assert!((f64::from(head) / f64::from(jobs) - 0.89).abs() < 20.0 / f64::from(jobs), "{head} of {jobs}");
            assert_eq!(popular.iter().map(|(_, count)| count).sum::<u32>(), jobs);
            for (rank, (_, count)) in (1_i32..).zip(&popular[..20]).skip(1) {
                // size(x) = 14.0491 exp(−0.177531 x) + 0.462513, in per cent.
                let expected = (14.0491 * (-0.177_531 * f64::from(rank)).exp() + 0.462_513) / 100.0 * f64::from(jobs);
                assert!((f64::from(*count) - expected).abs() < 1.0, "rank {rank}: {count}, not {expected}");
            }
            for (rank, pair) in (21_i32..).zip(popular[20..].windows(2)) {
                // A power law: the ratio of neighbours, up to the rounding of both.
                let (more, fewer) = (f64::from(pair[0].1), f64::from(pair[1].1));
                let expected = (f64::from(rank + 1) / f64::from(rank)).powf(-2.267);
                assert!((fewer - more * expected).abs() <= 2.0, "rank {rank}: {more}, {fewer}");
            }
            let joint = [5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720].map(|minutes| 60 * minutes);
            assert!(joint.iter().all(|time| popular[..20].iter().any(|(popular, _)| popular == time)));
        }
    }
}

#[test]
fn the_number_of_values_follows_the_number_of_jobs() {
    for (jobs, values) in [(1_000, 35), (10_000, 90), (40_000, 215), (70_000, 340), (250_000, 565), (900_000, 565)] {
        let found = distribution(Tsafrir(100 * HOUR), jobs, 1).len();
        // A value may collide with a popular one, and a value without jobs does not count.
        assert!(found <= values && found + values / 20 + 2 >= values, "{found} values for {jobs} jobs, not {values}");
    }
}

#[test]
fn rare_values_lie_on_the_curve_of_the_paper() {
    let mut all = distribution(Tsafrir(100 * HOUR), 1_000_000, 1);
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut rare: Vec<u64> = all[20..].iter().map(|(time, _)| *time).collect();
    rare.sort_unstable();
    let a = 1.0 + 12.1039 * 565_f64.powf(-0.6026);
    // The last value of the curve is the longest estimate, which is popular.
    for (rank, time) in (1_u32..545).zip(rare) {
        let x = f64::from(rank) / 545.0;
        let expected = (a - 1.0) * x / (a - x) * 360_000.0;
        let distance = (time as f64 - expected).abs();
        assert!(distance <= 60.0, "value {rank}: {time}, not {expected}");
    }
}

#[test]
fn short_limits_and_few_jobs_have_fewer_values() {
    let all = distribution(Tsafrir(HOUR), 5_000, 1);
    assert!(all.iter().all(|(time, _)| *time <= 3_600));
    assert_eq!(all.iter().map(|(_, count)| count).sum::<u32>(), 5_000);
    for jobs in [0, 1, 10, 100] {
        assert_eq!(distribution(Tsafrir(18 * HOUR), jobs, 1).iter().map(|(_, count)| count).sum::<u32>(), jobs);
    }
}

fn of_runtime(count: u32, seconds: impl Fn(u32) -> u64) -> Vec<ModelJob> {
    let mut jobs: Vec<_> = Lublin::default().jobs(&Streams::new(1, 0)).take(count as usize).collect();
    for (job, number) in jobs.iter_mut().zip(0..) {
        job.job.number = number.into();
        job.job.submit = Time::ZERO;
        job.job.runtime = Span::from_secs(seconds(number));
    }
    jobs
}

#[test]
fn every_job_gets_an_estimate_of_the_distribution_not_below_its_run_time() {
    let mut jobs: Vec<_> = Lublin::default().jobs(&Streams::new(7, 0)).take(5_000).collect();
    let before = jobs.clone();
    let model = Tsafrir(50 * HOUR);
    assert_eq!(model.assign(&mut jobs, &Streams::new(1, 0)), Ok(0));
    let mut counts = BTreeMap::new();
    for (job, before) in jobs.iter().zip(&before) {
        assert_eq!((job.job.submit, job.job.runtime), (before.job.submit, before.job.runtime));
        assert!(job.job.limit >= Some(job.job.runtime));
        *counts.entry(job.job.limit.expect("given")).or_insert(0) += 1;
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), model.distribution(5_000, &Streams::new(1, 0)));
}

#[test]
fn jobs_of_one_length_get_every_estimate_with_equal_chance() {
    let mut jobs = of_runtime(20_000, |_| 1);
    let model = Tsafrir(18 * HOUR);
    assert_eq!(model.assign(&mut jobs, &Streams::new(3, 0)), Ok(0));
    let all = model.distribution(20_000, &Streams::new(3, 0));
    let half = &jobs[..10_000];
    let counts: Vec<u32> =
        all.iter().map(|(time, _)| half.iter().map(|job| u32::from(job.job.limit == Some(*time))).sum()).collect();
    let shares: Vec<f64> = all.iter().map(|(_, count)| f64::from(*count) / 20_000.0).collect();
    check_counts("first half", &counts, &shares);
}

#[test]
fn long_run_times_are_cut_or_refused_and_the_longest_estimate_is_an_hour_at_least() {
    let mut jobs = of_runtime(1_000, |number| if number < 10 { 100_000 } else { 60 });
    assert_eq!(Tsafrir(18 * HOUR).assign(&mut jobs, &Streams::new(1, 0)), Ok(10));
    assert_eq!(jobs[0].job.runtime, Span::from_secs(64_800));
    let mut jobs = of_runtime(1_000, |_| 64_000);
    let error = Tsafrir(18 * HOUR).assign(&mut jobs, &Streams::new(1, 0)).expect_err("no job is short");
    insta::assert_snapshot!(error, @"226 jobs run for 64000 s or longer, but the model has 225 estimates as long; give a longer max_estimate");
    assert_eq!(Tsafrir(18 * HOUR).assign(&mut [], &Streams::new(1, 0)), Ok(0));
    let error = Tsafrir(60).validate().expect_err("a minute").to_string();
    assert_eq!(error, "max_estimate: expected at least 3600 seconds, found 60");
    assert_eq!(Tsafrir(HOUR).validate(), Ok(()));
}
