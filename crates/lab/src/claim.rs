//! Claims, the rules they are judged by, and what was found.

use super::quantity::Quantity;
use crate::verdict::Verdict;
use metrics::Interval;
use std::fmt;

/// One sentence of a paper, as a set of checks that must all hold.
#[derive(Clone, Debug)]
pub struct Claim<C> {
    /// As in the specification: `P1`.
    pub id: &'static str,
    /// Where the paper says it: `§4.3, fig. 4`.
    pub source: &'static str,
    /// What the paper says.
    pub statement: String,
    /// How it is tested, in words.
    pub test: String,
    /// Figures that show it.
    pub figures: &'static [&'static str],
    /// The cells of the claim.
    pub checks: Vec<Check<C>>,
}

/// One cell of a claim: a quantity, and what is said of it.
#[derive(Clone, Debug)]
pub struct Check<C> {
    /// Which cell: `λ = 10, approach 2 − approach 1`.
    pub label: String,
    /// What is measured.
    pub quantity: Quantity<C>,
    /// What is claimed of it.
    pub rule: Rule,
}

/// What is claimed of a number.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Rule {
    /// A value or a band: reproduced if the mean lies in it, contradicted if the interval lies wholly outside.
    Band {
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// An ordering: the interval lies above `bound`. Equality in every replication is met if `tie` allows it.
    Above {
        /// What it is compared with.
        bound: f64,
        /// Whether being equal counts.
        tie: bool,
    },
    /// An ordering: the interval lies below `bound`.
    Below {
        /// What it is compared with.
        bound: f64,
        /// Whether being equal counts.
        tie: bool,
    },
    /// Similar, minor, no effect: reproduced if the interval lies within the tolerance, contradicted if wholly outside.
    Within {
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// No systematic effect: reproduced if the interval covers zero, else contradicted.
    CoversZero,
}

impl Rule {
    /// Greater than zero, and not equal.
    pub const POSITIVE: Self = Self::Above { bound: 0.0, tie: false };

    /// The numbers that meet the claim, from the least to the greatest.
    pub const fn range(self) -> (f64, f64) {
        match self {
            Self::Band { low, high } | Self::Within { low, high } => (low, high),
            Self::Above { bound, .. } => (bound, f64::INFINITY),
            Self::Below { bound, .. } => (f64::NEG_INFINITY, bound),
            Self::CoversZero => (0.0, 0.0),
        }
    }

    /// Judges an estimate. One without an interval (a single replication) decides nothing.
    pub fn judge(self, estimate: &Interval) -> Verdict {
        let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
            return Verdict::Inconclusive;
        };
        let (reproduced, contradicted) = match self {
            Self::Band { low: from, high: to } => ((from..=to).contains(&estimate.mean), high < from || low > to),
            Self::Above { bound, tie } => (low > bound || (tie && low >= bound), high < bound),
            Self::Below { bound, tie } => (high < bound || (tie && high <= bound), low > bound),
            Self::Within { low: from, high: to } => (low >= from && high <= to, high < from || low > to),
            Self::CoversZero => (low <= 0.0 && high >= 0.0, low > 0.0 || high < 0.0),
        };
        match (reproduced, contradicted) {
            (true, _) => Verdict::Reproduced,
            (false, true) => Verdict::Contradicted,
            (false, false) => Verdict::Inconclusive,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Band { low, high } if high.is_infinite() => write!(f, "at least {low}"),
            Self::Band { low, high } | Self::Within { low, high } => write!(f, "{low} to {high}"),
            Self::Above { bound, tie } => write!(f, "{} {bound}", if *tie { "≥" } else { ">" }),
            Self::Below { bound, tie } => write!(f, "{} {bound}", if *tie { "≤" } else { "<" }),
            Self::CoversZero => f.write_str("no effect distinguishable from 0"),
        }
    }
}

/// A claim with what was found.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `P1`, as in the specification.
    pub id: &'static str,
    /// Where the paper says so.
    pub source: &'static str,
    /// What the paper says.
    pub statement: String,
    /// How that is tested, in words.
    pub test: String,
    /// Ids of the figures that show it.
    pub figures: &'static [&'static str],
    /// The worst of its cells.
    pub verdict: Verdict,
    /// How many replications it took, if more than the run's own.
    pub decided_at: Option<u32>,
    /// Each check with its estimate.
    pub cells: Vec<JudgedCell>,
}

