//! Planning and cancelling one more job in a crowded profile: `cargo bench -p sim-core --bench profile`.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand_distr::{Distribution, Geometric, LogNormal};
use sim_core::{AvailabilityProfile, Purpose, Span, Streams, Time};
use std::hint::black_box;

const CAPACITY: u32 = 256;
/// Number of jobs tried in turn.
const TRIED: usize = 1 << 10;

type Demand = (Span, u32);

/// Widths that are powers of two, 4 processors on average, at most 64; spans of half an hour on average.
fn demands() -> impl Iterator<Item = Demand> {
    let draws = |purpose| Streams::new(7, 0).stream(Purpose(purpose), 0);
    let (mut widths, mut lengths) = (draws("widths"), draws("lengths"));
    let width = Geometric::new(0.5).expect("a probability");
    let length = LogNormal::new(7.0, 1.0).expect("a deviation");
    std::iter::repeat_with(move || {
        (Span::from_secs_f64(length.sample(&mut lengths)), 1 << width.sample(&mut widths).min(6))
    })
}

/// Conservative plans for an idle machine, one job after the other, until the profile has `steps` steps.
fn crowded(steps: usize) -> AvailabilityProfile {
    let mut profile = AvailabilityProfile::new(CAPACITY);
    for (span, processors) in demands() {
        if profile.steps() >= steps {
            break;
        }
        let start = profile.earliest(Time::ZERO, span, processors).expect("no wider than the machine");
        profile.reserve(start, span, processors);
    }
    profile
}

fn plans(c: &mut Criterion) {
    let tried: Vec<Demand> = demands().skip(1_000_000).take(TRIED).collect();
    let mut group = c.benchmark_group("plan and cancel");
    for steps in [10, 30, 100, 300, 1_000, 10_000] {
        let mut profile = crowded(steps);
        let mut i = 0;
        let mut next = || {
            i = (i + 1) % TRIED;
            tried[i]
        };
        group.bench_function(BenchmarkId::from_parameter(steps), |b| {
            b.iter(|| {
                let (span, processors) = next();
                let start = profile.earliest(Time::ZERO, span, processors).expect("no wider than the machine");
                profile.reserve(start, span, processors);
                profile.cancel(start, span, processors);
                black_box(start)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
