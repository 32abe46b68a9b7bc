//! `cargo xtask coverage`: the share of intervals from one log that contain the true difference.
//!
//! Years of a workload model stand for logs of a machine. The truth is the difference of the means over the jobs of all years; each
//! of the first years gives one interval, as `simulate` would print it for that year alone.
//!
//! With a log, resampled logs stand for the replications of an experiment. The truth is the mean over all of them; each group of
//! replications gives one interval, as `experiment` would print it.

use crate::simulate::held::blocks_of;
use crate::simulate::policy::Policy;
use anyhow::{Result, anyhow, bail};
use gap_schedule::Machine;
use lab::chart::{fixed, significant};
use lab::cli::{Common, Ending, print};
use lab::interrupt::{self, Interrupted};
use lab::parallel::in_parallel;
use lab::progress::Progress;
use metrics::{Blocks, ConfidenceInterval, Refusal};
use rand::RngExt;
use serde_json::json;
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};
use std::path::{Path, PathBuf};
use workload::model::{Lublin, ModelJob, Tsafrir, WorkloadModel};
use workload::{Estimates, HeldLog, Options, SwfReader, resample};

/// Help text with examples.
const EXAMPLES: &str = "\
Examples:
  cargo xtask coverage            the table of docs/experiments.md, about an hour on two cores
  cargo xtask coverage --quick    light load alone, in seconds
  cargo xtask coverage --trace KTH-SP2-1996-2.1-cln.swf.gz
                                  intervals over resampled logs, by method of experiment

A cell passes if 92 to 98 % of its intervals contain the true difference, within two standard errors of that \
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
    /// Measure the intervals of `experiment` over logs resampled from this one instead; `--years` is their number.
    #[arg(long, value_name = "FILE.swf[.gz]", conflicts_with_all = ["intervals", "quick"])]
    trace: Option<PathBuf>,
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

const METRICS: [&str; 2] = ["wait_mean", "bounded_slowdown_mean"];

/// Fewer intervals than these are no sample of their coverage.
const FEW: usize = 20;

#[derive(Copy, Clone, Debug)]
enum Source {
    /// M/M/c: jobs of one processor with exponential times.
    Queue { load: f64 },
    /// Lublin & Feitelson (2003) with estimates of Tsafrir et al. (2005).
    Lublin { load: f64 },
    /// Logs resampled from one of a machine with this number of processors.
    Log { processors: u32 },
}

/// A policy and the one it is compared with.
type Pair = (&'static str, Option<&'static str>);

impl Source {
    fn name(self) -> String {
        match self {
            Self::Queue { load } => format!("M/M/16 {load}"),
            Self::Lublin { load } => format!("Lublin {load}"),
            Self::Log { .. } => "log".to_owned(),
        }
    }

    const fn load(self) -> f64 {
        match self {
            Self::Queue { load } | Self::Lublin { load } => load,
            Self::Log { .. } => 1.0,
        }
    }

    const fn processors(self) -> u32 {
        match self {
            Self::Queue { .. } => SERVERS.0,
            Self::Lublin { .. } => PROCESSORS,
            Self::Log { processors } => processors,
        }
    }

    /// Policies that are compared. With jobs of one processor EASY and conservative backfilling are FCFS, so that a queue shows
    /// the mean under FCFS, which theory knows, and another order.
    const fn pairs(self) -> &'static [Pair] {
        match self {
            Self::Queue { .. } => &[("fcfs", None), ("easy+order=sjf", Some("fcfs"))],
            Self::Lublin { .. } => {
                &[("easy", Some("fcfs")), ("easy", Some("cons")), ("easy", Some("easy+backfill=spf"))]
            }
            // FCFS is saturated on most logs.
            Self::Log { .. } => &[("easy", Some("cons")), ("easy", Some("easy+backfill=spf"))],
        }
    }

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
            Self::Log { .. } => bail!("a log is resampled, not drawn"),
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

struct Replayed {
    jobs: f64,
    blocks: Blocks,
    is_saturated: bool,
}

impl Replayed {
    /// Jobs, and the sum of a metric over them.
    fn sum(&self, metric: &str) -> (f64, f64) {
        (self.jobs, self.blocks.mean(metric).map_or(0.0, |mean| self.jobs * mean.mean))
    }
}

