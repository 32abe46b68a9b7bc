//! Queue with one server, compared with queueing theory.
//!
//! Scenario: jobs arrive at random, one every two seconds on average, and take one second on average. According to
//! theory a job then spends 1 / (1 − 0.5) = 2 s in the system.
//!
//! Shows:
//! - drawing a workload from named streams,
//! - running a model with a probe that listens,
//! - the agreement of 20 replications with theory, within their scatter.
//!
//! Run it: `cargo run --release --package sim-core --features testkit --example mm1`

use rand_distr::{Distribution, Exp1};
use sim_core::testkit::{Fcfs, mean_and_stderr};
use sim_core::{Job, JobId, JobLog, JobRecord, Purpose, Sim, Span, Streams, Time};

fn main() {
    let means: Vec<f64> = (0..20).map(|replication| mean_response(Streams::new(7, replication))).collect();
    let (mean, stderr) = mean_and_stderr(&means);
    println!("mean response {mean:.3} s, standard error {stderr:.3} s; theory: 2 s");
    assert!((mean - 2.0).abs() < 4.0 * stderr);
}

fn mean_response(streams: Streams) -> f64 {
    let mut arrivals = streams.stream(Purpose("arrivals"), 0);
    let mut services = streams.stream(Purpose("services"), 0);
    let mut submit = Time::ZERO;
    let jobs = (0..50_000).map(move |id| {
        let gap: f64 = Exp1.sample(&mut arrivals);
        let service: f64 = Exp1.sample(&mut services);
        submit += Span::from_secs_f64(2.0 * gap);
        Job::new(JobId(id), submit, 1, Span::from_secs_f64(service))
    });
    let (mut total, mut finished) = (0.0, 0_u32);
    let log = JobLog::new(|record: JobRecord| {
        total += record.response().as_secs_f64();
        finished += 1;
    });
    Sim::new(Fcfs::new(1, jobs), log).run();
    total / f64::from(finished)
}
