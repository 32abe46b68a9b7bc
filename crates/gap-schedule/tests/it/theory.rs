//! Queueing theory.

use gap_schedule::{Easy, Fcfs, Machine, MultiCluster, Policy};
use rand_distr::{Distribution, Exp};
use sim_core::testkit::mean_and_stderr;
use sim_core::{Job, JobId, JobLog, JobRecord, Purpose, Sim, Span, Streams, Time};

/// Jobs of one processor that arrive at rate `lambda` and take 1 s on average, both exponential.
fn markovian(lambda: f64, streams: Streams) -> impl Iterator<Item = Job> {
    let (gaps, lengths) = (Exp::new(lambda).expect("a rate"), Exp::new(1.0).expect("a rate"));
    let mut arrivals = streams.stream(Purpose("arrivals"), 0);
    let mut runtimes = streams.stream(Purpose("runtimes"), 0);
    let mut submit = Time::ZERO;
    (0..).map(move |id| {
        submit += Span::from_secs_f64(gaps.sample(&mut arrivals));
        Job::new(JobId(id), submit, 1, Span::from_secs_f64(lengths.sample(&mut runtimes)))
    })
}

/// Probability that a job must wait in M/M/c: Erlang's C formula, through the recursion for B.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let b = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
    let utilization = offered / f64::from(servers);
    b / (1.0 - utilization * (1.0 - b))
}

/// M/M/c: E[W] = C(c, λ/μ) / (cμ − λ), here with μ = 1/s.
fn check(servers: u32, lambda: f64, policy: impl Policy + Clone) {
    let (warm_up, jobs) = (5_000, 25_000);
    let runs: Vec<f64> = (0..20)
        .map(|replication| {
            let (mut sum, mut count) = (0.0, 0_u32);
            let sink = |record: JobRecord| {
                if record.job.id.0 >= warm_up {
                    sum += record.wait().as_secs_f64();
                    count += 1;
                }
            };
            let stream = markovian(lambda, Streams::new(42, replication)).take(jobs);
            Sim::new(MultiCluster::new(vec![Machine::new(servers)], policy.clone(), stream), JobLog::new(sink)).run();
            sum / f64::from(count)
        })
        .collect();
    let (mean, stderr) = mean_and_stderr(&runs);
    let theory = erlang_c(servers, lambda) / (f64::from(servers) - lambda);
    assert!((mean - theory).abs() < 4.0 * stderr, "mean wait {mean} ± {stderr} s, theory {theory} s");
}

#[test]
fn erlang_c_of_one_server_is_its_utilization() {
    assert!((erlang_c(1, 0.6) - 0.6).abs() < 1e-12);
    // Two servers, one erlang: 1/3, by hand.
    assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn fcfs_waits_as_long_as_erlang_says() {
    check(1, 0.5, Fcfs::default());
    check(4, 2.8, Fcfs::default());
    check(16, 14.0, Fcfs::default());
}

#[test]
fn easy_waits_as_long_as_erlang_says_where_there_is_nothing_to_backfill() {
    check(4, 2.8, Easy::default());
}