/// One cell with what was found.
#[derive(Clone, Debug)]
pub struct JudgedCell {
    /// Which check.
    pub label: String,
    /// What was expected.
    pub rule: Rule,
    /// What was observed.
    pub estimate: Interval,
    /// What that says.
    pub verdict: Verdict,
}

impl JudgedCell {
    /// The estimate in words; a number without a width has as many decimals as what is claimed of it.
    pub fn observed(&self) -> String {
        let decimals = |bound: f64| bound.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let has_width = self.estimate.half_width().is_some_and(|half| half > 1e-9 * self.estimate.mean.abs());
        match self.rule {
            Rule::Band { low, high } | Rule::Within { low, high }
                if !has_width && self.estimate.mean.is_finite() && low.is_finite() && high.is_finite() =>
            {
                format!("{:.*}", decimals(low).max(decimals(high)), self.estimate.mean)
            }
            _ => super::reproduce::in_words(&self.estimate),
        }
    }
}

impl Judged {
    /// Judges `claim`, given how to estimate a quantity.
    pub fn new<C>(claim: &Claim<C>, estimate: impl Fn(&Quantity<C>) -> Interval) -> Self {
        let cells: Vec<_> = claim
            .checks
            .iter()
            .map(|check| {
                let estimate = estimate(&check.quantity);
                JudgedCell {
                    label: check.label.clone(),
                    rule: check.rule,
                    verdict: check.rule.judge(&estimate),
                    estimate,
                }
            })
            .collect();
        Self {
            id: claim.id,
            source: claim.source,
            statement: claim.statement.clone(),
            test: claim.test.clone(),
            figures: claim.figures,
            verdict: cells.iter().map(|cell| cell.verdict).max().expect("a claim has at least one check"),
            decided_at: None,
            cells,
        }
    }

    /// The cell that decides: the first with the claim's verdict.
    pub fn deciding_cell(&self) -> &JudgedCell {
        self.cells.iter().find(|cell| cell.verdict == self.verdict).expect("the verdict is that of a cell")
    }

    /// The verdict in words: `reproduced`, or `reproduced at 40 replications`.
    pub fn in_words(&self) -> String {
        match self.decided_at {
            Some(replications) => format!("{} at {replications} replications", self.verdict),
            None => self.verdict.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, sample: &[f64], expected: Verdict) {
        let estimate = Interval::of(sample);
        assert_eq!(rule.judge(&estimate), expected, "{rule} of {estimate:?}");
    }

    const SPREAD: [f64; 4] = [0.8, 1.0, 1.2, 1.4]; // mean 1.1, interval about 0.69 … 1.51

    #[test]
    fn a_band_is_met_by_the_mean_and_contradicted_by_the_whole_interval() {
        check(Rule::Band { low: 1.0, high: 1.2 }, &SPREAD, Verdict::Reproduced);
        check(Rule::Band { low: 1.2, high: 1.3 }, &SPREAD, Verdict::Inconclusive);
        check(Rule::Band { low: 2.0, high: 3.0 }, &SPREAD, Verdict::Contradicted);
    }

    #[test]
    fn an_ordering_needs_the_whole_interval_on_the_claimed_side() {
        check(Rule::POSITIVE, &SPREAD, Verdict::Reproduced);
        check(Rule::Above { bound: 1.0, tie: false }, &SPREAD, Verdict::Inconclusive);
        check(Rule::Above { bound: 2.0, tie: false }, &SPREAD, Verdict::Contradicted);
        check(Rule::Below { bound: 2.0, tie: false }, &SPREAD, Verdict::Reproduced);
        check(Rule::Below { bound: 0.0, tie: false }, &SPREAD, Verdict::Contradicted);
    }

    #[test]
    fn equal_values_meet_an_ordering_only_where_a_tie_is_allowed() {
        check(Rule::Above { bound: 0.0, tie: true }, &[0.0; 4], Verdict::Reproduced);
        check(Rule::Above { bound: 0.0, tie: false }, &[0.0; 4], Verdict::Inconclusive);
    }

    #[test]
    fn similarity_needs_the_whole_interval_within_the_tolerance() {
        check(Rule::Within { low: 0.0, high: 2.0 }, &SPREAD, Verdict::Reproduced);
        check(Rule::Within { low: 1.0, high: 2.0 }, &SPREAD, Verdict::Inconclusive);
        check(Rule::Within { low: -1.0, high: 0.0 }, &SPREAD, Verdict::Contradicted);
    }

    #[test]
    fn one_replication_decides_nothing() {
        check(Rule::POSITIVE, &[5.0], Verdict::Inconclusive);
    }
}
