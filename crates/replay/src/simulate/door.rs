//! What other commands take from the world of space-shared machines: its places, and its policies by name.

use super::own::Own;
use super::policy::{Policy, Search};
use super::predicting::Predicting;
use super::sites::Sites;
use super::space_shared::SpaceShared;
use super::world::World;
use crate::asked::Asked;
use crate::run_options::{PassesName, RunOptions};
use anyhow::{Result, anyhow, bail};
use gap_schedule::{Machine, Predictions};
use workload::swf::Header;
use workload::{Estimates, Repairs};

/// The places that hold jobs.
pub(crate) struct Places {
    sites: Sites,
}

impl Places {
    /// From `--machines`, `--procs`, or the log.
    pub(crate) fn of(asked: &Asked, procs: Option<u32>, header: &Header) -> Result<Self> {
        Ok(Self { sites: Sites::of(asked, procs, header)? })
    }

    /// What a policy is shown of them.
    pub(crate) fn machines(&self) -> Vec<Machine> {
        self.sites.machines()
    }

    /// Their names, by index.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sites.iter().map(|site| site.name.clone()).collect()
    }

    /// The first processor of each, where processors are numbered on through the places.
    pub(crate) fn first_processors(&self) -> Vec<u32> {
        self.sites.first_processors().map(|(first, _)| first).collect()
    }

    /// Processors of the widest place.
    pub(crate) fn widest(&self) -> u32 {
        self.sites.widest()
    }

    /// Notes on what the log and the machine file hold and no world uses.
    pub(crate) fn ignored(&self, repairs: &Repairs) -> Vec<String> {
        self.sites.ignored(repairs)
    }

    /// In words: how many processors, and from where that is known.
    pub(crate) fn in_words(&self) -> String {
        self.sites.to_string()
    }
}

/// A policy by its name, which can be put to work again and again.
pub(crate) struct NamedPolicy {
    policy: Policy,
    search: Search,
    passes: PassesName,
}

impl NamedPolicy {
    /// The policy called `text`, as `simulate --policy` takes it under these options; no program of the user's own.
    pub(crate) fn parse(text: &str, seed: u64, run: &RunOptions, own: &[&'static Own]) -> Result<Self> {
        let found = SpaceShared::policy(text, own).ok_or_else(|| {
            let names = SpaceShared::policies();
            anyhow!("--policy {text}: there is no such policy of space-shared machines; there are {names}")
        })?;
        let policy = found.map_err(|error| anyhow!("--policy {text}: {error}"))?;
        if let Policy::Exec(_) = policy {
            bail!(
                "--policy {text}: a program cannot be asked about states that it has not come to; check its schedule against \
                   a policy with a name"
            );
        }
        let search = Search { seed, tabu_iterations: run.tabu_iterations, time_limit: None };
        Ok(Self { policy, search, passes: run.passes })
    }

    /// As the folder of its results is called.
    pub(crate) fn name(&self) -> String {
        self.policy.name()
    }

    /// To which nothing has happened yet.
    pub(crate) fn at_work(&self, places: usize) -> Box<dyn gap_schedule::Policy> {
        self.policy.at_work_under(self.passes, &self.search, places)
    }

    /// Who predicts run times for it, to whom nothing has happened yet: as its name says, or else as `estimates` do.
    pub(crate) fn predictions(&self, estimates: Estimates) -> Option<Predictions> {
        self.policy.predicting().or(Predicting::by_estimates(estimates)).map(Predicting::at_work)
    }

    /// Whether it can be built anew in the midst of a run, from who runs and who waits: told of those who wait, and that each
    /// machine has to be looked at again.
    pub(crate) fn can_be_built_anew(&self) -> bool {
        !matches!(
            self.policy,
            Policy::BestGap
                | Policy::Bgt
                | Policy::SwiftGap
                | Policy::EgEdf
                | Policy::EgEdfTabu
                | Policy::Own(_)
                | Policy::Exec(_)
        )
    }
}
