//! Alea 3.1 on the log behind the paper's table 3, and on a synthetic one.
//!
//! `cargo bench -p alea31 --bench world`. Prints seconds for the first 17 500 jobs of wagap-2013, if the variable
//! `GRID_TRACES` names its folder (Alea 3.1 itself needs 10 for EASY, 67 for CONS, 19 for Best Gap and 431 for BGT),
//! and the speed-up of plans over their obvious twin.

use alea31::{Cons, Easy, GapFilling, Policy, World};
use criterion::{Criterion, criterion_group, criterion_main};
use rand_distr::{Distribution, Exp, Geometric, LogNormal};
use sim_core::{Job, JobId, Purpose, Span, Stream, Streams, Time};
use std::hint::black_box;
use std::time::{Duration, Instant};

#[path = "../tests/it/common.rs"]
#[expect(dead_code, reason = "tests need more of it")]
mod common;
#[path = "../tests/it/java.rs"]
mod java;
#[path = "../tests/it/obvious.rs"]
mod obvious;
use common::{WAGAP, wagap};
use obvious::{Kind, Obvious};

/// Returns jobs for clusters of 128 and 64 processors, at full load, with limits about two times too long.
fn synthetic(jobs: usize) -> Vec<Job> {
    let streams = Streams::new(42, 0);
    let draws = |purpose| streams.stream(Purpose(purpose), 0);
    let (mut gaps, mut widths, mut runtimes, mut slacks) =
        (draws("gaps"), draws("widths"), draws("runtimes"), draws("slacks"));
    let width = Geometric::new(0.5).expect("a probability");
    let runtime = LogNormal::new(7.6, 1.0).expect("a deviation");
    let gap = Exp::new(192.0 / (4.0 * 3_297.0)).expect("a rate");
    let slack = LogNormal::new(0.7, 0.7).expect("a deviation");
    let mut submit = Time::ZERO;
    let job = |id: u32| {
        submit += Span::from_secs(Span::from_secs_f64(gap.sample(&mut gaps)).as_nanos() / 1_000_000_000);
        let processors = 1 << width.sample(&mut widths).min(6);
        let runtime = Span::from_secs_f64(runtime.sample(&mut runtimes));
        let mut job = Job::new(JobId(id), submit, processors, runtime);
        job.request.estimate = Some(runtime.scaled(1.0 + slack.sample(&mut slacks)));
        job.request.user = Some(id % 20);
        job
    };
    (0..).map(job).take(jobs).collect()
}

fn stream() -> Stream {
    Streams::new(1, 0).stream(Purpose("tabu search"), 0)
}

fn policies() -> [(&'static str, Box<dyn Policy>); 4] {
    [
        ("EASY", Box::new(Easy::default())),
        ("CONS", Box::new(Cons::default())),
        ("Best Gap", Box::new(GapFilling::best_gap())),
        ("BGT", Box::new(GapFilling::bgt(stream()))),
    ]
}

fn streams(c: &mut Criterion) {
    let jobs = synthetic(2_000);
    let mut group = c.benchmark_group("2000 jobs on two clusters");
    group.sample_size(10);
    for place in 0..policies().len() {
        let name = policies()[place].0;
        group.bench_function(name, |b| {
            b.iter(|| {
                let [easy, cons, best_gap, bgt] = policies();
                World::new(
                    &[128, 64],
                    [easy, cons, best_gap, bgt].into_iter().nth(place).expect("four").1,
                    black_box(&jobs[..]),
                )
                .run()
            });
        });
    }
    group.finish();
}

#[expect(clippy::disallowed_methods, reason = "this is a stopwatch")]
fn timed(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn table_3(_: &mut Criterion) {
    let Some(jobs) = wagap(17_500) else { return };
    for (name, policy) in policies() {
        let mut policy = Some(policy);
        let time = timed(|| {
            black_box(World::new(&WAGAP, policy.take().expect("it runs once"), &jobs[..]).run());
        });
        println!("{name}, first 17 500 jobs of wagap-2013: {time:.2?}");
    }
}

fn twins(_: &mut Criterion) {
    let jobs = synthetic(300);
    for (name, kind) in [("CONS", Kind::Cons), ("Best Gap", Kind::BestGap), ("BGT", Kind::Bgt(stream()))] {
        let (_, fast) = policies().into_iter().find(|(other, _)| *other == name).expect("a policy");
        let (mut fast, mut slow) = (Some(fast), Some(Obvious::new(kind)));
        let fast = timed(|| {
            black_box(World::new(&[128, 64], fast.take().expect("it runs once"), &jobs[..]).run());
        });
        let slow = timed(|| {
            black_box(World::new(&[128, 64], slow.take().expect("it runs once"), &jobs[..]).run());
        });
        let ratio = slow.as_secs_f64() / fast.as_secs_f64();
        println!("{name} against its twin: {ratio:.1} times as fast ({fast:.1?} against {slow:.1?})");
    }
}

criterion_group!(benches, streams, table_3, twins);
criterion_main!(benches);
