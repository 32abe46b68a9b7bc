//! One unit of an experiment: computed, written into a file with a checksum, read again.
//!
//! A unit's file, a [sealed] one, is named by the hash of the plan (which holds the hashes of policies that are programs), the unit
//! and the code, so that a file is either what this program would compute or not looked at. It appears by a rename when it is complete and on the disk; several may compute the same
//! unit at once, on several machines, and write the same bytes.

use super::design::Setting;
use super::measure::measured;
use super::plan::{Plan, Unit};
use super::weeks::{Replayed, Weeks};
use crate::experiment::design::Method;
use anyhow::{Result, anyhow, bail};
use lab::interrupt::{self, Interrupted};
use lab::parallel::in_parallel;
use lab::store::{ASIDE, UNITS, sealed};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use workload::HeldLog;

/// What tells one run from others. The order is that of runs.csv.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RunKey {
    pub(super) log: usize,
    pub(super) setting: usize,
    pub(super) policy: usize,
    pub(super) rep: u32,
}

/// In place of a replication: the log itself, under the baseline alone.
pub(super) const IN_LOG: u32 = u32::MAX;

/// One run, with what was measured: `null` where a metric is not defined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) key: RunKey,
    pub(super) metrics: Vec<Option<f64>>,
    /// Estimates over blocks, where one replay stands for replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weeks: Option<Weeks>,
    /// Draws outside the bounds of the log, in the first run of each draw.
    #[serde(default)]
    pub(super) refused: u32,
}

/// The first line of a unit's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) plan: String,
    pub(super) unit: u32,
    /// Identity of the code that computed it.
    pub(super) code: String,
    runs: usize,
}

/// Where the file of a unit is, for the code of this program.
pub(super) fn path_of(cells: &Path, plan: &Plan, unit: Unit) -> PathBuf {
    let identity = format!("{}\n{}\n{}", plan.hash, unit.unit, plan.code);
    cells.join(UNITS).join(format!("{}.jsonl", hex::encode(Sha256::digest(identity))))
}

/// The runs of a unit, and whether they were computed now: its file is written unless it is there and sound. `ran` is given the
/// number of jobs after each simulation.
pub(super) fn runs(cells: &Path, plan: &Plan, unit: Unit, ran: &(dyn Fn(u64) + Sync)) -> Result<(Vec<Run>, bool)> {
    let path = path_of(cells, plan, unit);
    if let Some((_, runs)) = sound(cells, &path)?.filter(|(head, _)| head.plan == plan.hash && head.unit == unit.unit) {
        ran(plan.cost(unit));
        return Ok((runs, false));
    }
    let runs = computed(plan, unit, ran)?;
    // Programs are started again and again meanwhile: one that was edited would be stored as what it was.
    plan.ensure_same_programs()?;
    let head = Head { plan: plan.hash.clone(), unit: unit.unit, code: plan.code.to_owned(), runs: runs.len() };
    let head = serde_json::to_string(&head).expect("plain data");
    let lines = runs.iter().map(|run| serde_json::to_string(run).expect("plain data"));
    sealed::write(&path, &std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))?;
    Ok((runs, true))
}

/// The runs of a file that is as it was written; `None` if there is none. A damaged one is reported, set aside, and counts as none.
pub(super) fn sound(cells: &Path, path: &Path) -> Result<Option<(Head, Vec<Run>)>> {
    sealed::read(path, &cells.join(ASIDE), |text| {
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next()?).ok()?;
        let runs: Vec<Run> = lines.map(|line| serde_json::from_str(line).ok()).collect::<Option<_>>()?;
        (runs.len() == head.runs).then_some((head, runs))
    })
}

