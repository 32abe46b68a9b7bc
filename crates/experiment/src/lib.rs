//! `cargo xtask experiment`: policies on logs under settings, replicated, from one file.
//!
//! | step | file |
//! |---|---|
//! | read and check the file, with line numbers in messages; read logs once and hold them; make replications of them | `design.rs`, `design/` |
//! | cut the work into units, in a plan that does not change | `plan.rs` |
//! | simulate runs, or find them in the laboratory's store, here, with Slurm, or by commands for another tool | `unit.rs` |
//! | merge all runs: tables, ranks, verdicts, figures, words, warnings | `report.rs`, `report/` |
//!
//! A policy on a log under a setting is a design point of the laboratory: tables, figures and claims are quantities over its
//! [observations](lab::observations), as for the papers. Folders of results, charts and the page are the laboratory's, too.

mod cli;
mod design;
mod plan;
mod report;
mod unit;

use anyhow::{Context, Result, bail, ensure};
pub use cli::Experiment;
use cli::{Engine, Part};
use lab::cli::{Common, Ending, print, program};
use lab::output::provenance::quoted;
use lab::output::store::Store;
use lab::output::{OutDir, write_whole};
use lab::terminal::tell;
use plan::{Batch, ExperimentPlan};
use replay::name_of;
use replay::simulate::Added;
use report::ExperimentReport;
use report::results::Results;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use unit::Run;

/// Reads and checks the text of an experiment's file as a run would, and runs nothing.
///
/// # Errors
///
/// The first error in it, with its line.
pub fn check_text(text: &str) -> Result<()> {
    let (path, text, added) = (PathBuf::from("experiment.toml"), text.to_owned(), &Added::default());
    design::Design::read(&design::file::Source { path, text, added }).map(drop)
}

/// Runs the command. `added` are policies and metrics of the program's own.
///
/// # Errors
///
/// Invalid file or plan, unreadable log, Ctrl-C, or disk error.
pub fn experiment(options: &Experiment, added: &Added, common: &Common) -> Result<Ending> {
    let text = match &options.part {
        None => {
            let file =
                options.file.as_ref().context("an experiment is a file; `experiment init` prints a first one")?;
            let plan = ExperimentPlan::of(file, &options.how, added)?;
            match options.engine {
                Engine::Local if options.dry_run => in_words(&plan),
                Engine::Local => local(options, plan, common)?,
                Engine::Slurm | Engine::Script => elsewhere(options, &plan)?,
            }
        }
        Some(Part::Init) => include_str!("init.toml").replace("cargo xtask", program()),
        Some(Part::Plan { file, how }) => {
            let plan = ExperimentPlan::of(file, how, added)?;
            if how.fresh {
                Store::forget(&plan.cells)?;
            }
            plan.write(how.fresh)?;
            format!("{}: {} units\n", plan.path().display(), plan.units.len())
        }
        Some(Part::Work { plan, unit }) => {
            let plan = ExperimentPlan::read(plan, added)?;
            plan.ensure_same_programs()?;
            let count = plan.units.len();
            let one = plan.units.get(*unit as usize);
            let one = one.with_context(|| format!("--unit {unit}: the plan has {count} units, counted from 0"))?;
            let is_new = unit::work(&plan, *one)? > 0;
            let text = format!("unit {unit}: {}\n", if is_new { "computed" } else { "was there" });
            if common.quiet { String::new() } else { text }
        }
        Some(Part::Collect { plan, out }) => {
            let plan = ExperimentPlan::read(plan, added)?;
            let out = OutDir::create(out.as_deref().unwrap_or(plan.out()), format!("experiment {}", plan.design.name))?;
            report(&plan, merged(&plan)?, out, json!({}), common)?
        }
    };
    print(&text);
    Ok(Ending::Done)
}

fn local(options: &Experiment, mut plan: ExperimentPlan, common: &Common) -> Result<String> {
    let out = OutDir::create(plan.out(), format!("experiment {}", plan.design.name))?;
    if options.how.fresh {
        Store::forget(&plan.cells)?;
    }
    plan.write(true)?;
    plan.precision = options.precision;
    let (mut runs, mut replications, mut computed) = (Vec::new(), 0, 0);
    let (hash, most) = (plan.hash.clone(), plan.design.replicate.count().saturating_mul(10));
    loop {
        let (added, batches, simulated) = unit::local(&plan, common.quiet)?;
        runs.extend(added);
        replications += batches;
        computed += simulated;
        let Some(precision) = options.precision.or(plan.design.replicate.precision) else { break };
        let results = Results::new(&plan.design, runs.clone());
        let (Some(wanted), have) = (results.replications_for(precision), plan.head.end) else { break };
        if have >= most {
            tell(&format!(
                "{have} replications, ten times as many as requested, do not bring every mean within {precision}"
            ));
            break;
        }
        // The estimate is rough: at least a tenth more, at most twice as many at a time. The added replications have a plan of their own:
        // finished ones stay as they are.
        let wanted = wanted.clamp(have + have.div_ceil(10), have.saturating_mul(2)).min(most);
        plan.cut(have, wanted, options.how.units)?;
        plan.ensure_same_programs()?;
    }
    plan.hash = hash;
    let timings = json!({ "replications_computed": computed, "replications_reused": replications - computed });
    report(&plan, runs, out, timings, common)
}

