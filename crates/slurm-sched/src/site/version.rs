//! Rules that differ between versions of Slurm.

use std::fmt;
use std::str::FromStr;

/// Version of Slurm whose decisions are modelled.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Version {
    /// 22.05, compared with a running 22.05.8.
    V22_05,
    /// 24.11, compared with a running 24.11.5.
    V24_11,
}

impl Version {
    /// All modelled versions, oldest first.
    pub const ALL: [Self; 2] = [Self::V22_05, Self::V24_11];

    /// Returns true for the rules of 24.11: ends in the table of planned use are rounded up to the resolution, not down; the
    /// will-run test starts from the slot under test and ends at the next slot; a walk that stops at a record beyond the job's
    /// end yields a later slot; the clash with other plans is tested before a nearer slot is tried; any plan counts as a
    /// change that lets the next backfill pass run, not only one on nodes that are not allocated; a slot beyond the table's
    /// end has no plan; the will-run test takes jobs past their limits as ended; and an array gets no more plans than tasks
    /// may run.
    pub(crate) fn is_new(self) -> bool {
        self >= Self::V24_11
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V22_05 => "22.05",
            Self::V24_11 => "24.11",
        })
    }
}

/// Version of Slurm that is not modelled.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("Slurm {0:?} is not modelled: expected 22.05 or 24.11 (or `nearest:{0}` for the nearest of them)")]
pub struct UnknownVersion(pub String);

impl FromStr for Version {
    type Err = UnknownVersion;

    /// Parses `22.05`, `24.11.5`, or `nearest:23.02` for the modelled version nearest to 23.02.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let months = |text: &str| -> Option<u32> {
            let mut parts = text.split('.').map(str::parse::<u32>);
            Some(parts.next()?.ok()? * 12 + parts.next()?.ok()?)
        };
        let nearest = text.strip_prefix("nearest:");
        let distance = |name: &str| match nearest {
            Some(wanted) => Some(months(name)?.abs_diff(months(wanted)?)),
            None => text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('.')).map(|_| 0),
        };
        let found = Self::ALL.into_iter().filter_map(|version| Some((distance(&version.to_string())?, version))).min();
        found.map(|(_, version)| version).ok_or_else(|| UnknownVersion(nearest.unwrap_or(text).to_owned()))
    }
}