/// Simulates every policy on the same jobs, in each setting and replication.
fn computed(plan: &Plan, unit: Unit, ran: &(dyn Fn(u64) + Sync)) -> Result<Vec<Run>> {
    let settings = plan.design.settings();
    let (held, design) = (&plan.held[unit.log], &plan.design);
    let of_replication = |replication: u32| -> Result<Vec<Run>> {
        // Settings that differ in estimates or in density share the jobs. By users: the jobs, the number of refused draws, and
        // the first setting.
        let mut bases: BTreeMap<u64, (HeldLog, u32, usize)> = BTreeMap::new();
        for (position, setting) in settings.iter().enumerate() {
            let users = design.users(setting);
            if let Entry::Vacant(base) = bases.entry(users.to_bits()) {
                let (log, refused) = held.replication(design, users, replication)?;
                base.insert((log, refused, position));
            }
        }
        let positions: Vec<usize> = (0..settings.len()).collect();
        let policies: Vec<usize> = (0..design.policies.len()).collect();
        let runs = in_parallel(&positions, |&position| {
            let setting = &settings[position];
            let (base, refused, first) = &bases[&design.users(setting).to_bits()];
            let mut runs = under(plan, unit.log, base, setting, position, replication, &policies)?;
            runs[0].refused = if position == *first { *refused } else { 0 };
            ran(plan.cost(Unit { end: unit.first + 1, ..unit }) / settings.len() as u64);
            Ok(runs)
        })?;
        Ok(runs.into_iter().flatten().collect())
    };
    let replications: Vec<u32> = (unit.first..unit.end).collect();
    let runs = in_parallel(&replications, |one| of_replication(*one))?;
    let mut runs: Vec<Run> = runs.into_iter().flatten().collect();
    if unit.first == 0 {
        runs.extend(in_log(plan, unit.log)?);
    }
    runs.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(runs)
}

/// The baseline on the log itself, in each setting with the users of the log.
fn in_log(plan: &Plan, log: usize) -> Result<Vec<Run>> {
    let design = &plan.design;
    let resamples = !matches!(design.method, Method::Weeks | Method::Seeds);
    let Some(base) = plan.held[log].log().filter(|_| resamples) else { return Ok(Vec::new()) };
    let settings: Vec<(usize, Setting)> = design.settings().into_iter().enumerate().collect();
    let runs = in_parallel(&settings, |(position, setting)| {
        if (design.users(setting) - 1.0).abs() > 0.0 {
            return Ok(Vec::new());
        }
        let mut runs = under(plan, log, base, setting, *position, 0, &[design.baseline])?;
        runs.iter_mut().for_each(|run| run.key.rep = IN_LOG);
        Ok(runs)
    })?;
    Ok(runs.into_iter().flatten().collect())
}

fn under(
    plan: &Plan,
    log: usize,
    base: &HeldLog,
    setting: &Setting,
    position: usize,
    replication: u32,
    policies: &[usize],
) -> Result<Vec<Run>> {
    let (held, design) = (&plan.held[log], &plan.design);
    let told = held.told(base, &design.logs[log], design, setting, replication);
    let replay = |policy: usize| {
        if interrupt::requested() {
            bail!(Interrupted::Resumable);
        }
        let seed = design.seed.wrapping_add(u64::from(replication));
        let replayed = told.replayed(&design.policies[policy], seed);
        // Not a context: an interruption must stay one.
        replayed.map_err(|error| match error.is::<Interrupted>() {
            true => error,
            false => {
                anyhow!("{}: {}, replication {replication}: {error:#}", design.logs[log].name, design.in_words(setting))
            }
        })
    };
    // The baseline first: it says where the run has settled.
    let baseline = replay(design.baseline)?;
    let window = design.window.of(&told.jobs, &baseline.0);
    let (mut runs, mut replayed) = (Vec::new(), Vec::new());
    for &policy in policies {
        let other;
        let (placements, trend) = if policy == design.baseline {
            &baseline
        } else {
            other = replay(policy)?;
            &other
        };
        let row =
            measured(&told.jobs, placements, told.processors, window, design.window.cuts(), trend, &design.own_metrics);
        runs.push(Run {
            key: RunKey { log, setting: position, policy, rep: replication },
            metrics: row.into_iter().map(|value| value.is_finite().then_some(value)).collect(),
            weeks: None,
            refused: 0,
        });
        if design.method == Method::Weeks {
            replayed.push(Replayed::new(&told.jobs, placements, window, trend));
        }
    }
    for (run, weeks) in runs.iter_mut().zip(Replayed::weeks(&replayed, design)) {
        run.weeks = Some(weeks);
    }
    Ok(runs)
}
