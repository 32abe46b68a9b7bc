//! Jobs per second of a whole run, including the work of the world.
//!
//! `cargo bench -p gap-schedule`. The two lengths of the synthetic stream should run at the same rate; otherwise the
//! cost of a job grows with the log. EASY prints its speed-up over its obvious twin. With `GRID_TRACES`, the folder of
//! a collection of logs in the Standard Workload Format, a real log follows.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use gap_schedule::{
    BackfillReadings, Backfilling, Depth, Easy, Fcfs, FlexibleBackfill, FlexibleConfig, Machine, MultiCluster, Order,
    OrderedBackfill, Policy, Priority, reference,
};
use rand_distr::{Distribution, Exp, Geometric, LogNormal, Uniform};
use sim_core::{Job, JobId, JobLog, JobRecord, Purpose, Sim, Span, Streams, Time};
use std::hint::black_box;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[path = "../tests/it/flexible_twin.rs"]
mod flexible_twin;
use flexible_twin::Obvious;

/// Returns a stable stream for 256 processors: a load of 0.8 in expectation, widths that are powers of two, lognormal
/// runtimes, estimates up to about ten times too long.
fn synthetic(jobs: usize) -> Vec<Job> {
    let streams = Streams::new(42, 0);
    let draws = |purpose| streams.stream(Purpose(purpose), 0);
    let (mut gaps, mut widths, mut runtimes, mut slacks) =
        (draws("gaps"), draws("widths"), draws("runtimes"), draws("slacks"));
    // Widths: 2 to the power of G, P(G = k) = 2^-(k+1), at most 64: 4 processors on average. Runtimes: 3297 s on average.
    let width = Geometric::new(0.5).expect("a probability");
    let runtime = LogNormal::new(7.6, 1.0).expect("a deviation");
    let gap = Exp::new(0.8 * 256.0 / (4.0 * 3297.0)).expect("a rate");
    let slack = LogNormal::new(0.7, 0.7).expect("a deviation");
    let mut submit = Time::ZERO;
    (0..)
        .map(|id| {
            submit += Span::from_secs_f64(gap.sample(&mut gaps));
            let processors = 1 << width.sample(&mut widths).min(6);
            let mut job = Job::new(JobId(id), submit, processors, Span::from_secs_f64(runtime.sample(&mut runtimes)));
            job.request.estimate = Some(job.runtime.scaled(1.0 + slack.sample(&mut slacks)));
            job
        })
        .take(jobs)
        .collect()
}

/// Returns the load of a large machine in a bad month: thousands of running and thousands of waiting jobs.
fn crowded(jobs: usize) -> Vec<Job> {
    let mut crowd = synthetic(jobs);
    for job in &mut crowd {
        job.submit = Time::from_nanos(job.submit.as_nanos() / 80);
    }
    crowd
}

/// Reads the jobs of a log, cut at their limits as by a batch system, in order of submission.
fn log(name: &str) -> Option<Vec<Job>> {
    let path = PathBuf::from(std::env::var_os("GRID_TRACES")?).join(name);
    let mut text = String::new();
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let records = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(';'));
    let mut jobs: Vec<Job> = records
        .filter_map(|line| {
            let whole = |field: &str| field.split('.').next()?.parse().ok();
            let fields: Vec<i64> = line.split_whitespace().map_while(whole).collect();
            let [submit, runtime, processors, estimate] =
                [fields[1], fields[3], fields[4].max(fields[7]), fields[8]].map(|field| u64::try_from(field).ok());
            let (runtime, processors) = (runtime?, u32::try_from(processors?).ok().filter(|number| *number > 0)?);
            let estimate = estimate.unwrap_or(runtime);
            let mut job =
                Job::new(JobId(0), Time::from_secs(submit?), processors, Span::from_secs(runtime.min(estimate)));
            job.request.estimate = Some(Span::from_secs(estimate));
            Some(job)
        })
        .collect();
    jobs.sort_by_key(|job| job.submit);
    for (job, id) in jobs.iter_mut().zip(0..) {
        job.id = JobId(id);
    }
    Some(jobs)
}

/// Returns the sum of all waits on one machine, so that the optimizer cannot remove the run.
fn run(processors: u32, policy: impl Policy, jobs: &[Job]) -> u64 {
    run_grid(&[Machine::new(processors)], policy, jobs)
}

/// Returns backfilling in order of arrival.
fn reserving(reserve: Depth) -> OrderedBackfill {
    OrderedBackfill::new(Backfilling { reserve, ..Backfilling::default() })
}

fn measure(c: &mut Criterion, group: &str, processors: u32, jobs: &[Job]) {
    let mut group = c.benchmark_group(group);
    group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(20);
    group.bench_function("FCFS", |b| b.iter(|| run(processors, Fcfs::default(), black_box(jobs))));
    group.bench_function("EASY", |b| {
        b.iter_batched(Easy::default, |easy| run(processors, easy, black_box(jobs)), BatchSize::SmallInput);
    });
    group.finish();
}

