//! EG-EDF and Tabu search at the load of their paper: 150 machines, 3000 jobs.
//!
//! `cargo bench -p gap-schedule --bench plan`. Prints microseconds per arrival and per Tabu iteration, and the speed-up
//! over the twins, which try everything on copies of the whole plan. The streams run to their end, and all jobs end as
//! estimated, so that plans are as full as possible.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gap_schedule::{Edf, EgEdf, EgTies, GapBound, Plan, PlanJob, Tabu, TabuChoice, TabuCounts};
use rand_distr::{Distribution, Exp, Uniform};
use sim_core::{JobId, Purpose, SiteId, SiteSet, Span, Streams, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[path = "../tests/it/plan_twin.rs"]
mod plan_twin;
use plan_twin::{ObviousMachine, ObviousPlan};

/// Processors and speed of each machine.
fn machines() -> Vec<(u32, f64)> {
    let streams = Streams::new(42, 0);
    let draws = |purpose| streams.stream(Purpose(purpose), 0);
    let (mut processors, mut speeds) = (draws("machine processors"), draws("machine speeds"));
    let width = Uniform::new_inclusive(1, 16).expect("a range");
    let speed = Uniform::new_inclusive(200.0, 600.0).expect("a range");
    (0..150).map(|_| (width.sample(&mut processors), speed.sample(&mut speeds) / 200.0)).collect()
}

fn jobs(number: usize, inter_arrival: f64) -> Vec<PlanJob> {
    let streams = Streams::new(42, 0);
    let draws = |purpose| streams.stream(Purpose(purpose), 0);
    let (mut gaps, mut widths, mut estimates) = (draws("gaps"), draws("widths"), draws("estimates"));
    let (mut chances, mut margins) = (draws("chances"), draws("margins"));
    let gap = Exp::new(1.0 / inter_arrival).expect("a rate");
    let width = Uniform::new_inclusive(1, 8).expect("a range");
    let estimate = Uniform::new_inclusive(500.0, 3_000.0).expect("a range");
    let chance = Uniform::new(0.0, 1.0).expect("a range");
    let margin = Uniform::new_inclusive(30.0, 250.0).expect("a range");
    let mut submit = Time::ZERO;
    let job = |id| {
        submit += Span::from_secs_f64(gap.sample(&mut gaps));
        let estimate = Span::from_secs_f64(estimate.sample(&mut estimates));
        let due = submit + estimate + Span::from_secs_f64(margin.sample(&mut margins));
        let deadline = (chance.sample(&mut chances) < 0.7).then_some(due);
        PlanJob {
            id: JobId(id),
            processors: width.sample(&mut widths),
            estimate,
            submit,
            deadline,
            sites: SiteSet::ALL,
        }
    };
    (0..).map(job).take(number).collect()
}

/// Replays a stream: jobs start as planned and end as expected. `arrive` plans each.
struct Replay {
    plan: Plan,
    ends: BinaryHeap<Reverse<(Time, SiteId, JobId)>>,
    ended_in_time: u64,
}

impl Replay {
    fn new(machines: &[(u32, f64)]) -> Self {
        Self { plan: Plan::new(machines.iter().copied()), ends: BinaryHeap::new(), ended_in_time: 0 }
    }

    fn run(&mut self, jobs: &[PlanJob], mut arrive: impl FnMut(&mut Self, &PlanJob)) -> u64 {
        for job in jobs {
            while let Some(Reverse((end, machine, ended))) = self.ends.peek().copied() {
                if end > job.submit {
                    break;
                }
                self.ends.pop();
                let ended = self.plan.finish(machine, ended, end);
                self.ended_in_time += u64::from(ended.is_met_by(end));
                if self.ends.peek().is_none_or(|next| next.0.0 > end) {
                    self.start_due(end);
                }
            }
            arrive(self, job);
            self.start_due(job.submit);
        }
        self.plan.score().nondelayed
    }

    fn start_due(&mut self, now: Time) {
        let mut started = Vec::new();
        self.plan.start_due(now, &mut started);
        self.ends.extend(started.into_iter().map(|(machine, job)| Reverse((job.end, machine, job.job.id))));
    }

    fn twin(&self, machines: &[(u32, f64)]) -> ObviousPlan {
        let machine = |(machine, (processors, speed)): (SiteId, &(u32, f64))| ObviousMachine {
            site: machine,
            processors: *processors,
            speed: *speed,
            running: self.plan.running(machine).to_vec(),
            planned: self.plan.planned(machine).map(|planned| planned.job).collect(),
        };
        let machines = self.plan.machines().zip(machines).map(machine).collect();
        ObviousPlan { machines, ended_in_time: self.ended_in_time }
    }
}

fn streams(c: &mut Criterion) {
    let machines = machines();
    for inter_arrival in [1.0, 5.0] {
        let jobs = jobs(3_000, inter_arrival);
        let mut group = c.benchmark_group(format!("one arrival every {inter_arrival} s"));
        group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(10);
        group.bench_function("EG-EDF", |b| {
            b.iter(|| {
                let mut rule = EgEdf::default();
                Replay::new(&machines).run(black_box(&jobs), |replay, job| {
                    rule.place(&mut replay.plan, *job, job.submit);
                })
            });
        });
        group.bench_function("Tabu", |b| {
            b.iter(|| {
                let (mut rule, mut tabu) = (EgEdf::default(), Tabu::default());
                Replay::new(&machines).run(black_box(&jobs), |replay, job| {
                    rule.place(&mut replay.plan, *job, job.submit);
                    tabu.improve(&mut replay.plan, job.submit);
                })
            });
        });
        group.finish();
    }
}

#[expect(clippy::disallowed_methods, reason = "this is a stopwatch")]
fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answer = black_box(work());
    *total += start.elapsed();
    answer
}

