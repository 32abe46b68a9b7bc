//! `cargo xtask check`: checks whether machines can have run a schedule, and whether a policy makes it.
//!
//! The schedule and the log are read whole: memory grows with both.

mod feasible;
mod follower;
mod schedule;

use crate::options::{LogOptions, MachineOptions, PassesName, name_of};
use crate::simulate::Own;
use crate::simulate::policy::Policy;
use crate::simulate::sites::Sites;
use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use feasible::{Checked, FindingKind, FindingList, FindingsOfKind, LoggedJobs};
use follower::Differences;
use lab::output::manifest::Manifest;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workload::SwfReader;

/// Options of `check`.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  cargo xtask check KTH-SP2.swf.gz --schedule results/simulate/KTH-SP2/easy/jobs.csv
      feasibility: each job once, after its submission, with its processors and
      run time, and none missing
  cargo xtask check --trace log.swf --schedule theirs.csv --procs 256 --policy easy
      agreement with EASY: the first start that EASY would not have made, and
      the number of these starts
  cargo xtask check log.swf --schedule theirs.swf --machines site.machines --json

The schedule, of any program: CSV with a heading, of which the columns job (or
job_id) and start are needed, and submit, finish (or end), processors (or procs,
cpus), site, allocated (0-3,7) and state (rejected: never started) are used if
they are there; times in seconds, from the first submission or as in the log. Or
SWF, where a start is submit + wait. Plain or gzip.

Run times are those of the log, cut at the limit under --estimates user. Records
without a run time, or of zero, are skipped. A job wider than every place must
not start.

With --policy: at one instant, releases come first, then arrivals, then one
scheduling pass (or the rule of --passes); a policy sees jobs that arrived at one instant in
the order of the log. At each instant the policy decides in the state that the
schedule has led to. Where it would start others than the schedule does, that is
a difference, and it goes on from the schedule: one with a state (cons,
easy+reserve=K) is rebuilt from the jobs that run and wait. A job that is late
is counted once. Of plans (eg-edf, best-gap, bgt, sg) and of policies of your
own, unless their answer follows from the view alone (Policy::is_pure), only the
first difference is reported.

Exit codes: 0 no finding; 1 findings; 2 bad usage or input; 3 reading failed.")]
pub struct Check {
    /// The log and its reading options.
    #[command(flatten)]
    log: LogOptions,
    /// The schedule: CSV or SWF, plain or gzip.
    #[arg(long, value_name = "FILE")]
    schedule: PathBuf,
    /// The policy that made it, as `simulate` takes it; without it, only feasibility is checked.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// The options of `simulate` under which it was made.
    #[command(flatten)]
    on: MachineOptions,
}

/// Checks a schedule. `own` are policies that the program adds.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read.
pub fn check(options: &Check, own: &[Arc<Own>]) -> Result<ScheduleCheck> {
    let (log, on) = (&options.log, &options.on);
    let policy = options.policy.as_deref().map(|name| policy(name, own)).transpose()?;
    let name = policy.as_ref().map(|policy| policy.name().to_owned());
    let places = Sites::of(log, on, SwfReader::open(log.trace())?.header())?;
    let jobs = LoggedJobs::read(log, &places)?;
    let rows = schedule::read(&options.schedule, &jobs.names)?;
    let mut checked = feasible::check(&jobs, &rows, &places).with_context(|| options.schedule.display().to_string())?;
    // An infeasible schedule is not compared with a policy.
    let differences = policy
        .filter(|_| checked.findings.0.is_empty())
        .map(|policy| follower::check(&jobs, places.machines.clone(), (log, on), policy, &mut checked));
    let differences = differences.transpose()?;
    find_other_programs(&options.schedule, &mut checked.findings)?;
    Ok(ScheduleCheck {
        trace: log.trace().to_owned(),
        schedule: options.schedule.clone(),
        policy: name,
        passes: on.passes.unwrap_or_default(),
        places: places.to_string(),
        checked,
        differences,
        notes: jobs.notes,
    })
}

/// Returns the policy called `text`, as `simulate --policy` takes it; no program.
fn policy(text: &str, own: &[Arc<Own>]) -> Result<Policy> {
    let found = Policy::of_base(text, own).ok_or_else(|| {
        let names = Policy::names();
        anyhow!("--policy {text}: there is no such policy of space-shared machines; there are {names}")
    })?;
    let policy = found.map_err(|error| anyhow!("--policy {text}: {error}"))?;
    ensure!(
        policy.command().is_none(),
        "--policy {text}: a program cannot decide in states that it has not come to; check its schedule against a policy with a \
         name"
    );
    Ok(policy)
}

