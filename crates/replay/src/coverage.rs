//! `cargo xtask coverage`: the share of intervals from one log that contain the true difference.
//!
//! Years of a workload model stand for logs of a machine. The truth is the difference of the means over the jobs of all years; each
//! of the first years gives one interval, as `simulate` would print it for that year alone.

use crate::simulate::held::{HeldPolicy, Placement};
use anyhow::{Result, anyhow};
use gap_schedule::Machine;
use lab::chart::{fixed, significant};
use lab::cli::{Common, Ending, print};
use lab::interrupt::{self, Interrupted};
use lab::parallel::in_parallel;
use lab::progress::Progress;
use metrics::job::bounded_slowdown;
use metrics::{Blocks, Summary};
use rand::RngExt;
use serde_json::json;
use sim_core::{Job, JobId, JobRecord, Purpose, SiteId, Span, Streams, Time};
use workload::model::{Lublin, ModelJob, Tsafrir};
use workload::{Estimates, HeldLog};

/// Help text with examples.
const EXAMPLES: &str = "\
Examples:
  cargo xtask coverage            the table of docs/experiments.md, about an hour on two cores
  cargo xtask coverage --quick    light load alone, in seconds

A cell passes if 92 to 98 % of its intervals contain the true difference, within two standard errors of that
share, or if nearly all are refused. Exit code 1 if a cell fails.";

/// Options of the measurement.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Coverage {
    /// Years that the true difference is computed from.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(2..))]
    years: u32,
    /// Years that give an interval each, the first of them.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(2..))]
    intervals: u32,
    /// Seed of all years.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// A fifteenth of the years, at light load alone.
    #[arg(long)]
    quick: bool,
}

/// Length of a log: 52 weeks.
const YEAR: Span = Span::from_secs(364 * 86_400);

/// Processors of the machine for jobs of Lublin's model.
const PROCESSORS: u32 = 128;

/// Servers of the queue, and the mean run time of its jobs in seconds.
const SERVERS: (u32, f64) = (16, 4.0 * 3600.0);

/// Metrics that are compared.
const METRICS: [&str; 2] = ["wait_mean", "bounded_slowdown_mean"];

/// Fewer intervals than these are no sample of their coverage.
const FEW: usize = 20;

/// A source of independent years.
#[derive(Copy, Clone, Debug)]
enum Source {
    /// M/M/c: jobs of one processor with exponential times.
    Queue { load: f64 },
    /// Lublin & Feitelson (2003) with estimates of Tsafrir et al. (2005).
    Lublin { load: f64 },
}

impl Source {
    const fn name(self) -> &'static str {
        match self {
            Self::Queue { .. } => "M/M/16",
            Self::Lublin { .. } => "Lublin",
        }
    }

    const fn load(self) -> f64 {
        match self {
            Self::Queue { load } | Self::Lublin { load } => load,
        }
    }

    const fn processors(self) -> u32 {
        match self {
            Self::Queue { .. } => SERVERS.0,
            Self::Lublin { .. } => PROCESSORS,
        }
    }

    /// Policies that are compared. With jobs of one processor EASY and conservative backfilling are FCFS, so that a queue shows
    /// the mean under FCFS, which theory knows, and another order.
    const fn pairs(self) -> &'static [(&'static str, Option<&'static str>)] {
        match self {
            Self::Queue { .. } => &[("fcfs", None), ("easy+order=sjf", Some("fcfs"))],
            Self::Lublin { .. } => {
                &[("easy", Some("fcfs")), ("easy", Some("cons")), ("easy", Some("easy+backfill=spf"))]
            }
        }
    }

    /// The jobs of one year.
    fn year(self, streams: &Streams, density: f64) -> Result<HeldLog> {
        match self {
            Self::Queue { load } => {
                let (servers, mean) = SERVERS;
                let (mut gaps, mut runs) = (streams.stream(Purpose("gaps"), 0), streams.stream(Purpose("runs"), 0));
                let gap = mean / (load * f64::from(servers));
                let mut now = Time::ZERO;
                let jobs = std::iter::from_fn(move || {
                    now += Span::from_secs_f64(-gap * libm::log(1.0 - gaps.random::<f64>()));
                    let run = Span::from_secs_f64(-mean * libm::log(1.0 - runs.random::<f64>()));
                    Some((now, run))
                });
                let jobs = jobs.take_while(|(submit, _)| submit.since(Time::ZERO) < YEAR);
                let jobs = (0..).zip(jobs).map(|(id, (submit, run))| ModelJob {
                    job: Job::new(JobId(id), submit, 1, run),
                    requested_time: None,
                    user: None,
                    queue: None,
                    further: None,
                });
                Ok(HeldLog::of_model(jobs))
            }
            Self::Lublin { .. } => {
                let end = Time::ZERO + YEAR.scaled(density);
                let all = Lublin::typeless(PROCESSORS).jobs(streams);
                let mut jobs: Vec<ModelJob> = all.take_while(|job| job.job.submit < end).collect();
                let longest = jobs.iter().map(|job| job.job.runtime).max().unwrap_or_default();
                let hours = u32::try_from(longest.as_nanos().div_ceil(3_600_000_000_000).max(1))?;
                Tsafrir::new(3600 * hours).assign(&mut jobs, streams).map_err(|error| anyhow!("{error}"))?;
                Ok(HeldLog::of_model(jobs.into_iter()).denser(density))
            }
        }
    }
}

