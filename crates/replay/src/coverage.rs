//! `cargo xtask coverage`: the share of intervals from one log that contain the true difference.
//!
//! Years of a workload model stand for logs of a machine. The truth is the difference of the means over the jobs of all years; each
//! of the first years gives one interval, as `simulate` would print it for that year alone.
//!
//! With a log, resampled logs stand for the replications of an experiment. The truth is the mean over all of them; each group of
//! replications gives one interval, as `experiment` would print it.

use crate::experiment::{Metric, Replayed};
use crate::simulate::policy::Policy;
use anyhow::{Result, anyhow, bail};
use gap_schedule::Machine;
use lab::chart::{fixed, significant};
use lab::cli::{Common, Ending, print};
use lab::interrupt::{self, Interrupted};
use lab::parallel::in_parallel;
use lab::progress::Progress;
use metrics::{ConfidenceInterval, Estimate};
use rand::RngExt;
use serde::Serialize;
use serde_json::json;
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::model::{Lublin, ModelJob, Tsafrir, WorkloadModel};
use workload::{Estimates, HeldLog, Options, SwfReader, resample};

/// Help text with examples.
const EXAMPLES: &str = "\
Examples:
  cargo xtask coverage            the table of docs/statistics.md, about an hour on two cores
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

/// Smallest number of intervals that are a sample of their coverage.
const FEW: usize = 20;

/// Replications of one interval over resampled logs.
const GROUP: usize = 20;

/// A policy and its baseline.
type Pair = (&'static str, Option<&'static str>);

/// Pairs for a queue. With jobs of one processor EASY and conservative backfilling are FCFS, whose mean is known from theory,
/// so the second pair uses another order.
const OF_A_QUEUE: &[Pair] = &[("fcfs", None), ("easy+order=sjf", Some("fcfs"))];
const OF_A_MODEL: &[Pair] = &[("easy", Some("fcfs")), ("easy", Some("cons")), ("easy", Some("easy+backfill=spf"))];
/// Pairs for a log, without FCFS, which is saturated on most logs.
const OF_A_LOG: &[Pair] = &[("easy", Some("cons")), ("easy", Some("easy+backfill=spf"))];

type Draw<'a> = Box<dyn Fn(&Streams) -> Result<HeldLog> + Sync + 'a>;

/// A source of logs, one for each set of streams.
struct LogSource<'a> {
    /// Model with its load, or log with the method of resampling.
    name: String,
    processors: u32,
    pairs: &'static [Pair],
    draw: Draw<'a>,
}

/// M/M/c: a year of jobs of one processor with exponential times.
fn queue(load: f64, streams: &Streams) -> HeldLog {
    let (servers, mean) = SERVERS;
    let (mut gaps, mut runs) = (streams.stream(Purpose("gaps"), 0), streams.stream(Purpose("runs"), 0));
    let gap = mean / (load * f64::from(servers));
    let mut now = Time::ZERO;
    let jobs = std::iter::from_fn(move || {
        now += Span::from_secs_f64(-gap * libm::log(1.0 - gaps.random::<f64>()));
        Some((now, Span::from_secs_f64(-mean * libm::log(1.0 - runs.random::<f64>()))))
    });
    let jobs = jobs.take_while(|(submit, _)| submit.since(Time::ZERO) < YEAR);
    HeldLog::of_model((0..).zip(jobs).map(|(id, (submit, run))| ModelJob {
        job: Job::new(JobId(id), submit, 1, run),
        requested_time: None,
        user: None,
        queue: None,
        further: None,
    }))
}