/// One year: for each pair and metric, sums for the truth, and the interval where one is wanted.
struct Year {
    /// Jobs and sum of the metric, of the policy and of its baseline.
    sums: Vec<[(f64, f64); 2]>,
    intervals: Vec<Option<metrics::Estimate>>,
    /// Whether one of the policies of the pair is saturated.
    saturated: Vec<bool>,
}

fn year(source: Source, streams: &Streams, density: f64, has_intervals: bool) -> Result<Year> {
    replayed_year(source, &source.year(streams, density)?, has_intervals)
}

fn replayed_year(source: Source, log: &HeldLog, has_intervals: bool) -> Result<Year> {
    if interrupt::requested() {
        bail!(Interrupted::Lost);
    }
    let jobs = log.told(Estimates::User, 0);
    let numbers: Vec<u64> = log.jobs().iter().map(|job| job.number).collect();
    let machines = [Machine::new(source.processors())];
    let mut runs: Vec<(&str, Replayed)> = Vec::new();
    for name in source.pairs().iter().flat_map(|(policy, baseline)| std::iter::once(*policy).chain(*baseline)) {
        if runs.iter().all(|(known, _)| *known != name) {
            let policy = Policy::find(name, &[]).map_err(|error| anyhow!("{name}: {error}"))?;
            let (placements, trend) = policy.replay(&machines, &jobs, &numbers, Estimates::User, 0)?;
            let blocks = blocks_of(&jobs, &placements, (Time::ZERO, Time::MAX));
            let jobs = f64::from(u32::try_from(placements.iter().flatten().count())?);
            runs.push((name, Replayed { jobs, blocks, is_saturated: trend.is_saturated() }));
        }
    }
    let of = |name: &str| &runs.iter().find(|(known, _)| *known == name).expect("it was run").1;
    let mut year = Year { sums: Vec::new(), intervals: Vec::new(), saturated: Vec::new() };
    for (policy, baseline) in source.pairs() {
        for metric in METRICS {
            let other = baseline.map(of);
            year.sums.push([of(policy).sum(metric), other.map_or((0.0, 0.0), |other| other.sum(metric))]);
            let is_saturated = of(policy).is_saturated || other.is_some_and(|other| other.is_saturated);
            let interval = || match other {
                Some(other) => of(policy).blocks.difference(&other.blocks, metric),
                None => of(policy).blocks.mean(metric),
            };
            let refused = |one: metrics::Estimate| if is_saturated { one.refused(Refusal::Saturated) } else { one };
            year.intervals.push(has_intervals.then(interval).flatten().map(refused));
            year.saturated.push(is_saturated);
        }
    }
    Ok(year)
}

struct Cell {
    /// Model with its load, or log with the method of resampling.
    workload: String,
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
    fn new(
        workload: String,
        (policy, baseline): Pair,
        metric: &'static str,
        truth: f64,
        ends: &[(f64, f64)],
        refused: usize,
    ) -> Self {
        let mut widths: Vec<f64> = ends.iter().map(|(low, high)| (high - low) / truth.abs()).collect();
        widths.sort_by(f64::total_cmp);
        Self {
            workload,
            comparison: baseline.map_or_else(|| policy.to_owned(), |baseline| format!("{policy} − {baseline}")),
            metric,
            truth,
            given: ends.len(),
            hits: ends.iter().filter(|(low, high)| *low <= truth && truth <= *high).count(),
            refused,
            width: widths.get(widths.len() / 2).copied(),
        }
    }

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
            self.workload.clone(),
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
    if let Some(path) = &options.trace {
        return resampled(path, options, common);
    }
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
    let about = format!("Truth from {years} years, intervals from {intervals} of them, one year each.");
    Ok(ended(&cells, &about, common))
}

/// Prints the table; fails if a cell does.
fn ended(cells: &[Cell], about: &str, common: &Common) -> Ending {
    report(cells, about, common);
    if cells.iter().any(|cell| cell.holds() == Some(false)) { Ending::Differs } else { Ending::Done }
}

/// Replications of one interval over resampled logs.
const GROUP: usize = 20;

type Redrawn<'a> = &'a (dyn Fn(&Streams) -> Result<HeldLog> + Sync);