fn streams(c: &mut Criterion) {
    measure(c, "10 000 jobs", 256, &synthetic(10_000));
    measure(c, "100 000 jobs", 256, &synthetic(100_000));
    measure(c, "20 000 jobs, crowded", 20_000, &crowded(20_000));
    match log("KTH-SP2-1996-2.1-cln.swf.gz") {
        Some(jobs) => measure(c, "KTH-SP2", 100, &jobs),
        None => eprintln!("KTH-SP2 skipped: the variable GRID_TRACES names no folder"),
    }
}

/// Compares each order of the queue with the policies in order of arrival: EASY, with a guard against starvation, with
/// another order behind the head, and with more reservations.
fn orders(c: &mut Criterion) {
    let mut group = c.benchmark_group("orders, 20 000 jobs");
    let jobs = synthetic(20_000);
    group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(10);
    let mut measure = |name: &str, policy: &dyn Fn() -> Box<dyn Policy>| {
        group.bench_function(name, |b| b.iter(|| run(256, policy(), black_box(&jobs))));
    };
    measure("fcfs", &|| Box::new(Fcfs::default()));
    measure("easy", &|| Box::new(Easy::default()));
    for order in Order::ALL {
        let rule = Backfilling { order, backfill: order, ..Backfilling::default() };
        measure(&format!("easy+order={}", order.name()), &|| Box::new(OrderedBackfill::new(rule)));
    }
    let sjf = Backfilling { order: Order::Sjf, backfill: Order::Sjf, ..Backfilling::default() };
    for (name, rule) in [
        ("easy+backfill=sjf", Backfilling { order: Order::Fcfs, ..sjf }),
        ("easy+order=sjf+threshold=2d", Backfilling { threshold: Some(Span::from_secs(2 * 86_400)), ..sjf }),
        ("easy+order=sjf+reserve=8", Backfilling { reserve: Depth::Jobs(8), ..sjf }),
        ("easy+order=sjf+reserve=all", Backfilling { reserve: Depth::All, ..sjf }),
    ] {
        measure(name, &|| Box::new(OrderedBackfill::new(rule)));
    }
    group.finish();
}

/// Prints the speed of each order in jobs per second, beside FCFS and EASY in the same run: the shortest of five.
fn order_table(_: &mut Criterion) {
    for (name, processors, jobs) in [("stable", 256, synthetic(20_000)), ("crowded", 20_000, crowded(20_000))] {
        let rate = |policy: &dyn Fn() -> Box<dyn Policy>| {
            jobs.len() as f64 / shortest(|| run(processors, policy(), &jobs)).as_secs_f64()
        };
        let fcfs = rate(&|| Box::new(Fcfs::default()));
        let easy = rate(&|| Box::new(Easy::default()));
        println!("{name}: fcfs {fcfs:.0} jobs/s, easy {easy:.0} ({:.2} of fcfs)", easy / fcfs);
        for order in Order::ALL {
            let rule = Backfilling { order, backfill: order, ..Backfilling::default() };
            let (ordered, blocked) = (
                rate(&|| Box::new(OrderedBackfill::new(rule))),
                rate(&|| Box::new(Fcfs::in_order(Priority { order, threshold: None }))),
            );
            println!(
                "{name}: {:7} easy {ordered:.0} jobs/s ({:.2} of easy), fcfs {blocked:.0} ({:.2} of fcfs)",
                order.name(),
                ordered / easy,
                blocked / fcfs
            );
        }
    }
}

/// Returns 150 machines of 1 to 16 processors and speeds from 1 to 3, and jobs of 1 to 8 processors that arrive every `gap`
/// seconds on average and take 500 to 3000 s at speed 1: at 1 s three times the capacity, at 5 s two thirds of it.
fn grid(gap: f64, jobs: u32) -> (Vec<Machine>, Vec<Job>) {
    let streams = Streams::new(42, 0);
    let draws = |purpose| streams.stream(Purpose(purpose), 0);
    let (mut sizes, mut speeds) = (draws("machine sizes"), draws("machine speeds"));
    let size = Uniform::new_inclusive(1, 16).expect("a range");
    let speed = Uniform::new(1.0, 3.0).expect("a range");
    let machines =
        (0..150).map(|_| Machine { processors: size.sample(&mut sizes), speed: speed.sample(&mut speeds) }).collect();

    let (mut gaps, mut widths, mut runtimes, mut margins) =
        (draws("gaps"), draws("widths"), draws("runtimes"), draws("margins"));
    let width = Uniform::new_inclusive(1, 8).expect("a range");
    let runtime = Uniform::new(500.0, 3_000.0).expect("a range");
    let margin = Uniform::new(30.0, 250.0).expect("a range");
    let exponential = Exp::new(1.0).expect("a rate");
    let mut submit = Time::ZERO;
    let jobs = (0..jobs).map(|id| {
        submit += Span::from_secs_f64(gap * exponential.sample(&mut gaps));
        let runtime = Span::from_secs_f64(runtime.sample(&mut runtimes));
        let mut job = Job::new(JobId(id), submit, width.sample(&mut widths), runtime);
        let margin = Span::from_secs_f64(margin.sample(&mut margins));
        job.request.deadline = (id % 10 < 7).then_some(submit + runtime + margin);
        job
    });
    (machines, jobs.collect())
}

