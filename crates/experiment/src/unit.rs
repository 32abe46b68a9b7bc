//! Batches of an experiment: found in the store, or simulated and stored, by this machine or by any other one with the same program.
//!
//! A batch is one draw: a replication of a log, with its runs under every setting and policy. Its identity is the hash of the
//! plan (which holds the hashes of logs and of policies that are programs), its place there and the code, so a stored batch equals what
//! this program would compute. Several processes, on several machines, may compute the same batch at once and store the same line.

use crate::cli::Slurm;
use crate::design::Setting;
use crate::design::measure::{Cell, measured};
use crate::design::workloads::IN_LOG;
use crate::plan::{Batch, ExperimentPlan, Unit};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lab::control::Control;
use lab::interrupt::{self, Interrupted};
use lab::output::provenance::quoted;
use lab::output::store::{self, Identity, Store, each_stored};
use lab::parallel::in_parallel;
use lab::progress::Progress;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use workload::HeldLog;
use workload::resample::Drawn;

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

/// Returns all runs of a plan, the number of batches, and the number of batches simulated now: those that neither its store nor a unit
/// holds.
pub(super) fn local(plan: &ExperimentPlan, quiet: bool) -> Result<(Vec<Run>, u64, u64)> {
    let batches = plan.batches(&plan.units);
    let total = batches.iter().map(|batch| plan.cost(*batch)).sum();
    let progress = Progress::new(format!("{}, {} replications", plan.design.name, batches.len()), total, quiet);
    let store = Store::open(&plan.cells)?.borrowing_from(&plan.cells);
    let (found, simulated) = runs(plan, &store, &batches, &|jobs| progress.add(jobs))?;
    Ok((found, batches.len() as u64, simulated))
}

/// Computes one unit into a store of its own. Returns the number of batches simulated now.
pub(super) fn work(plan: &ExperimentPlan, one: Unit) -> Result<u64> {
    let store = Store::open(&store::unit(&plan.cells, one.unit))?;
    Ok(runs(plan, &store, &plan.batches(&[one]), &|_| {})?.1)
}

/// Returns the runs of batches, and the number of batches simulated now, which the store lacks. `ran` receives the number of jobs after
/// each simulation.
fn runs(
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
    let users = |setting: &Setting| setting.number("users").unwrap_or(1.0);
    let is_run =
        |(_, setting): &(usize, &Setting)| batch.rep != IN_LOG || users(setting).to_bits() == 1.0_f64.to_bits();
    let settings: Vec<(usize, &Setting)> = settings.iter().enumerate().filter(is_run).collect();
    // Settings that differ in estimates or in density share the jobs. By users: the draw, and the first setting.
    let mut bases: BTreeMap<u64, (Drawn, usize)> = BTreeMap::new();
    for (position, setting) in &settings {
        if let Entry::Vacant(base) = bases.entry(users(setting).to_bits()) {
            base.insert((plan.held[batch.log].replication(&plan.design, users(setting), batch.rep)?, *position));
        }
    }
    let runs = in_parallel(&settings, |&(position, setting)| {
        let (Drawn { log, refused }, first) = &bases[&users(setting).to_bits()];
        let mut runs = under(plan, batch, log, (position, setting))?;
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
        interrupt::check(Interrupted::Resumable)?;
        let policy = &design.policies[policy];
        let replayed = policy.replay(&input.sites, jobs, &input.numbers, input.estimates, seed);
        // Without a context: an interruption must keep its type.
        replayed.map_err(|error| match error.is::<Interrupted>() {
            true => error,
            false => anyhow!("{}: {}, replication {draw}: {error:#}", design.logs[log].name, setting.in_words()),
        })
    };
    // The baseline first: it determines the end of the warm-up.
    let baseline = replay(design.baseline)?;
    let window = design.replicate.window(jobs, &baseline.0);
    let run = |policy: usize| {
        let other = if policy == design.baseline { None } else { Some(replay(policy)?) };
        let metrics = measured(design, &input, other.as_ref().unwrap_or(&baseline), window);
        Ok(Run { cell: Cell { log, setting: place, policy }, rep, metrics, refused: 0 })
    };
    policies.map(run).collect()
}

/// Units with a batch that is not found.
pub(super) fn missing(plan: &ExperimentPlan, is_found: impl Fn(&Batch) -> bool) -> Vec<u32> {
    let units = plan.units.iter().filter(|unit| !plan.batches(&[**unit]).iter().all(&is_found));
    units.map(|unit| unit.unit).collect()
}

/// Command that computes a unit, without its number.
fn command(plan: &ExperimentPlan) -> Result<String> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let [program, plan] = [program, plan.path()].map(|path| quoted(&path.to_string_lossy()).into_owned());
    Ok(format!("{program} experiment work {plan} --unit"))
}

