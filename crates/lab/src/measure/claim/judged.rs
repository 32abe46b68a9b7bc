//! A claim with its verdict, as the tables and the page show it.

use super::{Check, Claim, Rule, Verdict};
use crate::chart::decimals_for;
use crate::measure::quantity::{DesignPoint, Quantity};
use crate::measure::table::{in_words, number, optional};
use crate::run::terminal::csv_name;
use metrics::ConfidenceInterval;

/// Remark beside the test of a claim about the largest of several noisy values.
const PICKED: &str = "; the largest of several is taken in each replication, so chance alone raises it: it is no estimate of what one of them gains";

/// A claim with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Number in the specification: `P1`.
    pub id: String,
    /// Place in the paper.
    pub source: String,
    /// Statement of the paper.
    pub statement: String,
    /// Description of the test.
    pub test: String,
    /// Ids of the figures that show it.
    pub figures: &'static [&'static str],
    /// Worst verdict of its cells.
    pub verdict: Verdict,
    /// Number of replications that decided it, if more than those of the run.
    pub decided_at: Option<u32>,
    /// Each check with its estimate.
    pub cells: Vec<JudgedCell>,
    /// Verdict on record in words, if there is one.
    pub recorded: Option<String>,
    /// Bound and estimate of the deciding cell as the page shows them, if they have a unit.
    pub shown: Option<[String; 2]>,
    /// The claim under other seeds, in the order of the run.
    pub seeds: Vec<(u64, Self)>,
}

/// One cell with its estimate and verdict.
#[derive(Clone, Debug)]
pub struct JudgedCell {
    /// Label of the check.
    pub label: String,
    /// Rule that it must meet.
    pub rule: Rule,
    /// Estimate of the quantity.
    pub estimate: ConfidenceInterval,
    /// Verdict of the rule on the estimate.
    pub verdict: Verdict,
}

impl JudgedCell {
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        self.estimate.low.zip(self.estimate.high).filter(|(low, high)| low.is_finite() && high.is_finite())
    }

    /// Describes the rule in words, marked `exact` if the number is exact.
    pub fn expected(&self) -> String {
        match self.rule {
            Rule::Exact(..) => self.rule.to_string(),
            rule if self.estimate.is_exact() => format!("exact: {rule}"),
            rule => rule.to_string(),
        }
    }

    /// Formats the estimate. A number without a width has as many decimals as the bounds of its rule, up to four digits of their distance.
    pub fn observed(&self) -> String {
        let decimals = |bound: f64| bound.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let has_width = self.estimate.half_width().is_some_and(|half| half > 1e-9 * self.estimate.mean.abs());
        match self.rule {
            Rule::Band(low, high) | Rule::Within(low, high) | Rule::Exact(low, high)
                if !has_width && self.estimate.mean.is_finite() && low.is_finite() && high.is_finite() =>
            {
                let of_width = usize::try_from(decimals_for(high - low, 4)).unwrap_or(0);
                let decimals = decimals(low).max(decimals(high));
                format!("{:.*}", if high > low { decimals.min(of_width) } else { decimals }, self.estimate.mean)
            }
            _ => in_words(&self.estimate),
        }
    }
}

impl Judged {
    /// Judges `claim`; `estimate` estimates a quantity.
    pub fn new<C: DesignPoint, Name: ToString>(
        claim: &Claim<C, Name>,
        estimate: impl Fn(&Quantity<C>) -> ConfidenceInterval,
    ) -> Self {
        let simulates = !claim.cells().is_empty();
        let judged = |check: &Check<C>| {
            let (label, rule, estimate) = (check.label.clone(), check.rule, estimate(&check.quantity));
            let verdict = match rule.judge(&estimate) {
                verdict if simulates => verdict,
                Verdict::Reproduced => Verdict::Consistent,
                _ => Verdict::Inconsistent,
            };
            JudgedCell { label, rule, estimate, verdict }
        };
        let cells: Vec<JudgedCell> = claim.checks.iter().map(judged).collect();
        // The mean of the larger of noisy values lies above the largest of their means: each replication takes what chance favours.
        let picks = |(check, cell): (&Check<C>, &JudgedCell)| {
            matches!(check.quantity, Quantity::Larger(..)) && !cell.estimate.is_exact()
        };
        let pitfall = if claim.checks.iter().zip(&cells).any(picks) { PICKED } else { "" };
        let verdict = cells.iter().map(|cell| cell.verdict).max().expect("a claim has at least one check");
        Self {
            id: claim.id.to_string(),
            source: claim.source.to_string(),
            statement: claim.statement.clone(),
            test: format!("{}{pitfall}", claim.test),
            figures: claim.figures,
            verdict,
            decided_at: None,
            cells,
            recorded: None,
            shown: None,
            seeds: Vec::new(),
        }
    }

