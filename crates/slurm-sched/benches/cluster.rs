//! Ratio to real time of a free run with a long queue.
//!
//! `cargo bench -p slurm-sched` runs some days of clusters of 8 to 5 000 nodes; `cargo bench -p slurm-sched -- NODES DAYS LOAD` runs
//! one of them, with an offered load in percent (95). The case of docs/slurm.md with a long queue is `1000 30 100`: 100 000 jobs
//! under default parameters.

use slurm_sched::conf::Conf;
use slurm_sched::workload::{Request, SubmittedJob};
use slurm_sched::{Phases, Report, Site, Terms, Version, simulate};
use std::time::Instant;

/// Nodes, jobs a day, jobs pending at the start, nodes of the widest job, days.
const CASES: [(u32, u32, u32, u32, u32); 4] =
    [(8, 100, 50, 4, 30), (100, 110, 200, 25, 30), (1000, 3333, 2000, 32, 1), (5000, 3333, 2000, 160, 1)];

/// Small generator of uniform numbers in [0, 1), so that a case is the same everywhere.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64) / f64::from(1_u32 << 31)
    }

    fn log_uniform(&mut self, most: f64) -> f64 {
        libm::pow(most, self.next())
    }
}

/// Returns jobs of log-uniform widths and run times, with limits 1 to 4 times the run time, and as much work as the nodes can do.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
fn jobs((nodes, rate, pending, widest, days): (u32, u32, u32, u32, u32), load: u32) -> Vec<SubmittedJob> {
    let mut uniform = Uniform(2026);
    let count = rate * days + pending;
    let drawn: Vec<(u32, f64)> =
        (0..count).map(|_| (uniform.log_uniform(f64::from(widest) + 1.0) as u32, uniform.log_uniform(240.0))).collect();
    let work: f64 = drawn[pending as usize..].iter().map(|(width, run)| f64::from(*width) * run).sum();
    let second = f64::from(load) / 100.0 * f64::from(nodes) * f64::from(days) * 86_400.0 / work;
    let mut jobs: Vec<SubmittedJob> = (1..)
        .zip(drawn)
        .map(|(id, (width, run))| {
            let submit = if id <= pending { 0.0 } else { uniform.next() * f64::from(days) * 86_400.0 };
            let run = (run * second).max(1.0);
            let limit = Some(((run * (1.0 + 3.0 * uniform.next()) / 60.0).ceil() * 60.0) as i64);
            let request = Request { nodes: Some(width), exclusive: true, ..Request::default() };
            SubmittedJob { id, line: 1, submit: submit as i64, run: run as i64, limit, request, ..Default::default() }
        })
        .collect();
    jobs.sort_by_key(|job| (job.submit, job.id));
    jobs
}

#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn run(case: (u32, u32, u32, u32, u32), load: u32, version: Version) {
    let text = format!(
        "ClusterName=c\nNodeName=n[1-{0}] CPUs=4 RealMemory=1000\nPartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\n",
        case.0
    );
    let conf = Conf::read("slurm.conf", &text, version, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let site = Site { conf, accounts: Default::default(), version };
    let jobs = jobs(case, load);
    let terms = Terms { start: 1_700_000_000, zero: 1_700_000_200, phases: Phases::default() };
    let (mut main, mut backfill, mut waits, mut last) = (0, 0, 0, 0);
    let mut digest = 0_u64;
    let begin = Instant::now();
    simulate(&site, &jobs, terms, None, |report| match report {
        Report::MainPass(..) => main += 1,
        Report::BackfillPass(_) => backfill += 1,
        Report::Waits(..) => {}
        Report::Ended(job) => {
            waits += job.start - job.submit;
            last = job.end;
            let nodes = job.nodes.iter().fold(0, |sum: u64, node| sum.wrapping_mul(31).wrapping_add(*node as u64));
            digest = digest.wrapping_mul(1_000_003) ^ u64::from(job.job) ^ job.start.unsigned_abs() << 20 ^ nodes << 40;
        }
    });
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{version} {:>5} nodes {:>6} jobs, pending {:>5.0}, {:>5.1} days: {main:>6} main and {backfill:>6} backfill passes in {seconds:>7.2} s, {:>9.0} times real time, starts {digest:016x}",
        case.0,
        jobs.len(),
        waits as f64 / last as f64,
        last as f64 / 86_400.0,
        last as f64 / seconds,
    );
}

fn main() {
    let mut given = std::env::args().skip(1).filter_map(|word| word.parse::<u32>().ok());
    let (nodes, days, load) = (given.next(), given.next(), given.next().unwrap_or(95));
    for case in CASES.into_iter().filter(|case| nodes.is_none_or(|nodes| nodes == case.0)) {
        for version in Version::ALL {
            run((case.0, case.1, case.2, case.3, days.unwrap_or(case.4)), load, version);
        }
    }
}
