//! The worlds, and the choice between them.

use super::own::Own;
use super::world::{Entry, Named, Opened, Wanted};
use super::{alea31, hier, metasched, space_shared};
use crate::options::{LogOptions, MODELS, PROFILES, WorldOptions};
use anyhow::{Result, anyhow, bail, ensure};
use std::sync::Arc;
use workload::Estimates;

/// The worlds. Each one is a file of its own, and an entry here.
static ALL: [&Entry; 4] = [&space_shared::ENTRY, &alea31::ENTRY, &metasched::ENTRY, &hier::ENTRY];

/// Option that only some worlds take: its name, a test for its presence, and the worlds that take it.
type Limited = (&'static str, fn(&WorldOptions) -> bool, &'static [&'static Entry]);

static LIMITED: [Limited; 10] = [
    ("--machines", |options| options.on.machines.is_some(), &[&space_shared::ENTRY, &alea31::ENTRY]),
    ("--inside", |options| options.on.inside.is_some(), &[&space_shared::ENTRY, &alea31::ENTRY]),
    ("--procs", |options| options.on.procs.is_some(), &[&space_shared::ENTRY]),
    ("--outages", |options| options.on.outages.is_some(), &[&space_shared::ENTRY]),
    ("--tabu-iterations", |options| options.on.tabu_iterations.is_some(), &[&space_shared::ENTRY]),
    ("--passes", |options| options.on.passes.is_some(), &[&space_shared::ENTRY]),
    ("--policy-timeout", |options| options.policy_timeout.is_some(), &[&space_shared::ENTRY]),
    ("--startup", |options| options.startup.is_some(), &[&alea31::ENTRY]),
    ("--clusters", |options| options.clusters.is_some(), &[&metasched::ENTRY]),
    ("--tree", |options| options.tree.is_some(), &[&hier::ENTRY]),
];

/// Opens the chosen world with its policies. `own` are policies that the program adds.
pub(crate) fn open(log: &LogOptions, options: &WorldOptions, own: &[Arc<Own>]) -> Result<Opened> {
    let model = options.model.as_deref().unwrap_or(MODELS[0].0);
    let profile = options.profile.as_deref().unwrap_or(PROFILES[0].0);
    let here = ALL.into_iter().find(|world| world.model == model && world.profile == profile);
    let here = here.ok_or_else(|| {
        let its = ALL.iter().find(|world| world.profile == profile).map_or("", |world| world.model);
        anyhow!("--profile {profile} goes with --model {its}; leave it out with --model {model}")
    })?;
    let chosen = here.chosen_by();
    for (option, is_given, takers) in &LIMITED {
        let worlds = takers.iter().map(|world| world.chosen_by()).collect::<Vec<_>>().join(" and ");
        ensure!(
            !is_given(options) || takers.iter().any(|world| (world.model, world.profile) == (model, profile)),
            "{option} does not go with {chosen}, which takes {}: it is an option of {worlds}; leave it out",
            here.place
        );
    }
    ensure!(
        here.model == MODELS[0].0 || !matches!(log.estimates, Estimates::MeanOfUser(_)),
        "--estimates mean-of-user does not go with {chosen}, whose policies predict run times themselves or use none; leave it out"
    );
    let opened = (here.open)(&Wanted { log, options, own, here, all: &ALL })?;
    for (k, Named { name, given, .. }) in opened.policies.iter().enumerate() {
        if let Some(Named { given: other, .. }) = opened.policies[..k].iter().find(|other| other.name == *name) {
            bail!(
                "--policy {other} and --policy {given} would both be called {name}, and write to one folder; rename a program or a file"
            );
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use gap_schedule::Fcfs;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        log: LogOptions,
        #[command(flatten)]
        options: WorldOptions,
    }

    const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

    /// The message about a command line that no world runs.
    fn refused(words: &[&str], own: &[Arc<Own>]) -> String {
        let Line { log, options } = Line::try_parse_from(["simulate", LOG].iter().chain(words)).expect("clap takes it");
        format!("{:#}", open(&log, &options, own).err().expect("it makes no sense"))
    }

    #[test]
    fn what_another_world_takes_and_what_no_world_has_is_refused() {
        for (line, expected) in [
            (
                "--model metasched --policy rr --passes per-instant",
                "--passes does not go with --model metasched, which takes --clusters FILE",
            ),
            ("--model hier-grid --policy p2p --machines m", "an option of --model gap-schedule and --profile alea31"),
            ("--policy easy --startup 0s", "an option of --profile alea31"),
            ("--policy easy,fcfs,easy", "--policy easy: is named twice; leave one out"),
            (
                "--policy easy:8,easy+reserve=8",
                "--policy easy+reserve=8: is named twice: easy:8 and easy+reserve=8 are both easy+reserve=8; leave one out",
            ),
            (
                "--model metasched --policy ptt+w=0.5,rr,ptt+w=0.50",
                "--policy ptt+w=0.50: is named twice: ptt+w=0.5 and ptt+w=0.50 are both ptt+w=0.5; leave one out",
            ),
        ] {
            let message = refused(&line.split(' ').collect::<Vec<_>>(), &[]);
            assert!(message.contains(expected), "{line}: {message}");
        }
    }

    #[test]
    fn a_policy_that_the_program_adds_is_known_by_its_name_and_listed_where_no_name_fits() {
        let own = &Arc::new(Own::new("mine", "", || Box::new(Fcfs::default())));
        // Its name is accepted; the error concerns the log.
        assert!(refused(&["--policy", "mine"], &[Arc::clone(own)]).contains("Cargo.toml"));
        assert!(refused(&["--policy", "yours"], &[Arc::clone(own)]).ends_with("; this program adds mine"));
        assert!(!refused(&["--policy", "yours"], &[]).contains("adds"));
        let message = refused(&["--model", "metasched", "--policy", "mine"], &[Arc::clone(own)]);
        assert_eq!(message, "--policy mine is one of --model gap-schedule, and not of --model metasched");
    }
}
