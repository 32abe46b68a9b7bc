//! Saturation, as the backlog of work shows it.

use metrics::backlog::{Backlog, Trend};
use rand_distr::{Distribution, Exp};
use sim_core::testkit::Fcfs;
use sim_core::{Job, JobId, Purpose, Sim, Span, Streams, Time};

/// M/M/c with a number of jobs, at a load of `load(job)`.
fn trend(servers: u32, jobs: u32, seed: u64, load: impl Fn(u32) -> f64) -> Trend {
    let streams = Streams::new(seed, 0);
    let (mut gaps, mut runs) = (streams.stream(Purpose("gaps"), 0), streams.stream(Purpose("runs"), 0));
    let one = Exp::new(1.0).expect("a rate");
    let mut now = Time::ZERO;
    let jobs = (0..jobs).map(|id| {
        let gap: f64 = one.sample(&mut gaps);
        now += Span::from_secs_f64(600.0 * gap / (load(id) * f64::from(servers)));
        Job::new(JobId(id), now, 1, Span::from_secs_f64(600.0 * one.sample(&mut runs)))
    });
    let (_, backlog) = Sim::new(Fcfs::new(servers, jobs), Backlog::default()).run();
    backlog.trend()
}

#[test]
fn a_queue_below_its_capacity_is_not_saturated_and_one_above_is() {
    let flagged = |servers: u32, jobs: u32, load: f64| {
        (0..100).filter(|seed| trend(servers, jobs, *seed, |_| load).is_saturated()).count()
    };
    for servers in [1, 16] {
        for jobs in [20, 200, 1_000, 5_000] {
            for load in [0.6, 0.8, 0.9] {
                assert_eq!(flagged(servers, jobs, load), 0, "{servers} servers, {jobs} jobs, load {load}");
            }
        }
        assert_eq!(flagged(servers, 5_000, 1.2), 100, "{servers} servers");
    }
}

#[test]
fn an_overload_for_half_of_the_log_is_seen_at_its_end_and_a_burst_and_a_log_of_one_minute_are_none() {
    let half = trend(16, 20_000, 1, |id| if id < 10_000 { 1.15 } else { 0.6 });
    assert!(half.is_saturated() && half.at_end < half.largest / 10.0, "{half:?}");
    // A hundred jobs at once, 17 hours of work, in a log of a hundred days.
    let burst = |id: u32| if (5_000..5_100).contains(&id) { 1e3 } else { 0.5 };
    assert!(!trend(1, 10_000, 1, burst).is_saturated());
    assert!(!trend(1, 500, 1, |_| 1e6).is_saturated(), "the longest job outlives the log");
    assert!(!Backlog::default().trend().is_saturated());
}
