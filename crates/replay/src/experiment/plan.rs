//! The plan of an experiment: its runs, cut into units. It holds all that determines the results, except the code.

use super::cli::How;
use super::design::{Design, Method};
use super::file::Source;
use super::workloads::Held;
use crate::simulate::Added;
use crate::simulate::policy::Policy;
use anyhow::{Context, Result, bail, ensure};
use lab::provenance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Jobs simulated in a unit without `--units`: five to ten minutes of EASY on one core.
const JOBS_OF_A_UNIT: u64 = 400_000_000;

/// Cost of a job under a program of the user's own, relative to other policies.
const OF_A_PROGRAM: u64 = 100;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Version of the plan's format.
    version: u32,
    /// Path of the experiment's file, as given; its content is in `text`.
    pub(super) file: PathBuf,
    text: String,
    pub(super) quick: bool,
    /// Seed instead of the file's.
    pub(super) seed: Option<u64>,
    traces: Option<PathBuf>,
    /// Paths of the logs as found, with their SHA-256; empty for a model.
    logs: Vec<(String, String)>,
    /// SHA-256 of the files that determine the policies' behaviour, by policy and file.
    #[serde(default)]
    pub(super) programs: Programs,
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) units: u32,
}

/// SHA-256 of the files that determine the policies' behaviour, by policy and file: see
/// [`Policy::programs`](crate::simulate::policy::Policy::programs).
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

/// Number in place of a replication: the log itself, under the baseline alone.
pub(super) const IN_LOG: u32 = u32::MAX;

/// One draw: a replication of a log.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Batch {
    pub(super) log: usize,
    pub(super) rep: u32,
}

/// A plan with its design and logs.
#[derive(Debug)]
pub(super) struct ExperimentPlan {
    pub(super) head: Head,
    pub(super) units: Vec<Unit>,
    pub(super) design: Design,
    pub(super) held: Vec<Held>,
    pub(super) source: Source,
    /// SHA-256 of its bytes.
    pub(super) hash: String,
    /// Identity of the code that computes.
    pub(super) code: &'static str,
}

impl ExperimentPlan {
    /// The plan of a file. `replications`, from the first to before the end, replace the file's own.
    pub(super) fn of(file: &Path, how: &How, replications: Option<(u32, u32)>, added: &Added) -> Result<Self> {
        let source = Source::open(file)?;
        let design = designed(&source, how.quick, how.seed, added)?;
        let traces = how.traces.clone().or_else(|| std::env::var_os("GRID_TRACES").map(PathBuf::from));
        let held = opened(&design, &source, traces.as_deref())?;
        let (first, end) = replications.unwrap_or((0, design.count));
        let units = cut(&design, &held, first, end, how.units);
        let head = Head {
            version: 1,
            file: file.to_owned(),
            text: source.text.clone(),
            quick: how.quick,
            seed: how.seed,
            traces,
            logs: held.iter().map(|held| (held.path.to_string_lossy().into_owned(), held.sha256.clone())).collect(),
            programs: programs(&design)?,
            first,
            end,
            units: u32::try_from(units.len()).context("there are too many units")?,
        };
        let (hash, code) = (String::new(), provenance::code(!added.is_empty()));
        let mut plan = Self { head, units, design, held, source, hash, code };
        plan.hash = hex::encode(Sha256::digest(plan.to_text()));
        Ok(plan)
    }

