//! Engines that compute the units: this machine, or any other one with the same program.

use super::cli::Slurm;
use super::plan::{Batch, ExperimentPlan, Unit};
use super::unit::{self, Run};
use anyhow::{Context, Result, bail};
use lab::progress::Progress;
use lab::provenance::quoted;
use lab::store::{self, Store};
use std::fmt::Write as _;
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
pub(super) fn missing(plan: &ExperimentPlan, is_found: impl Fn(&Batch) -> bool) -> Vec<Unit> {
    let units = plan.units.iter().filter(|unit| !plan.batches(&[**unit]).iter().all(&is_found));
    units.copied().collect()
}

/// Command that computes a unit, without its number.
fn command(plan: &ExperimentPlan) -> Result<String> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let [program, plan] = [program, plan.path()].map(|path| quoted(&path.to_string_lossy()).into_owned());
    Ok(format!("{program} experiment work {plan} --unit"))
}

/// One command per missing unit, a line each: for GNU parallel, HyperQueue, HTCondor.
pub(super) fn commands(plan: &ExperimentPlan, missing: &[Unit]) -> Result<String> {
    let command = command(plan)?;
    Ok(missing.iter().map(|unit| format!("{command} {}\n", unit.unit)).collect())
}

/// Job array of Slurm for the missing units.
///
/// A task is run at least once, and perhaps again: the second run finds the unit's file. The numbers of the units
/// are in the script, so that exactly the missing ones are submitted again.
pub(super) fn slurm_script(plan: &ExperimentPlan, missing: &[Unit], slurm: &Slurm) -> Result<String> {
    let mut script = String::from("#!/bin/bash\n");
    let ranges = array(missing);
    let most = slurm.max_parallel.map_or_else(String::new, |most| format!("%{most}"));
    let log = plan.cells.join("slurm-%A_%a.out");
    let _ = writeln!(script, "#SBATCH --job-name={}", plan.design.name);
    let _ = writeln!(script, "#SBATCH --array={ranges}{most}");
    let _ = writeln!(script, "#SBATCH --ntasks=1 --cpus-per-task=1");
    let _ = writeln!(script, "#SBATCH --output={}", log.display());
    for (option, value) in
        [("partition", &slurm.partition), ("account", &slurm.account), ("time", &slurm.time), ("mem", &slurm.memory)]
    {
        if let Some(value) = value {
            if value.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
                bail!("--{option} {value:?}: a word without blanks is expected");
            }
            let _ = writeln!(script, "#SBATCH --{option}={value}");
        }
    }
    let folder = std::env::current_dir().context("cannot tell the current folder")?;
    let _ = write!(
        script,
        "# A unit that is finished is not computed again: submit this as often as need be.\n\
         set -eu\n\
         cd {}\n\
         exec {} \"$SLURM_ARRAY_TASK_ID\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet\n",
        quoted(&folder.to_string_lossy()),
        command(plan)?
    );
    Ok(script)
}

/// `0-7,12,14-15`.
fn array(units: &[Unit]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for unit in units {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == unit.unit => *last = unit.unit,
            _ => ranges.push((unit.unit, unit.unit)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Submits a script to Slurm. Returns the number of the job.
pub(super) fn submit(script: &Path) -> Result<String> {
    let answer = Command::new("sbatch").arg("--parsable").arg(script).output();
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("--engine slurm: there is no sbatch here; log in where Slurm is, or print the script with --dry-run")
        }
        Err(error) => return Err(error).context("cannot start sbatch"),
    };
    if !answer.status.success() {
        let words = String::from_utf8_lossy(&answer.stderr);
        bail!("--engine slurm: sbatch refuses: {}; the script is {}", words.trim(), script.display());
    }
    let number = String::from_utf8_lossy(&answer.stdout);
    // On a federation the cluster's name follows.
    Ok(number.trim().split(';').next().unwrap_or_default().to_owned())
}