    /// Returns the cell that decides: the first with the claim's verdict.
    pub fn deciding_cell(&self) -> &JudgedCell {
        self.cells.iter().find(|cell| cell.verdict == self.verdict).expect("the verdict is that of a cell")
    }

    /// Returns the number of replications behind it; 1 if every number is exact.
    pub fn replications(&self, of_the_run: u32) -> u32 {
        if self.cells.iter().all(|cell| cell.estimate.is_exact()) { 1 } else { self.decided_at.unwrap_or(of_the_run) }
    }

    /// Columns of `claims.csv`.
    pub const COLUMNS: [&str; 10] =
        ["id", "source", "statement", "test", "expected", "observed", "ci_low", "ci_high", "verdict", "recorded"];

    /// Returns its row of `claims.csv`: `observed` is the deciding cell, which `test` and `expected` name.
    pub fn row(&self, test: &str, expected: &str) -> [String; 10] {
        let estimate = self.deciding_cell().estimate;
        [
            csv_name(&self.id).into_owned(),
            self.source.clone(),
            csv_name(&self.statement).into_owned(),
            test.to_owned(),
            expected.to_owned(),
            number(estimate.mean),
            optional(estimate.low),
            optional(estimate.high),
            self.in_words(),
            self.recorded.clone().unwrap_or_default(),
        ]
    }

    /// Formats the verdict: `reproduced`, or `reproduced at 40 replications`.
    pub fn in_words(&self) -> String {
        match self.decided_at {
            Some(replications) => format!("{} at {replications} replications", self.verdict),
            None => self.verdict.to_string(),
        }
    }

    /// Formats the number of seeds under which it has the same verdict, if it was judged under others: `9 of 10`.
    pub fn stays(&self) -> Option<String> {
        let same = self.seeds.iter().filter(|(_, other)| other.verdict == self.verdict).count();
        (!self.seeds.is_empty()).then(|| format!("{same} of {}", self.seeds.len()))
    }

    /// Lists the seeds under which the verdict is another: `contradicted: 2, 7; inconclusive: 1`.
    pub fn under_others(&self) -> String {
        let others = Verdict::ALL.into_iter().filter(|verdict| *verdict != self.verdict).filter_map(|verdict| {
            let seeds = self.seeds.iter().filter(|(_, other)| other.verdict == verdict);
            let seeds: Vec<String> = seeds.map(|(seed, _)| seed.to_string()).collect();
            (!seeds.is_empty()).then(|| format!("{verdict}: {}", seeds.join(", ")))
        });
        others.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::metric::for_tests::Metric;

    #[test]
    fn a_claim_about_the_largest_of_noisy_values_says_that_it_is_biased() {
        let test = |quantity: Quantity<u8>, estimate: ConfidenceInterval| {
            let check = Check::new("", quantity, Rule::POSITIVE);
            Judged::new(&Claim::new("D2", "table 4", "", &[], [check]).tested(""), |_| estimate).test
        };
        let (wait, noisy) = (|cell: u8| cell.get(Metric::wait), ConfidenceInterval::of(&[1.0, 2.0]));
        assert!(test(wait(0).or_larger(wait(1)), noisy).contains("chance alone raises it"));
        assert_eq!(test(wait(0), noisy), "");
        assert_eq!(test(wait(0).or_larger(wait(1)), ConfidenceInterval::exact(1.0)), "");
    }
}
