//! `gridproof slurm`: variants of a cluster's settings on its own jobs, each run under several phases of the controller's loops.

use super::input::{self, Inputs, Trace, terms};
use super::page;
use super::results::{Arm, VariantResults};
use super::tables;
use crate::label::Label;
use crate::options::words;
use crate::reasons::history::{Explanation, Line};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use lab::cli::{Common, Ending, print, program};
use lab::output::OutDir;
use lab::output::provenance::sha256_of;
use lab::progress::Progress;
use lab::terminal::tell;
use serde_json::json;
use sim_core::Time;
use slurm_sched::{EndState, Ended, Report, Version, Why, simulate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) const HELP: &str = include_str!("help.txt");

/// Variants that `slurm` compares, and how.
#[derive(Clone, Debug, Args)]
pub struct WhatIf {
    /// Variants to compare: NAME or NAME=KEY=VALUE;…; the first is the baseline.
    #[arg(long, value_name = "VARIANT,…", default_value = "base")]
    pub compare: String,
    /// Phases of the controller's loops, under each of which a variant runs.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub phases: u32,
    /// Seed of the phases.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Folder of the results; results/slurm/TRACE if not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print why these jobs wait, pass by pass, under each variant's first phase, and write no results.
    #[arg(long, value_name = "JOB,…", value_delimiter = ',')]
    pub explain: Vec<u32>,
    /// With --explain: every change, instead of a few lines.
    #[arg(long, requires = "explain")]
    pub all: bool,
}

/// Reads the names and settings of `--compare`.
fn variants(text: &str) -> Result<Vec<(String, Vec<String>)>> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for one in text.split(',') {
        let (name, rest) = one.trim().split_once('=').map_or((one.trim(), None), |(name, rest)| (name, Some(rest)));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        ensure!(
            name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain),
            "--compare: {one:?}: expected NAME or NAME=KEY=VALUE, with a name of letters, digits, '-', '_' and '.'"
        );
        let rest = rest.map(|rest| rest.trim_matches('"'));
        let settings: Vec<String> =
            rest.into_iter().flat_map(|rest| rest.split(';')).map(|one| one.trim().to_owned()).collect();
        if let Some(bad) = settings.iter().find(|setting| !setting.contains('=')) {
            bail!(
                "--compare: variant {name}: expected KEY=VALUE, found {bad:?}; write NAME=KEY=VALUE, and ';' between the settings \
                 of one variant"
            );
        }
        ensure!(found.iter().all(|(known, _)| known != name), "--compare: {name} is named twice; rename one");
        ensure!(name != "log", "--compare: log stands for the log's own schedule; rename the variant");
        found.push((name.to_owned(), settings));
    }
    Ok(found)
}

pub(super) fn run(inputs: &Inputs, options: &WhatIf, common: &Common) -> Result<Ending> {
    let version = inputs.slurm_version.as_deref().map_or(Ok(Version::V24_11), str::parse)?;
    let mut arms = Vec::new();
    for (name, settings) in variants(&options.compare)? {
        let site = inputs.site(version, &settings).with_context(|| format!("variant {name}"))?;
        arms.push(Arm { name, settings, site });
    }
    let trace = inputs.jobs(&arms[0].site)?;
    let name = input::name(&inputs.trace);
    ensure!(!trace.jobs.is_empty(), "{name}: no job that can run ({}); check the file", trace.left_out.join(", "));
    for Arm { site, .. } in &arms[1..] {
        site.check(&name, &trace.jobs)?;
    }
    if !options.explain.is_empty() {
        let pairs = arms.iter().flat_map(|arm| options.explain.iter().map(move |id| (arm, *id)));
        let found: Vec<Explanation> =
            pairs.map(|(arm, id)| explain(arm, &trace, options.seed, id)).collect::<Result<_>>()?;
        let words = found.iter().map(|one| one.in_words(&name, None, options.all));
        let as_json = || json!({ "trace": name, "explanations": found });
        print(&if common.json { format!("{:#}\n", as_json()) } else { words.collect::<Vec<_>>().join("\n") });
        return Ok(Ending::Done);
    }
    let stem = stem(&inputs.trace);
    let out = options.out.clone().unwrap_or_else(|| Path::new("results/slurm").join(&stem));
    let out = OutDir::create(&out, "slurm")?;

    let runs = arms.len() as u64 * u64::from(options.phases);
    let progress = Progress::new(format!("slurm, {runs} runs"), runs, common.quiet);
    let results = VariantResults::compute(&arms, &trace, options.phases, options.seed, &|| progress.add(1))?;
    drop(progress);

    let (command, notes) = (command(inputs, options, version), notes(&trace, &results));
    out.write("summary.csv", tables::summary(&results)?)?;
    out.write("differences.csv", tables::differences(&results)?)?;
    out.write("breakdown.csv", tables::breakdown(&results)?)?;
    for (at, arm) in arms.iter().enumerate() {
        out.write(Path::new(&arm.name).join("jobs.csv"), tables::jobs(&results, at)?)?;
    }
    page::write(&results, [&stem, &command], options.seed, &notes, &out)?;
    let path = out.path().to_owned();
    out.finish(json!({
        "trace": inputs.trace.file_name().unwrap_or_default().to_string_lossy(),
        "trace_sha256": sha256_of(&inputs.trace).with_context(|| format!("cannot read {name}"))?,
        "conf_sha256": sha256_of(&inputs.conf).with_context(|| format!("cannot read {}", inputs.conf.display()))?,
        "slurm_version": version.to_string(),
        "variants": arms.iter().map(|arm| json!({ "name": arm.name, "settings": arm.settings })).collect::<Vec<_>>(),
        "phases": options.phases,
        "seed": options.seed,
        "notes": notes,
        "command_line": command,
    }))?;
    if common.json {
        print(&format!("{:#}\n", tables::as_json(&results, &notes, &path)));
    } else {
        if !common.quiet {
            notes.iter().for_each(|note| tell(note));
        }
        print(&format!("{}{}\n", tables::on_terminal(&results), path.join("report.html").display()));
    }
    Ok(Ending::Done)
}

