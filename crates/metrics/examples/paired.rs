//! One common queue, or a queue per processor? A paired comparison of two policies with a confidence interval.
//!
//! Scenario: jobs of one processor arrive at random at two processors. Policy `common` lets whichever processor is free
//! serve the job at the head of one queue; policy `round robin` deals the jobs out in turn, and they stay where they
//! are. Both policies are given the same jobs, in ten replications.
//!
//! Shows:
//! - common random numbers: a replication's workload depends on the seed and its number, not on the policy,
//! - the mean over replications with its confidence interval,
//! - the paired difference, absolute and in percent, and when it lets one conclude something,
//! - how many replications a wanted precision would take.

use metrics::{ConfidenceInterval, Summary, paired, relative_paired};
use rand_distr::{Distribution, Exp1};
use sim_core::testkit::Fcfs;
use sim_core::{Job, JobId, JobLog, Pool, Purpose, Sim, Span, Streams, Time};

const SEED: u64 = 42;
const REPLICATIONS: u32 = 10;
const JOBS: u32 = 2_000;

/// A job every 0.625 s and 1 s of work per job, on average: two processors are busy 80 % of the time.
fn workload(replication: u32) -> Vec<Job> {
    let streams = Streams::new(SEED, replication);
    let mut gaps = streams.stream(Purpose("gaps"), 0);
    let mut work = streams.stream(Purpose("work"), 0);
    let mut submit = Time::ZERO;
    (0..JOBS)
        .map(|id| {
            let gap: f64 = Exp1.sample(&mut gaps);
            submit += Span::from_secs_f64(0.625 * gap);
            Job::new(JobId(id), submit, 1, Span::from_secs_f64(Exp1.sample(&mut work)))
        })
        .collect()
}

/// Serves `jobs` first come first served and adds them to `summary`.
fn serve(jobs: impl Iterator<Item = Job>, processors: u32, summary: Summary) -> Summary {
    let (_, log) = Sim::new(Fcfs::new(Pool::new(processors), jobs), JobLog::new(summary)).run();
    log.into_sink()
}

fn common(jobs: &[Job]) -> Summary {
    serve(jobs.iter().copied(), 2, Summary::new())
}

fn round_robin(jobs: &[Job]) -> Summary {
    let first = serve(jobs.iter().copied().step_by(2), 1, Summary::new());
    serve(jobs.iter().copied().skip(1).step_by(2), 1, first)
}

pub(crate) fn report() -> String {
    let mean_wait = |summary: Summary| summary.wait().mean().expect("all jobs finish");
    let (common, dealt): (Vec<f64>, Vec<f64>) = (0..REPLICATIONS)
        .map(|replication| {
            let jobs = workload(replication);
            (mean_wait(common(&jobs)), mean_wait(round_robin(&jobs)))
        })
        .unzip();

    let difference = paired(&common, &dealt);
    let verdict = if difference.lies_below(0.0) {
        "common waits less"
    } else if difference.lies_above(0.0) {
        "common waits longer"
    } else {
        "these replications cannot tell"
    };
    let [alone, other] = [&common, &dealt].map(|waits| ConfidenceInterval::of(waits));
    let relative = relative_paired(&common, &dealt).expect("somebody waits in every replication");
    let needed = alone.replications_for(0.01).expect("the mean is not zero");
    format!(
        "mean wait in seconds\n\
         common        {alone:.3}\n\
         round robin   {other:.3}\n\
         difference    {difference:.3}\n\
         in percent    {relative:.1}\n\
         {verdict}; to know the wait of common to 1 % would take about {needed} replications\n"
    )
}

fn main() {
    print!("{}", report());
}
