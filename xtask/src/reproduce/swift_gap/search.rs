//! The search for Swift Gap: every combination of its readings on the log, and how near each comes to table 3.

use super::super::store::{Identity, Store};
use super::super::study::MODELS;
use super::source::Workload;
use super::{Paper as _, Policy, SwiftGapPaper, measure, printed};
use crate::chart::fixed;
use crate::interrupt::{self, Interrupted};
use crate::output::OutDir;
use crate::progress::Progress;
use crate::scenario::{Scenario, workspace};
use anyhow::{Context, Result, bail, ensure};
use gap_schedule::alea31::{GapFilling, Means, Readings, run};
use rayon::prelude::*;
use sim_core::{Purpose, Streams};
use std::path::{Path, PathBuf};

/// What came of one combination.
struct Tried {
    readings: Readings,
    /// In the order of [`measure::NAMES`], means over n and over replications.
    means: [f64; 4],
}

impl Tried {
    /// Relative to the printed numbers, in percent.
    fn deviations(&self) -> [f64; 4] {
        let mut metric = 0;
        self.means.map(|mean| {
            let printed = printed::mean(Workload::Wagap, metric, Policy::SwiftGap).value;
            metric += 1;
            100.0 * (mean / printed - 1.0)
        })
    }

    /// Of all four, the largest.
    fn distance(&self) -> f64 {
        self.deviations().into_iter().map(f64::abs).fold(0.0, f64::max)
    }

    /// The answers by question, as the scenario has them.
    fn answers(&self) -> Vec<String> {
        let serde_json::Value::Object(readings) = serde_json::to_value(self.readings).expect("readings are plain data")
        else {
            unreachable!("readings have fields")
        };
        let answer = |field: &&str| readings[*field].as_str().expect("an answer is a word").to_owned();
        FIELDS.iter().map(answer).collect()
    }
}

/// R1 to R8, as the scenario calls them.
const FIELDS: [&str; 8] =
    ["completion", "weight", "moves", "pick", "rounds", "compression", "acceptance", "suitability"];

/// How near is near (A13 to A16), in percent.
const NEAR: f64 = 10.0;

/// Tries all combinations with so many replications each, writes `readings.csv` below `out`, and tells of the nearest ones.
pub(crate) fn search(traces: Option<&Path>, out: Option<PathBuf>, replications: u32, quiet: bool) -> Result<String> {
    let scenario = Scenario::of_paper(SwiftGapPaper::ABOUT.slug)?;
    let paper = SwiftGapPaper::new(&scenario, super::Effort::Full)?.with_traces(traces)?;
    ensure!(paper.source.is_log(), "the log is not at hand, and a stand-in cannot tell readings apart: give --traces DIR");
    let path = out.unwrap_or_else(|| workspace().join("results").join(SwiftGapPaper::ABOUT.slug).join("readings"));
    let out = OutDir::create(&path)?;
    let store = Store::new(path.join("cells"));

    let all = Readings::all();
    let total = (all.len() * printed::RECORDS.len() * replications as usize) as u64;
    let progress = Progress::new(format!("{} combinations of readings", all.len()), total, quiet);
    let mut tried: Vec<Tried> = all
        .into_par_iter()
        .map(|readings| {
            let mut means = Vec::new();
            for replication in 0..replications {
                for records in printed::RECORDS {
                    if interrupt::requested() {
                        bail!(Interrupted::Resumable);
                    }
                    means.push(one(&paper, readings, records, replication, &store)?);
                    progress.add(1);
                }
            }
            let Means { slowdown, tardiness, wait, response } = Means::mean(&means);
            Ok(Tried { readings, means: [slowdown, tardiness, wait, response] })
        })
        .collect::<Result<_>>()?;
    drop(progress);
    tried.sort_by(|a, b| a.distance().total_cmp(&b.distance()));
    out.write("readings.csv", table(&tried)?)?;

    let mut text = String::new();
    for tried in tried.iter().take(12) {
        let means = tried.means.map(|mean| fixed(mean, 1)).join("  ");
        text += &format!("{:>7.1} %  {means}  {}\n", tried.distance(), tried.answers().join(" "));
    }
    let near = tried.iter().filter(|tried| tried.distance() <= NEAR).count();
    text += &format!(
        "{near} of {} combinations come within {NEAR} % of all four numbers\n{}\n",
        tried.len(),
        out.path().join("readings.csv").display()
    );
    Ok(text)
}

fn one(paper: &SwiftGapPaper, readings: Readings, records: u32, replication: u32, store: &Store) -> Result<Means> {
    let names = measure::NAMES[..4].iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let seed = paper.seed();
    let cell = serde_json::json!({
        "clusters": paper.file.clusters.of(Workload::Wagap),
        "workload": paper.source.identity(Workload::Wagap),
        "readings": readings,
        "records": records,
    });
    let identity = Identity { paper: "swift-gap readings", models: MODELS, cell: &cell, seed, replication };
    let metrics = if let Some(metrics) = store.load(&identity, &names) {
        metrics
    } else {
        let streams = Streams::new(seed, replication);
        let policy = GapFilling::swift_gap(readings, streams.stream(Purpose("tabu search"), 0));
        let jobs = paper.source.jobs(Workload::Wagap, records, &streams);
        let done = run(&paper.file.clusters.processors(Workload::Wagap), policy, jobs);
        let metrics = measure::results(&done)[..4].to_vec();
        store.save(&identity, &names, &metrics)?;
        metrics
    };
    let [slowdown, tardiness, wait, response] = metrics[..] else { bail!("a stored run has other metrics") };
    Ok(Means { slowdown, tardiness, wait, response })
}

fn table(tried: &[Tried]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let near = ["near_slowdown", "near_tardiness", "near_wait", "near_response"];
    table.write_record(FIELDS.iter().chain(&measure::NAMES[..4]).chain(&["deviation_percent"]).chain(&near))?;
    for tried in tried {
        let means = tried.means.iter().map(|mean| fixed(*mean, 2));
        let near = tried.deviations().map(|deviation| (deviation.abs() <= NEAR).to_string());
        table.write_record(tried.answers().into_iter().chain(means).chain([fixed(tried.distance(), 2)]).chain(near))?;
    }
    table.into_inner().context("memory takes everything")
}