/// Explains the waits and the start of a job, from the passes of the first phase.
fn explain(arm: &Arm, trace: &Trace, seed: u64, id: u32) -> Result<Explanation> {
    let job = trace.jobs.iter().find(|job| job.id == id);
    let job = job.with_context(|| format!("there is no job {id} in the trace, or it is left out; check --explain"))?;
    let (mut history, mut brief) = (Vec::new(), Vec::new());
    let mut last: BTreeMap<&str, Why> = BTreeMap::new();
    let terms = terms(&arm.site, trace.zero, seed, 0);
    simulate(&arm.site, &trace.jobs, terms, Some(id), |report| match report {
        Report::Waits(time, by, why) => {
            let pass = by.name();
            let new = line(time, why.kind, pass, format!("{pass} pass: {}: {}", why.kind, why.words));
            let known = last.insert(pass, why.clone());
            brief.extend(known.as_ref().is_none_or(|known| known.kind != why.kind).then(|| new.clone()));
            history.extend((known != Some(why)).then_some(new));
        }
        Report::Ended(Ended { job, submit, start, end, by, nodes, state, .. }) if job == id => {
            let pass = by.name();
            let nodes = arm.site.conf.node_list(nodes);
            let words = format!("{pass} pass: starts on {nodes}, after {} s", start - submit);
            let ends = match state {
                EndState::Completed => "ends",
                EndState::Timeout => "is stopped at its time limit",
                EndState::Requeued => "is requeued",
            };
            for new in [line(start, "start", pass, words), line(end, "end", pass, ends.to_owned())] {
                history.push(new.clone());
                brief.push(new);
            }
        }
        _ => {}
    });
    let request = &job.request;
    let nodes = request.nodes.map_or_else(String::new, |nodes| format!(" {nodes} nodes"));
    let limit = job.limit.map_or_else(|| "its partition's limit".to_owned(), |limit| format!("{limit} s"));
    let (user, partitions) = (request.user(), request.partitions.join(","));
    let about = format!(
        " by {user} (line {} of the trace); requests{nodes} {partitions} for {limit}, and runs for {} s",
        job.line, job.run
    );
    let facts = json!({ "line": job.line, "user": user, "submit": job.submit, "limit": job.limit, "run": job.run });
    let submit = Time::from_secs(job.submit.max(0).unsigned_abs());
    let (policy, job) = (arm.name.clone(), Label::Number(u64::from(id)));
    Ok(Explanation { policy, job, submit, about: vec![about], facts, history, brief, note: None })
}

/// Returns the line of a pass at a second of the trace.
fn line(time: i64, event: &str, pass: &str, words: String) -> Line {
    let from = Time::from_secs(time.max(0).unsigned_abs());
    Line { from, until: None, words, facts: json!({ "event": event, "pass": pass }) }
}

/// The command that gives the same results.
fn command(inputs: &Inputs, options: &WhatIf, version: Version) -> String {
    let Inputs { conf, trace, accounts, set, zone, slurm_version: _ } = inputs;
    let WhatIf { compare, phases, seed, .. } = options;
    let mut text = format!("{} slurm", program());
    text += &words("conf", Some(conf.display()));
    text += &words("trace", Some(trace.display()));
    text += &words("accounts", accounts.as_ref().map(|path| path.display()));
    text += &words("zone", zone.as_ref());
    set.iter().for_each(|setting| text += &words("set", Some(setting)));
    text += &words("compare", Some(compare));
    text + &format!(" --phases {phases} --seed {seed} --slurm-version {version}")
}

fn notes(trace: &Trace, results: &VariantResults<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if !trace.left_out.is_empty() {
        notes.push(format!("Left out of the trace, or repaired: {}.", trace.left_out.join(", ")));
    }
    let requeued = trace.jobs.iter().filter(|job| !job.earlier_runs.is_empty()).count();
    if requeued > 0 {
        notes.push(format!(
            "{requeued} jobs were requeued: they run as often as in the trace, and count once for each run."
        ));
    }
    let never = results.arms.iter().zip(&results.never).filter(|(_, never)| **never > 0);
    let never: Vec<String> = never.map(|(arm, never)| format!("{never} under {}", arm.name)).collect();
    if !never.is_empty() {
        let why = "Jobs that never start (held, over a limit, or wider than their partition), which means leave out";
        notes.push(format!("{why}: {}.", never.join(", ")));
    }
    let settings = results.arms.iter().flat_map(|arm| &arm.site.conf.not_modelled).map(String::as_str);
    let settings = Vec::from_iter(settings.collect::<BTreeSet<_>>()).join(", ");
    if !settings.is_empty() {
        notes.push(format!("Without effect here: {settings}."));
    }
    notes
}

/// The trace's name without its extensions.
fn stem(trace: &Path) -> String {
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(".gz");
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}