/// One command per missing unit, a line each: for GNU parallel, HyperQueue, HTCondor.
pub(super) fn commands(plan: &ExperimentPlan, missing: &[u32]) -> Result<String> {
    let command = command(plan)?;
    Ok(missing.iter().map(|unit| format!("{command} {unit}\n")).collect())
}

/// Job array of Slurm for the missing units.
///
/// A task is run at least once, and perhaps again: the second run finds the unit's file. The numbers of the units
/// are in the script, so that exactly the missing ones are submitted again.
pub(super) fn slurm_script(plan: &ExperimentPlan, missing: &[u32], slurm: &Slurm) -> Result<String> {
    let most = slurm.max_parallel.map_or_else(String::new, |most| format!("%{most}"));
    let given =
        [("partition", &slurm.partition), ("account", &slurm.account), ("time", &slurm.time), ("mem", &slurm.memory)];
    let mut options = String::new();
    for (option, value) in given.into_iter().filter_map(|(option, value)| Some((option, value.as_ref()?))) {
        let is_word = !value.chars().any(|letter| letter.is_whitespace() || letter.is_control());
        ensure!(is_word, "--{option} {value:?}: a word without blanks is expected");
        options += &format!("#SBATCH --{option}={value}\n");
    }
    let folder = std::env::current_dir().context("cannot find the current folder")?;
    Ok(format!(
        "#!/bin/bash\n\
         #SBATCH --job-name={}\n\
         #SBATCH --array={}{most}\n\
         #SBATCH --ntasks=1 --cpus-per-task=1\n\
         #SBATCH --output={}\n\
         {options}\
         # A unit that is finished is not computed again: submit this script again at any time.\n\
         set -eu\n\
         cd {}\n\
         exec {} \"$SLURM_ARRAY_TASK_ID\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet\n",
        plan.design.name,
        array(missing),
        quoted(&plan.cells.join("slurm-%A_%a.out").to_string_lossy()),
        quoted(&folder.to_string_lossy()),
        command(plan)?
    ))
}

/// `0-7,12,14-15`.
fn array(units: &[u32]) -> String {
    let ranges = units.chunk_by(|unit, next| unit + 1 == *next).map(|range| match range {
        [one] => one.to_string(),
        range => format!("{}-{}", range[0], range[range.len() - 1]),
    });
    ranges.collect::<Vec<_>>().join(",")
}

/// Submits a script to Slurm. Returns the number of the job.
pub(super) fn submit(script: &Path) -> Result<String> {
    let answer = Command::new("sbatch").arg("--parsable").arg(script).output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            anyhow!(
                "--engine slurm: there is no sbatch here; log in where Slurm is, or print the script with --dry-run"
            )
        }
        _ => anyhow!(error).context("cannot start sbatch"),
    })?;
    if !answer.status.success() {
        let words = String::from_utf8_lossy(&answer.stderr);
        bail!("--engine slurm: sbatch refuses: {}; the script is {}", words.trim(), script.display());
    }
    let number = String::from_utf8_lossy(&answer.stdout);
    // On a federation the cluster's name follows.
    Ok(number.trim().split(';').next().unwrap_or_default().to_owned())
}
