//! The reference model against queueing theory. Tolerances come from the sample: four standard errors.

use rand::RngExt;
use rand_distr::{Distribution, Exp};
use sim_core::testkit::{Fcfs, mean_and_stderr};
use sim_core::{Job, JobId, JobLog, Purpose, Sim, Span, Streams, Time};

/// Poisson arrivals at `rate` per second; service times from `service`.
fn jobs<D: Distribution<f64>>(streams: Streams, rate: f64, service: D) -> impl Iterator<Item = Job> {
    let mut arrivals = streams.stream(Purpose("arrivals"), 0);
    let mut services = streams.stream(Purpose("services"), 0);
    let gap = Exp::new(rate).expect("a positive rate");
    let mut submit = Time::ZERO;
    (0..40_000).map(move |id| {
        submit += Span::from_secs_f64(gap.sample(&mut arrivals));
        Job::new(JobId(id), submit, 1, Span::from_secs_f64(service.sample(&mut services)))
    })
}

fn check<D: Distribution<f64> + Copy>(servers: u32, rate: f64, service: D, theory: f64) {
    let runs: Vec<f64> = (0..20)
        .map(|replication| {
            let model = Fcfs::new(servers, jobs(Streams::new(42, replication), rate, service));
            let mut responses = (0.0, 0_u32);
            let log = JobLog::new(|record: sim_core::JobRecord| {
                // The first tenth is warm-up: the queue starts empty.
                if record.job.id.0 >= 4_000 {
                    responses = (responses.0 + record.response().as_secs_f64(), responses.1 + 1);
                }
            });
            Sim::new(model, log).run();
            responses.0 / f64::from(responses.1)
        })
        .collect();
    let (mean, stderr) = mean_and_stderr(&runs);
    assert!((mean - theory).abs() < 4.0 * stderr, "mean response {mean} ± {stderr}, theory says {theory}");
}

/// M/M/1 with ρ = 1/2 and E\[S\] = 1 s: E\[T\] = E\[S\] / (1 − ρ) = 2 s.
#[test]
fn mm1_mean_response_matches_theory() {
    check(1, 0.5, Exp::new(1.0).expect("rate 1"), 2.0);
}

/// M/M/c: E\[T\] = 1/μ + C(c, a) / (cμ − λ), with C Erlang's delay formula.
#[test]
fn mmc_mean_response_matches_erlang_c() {
    let (servers, load) = (4_u32, 3.0_f64);
    let mut blocking = 1.0; // Erlang B by its recurrence
    for c in 1..=servers {
        blocking = load * blocking / (f64::from(c) + load * blocking);
    }
    let c = f64::from(servers);
    let delayed = c * blocking / (c - load * (1.0 - blocking));
    check(servers, load, Exp::new(1.0).expect("rate 1"), 1.0 + delayed / (c - load));
}

/// M/D/1 with ρ = 1/2: E\[T\] = E\[S\] (1 + ρ / (2 (1 − ρ))) = 1.5 s (Pollaczek–Khinchine).
#[test]
fn md1_mean_response_matches_pollaczek_khinchine() {
    #[derive(Copy, Clone)]
    struct Constant;
    impl Distribution<f64> for Constant {
        fn sample<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> f64 {
            let _: u32 = rng.random();
            1.0
        }
    }
    check(1, 0.5, Constant, 1.5);
}
