//! `cargo xtask check`: can machines have run this schedule, and is it what a policy does?
//!
//! A schedule is read whole, and so is the log: memory grows with both.

mod cli;
mod conform;
mod feasible;
mod finding;
mod schedule;

#[cfg(test)]
mod conformance;

pub use cli::Check;

use crate::asked::Asked;
use crate::simulate::door::{NamedPolicy, Places};
use crate::simulate::{Own, carried};
use anyhow::{Context, Result};
use conform::Differences;
use feasible::{Checked, Jobs};
use finding::{Fault, Finding};
use lab::cli::{Common, Ending, print};
use std::fmt::Write;
use workload::SwfReader;

/// Checks a schedule. `own` are policies that the program adds.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read.
pub fn check(options: &Check, own: &[&'static Own], common: &Common) -> Result<Ending> {
    // What is predicted is no part of the log: jobs come with what was requested.
    let asked = Asked { estimates: carried(options.asked.estimates), ..options.asked.clone() };
    let policy = options.policy.as_deref().map(|name| NamedPolicy::parse(name, asked.seed, own)).transpose()?;
    let places = Places::of(&asked, options.procs, SwfReader::open(&asked.trace)?.header())?;
    let jobs = Jobs::read(&asked, &places)?;
    let rows = schedule::read(&options.schedule)?;
    let mut checked = feasible::check(&jobs, &rows, &places).with_context(|| options.schedule.display().to_string())?;
    // What cannot have run cannot be asked about.
    let differences = policy.as_ref().filter(|_| checked.findings.is_empty()).map(|policy| {
        let predictions = policy.predictions(options.asked.estimates);
        conform::check(&jobs, &checked.starts, places.machines(), policy, predictions, &mut checked.findings)
    });
    let told = Told { options, policy: policy.as_ref(), places: &places, checked: &checked, differences };
    print(&if common.json { told.as_json() } else { told.in_words(common.quiet) });
    Ok(if checked.findings.is_empty() { Ending::Done } else { Ending::Differs })
}

/// What is reported.
struct Told<'a> {
    options: &'a Check,
    policy: Option<&'a NamedPolicy>,
    places: &'a Places,
    checked: &'a Checked,
    differences: Option<Differences>,
}

impl Told<'_> {
    fn as_json(&self) -> String {
        let Checked { starts, findings, no_jobs, rejected } = self.checked;
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
            "policy": self.policy.map(NamedPolicy::name),
            "feasible": self.is_feasible(),
            "started": starts.len(),
            "rejected": rejected,
            "no_jobs": no_jobs,
            "differences": differences,
            "findings": findings,
        });
        format!("{told:#}\n")
    }

    fn is_feasible(&self) -> bool {
        self.checked.findings.iter().all(|(_, finding)| finding.fault == Fault::Policy)
    }

    fn in_words(&self, quiet: bool) -> String {
        let Checked { starts, findings, no_jobs, rejected } = self.checked;
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
        let _ = writeln!(text, "{verdict}: {started} starts on {}", self.places.in_words());
        if *rejected > 0 {
            let _ = writeln!(text, "{rejected} jobs are wider than every place, and do not start");
        }
        if *no_jobs > 0 {
            let _ =
                writeln!(text, "{no_jobs} rows of records that have no run time, or no processors, were not looked at");
        }
        match (self.policy, self.differences) {
            (Some(policy), Some(differences)) => text += &in_words(&policy.name(), differences),
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

fn in_words(name: &str, differences: Differences) -> String {
    const TIES: &str = "releases, then arrivals in the order of the log, then one pass";
    let Differences { instants, not_by_policy, late, is_complete } = differences;
    match (instants, is_complete) {
        (0, _) => format!("{name}: every start is its own (at one instant: {TIES})\n"),
        (_, false) => {
            format!("{name}: not asked further, since its plan cannot be built anew there (at one instant: {TIES})\n")
        }
        _ => format!(
            "{name}: instants at which it would have started others: {instants}; starts that are not its own: {not_by_policy}; jobs \
             that it would have started earlier: {late} (at one instant: {TIES}; after a difference it goes on from the schedule)\n"
        ),
    }
}