fn micros(total: Duration, count: u64) -> f64 {
    total.as_secs_f64() * 1e6 / count as f64
}

/// Returns the shortest of five runs, as microseconds per arrival and per iteration, and the counts of both rules.
fn fast(machines: &[(u32, f64)], jobs: &[PlanJob]) -> (f64, f64, u64, TabuCounts) {
    let run = |_| {
        let (mut rule, mut tabu) = (EgEdf::default(), Tabu::default());
        let [mut placing, mut improving] = [Duration::ZERO; 2];
        Replay::new(machines).run(jobs, |replay, job| {
            timed(&mut placing, || rule.place(&mut replay.plan, *job, job.submit));
            let (before, mut searching) = (tabu.counts.iterations, Duration::ZERO);
            timed(&mut searching, || tabu.improve(&mut replay.plan, job.submit));
            if tabu.counts.iterations > before {
                improving += searching;
            }
        });
        (placing, improving, rule.operations, tabu.counts)
    };
    let runs: Vec<_> = (0..5).map(run).collect();
    let placing = runs.iter().map(|run| run.0).min().expect("five runs");
    let improving = runs.iter().map(|run| run.1).min().expect("five runs");
    let (operations, counts) = (runs[0].2, runs[0].3);
    (micros(placing, jobs.len() as u64), micros(improving, counts.iterations), operations, counts)
}

/// Compares with the twin at some arrivals, on the same plan.
fn twins(_: &mut Criterion) {
    const EVERY: usize = 100;
    let machines = machines();
    for inter_arrival in [1.0, 2.0, 3.0] {
        let jobs = jobs(3_000, inter_arrival);
        let (arrival, iteration, operations, counts) = fast(&machines, &jobs);
        let (mut rule, mut tabu) = (EgEdf::default(), Tabu::default());
        let [mut twin_placing, mut twin_improving] = [Duration::ZERO; 2];
        let (mut samples, mut twin_iterations, mut longest) = (0, 0, 0);
        Replay::new(&machines).run(&jobs, |replay, job| {
            let twin = (job.id.index() % EVERY == EVERY - 1).then(|| replay.twin(&machines));
            let placed = rule.place(&mut replay.plan, *job, job.submit);
            let before = tabu.counts;
            tabu.improve(&mut replay.plan, job.submit);
            let Some(mut twin) = twin else { return };
            let readings = (GapBound::LastStart, EgTies::StartThenFastest, Edf::Shifts);
            let choice = timed(&mut twin_placing, || twin.eg_edf(job, job.submit, readings));
            assert_eq!(
                placed.map(|placed| (placed.machine.index(), placed.start, placed.weight.to_bits())),
                choice.map(|choice| (choice.machine, choice.start, choice.weight.to_bits()))
            );
            let readings = (GapBound::LastStart, TabuChoice::LastLate);
            let mut twin_searching = Duration::ZERO;
            let tried = timed(&mut twin_searching, || twin.tabu(job.submit, readings, (10, 10), &mut Vec::new()));
            assert_eq!(tabu.counts.tried - before.tried, tried.len() as u64);
            if tabu.counts.iterations > before.iterations {
                twin_improving += twin_searching;
                twin_iterations += tabu.counts.iterations - before.iterations;
            }
            samples += 1;
            let planned = |machine| replay.plan.planned(machine).len();
            longest = longest.max(replay.plan.machines().map(planned).sum());
        });
        println!(
            "one arrival every {inter_arrival} s, up to {longest} jobs planned:\n  \
             EG-EDF {arrival:.2} µs per arrival, {:.0} operations; {:.0} times as fast as its twin\n  \
             Tabu {iteration:.2} µs per iteration, {:.0} operations; {:.0} times as fast as its twin \
             ({} iterations, {} moves tried, {} accepted)",
            operations as f64 / jobs.len() as f64,
            micros(twin_placing, samples) / arrival,
            counts.operations as f64 / counts.iterations as f64,
            micros(twin_improving, twin_iterations) / iteration,
            counts.iterations,
            counts.tried,
            counts.accepted,
        );
    }
}

criterion_group!(benches, twins, streams);
criterion_main!(benches);
