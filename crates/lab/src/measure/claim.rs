//! Claims, the rules that judge them, and their verdicts, which are always computed from the numbers.

mod judged;

pub use judged::{Judged, JudgedCell};

use super::quantity::{DesignPoint, Quantity};
use crate::chart::decimals_for;
use metrics::ConfidenceInterval;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// One sentence of a paper, as a set of checks that must all hold. `Name` is the type of its names and references: static text of the
/// program, or text read from a file if an experiment makes the claim.
#[derive(Clone, Debug)]
pub struct Claim<C: DesignPoint, Name = &'static str> {
    /// Number in the specification: `P1`.
    pub id: Name,
    /// Place in the paper: `§4.3, fig. 4`.
    pub source: Name,
    /// Statement of the paper.
    pub statement: String,
    /// Description of the test.
    pub test: String,
    /// Figures that show it.
    pub figures: &'static [&'static str],
    /// The cells of the claim.
    pub checks: Vec<Check<C>>,
}

/// One sentence of a paper that is shown and not judged: for example, it is about other work or does not state what would contradict it.
#[derive(Clone, Debug)]
pub struct Remark<C: DesignPoint> {
    /// Number in the sequence of the claims.
    pub id: &'static str,
    /// Place in the paper.
    pub source: &'static str,
    /// Statement of the paper.
    pub statement: &'static str,
    /// Reason why it is not judged.
    pub why: &'static str,
    /// Figures that show it.
    pub figures: &'static [&'static str],
    /// Simulated values beside it, each with its name and unit.
    pub shown: Vec<(String, Quantity<C>)>,
}

/// One cell of a claim: a quantity and the rule that it must meet.
#[derive(Clone, Debug)]
pub struct Check<C: DesignPoint> {
    /// Name of the cell: `λ = 10, approach 2 − approach 1`.
    pub label: String,
    /// Quantity to estimate.
    pub quantity: Quantity<C>,
    /// Rule that it must meet.
    pub rule: Rule,
}

/// Statement about a number.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Rule {
    /// A value or a band, from the least to the most: reproduced if the mean lies in it, contradicted if the interval lies wholly outside.
    Band(f64, f64),
    /// An ordering: the interval lies above `bound`. Equality in every replication meets it if `tie` is true.
    Above {
        /// Bound of the interval.
        bound: f64,
        /// True if equality counts.
        tie: bool,
    },
    /// An ordering: the interval lies below `bound`.
    Below {
        /// Bound of the interval.
        bound: f64,
        /// True if equality counts.
        tie: bool,
    },
    /// An ordering up to a margin, which equality meets: reproduced if the interval lies above −margin, contradicted if it lies below.
    AtLeast(f64),
    /// Similar, minor, no effect: reproduced if the interval lies within the tolerance, contradicted if wholly outside.
    Within(f64, f64),
    /// No systematic effect: reproduced if the interval covers zero, else contradicted.
    CoversZero,
    /// A deterministic value: reproduced if it lies in the range that the printed digits can stand for, otherwise contradicted.
    Exact(f64, f64),
}

impl Rule {
    /// Greater than zero, not equal.
    pub const POSITIVE: Self = Self::Above { bound: 0.0, tie: false };
    /// Less than zero, not equal.
    pub const NEGATIVE: Self = Self::Below { bound: 0.0, tie: false };

    /// Returns the least and the greatest number that meet the claim.
    pub(crate) const fn range(self) -> (f64, f64) {
        match self {
            Self::Band(low, high) | Self::Within(low, high) | Self::Exact(low, high) => (low, high),
            Self::Above { bound, .. } => (bound, f64::INFINITY),
            Self::Below { bound, .. } => (f64::NEG_INFINITY, bound),
            Self::AtLeast(margin) => (-margin, f64::INFINITY),
            Self::CoversZero => (0.0, 0.0),
        }
    }