/// Offered load of Lublin's model as it is published, from a long draw.
fn natural_load(seed: u64) -> f64 {
    let (mut work, mut span) = (0.0, 0.0);
    for part in 0..20 {
        let jobs = Lublin::typeless(PROCESSORS).jobs(&Streams::new(seed, u32::MAX - part));
        let log = HeldLog::of_model(jobs.take(50_000));
        work += log.load(PROCESSORS).unwrap_or(0.0) * log.span().as_secs_f64();
        span += log.span().as_secs_f64();
    }
    work / span
}

/// Sums of waits and bounded slowdowns, and blocks, of one policy in one year.
struct Replayed {
    jobs: f64,
    sums: [f64; METRICS.len()],
    blocks: Blocks,
}

/// Blocks of a held log: see [`Blocks::note_submission`].
fn replayed(jobs: &[Job], placements: &[Placement]) -> Replayed {
    let mut all = Replayed { jobs: 0.0, sums: [0.0; METRICS.len()], blocks: Blocks::new() };
    let mut latest_start = Time::ZERO;
    for (job, placement) in jobs.iter().zip(placements) {
        all.blocks.note_submission(job.submit, latest_start <= job.submit);
        let Some((start, finish)) = *placement else { continue };
        latest_start = latest_start.max(start);
        let record = JobRecord { job: *job, start, finish, site: SiteId(0), processors: job.request.processors };
        all.blocks.add(&record);
        all.jobs += 1.0;
        all.sums[0] += record.wait().as_secs_f64();
        all.sums[1] += bounded_slowdown(&record, Summary::THRESHOLD);
    }
    all
}

/// One year: for each pair and metric, sums for the truth, and the interval where one is wanted.
struct Year {
    /// Jobs and sum of the metric, of the policy and of its baseline.
    sums: Vec<[(f64, f64); 2]>,
    intervals: Vec<Option<metrics::Estimate>>,
}

fn year(source: Source, streams: &Streams, density: f64, has_intervals: bool) -> Result<Year> {
    if interrupt::requested() {
        anyhow::bail!(Interrupted::Lost);
    }
    let log = source.year(streams, density)?;
    let jobs = log.told(Estimates::User, 0);
    let numbers: Vec<u64> = log.jobs().iter().map(|job| job.number).collect();
    let machines = [Machine::new(source.processors())];
    let mut runs: Vec<(&str, Replayed)> = Vec::new();
    for name in source.pairs().iter().flat_map(|(policy, baseline)| std::iter::once(*policy).chain(*baseline)) {
        if runs.iter().all(|(known, _)| *known != name) {
            let policy = HeldPolicy::named(name, &[]).map_err(|error| anyhow!("{name}: {error}"))?;
            let (placements, _) = policy.replay(&machines, &jobs, &numbers, Estimates::User, 0)?;
            runs.push((name, replayed(&jobs, &placements)));
        }
    }
    let of = |name: &str| &runs.iter().find(|(known, _)| *known == name).expect("it was run").1;
    let mut year = Year { sums: Vec::new(), intervals: Vec::new() };
    for (policy, baseline) in source.pairs() {
        for (place, metric) in METRICS.into_iter().enumerate() {
            let sums = |run: &Replayed| (run.jobs, run.sums[place]);
            let other = baseline.map(of);
            year.sums.push([sums(of(policy)), other.map_or((0.0, 0.0), sums)]);
            let interval = || match other {
                Some(other) => of(policy).blocks.difference(&other.blocks, metric),
                None => of(policy).blocks.mean(metric),
            };
            year.intervals.push(has_intervals.then(interval).flatten());
        }
    }
    Ok(year)
}

/// Coverage of one comparison.
struct Cell {
    source: Source,
    comparison: String,
    metric: &'static str,
    truth: f64,
    /// Intervals that were given, those that contain the truth, and those that were refused.
    given: usize,
    hits: usize,
    refused: usize,
    /// Median width relative to the truth.
    width: Option<f64>,
}

impl Cell {
    fn percent(part: usize, of: usize) -> f64 {
        let as_f64 = |count: usize| f64::from(u32::try_from(count).expect("a count of years"));
        100.0 * as_f64(part) / as_f64(of.max(1))
    }

    fn coverage(&self) -> f64 {
        Self::percent(self.hits, self.given)
    }

