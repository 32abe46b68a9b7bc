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
}

impl Verdict {
    /// In the order of a count.
    pub const ALL: [Self; 3] = [Self::Reproduced, Self::Contradicted, Self::Inconclusive];

    /// The verdict at the beginning of `words`, as a claim's verdict is written: `reproduced at 40 replications`.
    pub fn from_words(words: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| words.starts_with(&verdict.to_string()))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reproduced => "reproduced",
            Self::Inconclusive => "inconclusive",
            Self::Contradicted => "contradicted",
        })
    }
}