/// Writes the results, and returns the text about them.
fn report(
    plan: &ExperimentPlan,
    runs: Vec<Run>,
    out: OutDir,
    timings: serde_json::Value,
    common: &Common,
) -> Result<String> {
    let (path, report) = (out.path().to_owned(), ExperimentReport::new(plan, runs));
    report.write(out, timings)?;
    if common.json {
        return Ok(format!("{:#}\n", report.as_json(&path)));
    }
    if !common.quiet {
        report.warnings.iter().for_each(|warning| tell(&format!("warning: {warning}")));
    }
    Ok(format!("{}{}\n", report.as_text(), path.join("report.html").display()))
}

/// Returns commands, or submits a job array.
fn elsewhere(options: &Experiment, plan: &ExperimentPlan) -> Result<String> {
    ensure!(
        options.precision.is_none(),
        "--precision goes with --engine local, which can look at what is there before it adds more; give count instead"
    );
    if options.how.fresh && !options.dry_run {
        Store::forget(&plan.cells)?;
    }
    let mut found = BTreeSet::new();
    unit::each_stored_batch(plan, |batch, _, _, code| {
        found.extend((code == plan.code).then_some(batch));
        Ok(())
    })?;
    let missing = unit::missing(plan, |batch| found.contains(batch));
    let text = match options.engine {
        Engine::Script => unit::commands(plan, &missing)?,
        Engine::Local | Engine::Slurm => unit::slurm_script(plan, &missing, &options.slurm)?,
    };
    if !options.dry_run {
        plan.write(options.how.fresh)?;
    }
    if options.engine == Engine::Script || options.dry_run {
        return Ok(text);
    }
    let collect = format!("{} experiment collect {}", program(), quoted(&plan.path().to_string_lossy()));
    if missing.is_empty() {
        return Ok(format!("all {} units are finished: {collect}\n", plan.units.len()));
    }
    let file = plan.cells.join("slurm.sh");
    write_whole(&file, text.as_bytes())?;
    Ok(format!(
        "job {}: {} of {} units; when it is done: {collect}\n(a unit that fails is submitted again by the same command)\n",
        unit::submit(&file)?,
        missing.len(),
        plan.units.len()
    ))
}

/// All stored runs of a plan, in their order.
fn merged(plan: &ExperimentPlan) -> Result<Vec<Run>> {
    let mut found: BTreeMap<Batch, (Vec<Run>, PathBuf)> = BTreeMap::new();
    let mut codes: BTreeSet<String> = BTreeSet::new();
    unit::each_stored_batch(plan, |batch, runs, file, code| {
        codes.insert(code.to_owned());
        if let Some((others, elsewhere)) = found.get(&batch) {
            ensure!(
                *others == runs,
                "{} and {}: hold the runs of {}, replication {}, twice, with different numbers, so one of two machines or programs is \
                 wrong; remove the file that is not to be believed",
                elsewhere.display(),
                file.display(),
                plan.design.logs[batch.log].name,
                batch.rep
            );
        }
        found.insert(batch, (runs, file.to_owned()));
        Ok(())
    })?;
    let missing: Vec<String> =
        unit::missing(plan, |batch| found.contains_key(batch)).iter().map(u32::to_string).collect();
    if !missing.is_empty() {
        bail!(
            "{} of {} units are missing: {}{}; compute them with `{} experiment work {} --unit K`, or run the experiment again",
            missing.len(),
            plan.units.len(),
            missing[..missing.len().min(8)].join(", "),
            if missing.len() > 8 { ", …" } else { "" },
            program(),
            quoted(&plan.path().to_string_lossy())
        );
    }
    if codes.len() > 1 {
        tell("warning: the units were computed by different versions of the program; no run differs between them");
    }
    Ok(found.into_values().flat_map(|(runs, _)| runs).collect())
}

fn in_words(plan: &ExperimentPlan) -> String {
    let design = &plan.design;
    let settings = design.settings();
    let runs = settings.len() * design.policies.len() * design.logs.len();
    let mut text = format!(
        "{}: {} logs × {} settings × {} policies = {runs} cells, replicated by {} {} times; {} units\n",
        design.name,
        design.logs.len(),
        settings.len(),
        design.policies.len(),
        name_of(&design.replicate.method),
        design.replicate.count(),
        plan.units.len()
    );
    for warning in report::caution::of_the_design(plan) {
        text += &format!("warning: {warning}\n");
    }
    text
}
