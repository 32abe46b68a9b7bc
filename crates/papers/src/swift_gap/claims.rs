//! What the paper claims, as `docs/papers/swift-gap.md` lists it.

use super::Policy::{self, BestGap, Bgt, Cons, Easy, SwiftGap};
use super::printed::{self, Printed};
use super::source::Workload;
use super::{Cell, SwiftGapPaper, measure};
use lab::claim::{Check, Claim, Rule};
use lab::quantity::Quantity;

/// Figures 4 to 7 by metric.
const FIGURES: [&[&str]; 4] = [&["fig4"], &["fig5"], &["fig6"], &["fig7"]];

const OTHERS: [Policy; 3] = [Bgt, Cons, Easy];

pub(super) fn claims(paper: &SwiftGapPaper) -> Vec<Claim<Cell>> {
    let mut claims = values(paper);
    claims.extend(orderings(paper, Workload::Wagap, ["B1", "B2", "B3", "B4"]));
    claims.extend(orderings(paper, Workload::Zewura, ["B5", "B6", "B7", "B8"]));
    claims.extend([grows(paper), recomputed()]);
    // A scenario that leaves out numbers of jobs leaves out the claims about them.
    claims.retain(|claim| !claim.checks.is_empty());
    claims
}

/// A1 to A16: table 3, column by column. They are about the log of Wagap itself.
fn values(paper: &SwiftGapPaper) -> Vec<Claim<Cell>> {
    const COLUMNS: [(Policy, [&str; 4]); 4] = [
        (Easy, ["A1", "A2", "A3", "A4"]),
        (Cons, ["A5", "A6", "A7", "A8"]),
        (Bgt, ["A9", "A10", "A11", "A12"]),
        (SwiftGap, ["A13", "A14", "A15", "A16"]),
    ];
    let mut claims = Vec::new();
    if !paper.source.is_log() {
        return claims;
    }
    for (policy, ids) in COLUMNS.into_iter().filter(|(policy, _)| paper.in_table(Workload::Wagap).contains(policy)) {
        for (metric, id) in ids.into_iter().enumerate() {
            let printed = printed::mean(Workload::Wagap, metric, policy);
            let (rule, test) = nearness(policy, printed);
            let six = measure::NAMES[metric] == "tardiness" && policy.is_deterministic();
            claims.push(Claim {
                id,
                source: "table 3",
                statement: format!("Wagap, {}: {} {}", policy.name(), measure::WORDS[metric], printed.text),
                test: test.to_owned(),
                figures: &["table3"],
                checks: vec![Check {
                    label: format!(
                        "{}, {}, mean over {} numbers of jobs",
                        policy.name(),
                        measure::WORDS[metric],
                        if six { "six" } else { "seven" }
                    ),
                    quantity: paper.mean(Workload::Wagap, metric, policy),
                    rule,
                }],
            });
        }
    }
    claims
}

/// How near to the printed number a column must come.
fn nearness(policy: Policy, Printed { value, unit, .. }: Printed) -> (Rule, &'static str) {
    // Whole millionths, so that a report does not show what binary fractions make of a bound.
    let between = |low: f64, high: f64| Rule::Band { low: (low * 1e6).round() / 1e6, high: (high * 1e6).round() / 1e6 };
    let around = |part: f64| between(value * (1.0 - part), value * (1.0 + part));
    match policy {
        // A number that is printed to one decimal was rounded, or its further digits were cut off.
        Easy => (between(value - unit / 2.0, value + unit), "equal to the printed digits, rounded or cut off"),
        Cons => (between(value - 0.1, value + 0.1), "within 0.1 of the printed number"),
        Bgt => (around(0.02), "within 2 % of the printed number"),
        SwiftGap => (around(0.1), "within 10 % of the printed number"),
        BestGap => unreachable!("the paper prints nothing of Best Gap"),
    }
}

