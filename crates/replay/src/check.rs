//! `cargo xtask check`: can machines have run this schedule, and is it what a policy does?
//!
//! A schedule is read whole, and so is the log: memory grows with both.

mod attempts;
mod conform;
mod feasible;
mod finding;
mod follower;
mod schedule;

#[cfg(test)]
mod conformance;

use crate::asked::Asked;
use crate::run_options::PassesName;
use crate::run_options::RunOptions;
use crate::simulate::door::NamedPolicy;
use crate::simulate::sites::Sites;
use crate::simulate::{Own, carried};
use anyhow::{Context, Result};
use clap::Args;
use conform::Question;
use feasible::{Checked, Jobs};
use finding::{Fault, Finding, Findings};
use follower::Differences;
use lab::cli::{Common, Ending, print};
use lab::output::manifest::Manifest;
use lab::terminal::tell;
use sim_core::{Outage, Time};
use std::fmt::Write;
use std::path::Path;
use std::path::PathBuf;
use workload::SwfReader;

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask check --trace KTH-SP2.swf.gz --schedule results/simulate/KTH-SP2/easy/jobs.csv
      can a machine have run this? Each job once, after its submission, as wide and as long as requested, and none missing
  cargo xtask check --trace log.swf --schedule theirs.csv --procs 256 --policy easy
      and is it what EASY does? The first start that EASY would not have made, and how many such there are
  cargo xtask check --trace log.swf --schedule theirs.swf --machines site.machines --json
  cargo xtask check --trace log.swf --schedule jobs.csv --outages mtbf:30d,mttr:4h --seed 7 --policy easy
      a schedule on machines that fail: no job ran on one that was down, and EASY decided

The schedule, of any program: CSV with a heading, of which the columns job (or job_id) and start are needed, and submit, finish \
(or end), processors (or procs, cpus), site, allocated (0-3,7) and state (rejected: never started) are used if they are \
there; times in seconds, from the first submission or as in the log. Or SWF, where a start is submit + wait. Plain or gzip.

Run times are those of the log, cut at the limit under --estimates user. Records without a run time, or of zero, are no jobs, \
and are not looked at. A job wider than every place must not start.

With --outages: no job runs while the place is down, and a job that a failure hit has started again. The starts that a failure ended are \
in no schedule: where the policy would have made one, and there was room for it, it is taken as made.

With --policy: what happens at one instant is releases, then arrivals, then one scheduling pass (or as --passes says); a policy looks at jobs that \
arrived at one instant in the order of the log. At each instant the policy is asked about the state that the schedule has led \
to. Where it would start others than the schedule does, that is a difference, and it goes on from the schedule: one \
that remembers (cons, easy+reserve=K) is built again from the jobs that run and wait. A job that is late is counted once. Of plans \
(eg-edf, best-gap, bgt, sg) and of policies of your own, unless their answer follows from the view alone (Policy::is_pure), the \
first difference alone is reported.

Exit codes: 0 it is; 1 it is not, and why; 2 bad usage or input; 3 reading failed.")]
pub struct Check {
    /// The log, and how `simulate` read it.
    #[command(flatten)]
    asked: Asked,
    /// The schedule: CSV or SWF, plain or gzip.
    #[arg(long, value_name = "FILE.csv|FILE.swf")]
    schedule: PathBuf,
    /// The policy that made it, as `simulate` takes it; without, it is only asked whether a machine can have run it.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// The options of `simulate` under which it was made.
    #[command(flatten)]
    run: RunOptions,
}

