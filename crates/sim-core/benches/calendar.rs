//! The calendar under the hold model (pop one, post one at an exponential delay), against a plain
//! `std::collections::BinaryHeap` of (time, sequence, payload).

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand_distr::{Distribution, Exp1};
use sim_core::{Calendar, EventPriority, Purpose, Span, Streams, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

const DELAYS: usize = 1 << 16;

/// Exponential delays, drawn beforehand so that only the queue is timed.
fn delays() -> Vec<u64> {
    let mut stream = Streams::new(1, 0).stream(Purpose("delays"), 0);
    (0..DELAYS)
        .map(|_| {
            let delay: f64 = Exp1.sample(&mut stream);
            Span::from_secs_f64(delay).as_nanos()
        })
        .collect()
}

fn hold(c: &mut Criterion) {
    let delays = delays();
    let mut group = c.benchmark_group("hold");
    for pending in [100_usize, 1_000, 10_000, 100_000, 1_000_000] {
        group.bench_function(BenchmarkId::new("calendar", pending), |b| {
            let mut calendar = Calendar::new();
            for i in 0..pending {
                calendar.post(Time::from_nanos(delays[i % DELAYS]), EventPriority::ARRIVE, i as u64);
            }
            let mut i = 0;
            b.iter(|| {
                let (now, payload) = calendar.pop().expect("as many are posted as popped");
                i = (i + 1) % DELAYS;
                calendar.post(now + Span::from_nanos(delays[i]), EventPriority::ARRIVE, payload);
                black_box(payload)
            });
        });
        group.bench_function(BenchmarkId::new("binary-heap", pending), |b| {
            let mut heap = BinaryHeap::new();
            let mut sequence = 0_u64;
            for i in 0..pending {
                heap.push(Reverse((delays[i % DELAYS], sequence, i as u64)));
                sequence += 1;
            }
            let mut i = 0;
            b.iter(|| {
                let Reverse((now, _, payload)) = heap.pop().expect("as many are pushed as popped");
                i = (i + 1) % DELAYS;
                heap.push(Reverse((now + delays[i], sequence, payload)));
                sequence += 1;
                black_box(payload)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