    /// Judges an estimate. Without an interval (a single replication) it is inconclusive, unless it is exact and meets the claim or does not.
    pub(crate) fn judge(self, estimate: &ConfidenceInterval) -> Verdict {
        if (estimate.is_exact() || matches!(self, Self::Exact(..))) && estimate.mean.is_finite() {
            return if self.is_met_by(estimate.mean) { Verdict::Reproduced } else { Verdict::Contradicted };
        }
        let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
            return Verdict::Inconclusive;
        };
        let (least, most) = self.range();
        let reproduced = match self {
            Self::Band(..) => self.is_met_by(estimate.mean),
            Self::CoversZero => low <= 0.0 && high >= 0.0,
            _ => self.is_met_by(low) && self.is_met_by(high),
        };
        match (reproduced, high < least || low > most) {
            (true, _) => Verdict::Reproduced,
            (false, true) => Verdict::Contradicted,
            (false, false) => Verdict::Inconclusive,
        }
    }

    fn is_met_by(self, value: f64) -> bool {
        let (least, most) = self.range();
        match self {
            Self::Above { tie: false, .. } | Self::Below { tie: false, .. } => least < value && value < most,
            _ => (least..=most).contains(&value),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Band(low, high) if high.is_infinite() => write!(f, "at least {low}"),
            Self::Band(low, high) | Self::Within(low, high) => f.write_str(&in_words(*low, *high)),
            Self::Above { bound, tie } => write!(f, "{} {bound}", if *tie { "≥" } else { ">" }),
            Self::Below { bound, tie } => write!(f, "{} {bound}", if *tie { "≤" } else { "<" }),
            Self::AtLeast(margin) => write!(f, "≥ 0, less than {margin} being none"),
            Self::CoversZero => f.write_str("no effect distinguishable from 0"),
            Self::Exact(low, high) if high.is_infinite() => write!(f, "exact: at least {low}"),
            Self::Exact(low, high) => write!(f, "exact: {}", in_words(*low, *high)),
        }
    }
}

/// Formats the ends of a range with all their digits, or rounded to three digits of its width: `76.79 to 78.34`.
fn in_words(low: f64, high: f64) -> String {
    let width = high - low;
    let decimals = usize::try_from(decimals_for(width, 3)).unwrap_or(0);
    let end = |value: f64| {
        let exact = value.to_string();
        let rounded = format!("{value:.decimals$}");
        if width > 0.0 && width.is_finite() && rounded.len() < exact.len() { rounded } else { exact }
    };
    format!("{} to {}", end(low), end(high))
}

impl<C: DesignPoint> Claim<C> {
    /// Returns a claim with its sentence, its place in the paper, the figures that show it, and its checks. The rules describe the test.
    pub fn new(
        id: &'static str,
        source: &'static str,
        statement: &str,
        figures: &'static [&'static str],
        checks: impl IntoIterator<Item = Check<C>>,
    ) -> Self {
        let checks: Vec<Check<C>> = checks.into_iter().collect();
        let mut rules: Vec<String> = checks.iter().map(|check| check.rule.to_string()).collect();
        rules.dedup();
        let test = format!("paired over replications, each check: {}", rules.join(", "));
        Self { id, source, statement: statement.to_owned(), test, figures, checks }
    }

    /// Replaces the description of the test.
    #[must_use]
    pub fn tested(self, test: impl Into<String>) -> Self {
        Self { test: test.into(), ..self }
    }
}

/// Declares claims as a table: id, place in the paper, sentence, description of the test (by default derived from the rules), figures that
/// show it, checks. A claim without checks is left out: the scenario lacks what it is about.
#[macro_export]
macro_rules! claims {
    ($(
        $id:ident $source:literal $statement:literal $(tested $test:literal)? $(tested($words:expr))?
        in $($figure:literal),+ => $checks:expr;
    )+) => {
        $crate::claim::with_checks([$(
            $crate::claim::Claim::new(stringify!($id), $source, $statement, &[$($figure),+], $checks)
                $(.tested($test))? $(.tested($words))?
        ),+])
    };
}

/// Returns the claims that have checks.
pub fn with_checks<C: DesignPoint>(claims: impl IntoIterator<Item = Claim<C>>) -> Vec<Claim<C>> {
    claims.into_iter().filter(|claim| !claim.checks.is_empty()).collect()
}

impl<C: DesignPoint> Check<C> {
    /// Returns a check of a quantity; the label names its cell.
    pub fn new(label: impl Into<String>, quantity: Quantity<C>, rule: Rule) -> Self {
        Self { label: label.into(), quantity, rule }
    }
}

