//! Batches of an experiment: found in the store, or simulated and stored.
//!
//! A batch is one draw: a replication of a log, with its runs under every setting and policy. Its identity is the hash of the
//! plan (which holds the hashes of logs and of policies that are programs), its place there and the code, so a stored batch equals what
//! this program would compute. Several processes, on several machines, may compute the same batch at once and store the same line.

use super::design::Setting;
use super::measure::measured;
use super::plan::{Batch, ExperimentPlan, IN_LOG};
use super::weeks::{Replayed, Weeks};
use crate::experiment::design::Method;
use anyhow::{Result, anyhow, bail};
use lab::interrupt::{self, Interrupted};
use lab::parallel::in_parallel;
use lab::store::{Identity, Store, each_stored};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use workload::HeldLog;

/// Key of a run. The order is that of runs.csv.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RunKey {
    pub(super) log: usize,
    pub(super) setting: usize,
    pub(super) policy: usize,
    pub(super) rep: u32,
}

/// One run with its metrics: `null` if a metric is undefined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) key: RunKey,
    pub(super) metrics: Vec<Option<f64>>,
    /// Estimates over blocks, if one replay stands for replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weeks: Option<Weeks>,
    /// Draws outside the bounds of the log, in the first run of each draw.
    #[serde(default)]
    pub(super) refused: u32,
}

/// Returns the runs of batches, and the number of batches simulated now, which the store lacks. `ran` receives the number of jobs after
/// each simulation.
pub(super) fn runs(
    plan: &ExperimentPlan,
    store: &Store,
    batches: &[Batch],
    ran: &(dyn Fn(u64) + Sync),
) -> Result<(Vec<Run>, u64)> {
    let simulated = AtomicU64::new(0);
    let runs = in_parallel(batches, |batch| {
        let cell = json!({ "plan": plan.hash, "log": batch.log });
        let (seed, replication) = (plan.design.seed, batch.rep);
        let identity = Identity { paper: "experiment", models: plan.code, cell: &cell, seed, replication };
        if let Some(runs) = store.get::<Vec<Run>>(&identity) {
            ran(plan.cost(*batch));
            return Ok(runs);
        }
        let mut runs = if batch.rep == IN_LOG { in_log(plan, batch.log) } else { drawn(plan, *batch, ran) }?;
        runs.sort_by(|a, b| a.key.cmp(&b.key));
        // Programs are started repeatedly meanwhile: the runs of an edited one would be stored under its old hash.
        plan.ensure_same_programs()?;
        store.put(&identity, &runs)?;
        simulated.fetch_add(1, Ordering::Relaxed);
        Ok(runs)
    })?;
    store.settle()?;
    Ok((runs.into_iter().flatten().collect(), simulated.into_inner()))
}

/// Calls `take` with every stored batch of the plan below `cells`, its runs, the file that holds it and the code that computed it.
pub(super) fn each_stored_batch(
    cells: &Path,
    plan: &ExperimentPlan,
    mut take: impl FnMut(Batch, Vec<Run>, &Path, &str) -> Result<()>,
) -> Result<()> {
    each_stored(cells, |file, stored| {
        let it = &stored.identity;
        let place = || Some((it["cell"]["log"].as_u64()?, it["replication"].as_u64()?, it["models"].as_str()?));
        let Some((log, rep, code)) = place().filter(|_| it["cell"]["plan"] == plan.hash) else { return Ok(()) };
        match (usize::try_from(log), u32::try_from(rep), serde_json::from_value(stored.metrics)) {
            (Ok(log), Ok(rep), Ok(runs)) => take(Batch { log, rep }, runs, file, code),
            _ => Ok(()),
        }
    })
}

/// Simulates every policy on the same jobs, in each setting.
fn drawn(plan: &ExperimentPlan, batch: Batch, ran: &(dyn Fn(u64) + Sync)) -> Result<Vec<Run>> {
    let Batch { log, rep } = batch;
    let (held, design) = (&plan.held[log], &plan.design);
    let settings: Vec<(usize, Setting)> = design.settings().into_iter().enumerate().collect();
    // Settings that differ in estimates or in density share the jobs. By users: the jobs, the number of refused draws, and the first
    // setting.
    let mut bases: BTreeMap<u64, (HeldLog, u32, usize)> = BTreeMap::new();
    for (position, setting) in &settings {
        let users = design.users(setting);
        if let Entry::Vacant(base) = bases.entry(users.to_bits()) {
            let (jobs, refused) = held.replication(design, users, rep)?;
            base.insert((jobs, refused, *position));
        }
    }
    let policies: Vec<usize> = (0..design.policies.len()).collect();
    let runs = in_parallel(&settings, |(position, setting)| {
        let (base, refused, first) = &bases[&design.users(setting).to_bits()];
        let mut runs = under(plan, log, base, setting, *position, rep, &policies)?;
        runs[0].refused = if position == first { *refused } else { 0 };
        ran(plan.cost(batch) / settings.len() as u64);
        Ok(runs)
    })?;
    Ok(runs.into_iter().flatten().collect())
}

/// Runs of the baseline on the log itself, in each setting with the users of the log.
fn in_log(plan: &ExperimentPlan, log: usize) -> Result<Vec<Run>> {
    let design = &plan.design;
    let Some(base) = plan.held[log].log() else { return Ok(Vec::new()) };
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
    plan: &ExperimentPlan,
    log: usize,
    base: &HeldLog,
    setting: &Setting,
    position: usize,
    replication: u32,
    policies: &[usize],
) -> Result<Vec<Run>> {
    let (held, design) = (&plan.held[log], &plan.design);
    let input = held.input(base, &design.logs[log], design, setting, replication);
    let (jobs, processors) = (&input.jobs, input.processors);
    let replay = |policy: usize| {
        if interrupt::requested() {
            bail!(Interrupted::Resumable);
        }
        let seed = design.seed.wrapping_add(u64::from(replication));
        let replayed = input.replayed(&design.policies[policy], seed);
        // Without a context: an interruption must keep its type.
        replayed.map_err(|error| match error.is::<Interrupted>() {
            true => error,
            false => {
                anyhow!("{}: {}, replication {replication}: {error:#}", design.logs[log].name, design.in_words(setting))
            }
        })
    };
    // The baseline first: it determines the end of the warm-up.
    let baseline = replay(design.baseline)?;
    let window = design.window.of(jobs, &baseline.0);
    let (mut runs, mut replayed) = (Vec::new(), Vec::new());
    for &policy in policies {
        let other;
        let (placements, trend) = if policy == design.baseline {
            &baseline
        } else {
            other = replay(policy)?;
            &other
        };
        let row = measured(jobs, placements, processors, window, design.window.cuts(), trend, &design.own_metrics);
        runs.push(Run {
            key: RunKey { log, setting: position, policy, rep: replication },
            metrics: row.into_iter().map(|value| value.is_finite().then_some(value)).collect(),
            weeks: None,
            refused: 0,
        });
        if design.method == Method::Weeks {
            replayed.push(Replayed::new(jobs, placements, window, trend));
        }
    }
    for (run, weeks) in runs.iter_mut().zip(Replayed::weeks(&replayed, design)) {
        run.weeks = Some(weeks);
    }
    Ok(runs)
}
