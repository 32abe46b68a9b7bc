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

static LIMITED: [Limited; 9] = [
    ("--machines", |options| options.on.machines.is_some(), &[&space_shared::ENTRY, &alea31::ENTRY]),
    ("--inside", |options| options.on.inside.is_some(), &[&space_shared::ENTRY, &alea31::ENTRY]),
    ("--procs", |options| options.on.procs.is_some(), &[&space_shared::ENTRY]),
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
    use gap_schedule::Fcfs;

    #[test]
    fn a_policy_that_the_program_adds_is_known_by_its_name_and_listed_where_no_name_fits() {
        let log = Some(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into());
        let log = LogOptions { log, ..LogOptions::default() };
        let refused = |model: Option<&str>, policy: &str, own: &[Arc<Own>]| {
            let (policies, model) = (vec![policy.to_owned()], model.map(str::to_owned));
            let options = WorldOptions { policies, model, ..WorldOptions::default() };
            format!("{:#}", open(&log, &options, own).err().expect("it makes no sense"))
        };
        let own = [Arc::new(Own::new("mine", "", || Box::new(Fcfs::default())))];
        // Its name is accepted; the error concerns the log.
        assert!(refused(None, "mine", &own).contains("Cargo.toml"));
        assert!(refused(None, "yours", &own).ends_with("; this program adds mine"));
        assert!(!refused(None, "yours", &[]).contains("adds"));
        let message = refused(Some("metasched"), "mine", &own);
        assert_eq!(message, "--policy mine is one of --model gap-schedule, and not of --model metasched");
    }
}