/// A year of Lublin & Feitelson (2003), `density` times as dense as published, with estimates of Tsafrir et al. (2005).
fn lublin(density: f64, streams: &Streams) -> Result<HeldLog> {
    let end = Time::ZERO + YEAR.scaled(density);
    let mut jobs: Vec<ModelJob> =
        Lublin::typeless(PROCESSORS).jobs(streams).take_while(|job| job.job.submit < end).collect();
    let longest = jobs.iter().map(|job| job.job.runtime).max().unwrap_or_default();
    let hours = u32::try_from(longest.as_nanos().div_ceil(3_600_000_000_000).max(1))?;
    Tsafrir(3600 * hours).assign(&mut jobs, streams).map_err(|error| anyhow!("{error}"))?;
    Ok(HeldLog::of_model(jobs.into_iter()).denser(density))
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

/// One policy on one log, and its number of jobs.
fn replayed(policy: &str, log: &HeldLog, processors: u32) -> Result<(Replayed, f64)> {
    let jobs = log.with_estimates(Estimates::User, 0);
    let numbers: Vec<u64> = log.jobs().iter().map(|job| job.number).collect();
    let policy = Policy::find(policy, &[]).map_err(|error| anyhow!("{policy}: {error}"))?;
    let (placements, trend) = policy.replay(&[Machine::new(processors)], &jobs, &numbers, Estimates::User, 0)?;
    let replayed = Replayed::new(&jobs, &placements, (Time::ZERO, Time::MAX), &trend);
    Ok((replayed, f64::from(u32::try_from(placements.iter().flatten().count())?)))
}

/// One pair and metric on one log.
struct Compared {
    /// Jobs and sum of the metric, of the policy and of its baseline.
    sums: [(f64, f64); 2],
    /// The interval of this log alone.
    interval: Option<Estimate>,
    /// True if one of the policies of the pair is saturated.
    is_saturated: bool,
}

/// Every metric of every pair on the log of one number.
fn compared(source: &LogSource<'_>, streams: &Streams) -> Result<Vec<Compared>> {
    if interrupt::requested() {
        bail!(Interrupted::Lost);
    }
    let log = (source.draw)(streams)?;
    let mut runs: BTreeMap<&str, (Replayed, f64)> = BTreeMap::new();
    for name in source.pairs.iter().flat_map(|(policy, baseline)| std::iter::once(*policy).chain(*baseline)) {
        if !runs.contains_key(name) {
            runs.insert(name, replayed(name, &log, source.processors)?);
        }
    }
    let sum = |(run, jobs): &(Replayed, f64), metric| (*jobs, run.mean(metric).map_or(0.0, |mean| jobs * mean.mean));
    let compare = |((policy, baseline), metric): (Pair, Metric)| {
        let (ours, theirs) = (&runs[policy], baseline.map(|baseline| &runs[baseline]));
        let interval = match theirs {
            Some((theirs, _)) => ours.0.difference(theirs, metric, 1.0, ConfidenceInterval::LEVEL),
            None => ours.0.mean(metric),
        };
        let is_saturated = ours.0.is_saturated || theirs.is_some_and(|(theirs, _)| theirs.is_saturated);
        let sums = [sum(ours, metric), theirs.map_or((0.0, 0.0), |theirs| sum(theirs, metric))];
        Compared { sums, interval, is_saturated }
    };
    Ok(comparisons(source.pairs).map(compare).collect())
}

fn comparisons(pairs: &[Pair]) -> impl Iterator<Item = (Pair, Metric)> {
    pairs.iter().flat_map(|pair| METRICS.map(|metric| (*pair, metrics::Metric::of(metric))))
}

/// Line of the table: one pair and metric over all logs of a source.
#[derive(Serialize)]
struct CoverageCell {
    workload: String,
    comparison: String,
    metric: &'static str,
    truth: f64,
    /// Numbers of intervals given, of those that contain the truth, and of those refused.
    #[serde(rename = "intervals")]
    given: usize,
    #[serde(rename = "containing")]
    hits: usize,
    refused: usize,
    /// Median width relative to the truth.
    #[serde(rename = "median_relative_width")]
    width: Option<f64>,
    /// True if the coverage lies within 92 to 98 %, up to two standard errors; `None` for too few intervals.
    holds: Option<bool>,
}

impl CoverageCell {
    fn new(workload: &str, (policy, baseline): Pair, metric: Metric, found: CoverageCount) -> Self {
        let CoverageCount { truth, ends, refused } = found;
        let mut widths: Vec<f64> = ends.iter().map(|(low, high)| (high - low) / truth.abs()).collect();
        widths.sort_by(f64::total_cmp);
        let (given, hits) = (ends.len(), ends.iter().filter(|(low, high)| *low <= truth && truth <= *high).count());
        let slack = 200.0 * (0.05 * 0.95 * 100.0 / percent(given, 1)).sqrt();
        Self {
            workload: workload.to_owned(),
            comparison: baseline.map_or_else(|| policy.to_owned(), |baseline| format!("{policy} − {baseline}")),
            metric: metric.name(),
            truth,
            given,
            hits,
            refused,
            width: widths.get(widths.len() / 2).copied(),
            holds: (given >= FEW).then(|| (92.0 - slack..=98.0 + slack).contains(&percent(hits, given))),
        }
    }

    fn row(&self) -> [String; 8] {
        let enough = |text: String| if self.given < FEW { String::new() } else { text };
        let verdict = match self.holds {
            None => "refused",
            Some(true) => "holds",
            Some(false) => "FAILS",
        };
        [
            self.workload.clone(),
            self.comparison.clone(),
            self.metric.to_owned(),
            significant(self.truth),
            enough(fixed(percent(self.hits, self.given), 1)),
            fixed(percent(self.refused, self.given + self.refused), 0),
            enough(self.width.map_or_else(String::new, |width| fixed(width, 1))),
            verdict.to_owned(),
        ]
    }
}

fn percent(part: usize, of: usize) -> f64 {
    let as_f64 = |count: usize| f64::from(u32::try_from(count).expect("a count of years"));
    100.0 * as_f64(part) / as_f64(of.max(1))
}

/// Truth of one cell, ends of its intervals, and number of refused intervals.
struct CoverageCount {
    truth: f64,
    ends: Vec<(f64, f64)>,
    refused: usize,
}

/// Truth over the jobs of all logs, and an interval from each of the first logs.
fn by_year(logs: &[&Compared], intervals: usize) -> CoverageCount {
    let mean =
        |side: usize| mean_of(logs.iter().map(|log| log.sums[side]).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1)));
    let estimates: Vec<Estimate> = logs.iter().take(intervals).filter_map(|log| log.interval).collect();
    let ends: Vec<(f64, f64)> = estimates.iter().filter_map(|one| one.low.zip(one.high)).collect();
    CoverageCount { truth: mean(0) - mean(1), refused: estimates.len() - ends.len(), ends }
}