/// B1 to B8: Swift Gap outperforms the others, metric by metric.
fn orderings(paper: &SwiftGapPaper, workload: Workload, ids: [&'static str; 4]) -> Vec<Claim<Cell>> {
    let place = match (workload, paper.source.is_log()) {
        (Workload::Zewura, _) => "Zewura (stand-in)",
        (Workload::Wagap, true) => "Wagap",
        (Workload::Wagap, false) => "Wagap (stand-in)",
    };
    let difference = |label: String, of: &dyn Fn(Policy) -> Quantity<Cell>, other: Policy| Check {
        label: format!("{} − SG, {label}", other.name()),
        quantity: of(other) - of(SwiftGap),
        rule: Rule::POSITIVE,
    };
    let claim = |(metric, id): (usize, &'static str)| {
        let mut checks = Vec::new();
        for other in OTHERS {
            for &records in paper.records.iter().filter(|records| **records >= 5_000) {
                let at = |policy| paper.cell(workload, policy, records).get(measure::NAMES[metric]);
                checks.push(difference(format!("n = {records}"), &at, other));
            }
            let mean = |policy| paper.mean_over(&paper.records, workload, metric, policy);
            checks.push(difference("mean over n".to_owned(), &mean, other));
        }
        Claim {
            id,
            source: "abstract, §\"Simulation and discussion\", figs. 4–7, tables 2 and 3",
            statement: format!("{place}: Swift Gap outperforms BGT, CONS and EASY in {}", measure::WORDS[metric]),
            test: "paired against each, at every n from 5000 and in the mean over n".to_owned(),
            figures: FIGURES[metric],
            checks,
        }
    };
    ids.into_iter().enumerate().map(claim).collect()
}

/// D1: what the completion rule gains over BGT is small for few jobs, and then grows.
fn grows(paper: &SwiftGapPaper) -> Claim<Cell> {
    let gain = |metric: usize, records: u32| {
        let [other, ours] = [Bgt, SwiftGap].map(|policy| paper.cell(Workload::Wagap, policy, records));
        let name = measure::NAMES[metric];
        (other.get(name), other.get(name) - ours.get(name))
    };
    let mut checks = Vec::new();
    // Response is wait and a constant.
    for metric in 0..3 {
        let word = measure::WORDS[metric];
        for step in paper.records.windows(2) {
            checks.push(Check {
                label: format!("BGT − SG, {word}, n = {} − n = {}", step[1], step[0]),
                quantity: gain(metric, step[1]).1 - gain(metric, step[0]).1,
                rule: Rule::POSITIVE,
            });
        }
    }
    if let Some(&few) = paper.records.first() {
        let (response, advantage) = gain(3, few);
        checks.push(Check {
            label: format!("BGT − SG, response, n = {few}, % of BGT's"),
            quantity: advantage / response * 100.0,
            rule: Rule::Within { low: -1.0, high: 1.0 },
        });
    }
    Claim {
        id: "D1",
        source: "§\"Simulation and discussion\"",
        statement: "On Wagap the completion rule is not so obvious when there are few jobs, and becomes very conspicuous as \
                    their number grows"
            .to_owned(),
        test: "what SG gains over BGT grows with each step of n in slowdown, tardiness and wait; at the smallest n it is below \
               1 % of the response time"
            .to_owned(),
        figures: &["fig4", "fig5", "fig6", "fig7"],
        checks,
    }
}

/// D2: table 4 follows from tables 2 and 3.
fn recomputed() -> Claim<Cell> {
    let mut checks = Vec::new();
    for workload in Workload::ALL {
        for other in OTHERS {
            for (metric, word) in measure::WORDS.into_iter().enumerate() {
                let Some(percent) = printed::enhancement(workload, metric, other) else { continue };
                let [theirs, ours] = [other, SwiftGap].map(|policy| printed::mean(workload, metric, policy));
                let at = |sign: f64| {
                    printed::symmetric_difference(theirs.value + sign * theirs.unit, ours.value - sign * ours.unit)
                };
                let place = match workload {
                    Workload::Zewura => "Zewura",
                    Workload::Wagap => "Wagap",
                };
                let [low, high] = [at(-1.0) - percent.unit, at(1.0) + percent.unit].map(|it| (it * 1e4).round() / 1e4);
                checks.push(Check {
                    label: format!("{}, {place}, {word}: table 4", other.name()),
                    quantity: Quantity::Constant(percent.value),
                    rule: Rule::Within { low, high },
                });
            }
        }
    }
    Claim {
        id: "D2",
        source: "table 4",
        statement: "Swift Gap's enhancement ratios are those of tables 2 and 3".to_owned(),
        test:
            "each ratio is the symmetric difference of the printed means, which are known to one in their last place; \
               nothing is simulated"
                .to_owned(),
        figures: &["table4"],
        checks,
    }
}
