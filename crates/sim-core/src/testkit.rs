//! Test support: workload strategies and a reference model.
//!
//! Behind the feature `testkit`. Other crates take it as a dev-dependency:
//! `sim-core = { workspace = true, features = ["testkit"] }`.

mod fcfs;

pub use fcfs::{Fcfs, FcfsEvent};

use crate::id::JobId;
use crate::job::Job;
use crate::readings::Reading;
use crate::time::{Span, Time};
use proptest::prelude::*;

/// Strategy for up to 60 jobs of 1 to `widest` processors, in order of submission. Times lie on a coarse grid, so that
/// ties are common. Estimates are at least the run time, and exact for about half of the jobs.
pub fn workload(widest: u32) -> impl Strategy<Value = Vec<Job>> {
    let job = (0..4_u64, 1..=widest, 1..12_u64, prop_oneof![Just(0), 0..8_u64]);
    prop::collection::vec(job, 0..60).prop_map(|jobs| {
        let mut submit = Time::ZERO;
        let number = |id: usize| JobId(u32::try_from(id).expect("few jobs"));
        jobs.into_iter()
            .enumerate()
            .map(|(id, (gap, processors, runtime, slack))| {
                submit += Span::from_secs(gap);
                let mut job = Job::new(number(id), submit, processors, Span::from_secs(runtime));
                job.request.estimate = Some(Span::from_secs(runtime + slack));
                job
            })
            .collect()
    })
}

/// Strategy for any answers to `readings`, each equally likely: lines `field = answer` of a TOML table.
pub fn answers(readings: &[Reading]) -> impl Strategy<Value = String> + use<> {
    let lines = readings.iter().map(|reading| {
        let is_word = |answer: &&str| answer.starts_with(char::is_alphabetic) && answer.parse::<bool>().is_err();
        let quote = if reading.answers.iter().any(is_word) { "\"" } else { "" };
        let line = |answer: &&str| format!("{} = {quote}{answer}{quote}\n", reading.field);
        prop::sample::select(reading.answers.iter().map(line).collect::<Vec<_>>())
    });
    lines.collect::<Vec<_>>().prop_map(|lines| lines.concat())
}

/// Returns the sample mean and its standard error, for tests whose tolerance comes from the sample.
///
/// # Panics
///
/// If there are fewer than two values.
pub fn mean_and_stderr(values: &[f64]) -> (f64, f64) {
    assert!(values.len() > 1, "a standard error needs two values");
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