/// Mean over all logs, and Student's t over each group of them.
fn by_group(logs: &[&Compared]) -> CoverageCount {
    let values: Vec<f64> = logs.iter().map(|log| mean_of(log.sums[0]) - mean_of(log.sums[1])).collect();
    let groups = values.chunks_exact(GROUP).zip(logs.chunks_exact(GROUP));
    let is_saturated = |logs: &[&Compared]| 2 * logs.iter().filter(|log| log.is_saturated).count() >= GROUP;
    let (refused, given): (Vec<_>, Vec<_>) = groups.partition(|(_, logs)| is_saturated(logs));
    let given = given.iter().map(|(values, _)| ConfidenceInterval::of(values));
    let ends = given.filter_map(|group| group.low.zip(group.high)).collect();
    CoverageCount { truth: ConfidenceInterval::of(&values).mean, ends, refused: refused.len() }
}

/// Mean of a sum over a number of jobs; zero without jobs.
fn mean_of((jobs, sum): (f64, f64)) -> f64 {
    if jobs > 0.0 { sum / jobs } else { 0.0 }
}

/// Measures the coverage of intervals from one log and prints a table of it. The exit code shows whether a cell fails.
///
/// # Errors
///
/// Ctrl-C, or a log that cannot be read or resampled.
pub fn coverage(options: &Coverage, common: &Common) -> Result<Ending> {
    if let Some(path) = &options.trace {
        return resampled(path, options, common);
    }
    let (mut years, mut intervals) = (options.years, options.intervals);
    let natural = natural_load(options.seed);
    let of_lublin = |load: f64| LogSource {
        name: format!("Lublin {load}"),
        processors: PROCESSORS,
        pairs: OF_A_MODEL,
        draw: Box::new(move |streams| lublin(load / natural, streams)),
    };
    let of_queue = |load: f64| LogSource {
        name: format!("M/M/16 {load}"),
        processors: SERVERS.0,
        pairs: OF_A_QUEUE,
        draw: Box::new(move |streams| Ok(queue(load, streams))),
    };
    let sources: Vec<LogSource<'_>> = if options.quick {
        (years, intervals) = (years / 15, intervals / 5);
        vec![of_lublin(0.45)]
    } else {
        [0.6, 0.8, 0.9].map(of_queue).into_iter().chain([0.45, 0.6, 0.75].map(of_lublin)).collect()
    };
    let about = format!("Truth from {years} years, intervals from {intervals} of them, one year each.");
    measured(&sources, (years, options.seed), |logs| by_year(logs, intervals as usize), &about, common)
}