/// Coverage of intervals over logs resampled from one, by method.
fn resampled(path: &Path, options: &Coverage, common: &Common) -> Result<Ending> {
    let reader = SwfReader::open(path)?;
    let processors = workload::capacity(reader.header(), path)?.0;
    let (log, _) = HeldLog::read(reader, Options::default())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: &dyn std::fmt::Display| anyhow!("{}: {error}", path.display());
    let blocks = resample::Blocks::of(log.clone(), processors, 1.0).map_err(|error| failed(&error))?;
    let users = resample::Users::of(&log).map_err(|error| failed(&error))?;
    let methods: [(&str, Redrawn<'_>); 3] = [
        ("blocks", &|streams| Ok(blocks.redrawn(streams).map_err(|error| failed(&error))?.log)),
        ("users", &|streams| Ok(users.redrawn_within(&log, (processors, 1.0), streams)?.log)),
        ("shake", &|streams| Ok(resample::shaken(&log, Span::from_secs(60), streams))),
    ];
    let source = Source::Log { processors };
    let numbers: Vec<u32> = (0..options.years).collect();
    let progress = Progress::new("coverage", 3 * u64::from(options.years), common.quiet);
    let mut cells = Vec::new();
    for (method, redrawn) in methods {
        let all = in_parallel(&numbers, |number| {
            let one = replayed_year(source, &redrawn(&Streams::new(options.seed, *number))?, false);
            progress.add(1);
            one
        })?;
        cells.extend(cells_of_groups(source, &format!("{name}, {method}"), &all));
    }
    drop(progress);
    let about = format!(
        "Truth from {} resampled logs for each method, intervals from groups of {GROUP} of them.",
        options.years
    );
    Ok(ended(&cells, &about, common))
}

fn cells_of(source: Source, years: &[Year]) -> Vec<Cell> {
    let comparisons = source.pairs().iter().flat_map(|pair| METRICS.map(|metric| (*pair, metric)));
    let cell = |(place, (pair, metric)): (usize, (Pair, &'static str))| {
        let mean = |side: usize| {
            let sums = years.iter().map(|year| year.sums[place][side]);
            mean_of(sums.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1)))
        };
        let estimates: Vec<_> = years.iter().filter_map(|year| year.intervals[place]).collect();
        let ends: Vec<(f64, f64)> = estimates.iter().filter_map(|one| one.low.zip(one.high)).collect();
        let refused = estimates.len() - ends.len();
        Cell::new(source.name(), pair, metric, mean(0) - mean(1), &ends, refused)
    };
    comparisons.enumerate().map(cell).collect()
}

/// Student's t over groups of replications, against the mean over all.
fn cells_of_groups(source: Source, workload: &str, logs: &[Year]) -> Vec<Cell> {
    let comparisons = source.pairs().iter().flat_map(|pair| METRICS.map(|metric| (*pair, metric)));
    let cell = |(place, (pair, metric)): (usize, (Pair, &'static str))| {
        let values: Vec<f64> =
            logs.iter().map(|log| mean_of(log.sums[place][0]) - mean_of(log.sums[place][1])).collect();
        let groups = values.chunks_exact(GROUP).zip(logs.chunks_exact(GROUP));
        let (refused, given): (Vec<_>, Vec<_>) =
            groups.partition(|(_, logs)| 2 * logs.iter().filter(|log| log.saturated[place]).count() >= GROUP);
        let given = given.iter().map(|(values, _)| ConfidenceInterval::of(values));
        let ends: Vec<(f64, f64)> = given.filter_map(|group| group.low.zip(group.high)).collect();
        Cell::new(workload.to_owned(), pair, metric, ConfidenceInterval::of(&values).mean, &ends, refused.len())
    };
    comparisons.enumerate().map(cell).collect()
}

/// Mean of a sum over a number of jobs; zero without jobs.
fn mean_of((jobs, sum): (f64, f64)) -> f64 {
    if jobs > 0.0 { sum / jobs } else { 0.0 }
}

fn report(cells: &[Cell], about: &str, common: &Common) {
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
                "workload": cell.workload, "comparison": cell.comparison, "metric": cell.metric, "truth": cell.truth, "intervals": cell.given, "containing": cell.hits,
                "refused": cell.refused, "median_relative_width": cell.width, "holds": cell.holds(),
            })
        });
        let answer = json!({ "about": about, "cells": cells.collect::<Vec<_>>() });
        return print(&format!("{answer:#}\n"));
    }
    let mut text = format!("{about}\n\n");
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text += &line(&HEADS.map(str::to_owned));
    text += &line(&HEADS.map(|_| "---".to_owned()));
    cells.iter().for_each(|cell| text += &line(&cell.row()));
    print(&text);
}
