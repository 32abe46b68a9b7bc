//! Verdicts on claims, always computed from the numbers.

use serde::Serialize;
use std::fmt;

/// Outcome of a claim.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every cell is reproduced.
    Reproduced,
    /// No cell is contradicted, but some are inconclusive.
    Inconclusive,
    /// Some cell is contradicted.
    Contradicted,
    /// Result of a check of the paper's numbers against each other, without simulation: they agree.
    Consistent,
    /// Result of such a check: they disagree.
    Inconsistent,
}

impl Verdict {
    /// Verdicts of claims, in the order of a count.
    pub(crate) const ALL: [Self; 3] = [Self::Reproduced, Self::Contradicted, Self::Inconclusive];
    /// Verdicts of checks without simulation. They are not counted among the claims.
    pub const OF_CHECKS: [Self; 2] = [Self::Consistent, Self::Inconsistent];

    /// Returns the corresponding verdict of a check without simulation.
    pub(crate) const fn of_a_check(self) -> Self {
        match self {
            Self::Reproduced | Self::Consistent => Self::Consistent,
            Self::Inconclusive | Self::Contradicted | Self::Inconsistent => Self::Inconsistent,
        }
    }

    /// Iterates over all verdicts, in the order in which a sentence lists them.
    pub(crate) fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::OF_CHECKS)
    }

    /// Returns the verdict at the beginning of `words`, as in `reproduced at 40 replications`.
    pub(crate) fn from_words(words: &str) -> Option<Self> {
        Self::every().find(|verdict| words.starts_with(&verdict.to_string()))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reproduced => "reproduced",
            Self::Inconclusive => "inconclusive",
            Self::Contradicted => "contradicted",
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent",
        })
    }
}
