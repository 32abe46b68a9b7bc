//! Records per second through the streaming summary, and values per second through the sketch beside another
//! implementation of it at the same accuracy.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metrics::{QuantileSketch, Summary};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, LogNormal};
use sim_core::{Job, JobId, JobRecord, Purpose, SiteId, Span, Streams, Time};
use sketches_ddsketch::{Config, DDSketch};
use std::hint::black_box;

const RECORDS: u32 = 1 << 16;

/// Run times and waits as wide as in real logs, drawn beforehand so that only the summary is timed.
fn records(deadlines: bool) -> Vec<JobRecord> {
    let mut stream = Streams::new(1, 0).stream(Purpose("records"), 0);
    let seconds = LogNormal::new(6.0, 2.0).expect("a valid shape");
    let mut submit = Time::ZERO;
    (0..RECORDS)
        .map(|id| {
            let gap: f64 = Exp1.sample(&mut stream);
            submit += Span::from_secs_f64(gap * 60.0);
            let runtime = Span::from_secs_f64(seconds.sample(&mut stream));
            let wait = if stream.random_bool(0.4) { 0.0 } else { seconds.sample(&mut stream) };
            let processors = 1 << stream.random_range(0..8_u32);
            let mut job = Job::new(JobId(id), submit, processors, runtime);
            job.request.deadline = deadlines.then(|| submit + runtime * 3);
            let start = submit + Span::from_secs_f64(wait);
            JobRecord { job, start, finish: start + runtime, site: SiteId(0), processors }
        })
        .collect()
}

fn summary(c: &mut Criterion) {
    let mut group = c.benchmark_group("summary");
    group.throughput(Throughput::Elements(u64::from(RECORDS)));
    for (name, deadlines) in [("without deadlines", false), ("with deadlines", true)] {
        let records = records(deadlines);
        // Kept over iterations, as in a long run, where the bins exist already.
        let mut summary = Summary::default();
        group.bench_function(name, |b| b.iter(|| black_box(&records).iter().for_each(|record| summary.add(record))));
    }
    group.finish();
}

fn sketch(c: &mut Criterion) {
    let values: Vec<f64> = records(false).iter().map(|record| record.response().as_secs_f64()).collect();
    let mut group = c.benchmark_group("sketch");
    group.throughput(Throughput::Elements(u64::from(RECORDS)));
    let mut ours = QuantileSketch::default();
    group.bench_function("bitwise", |b| b.iter(|| black_box(&values).iter().for_each(|&value| ours.add(value))));
    let mut theirs = DDSketch::new(Config::new(QuantileSketch::RELATIVE_ERROR, 1 << 15, 1e-10));
    group.bench_function("logarithmic", |b| b.iter(|| black_box(&values).iter().for_each(|&value| theirs.add(value))));
    group.finish();
    c.bench_function("three quantiles", |b| b.iter(|| [0.5, 0.95, 0.99].map(|p| black_box(&ours).quantile(p))));
}

criterion_group!(benches, summary, sketch);
criterion_main!(benches);
