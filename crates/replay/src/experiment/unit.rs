//! Batches of an experiment: found in the store, or simulated and stored.
//!
//! A batch is one draw: a replication of a log, with its runs under every setting and policy. Its identity is the hash of the
//! plan (which holds the hashes of logs and of policies that are programs), its place there and the code, so a stored batch equals what
//! this program would compute. Several processes, on several machines, may compute the same batch at once and store the same line.

use super::design::Setting;
use super::measure::{Cell, measured};
use super::plan::{Batch, ExperimentPlan};
use super::workloads::IN_LOG;
use anyhow::{Result, anyhow, bail, ensure};
use lab::control::Control;
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

/// One run with its metrics: `null` if a metric is undefined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) cell: Cell,
    pub(super) rep: u32,
    pub(super) metrics: Vec<Option<f64>>,
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
    let computed = AtomicU64::new(0);
    let runs = in_parallel(batches, |batch| {
        let cell = json!({ "plan": plan.hash, "log": batch.log });
        let (seed, replication) = (plan.design.seed, batch.rep);
        let identity = Identity { paper: "experiment", models: plan.code, cell: &cell, seed, replication };
        if let Some(runs) = store.get::<Vec<Run>>(&identity) {
            ran(plan.cost(*batch));
            return Ok(runs);
        }
        let mut runs = simulated(plan, *batch, ran)?;
        runs.sort_by_key(|run| run.cell);
        // Programs are started repeatedly meanwhile: the runs of an edited one would be stored under its old hash.
        plan.ensure_same_programs()?;
        // A metric of the caller may have failed.
        ensure!(!Control::is_stopped(), Interrupted::Resumable);
        store.put(&identity, &runs)?;
        computed.fetch_add(1, Ordering::Relaxed);
        Ok(runs)
    })?;
    store.settle()?;
    Ok((runs.into_iter().flatten().collect(), computed.into_inner()))
}

/// Calls `take` with every stored batch of the plan, its runs, the file that holds it and the code that computed it.
pub(super) fn each_stored_batch(
    plan: &ExperimentPlan,
    mut take: impl FnMut(Batch, Vec<Run>, &Path, &str) -> Result<()>,
) -> Result<()> {
    each_stored(&plan.cells, |file, stored| {
        let it = &stored.identity;
        let place = || Some((it["cell"]["log"].as_u64()?, it["replication"].as_u64()?, it["models"].as_str()?));
        let Some((log, rep, code)) = place().filter(|_| it["cell"]["plan"] == plan.hash) else { return Ok(()) };
        match (usize::try_from(log), u32::try_from(rep), serde_json::from_value(stored.metrics)) {
            (Ok(log), Ok(rep), Ok(runs)) => take(Batch { log, rep }, runs, file, code),
            _ => Ok(()),
        }
    })
}

/// Simulates every policy on the same jobs, in each setting; on the log itself the baseline alone, in settings with the users of the log.
fn simulated(plan: &ExperimentPlan, batch: Batch, ran: &(dyn Fn(u64) + Sync)) -> Result<Vec<Run>> {
    let settings = plan.design.settings();
    let is_run = |(_, setting): &(usize, &Setting)| batch.rep != IN_LOG || setting.users.to_bits() == 1.0_f64.to_bits();
    let settings: Vec<(usize, &Setting)> = settings.iter().enumerate().filter(is_run).collect();
    // Settings that differ in estimates or in density share the jobs. By users: the jobs, the number of refused draws, and the first
    // setting.
    let mut bases: BTreeMap<u64, (HeldLog, u32, usize)> = BTreeMap::new();
    for (position, Setting { users, .. }) in &settings {
        if let Entry::Vacant(base) = bases.entry(users.to_bits()) {
            let (jobs, refused) = plan.held[batch.log].replication(&plan.design, *users, batch.rep)?;
            base.insert((jobs, refused, *position));
        }
    }
    let runs = in_parallel(&settings, |&(position, setting)| {
        let (base, refused, first) = &bases[&setting.users.to_bits()];
        let mut runs = under(plan, batch, base, (position, setting))?;
        runs[0].refused = if position == *first { *refused } else { 0 };
        ran(plan.cost(batch) / settings.len() as u64);
        Ok(runs)
    })?;
    Ok(runs.into_iter().flatten().collect())
}

fn under(
    plan: &ExperimentPlan,
    Batch { log, rep }: Batch,
    base: &HeldLog,
    (place, setting): (usize, &Setting),
) -> Result<Vec<Run>> {
    let (held, design) = (&plan.held[log], &plan.design);
    let (draw, policies) =
        if rep == IN_LOG { (0, design.baseline..design.baseline + 1) } else { (rep, 0..design.policies.len()) };
    let input = held.input(base, design, setting, draw);
    let (jobs, seed) = (&input.jobs, design.seed.wrapping_add(u64::from(draw)));
    let replay = |policy: usize| {
        if interrupt::requested() {
            bail!(Interrupted::Resumable);
        }
        let policy = &design.policies[policy];
        let replayed = policy.replay(&input.machines, jobs, &input.numbers, input.estimates, seed);
        // Without a context: an interruption must keep its type.
        replayed.map_err(|error| match error.is::<Interrupted>() {
            true => error,
            false => anyhow!("{}: {}, replication {draw}: {error:#}", design.logs[log].name, setting.in_words()),
        })
    };
    // The baseline first: it determines the end of the warm-up.
    let baseline = replay(design.baseline)?;
    let window = design.window.of(jobs, &baseline.0);
    let run = |policy: usize| {
        let other = if policy == design.baseline { None } else { Some(replay(policy)?) };
        let (placements, trend) = other.as_ref().unwrap_or(&baseline);
        let cuts = design.window.cuts();
        let row = measured(jobs, placements, input.processors, window, cuts, trend, &design.own_metrics);
        let metrics = row.into_iter().map(|value| value.is_finite().then_some(value)).collect();
        Ok(Run { cell: Cell { log, setting: place, policy }, rep, metrics, refused: 0 })
    };
    policies.map(run).collect()
}
