//! Coverage of 95 % intervals: 95 of 100 experiments, for a known truth.

use metrics::ConfidenceInterval;
use rand_distr::{Distribution, Exp};
use sim_core::testkit::Fcfs;
use sim_core::{Job, JobId, JobLog, JobRecord, Purpose, Sim, Span, Streams, Time};

/// M/M/2 with ρ = 0.6: E[W] = C / (c μ − λ), where C is Erlang's formula, 0.45; with μ = 1 and λ = 1.2, 0.5625 s.
const WAIT: f64 = 0.5625;

/// Mean wait of a thousand customers, after the first four hundred.
fn mean_wait(streams: &Streams) -> f64 {
    let (mut arrivals, mut services) = (streams.stream(Purpose("arrivals"), 0), streams.stream(Purpose("services"), 0));
    let (gap, service) = (Exp::new(1.2).expect("a rate"), Exp::new(1.0).expect("a rate"));
    let mut now = Time::ZERO;
    let jobs = (0..1_400).map(move |id| {
        now += Span::from_secs_f64(gap.sample(&mut arrivals));
        Job::new(JobId(id), now, 1, Span::from_secs_f64(service.sample(&mut services)))
    });
    let (mut sum, mut seen) = (0.0, 0.0);
    let count = |record: JobRecord| {
        if record.job.id.0 >= 400 {
            sum += record.wait().as_secs_f64();
            seen += 1.0;
        }
    };
    let _ = Sim::new(Fcfs::new(2, jobs), JobLog::new(count)).run();
    sum / seen
}

#[test]
fn erlangs_formula_says_so() {
    let (a, c): (f64, f64) = (1.2, 2.0);
    let last = a * a / 2.0 * (c / (c - a));
    let waits = last / (1.0 + a + last);
    assert!((waits / (c - a) - WAIT).abs() < 1e-12);
}

#[test]
fn the_interval_over_replications_holds_the_true_mean_of_a_queue_in_95_of_100_experiments() {
    const EXPERIMENTS: u32 = 500;
    let covers = |experiment: u32| {
        let sample: Vec<f64> = (0..20).map(|rep| mean_wait(&Streams::new(u64::from(experiment), rep))).collect();
        let interval = ConfidenceInterval::of(&sample);
        interval.low.is_some_and(|low| low <= WAIT) && interval.high.is_some_and(|high| high >= WAIT)
    };
    let covered = (0..EXPERIMENTS).filter(|experiment| covers(*experiment)).count();
    let share = 100.0 * f64::from(u32::try_from(covered).expect("a count")) / f64::from(EXPERIMENTS);
    assert!((93.0..=97.0).contains(&share), "{share} of 100 intervals hold the true mean");
}