    /// Whether the coverage lies within 92 to 98 %, up to two standard errors; `None` of too few intervals.
    fn holds(&self) -> Option<bool> {
        let slack = 200.0 * (0.05 * 0.95 * 100.0 / Self::percent(self.given, 1)).sqrt();
        (self.given >= FEW).then(|| (92.0 - slack..=98.0 + slack).contains(&self.coverage()))
    }

    fn row(&self) -> [String; 8] {
        let verdict = match self.holds() {
            None => "refused",
            Some(true) => "holds",
            Some(false) => "FAILS",
        };
        [
            format!("{} {}", self.source.name(), self.source.load()),
            self.comparison.clone(),
            self.metric.to_owned(),
            significant(self.truth),
            if self.given < FEW { String::new() } else { fixed(self.coverage(), 1) },
            fixed(Self::percent(self.refused, self.given + self.refused), 0),
            self.width.filter(|_| self.given >= FEW).map_or_else(String::new, |width| fixed(width, 1)),
            verdict.to_owned(),
        ]
    }
}

/// Measures the coverage of intervals from one log and prints a table of it.
///
/// # Errors
///
/// Ctrl-C.
pub fn coverage(options: &Coverage, common: &Common) -> Result<Ending> {
    let (mut years, mut intervals) = (options.years, options.intervals);
    let mut sources: Vec<Source> = [0.6, 0.8, 0.9].map(|load| Source::Queue { load }).to_vec();
    sources.extend([0.45, 0.6, 0.75].map(|load| Source::Lublin { load }));
    if options.quick {
        (years, intervals) = (years / 15, intervals / 5);
        sources.retain(|source| matches!(source, Source::Lublin { load } if *load < 0.5));
    }
    let natural = natural_load(options.seed);
    let progress = Progress::new("coverage", u64::from(years) * sources.len() as u64, common.quiet);
    let mut cells = Vec::new();
    for source in sources {
        let numbers: Vec<u32> = (0..years).collect();
        let all = in_parallel(&numbers, |number| {
            let streams = Streams::new(options.seed, *number);
            let one = year(source, &streams, source.load() / natural, *number < intervals);
            progress.add(1);
            one
        })?;
        cells.extend(cells_of(source, &all));
    }
    drop(progress);
    report(&cells, (years, intervals), common);
    Ok(if cells.iter().any(|cell| cell.holds() == Some(false)) { Ending::Differs } else { Ending::Done })
}

fn cells_of(source: Source, years: &[Year]) -> Vec<Cell> {
    let comparisons = source.pairs().iter().flat_map(|pair| METRICS.map(|metric| (pair, metric)));
    let cell =
        |(place, ((policy, baseline), metric)): (usize, (&(&'static str, Option<&'static str>), &'static str))| {
            let mean = |side: usize| {
                let (jobs, sum) =
                    years.iter().map(|year| year.sums[place][side]).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
                if jobs > 0.0 { sum / jobs } else { 0.0 }
            };
            let truth = mean(0) - mean(1);
            let estimates: Vec<_> = years.iter().filter_map(|year| year.intervals[place]).collect();
            let ends: Vec<(f64, f64)> = estimates.iter().filter_map(|one| one.low.zip(one.high)).collect();
            let mut widths: Vec<f64> = ends.iter().map(|(low, high)| (high - low) / truth.abs()).collect();
            widths.sort_by(f64::total_cmp);
            Cell {
                source,
                comparison: baseline.map_or_else(|| (*policy).to_owned(), |baseline| format!("{policy} − {baseline}")),
                metric,
                truth,
                given: ends.len(),
                hits: ends.iter().filter(|(low, high)| *low <= truth && truth <= *high).count(),
                refused: estimates.len() - ends.len(),
                width: widths.get(widths.len() / 2).copied(),
            }
        };
    comparisons.enumerate().map(cell).collect()
}

fn report(cells: &[Cell], (years, intervals): (u32, u32), common: &Common) {
    const HEADS: [&str; 8] = [
        "workload, load",
        "comparison",
        "metric",
        "truth",
        "covered (%)",
        "refused (%)",
        "width / truth",
        "92 to 98 %",
    ];
    if common.json {
        let cells = cells.iter().map(|cell| {
            json!({
                "workload": cell.source.name(), "load": cell.source.load(), "comparison": cell.comparison,
                "metric": cell.metric, "truth": cell.truth, "intervals": cell.given, "containing": cell.hits,
                "refused": cell.refused, "median_relative_width": cell.width, "holds": cell.holds(),
            })
        });
        let answer = json!({ "years": years, "logs": intervals, "cells": cells.collect::<Vec<_>>() });
        return print(&format!("{answer:#}\n"));
    }
    let mut text = format!("Truth from {years} years, intervals from {intervals} of them, one year each.\n\n");
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text += &line(&HEADS.map(str::to_owned));
    text += &line(&HEADS.map(|_| "---".to_owned()));
    cells.iter().for_each(|cell| text += &line(&cell.row()));
    print(&text);
}
