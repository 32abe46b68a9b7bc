//! Similarity of a resampled log to its original.

use super::measures::{WeeklyMoments, add};
use crate::intake::held::{HeldJob, HeldLog};
use sim_core::Time;

/// Distance of a resampled log from its original, in numbers that can be bounded.
///
/// | name | measure |
/// |---|---|
/// | `jobs`, `work` | jobs and processor-seconds per week, relative to the original's: 1 is as many |
/// | `median_runtime` | likewise |
/// | `runtimes`, `processors`, `limits`, `areas` | distance of the distributions of run times, processors, requested times (of jobs that have one; 0 if neither log has any), and processors × run time |
/// | `day`, `week` | daily and weekly cycle: half the sum over 24 hours or seven days of the difference between the shares of submissions, from 0 to 1 |
/// | `burstiness` | coefficient of variation of weekly work, relative to the original's |
/// | `lag_one` | lag-1 autocorrelation of weekly work, less the original's |
///
/// Distributions are compared by the Kolmogorov–Smirnov distance, the largest difference between two distribution
/// functions, from 0 (equal) to 1. Two halves of one real log are at 0.05 to 0.2 of each other.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Fidelity {
    /// Each number with its name.
    pub numbers: [(&'static str, f64); 11],
}

impl Fidelity {
    /// Compares `resampled` with `original`. Hours are counted from the first week's beginning, which resampling keeps.
    ///
    /// # Panics
    ///
    /// If one has no jobs.
    pub fn of(resampled: &HeldLog, original: &HeldLog) -> Self {
        assert!(!resampled.jobs().is_empty() && !original.jobs().is_empty(), "only logs with jobs can be compared");
        let both = |measure: &dyn Fn(&HeldLog) -> f64| measure(resampled) / measure(original);
        let distance = |value: &dyn Fn(&HeldJob) -> Option<f64>| {
            let values = |log: &HeldLog| log.jobs().iter().filter_map(value).collect::<Vec<f64>>();
            kolmogorov_smirnov(values(resampled), values(original))
        };
        let cycle = |length: u64, parts: usize| {
            let [a, b] = [resampled, original].map(|log| shares(log, length, parts));
            a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
        };
        let [mine, own] = [resampled, original].map(|log| WeeklyMoments::of(&weekly_work(log)));
        let numbers = [
            ("jobs", both(&|log| log.jobs().len() as f64 / weeks(log))),
            ("work", both(&|log| weekly_work(log).iter().sum::<f64>() / weeks(log))),
            ("median_runtime", both(&|log| median(log.jobs().iter().map(runtime).collect()))),
            ("runtimes", distance(&|job| Some(runtime(job)))),
            ("processors", distance(&|job| Some(f64::from(job.processors)))),
            ("limits", distance(&|job| job.limit.map(|limit| limit.as_secs_f64()))),
            ("areas", distance(&|job| Some(job.area()))),
            ("day", cycle(86_400, 24)),
            ("week", cycle(7 * 86_400, 7)),
            ("burstiness", mine.variation() / own.variation()),
            ("lag_one", mine.lag_one - own.lag_one),
        ];
        Self { numbers }
    }
}

fn runtime(job: &HeldJob) -> f64 {
    job.runtime_within_limit().as_secs_f64()
}

fn weeks(log: &HeldLog) -> f64 {
    (log.span().as_secs_f64() / 604_800.0).max(1e-9)
}

fn weekly_work(log: &HeldLog) -> Vec<f64> {
    let mut weekly = Vec::new();
    log.jobs().iter().for_each(|job| add(&mut weekly, job.submit.since(Time::ZERO), job.area()));
    weekly
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the shares of submissions in each of `parts` equal parts of a cycle of `length` seconds.
fn shares(log: &HeldLog, length: u64, parts: usize) -> Vec<f64> {
    let mut shares = vec![0.0; parts];
    for job in log.jobs() {
        let second = job.submit.since(Time::ZERO).as_nanos() / 1_000_000_000 % length;
        let part = usize::try_from(second * parts as u64 / length).expect("a part");
        shares[part] += 1.0 / log.jobs().len() as f64;
    }
    shares
}

/// Returns the largest difference between two empirical distribution functions; 0 if either has no values.
fn kolmogorov_smirnov(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        // Both functions step at a common value before they are compared.
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}