/// Returns the sum of all waits.
fn run_grid(machines: &[Machine], policy: impl Policy, jobs: &[Job]) -> u64 {
    let mut waits = 0;
    let sink = |record: JobRecord| waits += record.wait().as_nanos() / 1_000;
    Sim::new(MultiCluster::new(machines.to_vec(), policy, jobs.iter().copied()), JobLog::new(sink)).run();
    waits
}

/// Measures the cost of a job from its arrival to its end: two events and their passes.
fn grids(c: &mut Criterion) {
    for gap in [1.0, 5.0] {
        let (machines, jobs) = grid(gap, 3_000);
        let mut group = c.benchmark_group(format!("150 machines, a job every {gap} s"));
        group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(10);
        let mut measure = |name: &str, scheduler: &dyn Fn() -> Box<dyn Policy>| {
            group.bench_function(name, |b| b.iter(|| run_grid(&machines, scheduler(), black_box(&jobs))));
        };
        measure("FCFS", &|| Box::new(Fcfs::default()));
        measure("EASY", &|| Box::new(Easy::default()));
        for (name, depth) in [("16 reservations", Depth::Jobs(16)), ("CONS", Depth::All)] {
            measure(name, &|| Box::new(reserving(depth)));
        }
        measure("Flex", &|| Box::new(FlexibleBackfill::default()));
        group.finish();
    }
}

/// Measures conservative backfilling on logs with users' estimates (SDSC-SP2, CTC-SP2) and with exact ones on an overloaded machine.
fn conservative(c: &mut Criterion) {
    for (name, processors) in [("SDSC-SP2-1998-4.2-cln", 128), ("CTC-SP2-1996-3.1-cln", 338), ("lublin_256", 256)] {
        let Some(jobs) = log(&format!("{name}.swf.gz")) else {
            eprintln!("{name} skipped: the variable GRID_TRACES names no folder");
            continue;
        };
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(10);
        let machine = [Machine::new(processors)];
        for (name, depth) in [("16 reservations", Depth::Jobs(16)), ("CONS", Depth::All)] {
            let policy = || reserving(depth);
            let waits = run_grid(&machine, policy(), &jobs);
            println!("{name}: mean wait {} s", waits / 1_000_000 / jobs.len() as u64);
            group.bench_function(name, |b| b.iter(|| run_grid(&machine, policy(), black_box(&jobs))));
        }
        group.finish();
    }
}

/// Returns the shortest of five runs.
#[expect(clippy::disallowed_methods, reason = "this is a stopwatch")]
fn shortest(mut run: impl FnMut() -> u64) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    (0..5).map(timed).min().expect("five runs")
}

fn twin(_: &mut Criterion) {
    let readings = BackfillReadings::default();
    for gap in [1.0, 3.0] {
        let (machines, jobs) = grid(gap, 3_000);
        let compare = |name: &str, fast: &dyn Fn() -> Box<dyn Policy>, slow: &dyn Fn() -> Obvious| {
            let fast = shortest(|| run_grid(&machines, fast(), &jobs));
            let slow = shortest(|| run_grid(&machines, slow(), &jobs));
            let (ratio, per_event) = (slow.as_secs_f64() / fast.as_secs_f64(), fast / (2 * 3_000));
            println!(
                "{name} on 150 machines against its twin, a job every {gap} s: {ratio:.1} times as fast \
                 ({per_event:.1?} per event)"
            );
        };
        compare("EASY", &|| Box::new(Easy::default()), &|| Obvious::easy(readings));
        let config = FlexibleConfig::default();
        compare("Flex", &|| Box::new(FlexibleBackfill::default()), &|| {
            Obvious::new(config, readings, Depth::default())
        });
    }
    for (name, processors, jobs) in [("stable", 256, synthetic(10_000)), ("crowded", 2_000, crowded(3_000))] {
        let easy = shortest(|| run(processors, Easy::default(), &jobs));
        let twin = shortest(|| run(processors, reference::OrderedBackfill::default(), &jobs));
        let ratio = twin.as_secs_f64() / easy.as_secs_f64();
        println!("EASY against its twin, {name}: {ratio:.1} times as fast ({easy:.1?} against {twin:.1?})");
    }
    for (name, processors, jobs) in [("stable", 256, synthetic(10_000)), ("crowded", 2_000, crowded(500))] {
        let machine = [Machine::new(processors)];
        let rule = Backfilling { reserve: Depth::All, ..Backfilling::default() };
        let cons = shortest(|| {
            run_grid(
                &machine,
                OrderedBackfill::new(Backfilling { reserve: Depth::All, ..Backfilling::default() }),
                &jobs,
            )
        });
        let twin = shortest(|| run_grid(&machine, reference::OrderedBackfill(rule), &jobs));
        let ratio = twin.as_secs_f64() / cons.as_secs_f64();
        println!("CONS against its twin, {name}: {ratio:.1} times as fast ({cons:.1?} against {twin:.1?})");
    }
}

criterion_group!(benches, streams, orders, grids, conservative, order_table, twin);
criterion_main!(benches);