/// Checks a schedule. `own` are policies that the program adds.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read.
pub fn check(options: &Check, own: &[&'static Own], common: &Common) -> Result<Ending> {
    let told = ask(options, own)?;
    told.notes.iter().for_each(|note| tell(note));
    print(&if common.json { told.as_json() } else { told.in_words(common.quiet) });
    Ok(if told.checked.findings.is_empty() { Ending::Done } else { Ending::Differs })
}

/// The first finding of each kind, as `KIND: WORDS`; nothing is printed.
///
/// # Errors
///
/// As [`check`].
pub fn findings(options: &Check, own: &[&'static Own]) -> Result<Vec<String>> {
    let told = ask(options, own)?;
    Ok(told.checked.findings.iter().map(|(_, one)| format!("{}: {}", one.fault.name(), one.words)).collect())
}

fn ask<'a>(options: &'a Check, own: &[&'static Own]) -> Result<Told<'a>> {
    let run = &options.run;
    // What is predicted is no part of the log: jobs come with what was requested.
    let asked = Asked { estimates: carried(options.asked.estimates), ..options.asked.clone() };
    let policy = options.policy.as_deref().map(|name| NamedPolicy::parse(name, asked.seed, run, own)).transpose()?;
    let places = Sites::of(&asked, run.procs, SwfReader::open(&asked.trace)?.header())?;
    let jobs = Jobs::read(&asked, &places)?;
    let rows = schedule::read(&options.schedule, &jobs.names)?;
    let mut checked = feasible::check(&jobs, &rows, &places).with_context(|| options.schedule.display().to_string())?;
    let outages = outages(options, &places, &checked)?;
    feasible::ensure_up(&jobs, &outages, &places.names(), &mut checked);
    // What cannot have run cannot be asked about.
    let differences = policy.as_ref().filter(|_| checked.findings.is_empty()).map(|policy| {
        let predictions = policy.predictions(options.asked.estimates);
        let (jobs, machines) = (&jobs, places.machines());
        let question = Question { jobs, machines, outages, run, policy, predictions };
        conform::check(question, &checked.starts, &mut checked.findings)
    });
    find_other_programs(&options.schedule, &mut checked.findings)?;
    Ok(Told { options, policy, places, checked, differences, notes: jobs.notes })
}

/// Compares the programs that the manifest of `OUT/POLICY/jobs.csv` names with what they hold now.
fn find_other_programs(schedule: &Path, findings: &mut Findings) -> Result<()> {
    let Some(folder) = schedule.parent() else { return Ok(()) };
    let (Some(policy), Some(out)) = (folder.file_name(), folder.parent()) else { return Ok(()) };
    // A manifest of another kind is none of a schedule's.
    let Ok(Some(manifest)) = Manifest::read(out) else { return Ok(()) };
    for words in manifest.other_programs(Some(&policy.to_string_lossy()))? {
        findings.add(Fault::Program, 0, None, 0, || words);
    }
    Ok(())
}

/// The outages of the places up to the end of the schedule, in order of failure.
fn outages(options: &Check, places: &Sites, checked: &Checked) -> Result<Vec<Outage>> {
    let end = checked.starts.iter().map(|start| start.finish).max().unwrap_or(Time::ZERO);
    let names = places.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = options.run.outages_of(&names, options.asked.seed)?;
    // What cannot be read ends a run as well, however late it stands there.
    let wanted = all.take_while(|outage| outage.as_ref().map_or(true, |outage| outage.down <= end));
    Ok(wanted.collect::<Result<_, _>>()?)
}

struct Told<'a> {
    options: &'a Check,
    policy: Option<NamedPolicy>,
    places: Sites,
    checked: Checked,
    differences: Option<Differences>,
    notes: Vec<String>,
}

impl Told<'_> {
    fn as_json(&self) -> String {
        let Checked { starts, findings, no_jobs, rejected } = &self.checked;
        let findings: Vec<_> = findings
            .iter()
            .map(|(count, Finding { fault, job, time, line, words })| {
                let time = time.map(|time| time.to_string());
                serde_json::json!({
                    "finding": fault.name(), "count": count, "job": job, "time": time, "line": line, "words": words,
                })
            })
            .collect();
        let differences = self.differences.map(|differences| {
            serde_json::json!({
                "instants": differences.instants,
                "starts_not_by_policy": differences.not_by_policy,
                "late_jobs": differences.late,
                "complete": differences.is_complete,
            })
        });
        let told = serde_json::json!({
            "trace": self.options.asked.trace,
            "schedule": self.options.schedule,
            "policy": self.policy.as_ref().map(NamedPolicy::name),
            "feasible": self.is_feasible(),
            "started": starts.len(),
            "rejected": rejected,
            "no_jobs": no_jobs,
            "differences": differences,
            "findings": findings,
            "notes": self.notes,
        });
        format!("{told:#}\n")
    }

    fn is_feasible(&self) -> bool {
        self.checked.findings.iter().all(|(_, finding)| matches!(finding.fault, Fault::Policy | Fault::Program))
    }

    fn in_words(&self, quiet: bool) -> String {
        let Checked { starts, findings, no_jobs, rejected } = &self.checked;
        let mut text = String::new();
        for (count, Finding { fault, job: _, time: _, line, words }) in findings.iter() {
            let file = if *fault == Fault::Missing && words.ends_with("is not there") {
                &self.options.asked.trace
            } else {
                &self.options.schedule
            };
            let place = if *line > 0 { format!("{}:{line}", file.display()) } else { file.display().to_string() };
            let others =
                if count > 1 && *fault != Fault::Policy { format!(" (the first of {count})") } else { String::new() };
            let _ = writeln!(text, "{place}: {}: {words}{others}", fault.name());
        }
        if quiet {
            return text;
        }
        let started = starts.len();
        let verdict = if self.is_feasible() { "feasible" } else { "not feasible" };
        let _ = writeln!(text, "{verdict}: {started} starts on {}", self.places);
        if *rejected > 0 {
            let _ = writeln!(text, "{rejected} jobs are wider than every place, and do not start");
        }
        if *no_jobs > 0 {
            let _ =
                writeln!(text, "{no_jobs} rows of records that have no run time, or no processors, were not looked at");
        }
        match (&self.policy, self.differences) {
            (Some(policy), Some(differences)) => text += &in_words(policy.name(), differences, self.options.run.passes),
            (Some(policy), None) => {
                let _ = writeln!(
                    text,
                    "{} was not asked: what cannot have run is no schedule of any policy",
                    policy.name()
                );
            }
            _ => {}
        }
        text
    }
}

fn in_words(name: &str, differences: Differences, passes: PassesName) -> String {
    let ties = match passes {
        PassesName::PerInstant => "releases, then arrivals in the order of the log, then one pass",
        PassesName::PerEvent => "releases, then arrivals in the order of the log, and a pass after each",
        PassesName::Pyss => "arrivals in the order of the log, then releases, and a pass after each",
    };
    let Differences { instants, not_by_policy, late, is_complete } = differences;
    match (instants, is_complete) {
        (0, _) => format!("{name}: every start is its own (at one instant: {ties})\n"),
        (_, false) => {
            format!("{name}: not asked further, since its plan cannot be built anew there (at one instant: {ties})\n")
        }
        _ => format!(
            "{name}: instants at which it would have started others: {instants}; starts that are not its own: {not_by_policy}; jobs \
             that it would have started earlier: {late} (at one instant: {ties}; after a difference it goes on from the schedule)\n"
        ),
    }
}