/// Compares the programs that the manifest of `OUT/POLICY/jobs.csv` names with their present content.
fn find_other_programs(schedule: &Path, findings: &mut FindingList) -> Result<()> {
    let Some(folder) = schedule.parent() else { return Ok(()) };
    let (Some(policy), Some(out)) = (folder.file_name(), folder.parent()) else { return Ok(()) };
    // A manifest of another kind does not belong to a schedule.
    let Ok(Some(manifest)) = Manifest::read(out) else { return Ok(()) };
    for words in manifest.other_programs(Some(&policy.to_string_lossy()))? {
        findings.add(FindingKind::ProgramDiffers, 0, None, 0, words);
    }
    Ok(())
}

/// Result of a check.
pub struct ScheduleCheck {
    trace: PathBuf,
    schedule: PathBuf,
    policy: Option<String>,
    passes: PassesName,
    places: String,
    checked: Checked,
    differences: Option<Differences>,
    /// Parts of the log and the machine file that are not checked.
    pub notes: Vec<String>,
}

impl ScheduleCheck {
    /// Returns true if there is no finding.
    pub fn is_clean(&self) -> bool {
        self.checked.findings.0.is_empty()
    }

    fn is_feasible(&self) -> bool {
        let apart = [FindingKind::PolicyDiffers, FindingKind::ProgramDiffers];
        self.checked.findings.0.values().all(|finding| apart.contains(&finding.fault))
    }

    /// The result for programs.
    pub fn as_json(&self) -> serde_json::Value {
        let Checked { starts, findings, no_jobs, rejected } = &self.checked;
        serde_json::json!({
            "trace": self.trace,
            "schedule": self.schedule,
            "policy": self.policy,
            "feasible": self.is_feasible(),
            "started": starts.len(),
            "rejected": rejected,
            "no_jobs": no_jobs,
            "differences": self.differences,
            "findings": findings.0.values().collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    /// The result in words; with `quiet` only the findings.
    pub fn in_words(&self, quiet: bool) -> String {
        let Checked { starts, findings, no_jobs, rejected } = &self.checked;
        let mut lines = Vec::new();
        for FindingsOfKind { fault, count, line, words, .. } in findings.0.values() {
            let is_of_log = *fault == FindingKind::MissingJob && words.ends_with("is not there");
            let file = if is_of_log { &self.trace } else { &self.schedule }.display();
            let place = if *line > 0 { format!("{file}:{line}") } else { file.to_string() };
            let is_counted = *count > 1 && *fault != FindingKind::PolicyDiffers;
            let others = if is_counted { format!(" (the first of {count})") } else { String::new() };
            lines.push(format!("{place}: {}: {words}{others}", name_of(fault)));
        }
        if !quiet {
            let verdict = if self.is_feasible() { "feasible" } else { "not feasible" };
            lines.push(format!("{verdict}: {} starts on {}", starts.len(), self.places));
            if *rejected > 0 {
                lines.push(format!("{rejected} jobs are wider than every place, and do not start"));
            }
            if *no_jobs > 0 {
                lines.push(format!("{no_jobs} rows of records that have no run time, or no processors, were skipped"));
            }
            let decided = |policy| match self.differences {
                Some(differences) => differences.in_words(policy, self.passes),
                None => format!("{policy} was not compared: no policy makes what cannot have run"),
            };
            lines.extend(self.policy.as_deref().map(decided));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Differences {
    fn in_words(self, name: &str, passes: PassesName) -> String {
        let ties = match passes {
            PassesName::PerInstant => "releases, then arrivals in the order of the log, then one pass",
            PassesName::PerEvent => "releases, then arrivals in the order of the log, and a pass after each",
            PassesName::Pyss => "arrivals in the order of the log, then releases, and a pass after each",
        };
        let Self { instants, starts_not_by_policy, late_jobs, is_complete } = self;
        match (instants, is_complete) {
            (0, _) => format!("{name}: every start is its own (at one instant: {ties})"),
            (_, false) => {
                format!("{name}: not compared further, since its plan cannot be rebuilt there (at one instant: {ties})")
            }
            _ => format!(
                "{name}: instants at which it would have started others: {instants}; starts that are not its own: \
                 {starts_not_by_policy}; jobs that it would have started earlier: {late_jobs} (at one instant: {ties}; after \
                 a difference it goes on from the schedule)"
            ),
        }
    }
}