impl<C: DesignPoint, Name> Claim<C, Name> {
    /// Returns the cells that must be simulated for it. A claim without cells compares numbers of the paper with each other. It states
    /// nothing about the model and is counted separately.
    pub fn cells(&self) -> BTreeSet<C> {
        self.checks.iter().flat_map(|check| check.quantity.cells()).collect()
    }
}

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

    /// Iterates over all verdicts, in the order in which a sentence lists them.
    pub(crate) fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::OF_CHECKS)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Rule::{Above, Band, Below, Within};
    use Verdict::{Contradicted, Inconclusive, Reproduced};

    /// 18.1, rounded or cut off.
    const STATED: Rule = Rule::Exact(18.05, 18.2);
    const MARGIN: Rule = Rule::AtLeast(0.05);

    #[test]
    fn an_estimate_is_judged_by_its_interval_and_an_exact_value_as_a_plain_number() {
        let (of, exact) = (ConfidenceInterval::of, ConfidenceInterval::exact);
        let (spread, none) = (of(&[0.8, 1.0, 1.2, 1.4]), of(&[0.0; 4])); // mean 1.1, interval about 0.69 … 1.51
        for (rule, estimate, expected) in [
            // A band is met by the mean, and contradicted by the whole interval.
            (Band(1.0, 1.2), spread, Reproduced),
            (Band(1.2, 1.3), spread, Inconclusive),
            (Band(2.0, 3.0), spread, Contradicted),
            // An ordering needs the whole interval on the claimed side.
            (Rule::POSITIVE, spread, Reproduced),
            (Above { bound: 1.0, tie: false }, spread, Inconclusive),
            (Above { bound: 2.0, tie: false }, spread, Contradicted),
            (Below { bound: 2.0, tie: false }, spread, Reproduced),
            (Rule::NEGATIVE, spread, Contradicted),
            // Equal values meet it only where a tie is allowed.
            (Above { bound: 0.0, tie: true }, none, Reproduced),
            (Above { bound: 0.0, tie: false }, none, Inconclusive),
            // A difference within the margin is none; without the margin it is.
            (MARGIN, of(&[-0.02, -0.01, -0.02, -0.01]), Reproduced),
            (Above { bound: 0.0, tie: true }, of(&[-0.02, -0.01, -0.02, -0.01]), Contradicted),
            (MARGIN, none, Reproduced),
            (MARGIN, spread, Reproduced),
            (MARGIN, of(&[-0.2, 0.1, -0.2, 0.1]), Inconclusive),
            (MARGIN, of(&[-0.22, -0.21, -0.22, -0.21]), Contradicted),
            // Similarity needs the whole interval within the tolerance.
            (Within(0.0, 2.0), spread, Reproduced),
            (Within(1.0, 2.0), spread, Inconclusive),
            (Within(-1.0, 0.0), spread, Contradicted),
            // One replication decides nothing.
            (Rule::POSITIVE, of(&[5.0]), Inconclusive),
            // The printed digits are equal or not, independent of the interval.
            (STATED, of(&[17.0, 19.0]), Contradicted),
            (STATED, of(&[17.2, 19.0]), Reproduced),
            (STATED, exact(18.2), Reproduced),
            (STATED, exact(18.21), Contradicted),
            (Rule::POSITIVE, exact(1e-6), Reproduced),
            (Rule::POSITIVE, exact(0.0), Contradicted),
            (Above { bound: 0.0, tie: true }, exact(0.0), Reproduced),
            (Below { bound: 2.0, tie: false }, exact(2.5), Contradicted),
            (Within(-1.0, 1.0), exact(0.9), Reproduced),
            (Band(-1.0, 1.0), exact(1.1), Contradicted),
            (Rule::CoversZero, exact(0.1), Contradicted),
            (Rule::POSITIVE, exact(f64::NAN), Inconclusive),
        ] {
            assert_eq!(rule.judge(&estimate), expected, "{rule} of {estimate:?}");
        }
    }

    #[test]
    fn bounds_are_written_with_as_many_digits_as_they_have() {
        for (rule, words) in [
            (STATED, "exact: 18.05 to 18.2"),
            (Band(76.789_550_005_889_98, 78.340_651), "76.79 to 78.34"),
            (Within(14_078.276_031_1, 14_949.097_2), "14078 to 14949"),
            (Band(0.0, f64::INFINITY), "at least 0"),
        ] {
            assert_eq!(rule.to_string(), words);
        }
    }
}
