//! Which model a log is replayed on, and the policies of all models by name.

use super::metasched;
use super::policy;
use anyhow::{Result, ensure};
use clap::ValueEnum;
use std::fmt;
use std::str::FromStr;

/// What a log is replayed on.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// Space-shared machines or clusters, each processor to one job at a time.
    #[default]
    GapSchedule,
    /// Time-shared clusters with local users, under a metascheduler: needs --clusters.
    Metasched,
}

impl Model {
    /// As on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::GapSchedule => "gap-schedule",
            Self::Metasched => "metasched",
        }
    }
}

/// A policy of any model.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Policy {
    Gap(policy::Policy),
    Meta(metasched::Policy),
}

impl Policy {
    /// As on the command line, and as the folder of its results is called.
    pub(super) fn name(self) -> String {
        match self {
            Self::Gap(policy) => policy.name(),
            Self::Meta(policy) => policy.name(),
        }
    }

    const fn model(self) -> Model {
        match self {
            Self::Gap(_) => Model::GapSchedule,
            Self::Meta(_) => Model::Metasched,
        }
    }

    /// Whether `--time-limit` concerns it.
    pub(super) fn searches(self) -> bool {
        match self {
            Self::Gap(policy) => policy.searches(),
            Self::Meta(_) => false,
        }
    }

    /// Refuses a policy of another model than `model`.
    pub(super) fn ensure_of(self, model: Model) -> Result<()> {
        let own = self.model();
        ensure!(own == model, "--policy {self} is one of --model {}, and not of --model {}", own.name(), model.name());
        Ok(())
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match metasched::Policy::named(text) {
            Some(policy) => policy.map(Self::Meta),
            None => text
                .parse()
                .map(Self::Gap)
                .map_err(|error| format!("{error}; with --model metasched there are {}", metasched::Policy::NAMES)),
        }
    }
}
