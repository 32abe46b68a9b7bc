//! Workloads of docs/conformance: small logs on a machine of eight processors, each for one kind of coincidence.

use super::scene::Scene;
use crate::view::Machine;
use sim_core::{Job, JobId, Span, Time};

macro_rules! workloads {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../../conformance/", $name, ".swf")))),*] };
}

/// Returns the workloads of docs/conformance, by name. Schedules of each under every order of backfilling lie beside them there.
pub fn conformance_scenes() -> impl Iterator<Item = (&'static str, Scene)> {
    let texts = workloads! { "equal-ends" "exact" "limits" "overestimates" "ties" "wide-heads" "zero-run-times" };
    texts.into_iter().map(|(name, text)| {
        let jobs: Vec<Job> = (0..).map(JobId).zip(text.lines().filter_map(numbers)).map(job).collect();
        (name, Scene::new(&[Machine::new(8)], &jobs))
    })
}

/// Parses a line in the Standard Workload Format; `None` for a comment, and for a job that never ran.
fn numbers(line: &str) -> Option<Vec<i64>> {
    let numbers: Option<Vec<i64>> = line.split_whitespace().map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| numbers[3] > 0)
}

/// Returns the job of these numbers, which ends at its limit at the latest.
fn job((id, numbers): (JobId, Vec<i64>)) -> Job {
    let seconds = |field: usize| Span::from_secs(numbers[field - 1].unsigned_abs());
    let number = |field: usize| u32::try_from(numbers[field - 1]).expect("docs/conformance has no larger ones");
    let mut job = Job::new(id, Time::ZERO + seconds(2), number(5), seconds(4).min(seconds(9)));
    (job.request.estimate, job.request.user) = (Some(seconds(9)), Some(number(12)));
    job
}
