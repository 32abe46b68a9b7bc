//! Engines that compute the units: this machine, or any other one with the same program.

use super::cli::Slurm;
use super::plan::{Batch, ExperimentPlan, Unit};
use super::unit::{self, Run};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lab::progress::Progress;
use lab::provenance::quoted;
use lab::store::{self, Store};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Returns all runs of a plan, the number of batches, and the number of batches simulated now: those that neither its store nor a unit
/// holds.
pub(super) fn local(plan: &ExperimentPlan, quiet: bool) -> Result<(Vec<Run>, u64, u64)> {
    let batches = plan.batches(&plan.units);
    let total = batches.iter().map(|batch| plan.cost(*batch)).sum();
    let progress = Progress::new(format!("{}, {} replications", plan.design.name, batches.len()), total, quiet);
    let store = Store::open(&plan.cells)?.borrowing_from(&plan.cells);
    let (runs, simulated) = unit::runs(plan, &store, &batches, &|jobs| progress.add(jobs))?;
    Ok((runs, batches.len() as u64, simulated))
}

/// Computes one unit into a store of its own. Returns the number of batches simulated now.
pub(super) fn work(plan: &ExperimentPlan, one: Unit) -> Result<u64> {
    let store = Store::open(&store::unit(&plan.cells, one.unit))?;
    Ok(unit::runs(plan, &store, &plan.batches(&[one]), &|_| {})?.1)
}

/// Units with a batch that is not found.
pub(super) fn missing(plan: &ExperimentPlan, is_found: impl Fn(&Batch) -> bool) -> Vec<u32> {
    let units = plan.units.iter().filter(|unit| !plan.batches(&[**unit]).iter().all(&is_found));
    units.map(|unit| unit.unit).collect()
}

/// Command that computes a unit, without its number.
fn command(plan: &ExperimentPlan) -> Result<String> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
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
    let folder = std::env::current_dir().context("cannot tell the current folder")?;
    Ok(format!(
        "#!/bin/bash\n\
         #SBATCH --job-name={}\n\
         #SBATCH --array={}{most}\n\
         #SBATCH --ntasks=1 --cpus-per-task=1\n\
         #SBATCH --output={}\n\
         {options}\
         # A unit that is finished is not computed again: submit this as often as need be.\n\
         set -eu\n\
         cd {}\n\
         exec {} \"$SLURM_ARRAY_TASK_ID\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet\n",
        plan.design.name,
        array(missing),
        plan.cells.join("slurm-%A_%a.out").display(),
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
