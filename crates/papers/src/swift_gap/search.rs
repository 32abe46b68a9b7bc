//! The search for Swift Gap: combinations of its readings on the log, and how near each comes to table 3.
//!
//! Three rounds. First, under the answers to R8 other than the text's, all combinations that differ from the text in two of R1
//! to R7 at most. Second, all combinations of R1 to R7 where jobs keep to the clusters that they may use. Whether one of
//! those comes near can be told early: slowdown, tardiness and wait are never negative, so sums over the jobs that have
//! ended and the numbers of jobs that are done bound the means from below. Numbers of jobs run in ascending order, the
//! cheap ones first, and a combination is dropped, in the middle of a run if need be, as soon as it is certain not to come
//! near. Third, whatever differs in one reading from the nearest found so far, for as long as that finds a nearer one.

use super::source::Workload;
use super::{Paper as _, Policy, SwiftGapPaper, metrics, printed};
use crate::MODELS;
use alea31::{GapFilling, Job, Means, Readings, Suitability, World};
use anyhow::{Context, Result, bail, ensure};
use lab::chart::fixed;
use lab::interrupt::{self, Interrupted};
use lab::output::OutDir;
use lab::progress::Progress;
use lab::provenance;
use lab::store::{Identity, Store};
use rayon::prelude::*;
use sim_core::{JobLog, JobRecord, Purpose, Sim, Sink, Streams};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The four columns, in the order of [`metrics::NAMES`].
type Four = [f64; 4];

/// What came of one combination.
struct Tried {
    readings: Readings,
    /// Over n and over replications; of a combination that was dropped, what they are at least.
    means: Four,
    /// The number of jobs in whose runs it was dropped.
    dropped_at: Option<u32>,
}

impl Tried {
    /// Relative to the printed numbers, in percent.
    fn deviations(&self) -> Four {
        let printed = printed();
        std::array::from_fn(|metric| 100.0 * (self.means[metric] / printed[metric] - 1.0))
    }

    /// Of all four deviations, the largest; of a combination that was dropped, what it is at least.
    fn distance(&self) -> f64 {
        let size = |deviation: f64| if self.dropped_at.is_some() { deviation } else { deviation.abs() };
        self.deviations().into_iter().map(size).fold(0.0, f64::max)
    }

