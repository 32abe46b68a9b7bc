//! The plan of an experiment: its runs, cut into units. It holds all that determines the results, except the code.

use crate::cli::How;
use crate::design::Design;
use crate::design::file::{Method, Source};
use crate::design::workloads::{Held, IN_LOG};
use anyhow::{Context, Result, anyhow, ensure};
use lab::output::provenance;
use lab::output::write_whole;
use lab::parallel::in_parallel;
use replay::simulate::Added;
use replay::simulate::policy::Policy;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Jobs simulated in a unit without `--units`: five to ten minutes of EASY on one core.
const JOBS_OF_A_UNIT: u64 = 400_000_000;

/// Version of the form of plans.
const VERSION: u32 = 1;

/// Cost of a job under a program of the user's own, relative to other policies.
const OF_A_PROGRAM: u64 = 100;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    version: u32,
    /// Path of the experiment's file, as given; its content is in `text`.
    pub(super) file: PathBuf,
    pub(super) text: String,
    pub(super) quick: bool,
    /// Seed instead of the file's.
    pub(super) seed: Option<u64>,
    pub(super) traces: Option<PathBuf>,
    /// Paths of the logs as found, with their SHA-256; empty for a model.
    logs: Vec<(String, String)>,
    #[serde(default)]
    pub(super) programs: Programs,
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) units: u32,
}

/// SHA-256 of the files that determine the policies' behaviour, by policy and file.
pub(super) type Programs = BTreeMap<String, BTreeMap<String, String>>;

/// One unit of work: a line of the plan after the first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unit {
    pub(super) unit: u32,
    pub(super) log: usize,
    /// Replications: from the first to before the end.
    pub(super) first: u32,
    pub(super) end: u32,
}

/// One draw: a replication of a log.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Batch {
    pub(super) log: usize,
    pub(super) rep: u32,
}

pub(super) struct ExperimentPlan {
    pub(super) head: Head,
    pub(super) units: Vec<Unit>,
    pub(super) design: Design,
    /// Precision on the command line.
    pub(super) precision: Option<f64>,
    pub(super) held: Vec<Held>,
    /// Folder of the plan and of its units, below that of the results.
    pub(super) cells: PathBuf,
    /// SHA-256 of its bytes.
    pub(super) hash: String,
    /// Identity of the code that computes.
    pub(super) code: &'static str,
}

impl ExperimentPlan {
    pub(super) fn of(file: &Path, how: &How, added: &Added) -> Result<Self> {
        let text = ::workload::file::read_text(file)?;
        let traces = how.traces.clone().or_else(|| std::env::var_os("GRID_TRACES").map(PathBuf::from));
        let (quick, seed, file) = (how.quick, how.seed, file.to_owned());
        let head = Head { version: VERSION, file, text, quick, seed, traces, ..Head::default() };
        let mut plan = Self::opened(head, PathBuf::new(), added)?;
        let out = how.out.clone().unwrap_or_else(|| Path::new("results/experiment").join(&plan.design.name));
        plan.cells = out.join("cells");
        let path = |held: &Held| held.path.to_string_lossy().into_owned();
        plan.head.logs = plan.held.iter().map(|held| (path(held), held.sha256.clone())).collect();
        plan.head.programs = programs(&plan.design)?;
        plan.cut(0, plan.design.replicate.count(), how.units)?;
        Ok(plan)
    }

    /// Cuts the replications from `first` to before `end` into at least `wanted` units of about equal work, each of one log.
    pub(super) fn cut(&mut self, first: u32, end: u32, wanted: Option<u32>) -> Result<()> {
        let costs: Vec<u64> = (0..self.held.len()).map(|log| self.cost(Batch { log, rep: first })).collect();
        let all: u64 = costs.iter().map(|cost| u64::from(end - first) * cost).sum();
        let target = wanted.map_or(JOBS_OF_A_UNIT, |wanted| (all / u64::from(wanted)).max(1));
        let most = u64::from(end - first);
        let mut units = Vec::new();
        for (log, cost) in costs.iter().enumerate() {
            let many = u32::try_from((target / cost).clamp(1, most)).expect("at most the replications");
            let starts = (first..end).step_by(many as usize);
            units.extend(starts.map(|start| (log, start, end.min(start + many))));
        }
        self.units = (0..).zip(units).map(|(unit, (log, first, end))| Unit { unit, log, first, end }).collect();
        (self.head.first, self.head.end) = (first, end);
        self.head.units = u32::try_from(self.units.len()).context("there are too many units")?;
        self.hash = hex::encode(Sha256::digest(self.to_text()));
        Ok(())
    }

