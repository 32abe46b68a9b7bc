//! `cargo xtask experiment`: policies on logs under settings, replicated, from one file.
//!
//! | step | file |
//! |---|---|
//! | read and check the file, with line numbers in messages | `file.rs`, `check.rs`, `design.rs` |
//! | read logs once and hold them; make replications of them | `workloads.rs` |
//! | cut the work into units, in a plan that does not change | `plan.rs` |
//! | simulate runs, or find them in the laboratory's store | `unit.rs`, `measure.rs`, `weeks.rs` |
//! | compute here, with Slurm, or by commands for another tool | `engine.rs` |
//! | merge all runs: tables, ranks, verdicts, figures, words, warnings | `results.rs`, `in_log.rs`, `answer.rs`, `figures.rs`, `words.rs`, `pitfalls.rs`, `report.rs` |
//!
//! A policy on a log under a setting is a design point of the laboratory: tables, figures and claims are quantities over its
//! [observations](lab::observations), as for the papers. One replay has no replications to pair: it is stored with estimates over
//! blocks of the log. Folders of results, charts and the page are the laboratory's, too.

mod answer;
mod check;
mod cli;
mod design;
mod engine;
mod figures;
mod file;
mod in_log;
mod measure;
mod pitfalls;
mod plan;
mod report;
mod results;
mod unit;
mod weeks;
mod words;
mod workloads;

use crate::simulate::Added;
use anyhow::{Context, Result, bail, ensure};
pub use cli::Experiment;
use cli::{Engine, How, Part};
use lab::cli::{Common, Ending, print, program};
use lab::output::{OutDir, write_whole};
use lab::provenance::{cpu_seconds, peak_memory_mib, quoted};
use lab::store::Store;
use lab::terminal::tell;
use plan::{Batch, ExperimentPlan};
use report::ExperimentReport;
use results::{Precision, Results};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use unit::Run;

/// File of the plan, below the folder `cells`.
const PLAN: &str = "plan.jsonl";

/// Reads and checks the text of an experiment's file as a run would, and runs nothing.
///
/// # Errors
///
/// The first error in it, with its line.
pub fn check_text(text: &str) -> Result<()> {
    let source = file::Source { path: PathBuf::from("experiment.toml"), text: text.to_owned() };
    design::Design::read(&source, &Added::default()).map(drop)
}

/// Runs the command. `added` are policies and metrics of the program's own.
///
/// # Errors
///
/// Invalid file or plan, unreadable log, Ctrl-C, or disk error.
pub fn experiment(options: &Experiment, added: &Added, common: &Common) -> Result<Ending> {
    match &options.part {
        None => {}
        Some(Part::Init) => {
            print(&include_str!("experiment/init.toml").replace("cargo xtask", program()));
            return Ok(Ending::Done);
        }
        Some(Part::Plan { file, how }) => {
            let plan = ExperimentPlan::of(file, how, None, added)?;
            let path = planned(&plan, &cells_of(&out_of(&plan, how)), how.fresh)?;
            print(&format!("{}: {} units\n", path.display(), plan.units.len()));
            return Ok(Ending::Done);
        }
        Some(Part::Work { plan: path, unit }) => {
            let plan = ExperimentPlan::read(path, added)?;
            plan.ensure_same_programs()?;
            let one = plan.unit(*unit)?;
            let is_new = engine::work(&plan, folder_of(path), one)? > 0;
            if !common.quiet {
                print(&format!("unit {unit}: {}\n", if is_new { "computed" } else { "was there" }));
            }
            return Ok(Ending::Done);
        }
        Some(Part::Collect { plan: path, out }) => return collect(path, out.as_deref(), added, common),
    }
    let file = options.file.as_ref().context("an experiment is a file; `experiment init` prints a first one")?;
    let plan = ExperimentPlan::of(file, &options.how, None, added)?;
    if options.dry_run && options.engine == Engine::Local {
        print(&in_words(&plan));
        return Ok(Ending::Done);
    }
    match options.engine {
        Engine::Local => local(options, plan, added, common),
        Engine::Slurm | Engine::Script => elsewhere(options, &plan),
    }
}