    /// The metric that is furthest off.
    fn worst(&self) -> &'static str {
        let distance = self.distance();
        let place = self.deviations().iter().position(|deviation| deviation.abs() >= distance);
        metrics::NAMES[place.expect("a distance is one of the deviations")]
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

/// The column SG of table 3.
fn printed() -> Four {
    std::array::from_fn(|metric| printed::mean(Workload::Wagap, metric, Policy::SG).value)
}

/// R1 to R8, as the scenario calls them.
const FIELDS: [&str; Readings::LIST.len()] = {
    let (mut fields, mut place) = ([""; Readings::LIST.len()], 0);
    while place < fields.len() {
        fields[place] = Readings::LIST[place].field;
        place += 1;
    }
    fields
};

/// How near is near (A13 to A16), in percent.
const NEAR: f64 = 10.0;

/// Tries all combinations with so many replications each, writes `readings.csv` and `summary.csv` below `out`, and tells of the
/// nearest ones.
pub fn search(traces: Option<&Path>, out: Option<PathBuf>, replications: u32, quiet: bool) -> Result<String> {
    let scenario = SwiftGapPaper::scenario()?;
    let paper = SwiftGapPaper::new(&scenario, lab::paper::Effort::Full)?.with_traces(traces)?;
    ensure!(
        paper.source.is_log(),
        "the log is not at hand, and a stand-in cannot tell readings apart: give --traces DIR"
    );
    let path = out.unwrap_or_else(|| Path::new("results/nearest").join(SwiftGapPaper::ABOUT.slug));
    let out = OutDir::create(&path, format!("nearest {}", SwiftGapPaper::ABOUT.slug))?;
    let store = Store::open(out.cells())?;

    let all = Readings::all();
    let checked: Vec<Readings> = all.iter().copied().filter(|readings| keeps_to_suitable(*readings)).collect();
    let text = Readings::default();
    let is_in_first = |readings: &Readings| !keeps_to_suitable(*readings) && differences(*readings, text) <= 3;
    let first: Vec<Readings> = all.iter().copied().filter(is_in_first).collect();
    let total = (checked.len() + first.len()) as u64;
    let progress = Progress::new(format!("{total} combinations of readings and a few"), total, quiet);
    let attempt = |those: Vec<Readings>, bound: f64| -> Result<Vec<Tried>> {
        let attempt = |readings| {
            if interrupt::requested() {
                bail!(Interrupted::Resumable);
            }
            let tried = one(&paper, readings, replications, bound, &store)?;
            progress.add(1);
            Ok(tried)
        };
        those.into_par_iter().map(attempt).collect()
    };
    let mut tried = attempt(first, f64::MAX)?;
    tried.extend(attempt(checked, NEAR)?);
    loop {
        rank(&mut tried);
        let nearest = tried[0].readings;
        let is_known = |readings: &Readings| tried.iter().any(|tried| tried.readings == *readings);
        let beside = |readings: &Readings| differences(*readings, nearest) == 1 && !is_known(readings);
        let next: Vec<Readings> = all.iter().copied().filter(beside).collect();
        tried.extend(attempt(next, f64::MAX)?);
        rank(&mut tried);
        if tried[0].readings == nearest {
            break;
        }
    }
    drop(progress);
    store.settle()?;
    out.write("readings.csv", table(&tried)?)?;
    out.write("summary.csv", summary(&tried)?)?;

    let mut text = String::new();
    for tried in tried.iter().take(20) {
        let means = tried.means.map(|mean| fixed(mean, 1)).join("  ");
        text += &format!("{:>7.1} %  {means}  {}\n", tried.distance(), tried.answers().join(" "));
    }
    let near = tried.iter().filter(|tried| tried.dropped_at.is_none() && tried.distance() <= NEAR).count();
    let dropped = tried.iter().filter(|tried| tried.dropped_at.is_some()).count();
    text += &format!(
        "{near} of {} combinations come within {NEAR} % of all four numbers; {dropped} were dropped on their way, certain not \
         to\n{}\n",
        tried.len(),
        out.path().join("readings.csv").display()
    );
    out.finish(serde_json::json!({
        "paper": SwiftGapPaper::ABOUT.slug,
        "reps": replications,
        "version": env!("CARGO_PKG_VERSION"),
        "git_revision": provenance::git_revision(),
        "sources_sha256": provenance::sources(),
        "command_line": format!("cargo run --release -p papers --example swift_gap_nearest -- DIR {replications}"),
        "timings": {
            "cpu_seconds": provenance::cpu_seconds(),
            "replications_damaged": store.damaged(),
        },
    }))?;
    Ok(text)
}

/// Nearest first; those that were dropped come last.
fn rank(tried: &mut [Tried]) {
    tried.sort_by(|a, b| {
        let is_dropped = |tried: &Tried| tried.dropped_at.is_some();
        is_dropped(a).cmp(&is_dropped(b)).then(a.distance().total_cmp(&b.distance()))
    });
}

fn keeps_to_suitable(readings: Readings) -> bool {
    readings.suitability == Suitability::Checked
}

/// In how many of R1 to R8 two combinations differ.
fn differences(a: Readings, b: Readings) -> usize {
    let differs = [
        a.completion != b.completion,
        a.weight != b.weight,
        a.moves != b.moves,
        a.pick != b.pick,
        a.rounds != b.rounds,
        a.compression != b.compression,
        a.acceptance != b.acceptance,
        a.suitability != b.suitability,
    ];
    differs.into_iter().filter(|differs| *differs).count()
}

/// Tries one combination, and drops it when a mean is certain to be more than `bound` percent too high.
fn one(paper: &SwiftGapPaper, readings: Readings, replications: u32, bound: f64, store: &Store) -> Result<Tried> {
    let names: Vec<String> = metrics::NAMES.iter().chain(&["is_dropped", "n"]).map(|name| (*name).to_owned()).collect();
    let seed = paper.seed;
    let cell = serde_json::json!({
        "clusters": paper.file.clusters.of(Workload::Wagap),
        "workload": paper.source.identity(Workload::Wagap),
        "start_up": paper.file.simulator.start_up,
        "readings": readings,
        "bound": bound,
    });
    let identity =
        Identity { paper: "swift-gap readings", models: MODELS, cell: &cell, seed, replication: replications };
    let found = if let Some(found) = store.load(&identity, &names) {
        found
    } else {
        let (means, dropped_at) = means(paper, readings, replications, bound);
        let (is_dropped, records) = dropped_at.map_or((0.0, 0.0), |records| (1.0, f64::from(records)));
        let found = [&means[..], &[is_dropped, records]].concat();
        store.save(&identity, &names, &found)?;
        found
    };
    let [slowdown, tardiness, wait, response, is_dropped, records] = found[..] else {
        bail!("a stored combination has other metrics")
    };
    let mut numbers = printed::RECORDS.into_iter();
    let dropped_at = (is_dropped > 0.0).then(|| numbers.find(|number| f64::from(*number) >= records)).flatten();
    Ok(Tried { readings, means: [slowdown, tardiness, wait, response], dropped_at })
}

/// Means over the numbers of jobs and the replications, or what they are at least, and where it was dropped.
fn means(paper: &SwiftGapPaper, readings: Readings, replications: u32, bound: f64) -> (Four, Option<u32>) {
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let runs = printed::RECORDS.len() as f64 * f64::from(replications);
    let most = printed().map(|printed| printed * (1.0 + bound / 100.0) * runs);
    let clusters = paper.file.clusters.processors(Workload::Wagap);
    let mut sums = Four::default();
    for records in printed::RECORDS {
        for replication in 0..replications {
            let streams = Streams::new(paper.seed, replication);
            let jobs = paper.source.jobs(Workload::Wagap, records, &streams);
            let left = std::array::from_fn(|metric| most[metric] - sums[metric]);
            let policy = GapFilling::swift_gap(readings, streams.stream(Purpose("tabu search"), 0));
            let (means, is_whole) = race(paper.world(clusters.clone(), policy, Arc::clone(&jobs)), &jobs, left);
            sums = std::array::from_fn(|metric| sums[metric] + means[metric]);
            if !is_whole {
                return (sums.map(|sum| sum / runs), Some(records));
            }
        }
    }
    (sums.map(|sum| sum / runs), None)
}

/// Runs the world of these `jobs` until all is done or a mean is certain to be above its entry in `most`. The means, or what
/// they are at least, and whether all was done.
fn race(world: World<GapFilling>, jobs: &[Job], most: Four) -> (Four, bool) {
    #[expect(clippy::cast_precision_loss, reason = "a log has fewer than 2^53 jobs")]
    let count = jobs.len() as f64;
    let most = most.map(|most| most * count);
    let mut sim = Sim::new(world, JobLog::new(Growing::default()));
    while sim.step() {
        let sums = sim.probe().sink().sums;
        if sums.iter().zip(&most).any(|(sum, most)| sum > most) {
            return (sums.map(|sum| sum / count), false);
        }
    }
    let (_, log) = sim.into_parts();
    let mut records = log.into_sink().records;
    records.sort_by_key(|record| record.job.id);
    (four(Means::of(&records)), true)
}

const fn four(Means { slowdown, tardiness, wait, response }: Means) -> Four {
    [slowdown, tardiness, wait, response]
}

/// The jobs that have ended, and sums over them of what is never negative.
#[derive(Default)]
struct Growing {
    records: Vec<JobRecord>,
    sums: Four,
}

impl Sink for Growing {
    fn take_in(&mut self, record: JobRecord) {
        let this = four(Means::of(std::slice::from_ref(&record)));
        self.sums = std::array::from_fn(|metric| self.sums[metric] + this[metric]);
        self.records.push(record);
    }
}

fn table(tried: &[Tried]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let found = ["deviation_percent", "furthest_off", "dropped_at_n"];
    table.write_record(FIELDS.iter().chain(&metrics::NAMES).chain(&found))?;
    for tried in tried {
        let means = tried.means.iter().map(|mean| fixed(*mean, 2));
        let dropped = tried.dropped_at.map_or_else(String::new, |records| records.to_string());
        let found = [fixed(tried.distance(), 2), tried.worst().to_owned(), dropped];
        table.write_record(tried.answers().into_iter().chain(means).chain(found))?;
    }
    table.into_inner().context("memory takes everything")
}

/// A row for each answer to each question: how many combinations have it, how near the nearest comes, how many were dropped,
/// and for what.
fn summary(tried: &[Tried]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let dropped_for = metrics::NAMES.iter().map(|name| format!("dropped_for_{name}"));
    let head = ["reading", "answer", "combinations", "nearest_percent"].map(str::to_owned);
    table.write_record(head.into_iter().chain(dropped_for))?;
    for (place, field) in FIELDS.into_iter().enumerate() {
        let mut answers: Vec<String> = Vec::new();
        for answer in tried.iter().map(|tried| tried.answers().swap_remove(place)) {
            if !answers.contains(&answer) {
                answers.push(answer);
            }
        }
        answers.sort();
        for answer in answers {
            let with: Vec<&Tried> = tried.iter().filter(|tried| tried.answers()[place] == answer).collect();
            let whole = with.iter().filter(|tried| tried.dropped_at.is_none());
            let nearest = whole.map(|tried| tried.distance()).min_by(f64::total_cmp);
            let dropped = |name: &str| {
                with.iter().filter(|tried| tried.dropped_at.is_some() && tried.worst() == name).count().to_string()
            };
            let nearest = nearest.map_or_else(String::new, |nearest| fixed(nearest, 2));
            let row = [field.to_owned(), answer, with.len().to_string(), nearest];
            table.write_record(row.into_iter().chain(metrics::NAMES.iter().map(|name| dropped(name))))?;
        }
    }
    table.into_inner().context("memory takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few hundred jobs of a stand-in, of which many wait, and the world of Swift Gap that runs them, in a simulator that is
    /// up after so many seconds.
    fn set_up(start_up: u32) -> (Arc<[Job]>, World<GapFilling>) {
        let mut scenario = SwiftGapPaper::scenario().expect("the scenario");
        scenario.set(&format!("simulator.start_up={start_up}")).expect("a parameter");
        let paper = SwiftGapPaper::new(&scenario, lab::paper::Effort::Quick).expect("a good scenario");
        let streams = Streams::new(7, 0);
        let jobs = paper.source.jobs(Workload::Zewura, 600, &streams);
        let jobs: Arc<[Job]> = jobs.iter().copied().filter(|job| job.processors() <= 240).collect();
        let policy = GapFilling::swift_gap(Readings::default(), streams.stream(Purpose("tabu search"), 0));
        (Arc::clone(&jobs), paper.world(vec![240], policy, jobs))
    }

    #[test]
    fn readings_can_be_told_apart_on_the_log_alone() {
        let folder = std::env::temp_dir().join("no log of Wagap is here");
        let error = search(Some(folder.as_path()), Some(folder.join("out")), 1, true).expect_err("there is no log");
        assert!(error.to_string().contains("neither wagap-2013.swf nor wagap-2013.swf.gz is there"), "{error:#}");
        assert!(!folder.exists());
    }

    #[test]
    fn a_race_without_bounds_is_a_run() {
        let (jobs, world) = set_up(29);
        let expected = four(Means::of(&world.clone().run()));
        assert!(expected[2] > 1.0, "somebody waits: {expected:?}");
        let (means, is_whole) = race(world, &jobs, [f64::INFINITY; 4]);
        assert!(is_whole);
        assert_eq!(means.map(f64::to_bits), expected.map(f64::to_bits));
    }

    #[test]
    fn a_race_begins_when_the_scenario_says_that_the_simulator_is_up() {
        let [wait, late] = [29, 86_400].map(|start_up| {
            let (jobs, world) = set_up(start_up);
            race(world, &jobs, [f64::INFINITY; 4]).0[2]
        });
        assert!(late > wait + 1_000.0, "who comes on the first day waits for its end: {wait} and {late}");
    }

    #[test]
    fn what_a_race_is_dropped_for_is_above_its_bound_and_not_above_the_mean_of_the_whole() {
        let (jobs, world) = set_up(29);
        let whole = four(Means::of(&world.clone().run()));
        for metric in 0..4 {
            let mut most = [f64::INFINITY; 4];
            most[metric] = whole[metric] * 0.6;
            let (means, is_whole) = race(world.clone(), &jobs, most);
            assert!(!is_whole, "{}", metrics::NAMES[metric]);
            assert!(means[metric] > most[metric]);
            for (at_least, mean) in means.iter().zip(whole) {
                assert!(*at_least <= mean * (1.0 + 1e-12), "{means:?} {whole:?}");
            }
        }
    }

    /// 1 + 10 + 42 combinations of R1 to R7 differ from the text's in two at most.
    #[test]
    fn the_first_round_tries_every_answer_and_every_two_together() {
        let text = Readings::default();
        let tried: Vec<Tried> = Readings::all()
            .into_iter()
            .filter(|readings| !keeps_to_suitable(*readings) && differences(*readings, text) <= 3)
            .map(|readings| Tried { readings, means: printed(), dropped_at: None })
            .collect();
        assert_eq!(tried.len(), 3 * (1 + 10 + 42));
        let rows = summary(&tried).expect("a table").iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(rows, 1 + 2 + 3 + 2 + 3 + 3 + 2 + 2 + 3);
    }
}
