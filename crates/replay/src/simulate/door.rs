//! A policy as `check` asks it: by name, and started as often as need be.

use super::own::Own;
use super::policy::{Policy, Search};
use super::predicting::Predicting;
use crate::run_options::{PassesName, RunOptions};
use anyhow::{Result, anyhow, bail};
use gap_schedule::Predictions;
use workload::Estimates;

/// A policy by its name, which can be put to work again and again.
pub(crate) struct NamedPolicy {
    policy: Policy,
    search: Search,
    passes: PassesName,
}

impl NamedPolicy {
    /// The policy called `text`, as `simulate --policy` takes it under these options; no program of the user's own.
    pub(crate) fn parse(text: &str, seed: u64, run: &RunOptions, own: &[&'static Own]) -> Result<Self> {
        let found = Policy::of_base(text, own).ok_or_else(|| {
            let names = Policy::names();
            anyhow!("--policy {text}: there is no such policy of space-shared machines; there are {names}")
        })?;
        let policy = found.map_err(|error| anyhow!("--policy {text}: {error}"))?;
        if policy.command().is_some() {
            bail!(
                "--policy {text}: a program cannot be asked about states that it has not come to; check its schedule against \
                   a policy with a name"
            );
        }
        let search = Search { seed, tabu_iterations: run.tabu_iterations, time_limit: None };
        Ok(Self { policy, search, passes: run.passes })
    }

    /// As the folder of its results is called.
    pub(crate) fn name(&self) -> &'static str {
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
        self.policy.can_be_built_anew()
    }
}