/// Coverage of intervals over logs resampled from one, by method.
fn resampled(path: &Path, options: &Coverage, common: &Common) -> Result<Ending> {
    let reader = SwfReader::open(path)?;
    let processors = workload::capacity(reader.header(), path)?.0;
    let (log, _) = HeldLog::read(reader, Options::default())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: &dyn std::fmt::Display| anyhow!("{}: {error}", path.display());
    let blocks = resample::Blocks::of(log.clone(), processors, 1.0).map_err(|error| failed(&error))?;
    let users = resample::Users::of(&log).map_err(|error| failed(&error))?;
    let source =
        |method: &str, draw| LogSource { name: format!("{name}, {method}"), processors, pairs: OF_A_LOG, draw };
    let sources = [
        source(
            "blocks",
            Box::new(|streams: &Streams| Ok(blocks.redrawn(streams).map_err(|error| failed(&error))?.log)),
        ),
        source("users", Box::new(|streams: &Streams| Ok(users.redrawn_within(&log, (processors, 1.0), streams)?.log))),
        source("shake", Box::new(|streams: &Streams| Ok(resample::shaken(&log, Span::from_secs(60), streams)))),
    ];
    let about = format!(
        "Truth from {} resampled logs for each method, intervals from groups of {GROUP} of them.",
        options.years
    );
    measured(&sources, (options.years, options.seed), by_group, &about, common)
}

/// Runs `logs` logs of each source, and prints a cell for each pair and metric.
fn measured(
    sources: &[LogSource<'_>],
    (logs, seed): (u32, u64),
    found: impl Fn(&[&Compared]) -> CoverageCount,
    about: &str,
    common: &Common,
) -> Result<Ending> {
    let progress = Progress::new("coverage", u64::from(logs) * sources.len() as u64, common.quiet);
    let numbers: Vec<u32> = (0..logs).collect();
    let mut cells = Vec::new();
    for source in sources {
        let all = in_parallel(&numbers, |number| {
            let one = compared(source, &Streams::new(seed, *number));
            progress.add(1);
            one
        })?;
        cells.extend(comparisons(source.pairs).enumerate().map(|(place, (pair, metric))| {
            let of_place: Vec<&Compared> = all.iter().map(|log| &log[place]).collect();
            CoverageCell::new(&source.name, pair, metric, found(&of_place))
        }));
    }
    drop(progress);
    if common.json {
        print(&format!("{:#}\n", json!({ "about": about, "cells": cells })));
    } else {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rows: String = cells.iter().map(|cell| line(&cell.row())).collect();
        let (heads, rule) = (line(&HEADS.map(str::to_owned)), line(&HEADS.map(|_| "---".to_owned())));
        print(&format!("{about}\n\n{heads}{rule}{rows}"));
    }
    Ok(if cells.iter().any(|cell| cell.holds == Some(false)) { Ending::Differs } else { Ending::Done })
}

const HEADS: [&str; 8] =
    ["workload, load", "comparison", "metric", "truth", "covered (%)", "refused (%)", "width / truth", "92 to 98 %"];