    /// Reads a plan, and its logs.
    pub(super) fn read(path: &Path, added: &Added) -> Result<Self> {
        let text = ::workload::file::read_text(path)?;
        let mut lines = text.lines();
        let wrong = |line: usize, words: &dyn std::fmt::Display| {
            anyhow::anyhow!("{}:{line}: {words}; write the plan again with `experiment plan`", path.display())
        };
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| wrong(1, &error))?;
        let units =
            (2..).zip(lines).map(|(line, text)| serde_json::from_str(text).map_err(|error| wrong(line, &error)));
        let units: Vec<Unit> = units.collect::<Result<_>>()?;
        ensure!(
            units.len() == head.units as usize,
            wrong(1, &format!("speaks of {} units, and {} are there", head.units, units.len()))
        );
        let source = Source { path: head.file.clone(), text: head.text.clone() };
        let design = designed(&source, head.quick, head.seed, added)?;
        let held = opened(&design, &source, head.traces.as_deref())?;
        for (held, (found, sha256)) in held.iter().zip(&head.logs) {
            ensure!(
                held.sha256 == *sha256,
                "{}: is not the log that the plan was made for ({found}, SHA-256 {sha256}); put that back, or plan again",
                held.path.display()
            );
        }
        let hash = hex::encode(Sha256::digest(&text));
        Ok(Self { head, units, design, held, source, hash, code: provenance::code(!added.is_empty()) })
    }

    /// Checks that the policies are the programs that the plan was made for.
    ///
    /// # Errors
    ///
    /// A file that has changed since then, or is missing.
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

    /// Content of the plan's file.
    pub(super) fn to_text(&self) -> String {
        let mut text = serde_json::to_string(&self.head).expect("a plan is plain data");
        for unit in &self.units {
            text.push('\n');
            text += &serde_json::to_string(unit).expect("a unit is plain data");
        }
        text + "\n"
    }

    /// Returns the unit with this number.
    pub(super) fn unit(&self, number: u32) -> Result<Unit> {
        match self.units.get(number as usize) {
            Some(unit) => Ok(*unit),
            None => bail!("--unit {number}: the plan has {} units, counted from 0", self.units.len()),
        }
    }

    /// Batches of units: replications of their logs, and with the first the [log itself](IN_LOG) if replications are drawn from it.
    pub(super) fn batches(&self, units: &[Unit]) -> Vec<Batch> {
        let resamples = !matches!(self.design.method, Method::Weeks | Method::Seeds);
        let of_unit = |&Unit { log, first, end, .. }: &Unit| {
            let itself = first == 0 && resamples && self.held[log].log().is_some();
            (first..end).chain(itself.then_some(IN_LOG)).map(move |rep| Batch { log, rep })
        };
        units.iter().flat_map(of_unit).collect()
    }

    /// Jobs that a batch simulates, counted once for each policy and setting; the log itself is not counted.
    pub(super) fn cost(&self, batch: Batch) -> u64 {
        if batch.rep == IN_LOG { 0 } else { cost_of_replication(&self.design, &self.held[batch.log]) }
    }
}

fn designed(source: &Source, quick: bool, seed: Option<u64>, added: &Added) -> Result<Design> {
    let mut design = Design::read(source, added)?;
    design.seed = seed.unwrap_or(design.seed);
    Ok(if quick { design.quick() } else { design })
}

fn programs(design: &Design) -> Result<Programs> {
    let of_policy = |policy: &Policy| Ok((policy.name().to_owned(), policy.programs()?));
    let all: Programs = design.policies.iter().map(of_policy).collect::<Result<_>>()?;
    Ok(all.into_iter().filter(|(_, files)| !files.is_empty()).collect())
}

fn opened(design: &Design, source: &Source, traces: Option<&Path>) -> Result<Vec<Held>> {
    // In parallel: unpacking a large log takes longer than many runs. The first error in the order of the file is returned.
    let held: Vec<Result<Held>> = design.logs.par_iter().map(|log| Held::open(log, design, source, traces)).collect();
    held.into_iter().collect()
}

fn cost_of_replication(design: &Design, held: &Held) -> u64 {
    let of_policy = |policy: &Policy| if policy.command().is_some() { OF_A_PROGRAM } else { 1 };
    let policies: u64 = design.policies.iter().map(of_policy).sum();
    held.jobs().max(1) * policies * design.settings().len() as u64
}

/// Units of about equal work, each of one log.
fn cut(design: &Design, held: &[Held], first: u32, end: u32, wanted: Option<u32>) -> Vec<Unit> {
    let replications = u64::from(end - first);
    let all: u64 = held.iter().map(|held| replications * cost_of_replication(design, held)).sum();
    let target = wanted.map_or(JOBS_OF_A_UNIT, |wanted| (all / u64::from(wanted)).max(1));
    let mut units = Vec::new();
    for (log, held) in held.iter().enumerate() {
        let cost = cost_of_replication(design, held);
        // The weeks of a log come from one run.
        let end = if design.method == Method::Weeks { first + 1 } else { end };
        let many = u32::try_from((target / cost).clamp(1, u64::from(end - first))).expect("at most the replications");
        let mut at = first;
        while at < end {
            let next = end.min(at + many);
            let unit = u32::try_from(units.len()).expect("fewer than 2^32 units");
            units.push(Unit { unit, log, first: at, end: next });
            at = next;
        }
    }
    units
}