    /// The design and the logs of a plan without units.
    fn opened(head: Head, cells: PathBuf, added: &Added) -> Result<Self> {
        let source = Source { path: head.file.clone(), text: head.text.clone(), added };
        let mut design = Design::read(&source)?;
        design.seed = head.seed.unwrap_or(design.seed);
        if head.quick {
            design = design.quick();
        }
        // In parallel: unpacking a large log takes longer than many runs. The first error in the order of the file is returned.
        let traces = head.traces.as_deref();
        let held = in_parallel(&design.logs, |log| Held::open(log, &design, &source, traces))?;
        let (hash, code) = (String::new(), provenance::code(!added.is_empty()));
        Ok(Self { head, units: Vec::new(), design, precision: None, held, cells, hash, code })
    }

    pub(super) fn read(path: &Path, added: &Added) -> Result<Self> {
        let text = ::workload::file::read_text(path)?;
        let wrong = |line: usize, words: &dyn std::fmt::Display| {
            anyhow!("{}:{line}: {words}; write the plan again with `experiment plan`", path.display())
        };
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| wrong(1, &error))?;
        let unit = |(line, text)| serde_json::from_str(text).map_err(|error| wrong(line, &error));
        let units: Vec<Unit> = (2..).zip(lines).map(unit).collect::<Result<_>>()?;
        ensure!(head.version == VERSION, wrong(1, &format!("has version {}, and not {VERSION}", head.version)));
        let counts = format!("announces {} units, but {} follow", head.units, units.len());
        ensure!(units.len() == head.units as usize, wrong(1, &counts));
        let plan = Self::opened(head, above(path).to_owned(), added)?;
        for (held, (found, sha256)) in plan.held.iter().zip(&plan.head.logs) {
            ensure!(
                held.sha256 == *sha256,
                "{}: is not the log that the plan was made for ({found}, SHA-256 {sha256}); restore that log, or plan again",
                held.path.display()
            );
        }
        Ok(Self { units, hash: hex::encode(Sha256::digest(&text)), ..plan })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.cells.join("plan.jsonl")
    }

    pub(super) fn out(&self) -> &Path {
        above(&self.cells)
    }

    /// Writes the plan. A different one in its place is replaced only if `replaces`: a plan does not change while other machines use
    /// it.
    pub(super) fn write(&self, replaces: bool) -> Result<()> {
        let (path, text) = (self.path(), self.to_text());
        match std::fs::read_to_string(&path) {
            Ok(there) if there == text => return Ok(()),
            Ok(_) => ensure!(
                replaces,
                "{}: is another plan, and does not change while other machines may work by it; choose another folder with --out \
                 DIR, or start again with --fresh",
                path.display()
            ),
            Err(_) => {}
        }
        write_whole(&path, text.as_bytes())?;
        Ok(())
    }

    pub(super) fn ensure_same_programs(&self) -> Result<()> {
        let now = programs(&self.design)?;
        for (policy, files) in &self.head.programs {
            for (file, recorded) in files {
                let now = now.get(policy).and_then(|files| files.get(file)).map_or("none", String::as_str);
                ensure!(
                    now == recorded,
                    "{file}: is not the program of {policy} that the plan was made for (SHA-256 {recorded}, now {now}); put that \
                     back, or plan again"
                );
            }
        }
        Ok(())
    }

    fn to_text(&self) -> String {
        let head = serde_json::to_string(&self.head);
        let lines = std::iter::once(head).chain(self.units.iter().map(serde_json::to_string));
        lines.map(|line| line.expect("a plan is plain data") + "\n").collect()
    }

    /// Batches of units: replications of their logs, and with the first the [log itself](IN_LOG) if replications are drawn from it.
    pub(super) fn batches(&self, units: &[Unit]) -> Vec<Batch> {
        let resamples = self.design.replicate.method != Method::Seeds;
        let of_unit = |&Unit { log, first, end, .. }: &Unit| {
            let itself = first == 0 && resamples && self.held[log].log().is_some();
            (first..end).chain(itself.then_some(IN_LOG)).map(move |rep| Batch { log, rep })
        };
        units.iter().flat_map(of_unit).collect()
    }

    /// Jobs that a batch simulates, counted once for each policy and setting; the log itself is not counted.
    pub(super) fn cost(&self, batch: Batch) -> u64 {
        let of_policy = |policy: &Policy| if policy.command().is_some() { OF_A_PROGRAM } else { 1 };
        let policies: u64 = self.design.policies.iter().map(of_policy).sum();
        let jobs = if batch.rep == IN_LOG { 0 } else { self.held[batch.log].jobs().max(1) };
        jobs * policies * self.design.settings().len() as u64
    }
}

fn above(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn programs(design: &Design) -> Result<Programs> {
    let of_policy = |policy: &Policy| Ok((policy.name().to_owned(), policy.programs()?));
    let all: Programs = design.policies.iter().map(of_policy).collect::<Result<_>>()?;
    Ok(all.into_iter().filter(|(_, files)| !files.is_empty()).collect())
}