/// Computes on all cores of this machine.
fn local(options: &Experiment, mut plan: ExperimentPlan, added: &Added, common: &Common) -> Result<Ending> {
    #[expect(clippy::disallowed_methods, reason = "for the manifest's timings alone")]
    let began = std::time::Instant::now();
    let out = OutDir::create(&out_of(&plan, &options.how), format!("experiment {}", plan.design.name))?;
    let path = out.path().to_owned();
    let cells = out.cells();
    if options.how.fresh {
        Store::forget(&cells)?;
    }
    planned(&plan, &cells, true)?;
    let (mut runs, mut replications, mut computed) = engine::local(&plan, &cells, common.quiet)?;
    if let Some(precision) = options.precision.or(plan.design.precision) {
        let most = plan.design.count.saturating_mul(10);
        let results =
            |plan: &ExperimentPlan, runs: &[Run]| Results::new(&plan.design, runs.to_vec()).precision(precision);
        let mut reached = results(&plan, &runs);
        while let Some(wanted) = missing_replications(&plan, reached, most) {
            // The added replications have a plan of their own: finished ones stay as they are.
            let file = options.file.as_deref().unwrap_or(Path::new(""));
            let more = ExperimentPlan::of(file, &options.how, Some((plan.head.end, wanted)), added)?;
            plan.ensure_same_programs()?;
            let (added, batches, simulated) = engine::local(&more, &cells, common.quiet)?;
            runs.extend(added);
            replications += batches;
            computed += simulated;
            plan.head.end = wanted;
            reached = results(&plan, &runs);
        }
        if reached != Precision::Reached {
            tell(&format!(
                "{} replications, ten times as many as requested, do not bring every mean within {precision}",
                plan.head.end
            ));
        }
    }
    let report = ExperimentReport::new(&plan, runs);
    let timings = json!({
        "wall_seconds": began.elapsed().as_secs_f64(),
        "cpu_seconds": cpu_seconds(),
        "peak_memory_mib": peak_memory_mib(),
        "replications_computed": computed,
        "replications_reused": replications - computed,
    });
    report.write(out, timings)?;
    show(&report, &path, common);
    Ok(Ending::Done)
}

/// Number of replications, at most `most`, for a precision that is not reached; `None` if no more are run.
fn missing_replications(plan: &ExperimentPlan, reached: Precision, most: u32) -> Option<u32> {
    let have = plan.head.end;
    let wanted = match reached {
        Precision::Reached => return None,
        Precision::Needs(wanted) => wanted.and_then(|wanted| u32::try_from(wanted).ok()).unwrap_or(most),
    };
    // The estimate is rough: at least a tenth more, at most twice as many at a time. One replay has no more blocks.
    let has_more = plan.design.method != design::Method::Weeks && have < most;
    has_more.then(|| wanted.clamp(have + have.div_ceil(10), have.saturating_mul(2)).min(most))
}

/// Prints commands, or submits a job array.
fn elsewhere(options: &Experiment, plan: &ExperimentPlan) -> Result<Ending> {
    ensure!(
        options.precision.is_none(),
        "--precision goes with --engine local, which can look at what is there before it adds more; give count instead"
    );
    let out = out_of(plan, &options.how);
    let cells = cells_of(&out);
    if options.how.fresh && !options.dry_run {
        Store::forget(&cells)?;
    }
    let path = cells.join(PLAN);
    let mut found = BTreeSet::new();
    unit::each_stored_batch(&cells, plan, |batch, _, _, code| {
        found.extend((code == plan.code).then_some(batch));
        Ok(())
    })?;
    let missing = engine::missing(plan, |batch| found.contains(batch));
    if options.engine == Engine::Script {
        if !options.dry_run {
            planned(plan, &cells, false)?;
        }
        print(&engine::commands(&path, &missing)?);
        return Ok(Ending::Done);
    }
    let script = engine::slurm_script(plan, &path, &missing, &options.slurm)?;
    if options.dry_run {
        print(&script);
        return Ok(Ending::Done);
    }
    planned(plan, &cells, false)?;
    let collect = format!("{} experiment collect {}", program(), quoted(&path.to_string_lossy()));
    if missing.is_empty() {
        print(&format!("all {} units are finished: {collect}\n", plan.units.len()));
        return Ok(Ending::Done);
    }
    let file = cells.join("slurm.sh");
    write_whole(&file, script.as_bytes())?;
    let job = engine::submit(&file)?;
    print(&format!(
        "job {job}: {} of {} units; when it is done: {collect}\n(a unit that fails is submitted again by the same command)\n",
        missing.len(),
        plan.units.len()
    ));
    Ok(Ending::Done)
}

