//! Which model a log is replayed on, and the policies of all models by name.

use super::hier;
use super::metasched;
use super::own::Own;
use super::policy;
use anyhow::{Result, anyhow, ensure};
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
    /// Servers that run one job at a time, among peers or below trees of schedulers, message by message: needs --tree.
    HierGrid,
}

impl Model {
    /// As on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::GapSchedule => "gap-schedule",
            Self::Metasched => "metasched",
            Self::HierGrid => "hier-grid",
        }
    }
}

/// A policy of any model.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Policy {
    Gap(policy::Policy),
    Meta(metasched::Policy),
    Hier(hier::Policy),
}

impl Policy {
    /// The policy called `text`: one that the program has added, or one of ours.
    pub(super) fn named(text: &str, own: &[&'static Own]) -> Result<Self> {
        if let Some(own) = own.iter().find(|own| own.name() == text) {
            return Ok(Self::Gap(policy::Policy::Own(own)));
        }
        text.parse().map_err(|error: String| {
            let names: Vec<&str> = own.iter().map(|own| own.name()).collect();
            let added =
                if names.is_empty() { String::new() } else { format!("; this program adds {}", names.join(", ")) };
            anyhow!("--policy {text}: {error}{added}")
        })
    }

    /// As on the command line, and as the folder of its results is called.
    pub(super) fn name(self) -> String {
        match self {
            Self::Gap(policy) => policy.name(),
            Self::Meta(policy) => policy.name(),
            Self::Hier(policy) => policy.name(),
        }
    }

    /// The words of a program's command that are files.
    pub(super) fn files(self) -> impl Iterator<Item = &'static str> {
        let words = match self {
            Self::Gap(policy::Policy::Exec(command)) => command.0.as_slice(),
            _ => &[],
        };
        words.iter().map(String::as_str).filter(|word| std::path::Path::new(word).is_file())
    }

    const fn model(self) -> Model {
        match self {
            Self::Gap(_) => Model::GapSchedule,
            Self::Meta(_) => Model::Metasched,
            Self::Hier(_) => Model::HierGrid,
        }
    }

    /// Why it does not do what its name promises on so many places, if it does not.
    pub(super) fn idles(self, places: usize) -> Option<String> {
        match self {
            Self::Gap(policy) => policy.idles(places),
            Self::Meta(_) | Self::Hier(_) => None,
        }
    }

    /// Whether `--time-limit` concerns it.
    pub(super) fn searches(self) -> bool {
        match self {
            Self::Gap(policy) => policy.searches(),
            Self::Meta(_) | Self::Hier(_) => false,
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
        match self {
            Self::Gap(policy) => policy.fmt(f),
            Self::Meta(_) | Self::Hier(_) => f.write_str(&self.name()),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(policy) = metasched::Policy::named(text) {
            return policy.map(Self::Meta);
        }
        if let Some(policy) = hier::Policy::named(text) {
            return policy.map(Self::Hier);
        }
        text.parse().map(Self::Gap).map_err(|error| {
            let (meta, hier) = (metasched::Policy::NAMES, hier::Policy::NAMES);
            format!("{error}; with --model metasched there are {meta}; with --model hier-grid {hier}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gap_schedule::Fcfs;

    #[test]
    fn a_policy_that_the_program_adds_is_known_by_its_name_and_told_where_no_name_fits() {
        let own: &'static Own = Box::leak(Box::new(Own::new("mine", "", || Box::new(Fcfs::default()))));
        assert_eq!(Policy::named("mine", &[own]).expect("it was added").name(), "mine");
        assert_eq!(Policy::named("fcfs", &[own]).expect("it is ours").name(), "fcfs");
        let error = Policy::named("yours", &[own]).expect_err("nobody has added it").to_string();
        assert!(error.ends_with("; this program adds mine"), "{error}");
        assert!(!Policy::named("yours", &[]).expect_err("nor here").to_string().contains("adds"));
    }
}
