//! `gridproof slurm`: a Slurm cluster, decision by decision.

mod cli;
mod input;
mod sacct;

pub use cli::{Follow, Slurm};

use anyhow::{Context, Result};
use input::Input;
use lab::cli::{Common, Ending, print};
use slurm_sched::{Comparison, FollowError, Version, follow, version_of};

/// Runs a command on a Slurm cluster.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read.
pub fn slurm(command: &Slurm, common: &Common) -> Result<Ending> {
    match command {
        Slurm::Follow(options) => {
            let found = compare(options)?;
            let text =
                if common.json { serde_json::to_string_pretty(&found)? + "\n" } else { words(&found, common.quiet) };
            print(&text);
            Ok(if found.is_equal() { Ending::Done } else { Ending::Differs })
        }
    }
}

/// Compares the decisions of a recorded controller with those of this program; prints nothing.
///
/// # Errors
///
/// Bad input, or a file that cannot be read.
pub fn compare(options: &Follow) -> Result<Comparison> {
    let log = || input::events(&options.log);
    let place = || options.log.display().to_string();
    let version: Version = match &options.slurm_version {
        Some(version) => version.parse()?,
        None if log()?.next().is_none() => return Err(FollowError::Empty).with_context(place),
        None => version_of(log()?)
            .with_context(place)?
            .with_context(|| format!("{}: the log shows no version; give it with --slurm-version", place()))?
            .with_context(|| format!("{}: --slurm-version nearest:VERSION runs the nearest", place()))?,
    };
    let Input { site, jobs } =
        Input::read(&options.conf, &options.trace, options.accounts.as_deref(), version, &options.set)?;
    follow(&site, &jobs, log()?).with_context(place)
}

/// The comparison as a text for a terminal.
fn words(found: &Comparison, is_quiet: bool) -> String {
    let Comparison { starts, plans, priorities, wrong_starts, wrong_plans, wrong_priorities, .. } = found;
    let mut text = format!(
        "Slurm {}: {} main passes, {} backfill passes\n{:12}{:>10}{:>10}\n",
        found.version, found.main_passes, found.backfill_passes, "", "compared", "wrong"
    );
    for (name, all, wrong) in
        [("starts", starts, wrong_starts), ("plans", plans, wrong_plans), ("priorities", priorities, wrong_priorities)]
    {
        text += &format!("{name:12}{all:>10}{wrong:>10}\n");
    }
    if let Some(first) = &found.first_difference {
        text += &format!(
            "first difference: line {}, {} pass at {}, job {}\n  ours    {}\n  theirs  {}\n  rule    {}\n",
            first.line, first.pass, first.time, first.job, first.ours, first.theirs, first.rule
        );
    }
    if !is_quiet && !found.not_modelled.is_empty() {
        text += &format!("without effect here: {}\n", found.not_modelled.join(", "));
    }
    text
}