/// Merges the units of a plan, from any machines.
fn collect(path: &Path, out: Option<&Path>, added: &Added, common: &Common) -> Result<Ending> {
    #[expect(clippy::disallowed_methods, reason = "for the manifest's timings alone")]
    let began = std::time::Instant::now();
    let plan = ExperimentPlan::read(path, added)?;
    let cells = folder_of(path);
    let above = cells.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let out = OutDir::create(out.unwrap_or(above), format!("experiment {}", plan.design.name))?;
    let shown = out.path().to_owned();
    let report = ExperimentReport::new(&plan, merged(cells, &plan)?);
    report.write(out, json!({ "wall_seconds": began.elapsed().as_secs_f64() }))?;
    show(&report, &shown, common);
    Ok(Ending::Done)
}

/// All stored runs of a plan, in their order.
fn merged(cells: &Path, plan: &ExperimentPlan) -> Result<Vec<Run>> {
    let mut found: BTreeMap<Batch, (Vec<Run>, PathBuf)> = BTreeMap::new();
    let mut codes: BTreeSet<String> = BTreeSet::new();
    unit::each_stored_batch(cells, plan, |batch, runs, file, code| {
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
        engine::missing(plan, |batch| found.contains_key(batch)).iter().map(|unit| unit.unit.to_string()).collect();
    if !missing.is_empty() {
        bail!(
            "{} of {} units are missing: {}{}; compute them with `{} experiment work {} --unit K`, or run the experiment again",
            missing.len(),
            plan.units.len(),
            missing[..missing.len().min(8)].join(", "),
            if missing.len() > 8 { ", …" } else { "" },
            program(),
            quoted(&cells.join(PLAN).to_string_lossy())
        );
    }
    if codes.len() > 1 {
        tell("warning: the units were computed by different versions of the program; no run differs between them");
    }
    Ok(found.into_values().flat_map(|(runs, _)| runs).collect())
}

/// Writes the plan into the folder of its units. A different plan there is replaced only if `replaces`: a plan does not change
/// while other machines use it.
fn planned(plan: &ExperimentPlan, cells: &Path, replaces: bool) -> Result<PathBuf> {
    let path = cells.join(PLAN);
    let text = plan.to_text();
    match fs::read_to_string(&path) {
        Ok(there) if there == text => return Ok(path),
        Ok(_) => ensure!(
            replaces,
            "{}: is another plan, and does not change while other machines may work by it; choose another folder with --out DIR, \
             or start again with --fresh",
            path.display()
        ),
        Err(_) => {}
    }
    write_whole(&path, text.as_bytes())?;
    Ok(path)
}

fn out_of(plan: &ExperimentPlan, how: &How) -> PathBuf {
    how.out.clone().unwrap_or_else(|| Path::new("results/experiment").join(&plan.design.name))
}

fn cells_of(out: &Path) -> PathBuf {
    out.join("cells")
}

/// Folder of a plan, which is that of its units.
fn folder_of(plan: &Path) -> &Path {
    plan.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn in_words(plan: &ExperimentPlan) -> String {
    let design = &plan.design;
    let settings = design.settings();
    let runs = settings.len() * design.policies.len() * design.logs.len();
    let mut text = format!(
        "{}: {} logs × {} settings × {} policies = {runs} cells, replicated by {} {}; {} units\n",
        design.name,
        design.logs.len(),
        settings.len(),
        design.policies.len(),
        design.method.name(),
        if design.method == design::Method::Weeks {
            "of one replay".to_owned()
        } else {
            format!("{} times", design.count)
        },
        plan.units.len()
    );
    for warning in pitfalls::of_the_design(design, &plan.held) {
        text += &format!("mind: {warning}\n");
    }
    text
}

fn show(report: &ExperimentReport<'_>, out: &Path, common: &Common) {
    if common.json {
        print(&format!("{:#}\n", report.as_json(out)));
        return;
    }
    if !common.quiet {
        report.warnings.iter().for_each(|warning| tell(&format!("mind: {warning}")));
    }
    print(&report.as_text());
    print(&format!("{}\n", out.join("report.html").display()));
}
