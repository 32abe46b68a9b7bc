//! Verdicts: what the numbers say of a claim. Computed, never typed in.

use serde::Serialize;
use std::fmt;

/// What the numbers say.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every cell is reproduced.
    Reproduced,
    /// No cell is contradicted, but some decides nothing.
    Inconclusive,
    /// Some cell is contradicted.
    Contradicted,
    /// A check of the paper's numbers against each other, for which nothing is simulated: they agree.
    Consistent,
    /// Such a check: they do not agree.
    Inconsistent,
}

impl Verdict {
    /// Those of claims, in the order of a count.
    pub const ALL: [Self; 3] = [Self::Reproduced, Self::Contradicted, Self::Inconclusive];
    /// Those of checks for which nothing is simulated. They are not counted among the claims.
    pub const OF_CHECKS: [Self; 2] = [Self::Consistent, Self::Inconsistent];

    /// The same where nothing was simulated.
    pub(crate) const fn of_a_check(self) -> Self {
        match self {
            Self::Reproduced | Self::Consistent => Self::Consistent,
            Self::Inconclusive | Self::Contradicted | Self::Inconsistent => Self::Inconsistent,
        }
    }

    /// Whether it is that of a check, and not of a claim.
    pub(crate) fn is_of_a_check(self) -> bool {
        Self::OF_CHECKS.contains(&self)
    }

    /// The verdict at the beginning of `words`, as a claim's verdict is written: `reproduced at 40 replications`.
    pub(crate) fn from_words(words: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::OF_CHECKS).find(|verdict| words.starts_with(&verdict.to_string()))
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
