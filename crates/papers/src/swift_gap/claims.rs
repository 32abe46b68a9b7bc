//! The claims of the paper, as `docs/papers/swift-gap.md` lists them.

use super::Policy::{self, BestGap, Bgt, Cons, Easy, Nearest, SwiftGap};
use super::printed::{self, Printed};
use super::source::Workload;
use super::{Cell, FOUR, Metric, SwiftGapPaper};
use lab::claim::{Check, Claim, Rule};
use lab::exhibit::Exhibit;
use lab::quantity::{DesignPoint, Quantity};

pub(super) fn claims(paper: &SwiftGapPaper, ours: Policy) -> Vec<Claim<Cell>> {
    let mut claims = values(paper, ours);
    claims.extend(orderings(paper, ours, Workload::Wagap, ["B1", "B2", "B3", "B4"]));
    claims.extend(orderings(paper, ours, Workload::Zewura, ["B5", "B6", "B7", "B8"]));
    claims.extend([becomes_conspicuous(paper, ours), recomputed()]);
    lab::claim::with_checks(claims)
}

/// Returns A1 to A16: table 3, column by column. They are about the log of Wagap itself.
fn values(paper: &SwiftGapPaper, ours: Policy) -> Vec<Claim<Cell>> {
    const IDS: [[&str; 4]; 4] =
        [["A1", "A2", "A3", "A4"], ["A5", "A6", "A7", "A8"], ["A9", "A10", "A11", "A12"], ["A13", "A14", "A15", "A16"]];
    let is_filled_in = |policy: Policy| paper.is_log() && paper.in_table(Workload::Wagap).contains(&policy);
    let columns = [Easy, Cons, Bgt, ours].into_iter().zip(IDS).filter(|(policy, _)| is_filled_in(*policy));
    let claim = |policy: Policy, (metric, id): (Metric, &'static str)| {
        let (printed, word) = (printed::mean(Workload::Wagap, metric, policy), metric.declared().axis);
        let (rule, test) = nearness(policy, printed);
        let numbers = if policy.leaves_out_the_first(Workload::Wagap, metric) { "six" } else { "seven" };
        let label = format!("{}, {word}, mean over {numbers} numbers of jobs", policy.name());
        let check = Check::new(label, paper.mean(Workload::Wagap, metric, policy), rule);
        let column = if policy.is_swift_gap() { "SG" } else { policy.name() };
        let statement = format!("Wagap, {column}: {word} {}", printed.text);
        Claim::new(id, "table 3", &statement, &["table3"], [check]).tested(test)
    };
    columns.flat_map(|(policy, ids)| FOUR.into_iter().zip(ids).map(move |it| claim(policy, it))).collect()
}

fn nearness(policy: Policy, Printed { value, unit, .. }: Printed) -> (Rule, &'static str) {
    let (low, high, test) = match policy {
        // A number printed to one decimal was either rounded or truncated.
        Easy => (value - unit / 2.0, value + unit, "equal to the printed digits, rounded or cut off"),
        Cons => (value - 0.1, value + 0.1, "within 0.1 of the printed number"),
        Bgt => (value * 0.98, value * 1.02, "within 2 % of the printed number"),
        SwiftGap | Nearest => (value * 0.9, value * 1.1, "within 10 % of the printed number"),
        BestGap => unreachable!("the paper prints nothing of Best Gap"),
    };
    // Whole millionths, so that a report does not show the binary fraction of a bound.
    let [low, high] = [low, high].map(|bound| (bound * 1e6).round() / 1e6);
    // EASY and CONS have no random draws: their numbers are exact.
    let is_exact = matches!(policy, Easy | Cons);
    (if is_exact { Rule::Exact(low, high) } else { Rule::Band(low, high) }, test)
}

/// Returns B1 to B8: Swift Gap outperforms the others, metric by metric.
///
/// For tables 2 and 3 the paper states it of the mean. For figures 4, 6 and 7, which have a bar for each n, it states that they show it.
/// For figure 5, tardiness, it states no such thing, so B2 and B6 are about the mean alone.
fn orderings(paper: &SwiftGapPaper, ours: Policy, workload: Workload, ids: [&'static str; 4]) -> Vec<Claim<Cell>> {
    let of_stand_in = if paper.is_redrawn(workload) { " (stand-in)" } else { "" };
    let place = format!("{}{of_stand_in}", workload.name());
    let claim = |(metric, id): (Metric, &'static str)| {
        let is_shown_at_each_n = metric != Metric::tardiness;
        let mut checks = Vec::new();
        for other in Policy::OTHERS {
            let mut check = |label: &str, quantities: [Quantity<Cell>; 2]| {
                let [theirs, its] = quantities;
                let label = format!("{} − {}, {label}", other.name(), ours.name());
                checks.push(Check::new(label, theirs - its, Rule::POSITIVE));
            };
            for &records in paper.records.iter().filter(|records| is_shown_at_each_n && **records >= 5_000) {
                let at = |policy| paper.cell(workload, policy, records).get(metric);
                check(&format!("n = {records}"), [other, ours].map(at));
            }
            let mean = |policy| SwiftGapPaper::mean_over(&paper.records, paper.cell(workload, policy, 0), metric);
            check("mean over n", [other, ours].map(mean));
        }
        let test = if is_shown_at_each_n {
            "paired against each, at every n from 5000 and in the mean over n"
        } else {
            "paired against each, in the mean over n"
        };
        let within =
            if workload == Workload::Zewura { "; the search moves jobs within the one cluster (R3 = any)" } else { "" };
        let figures: [&[&str]; 4] = [&["fig4"], &["fig5"], &["fig6"], &["fig7"]];
        let source = "abstract, §\"Simulation and discussion\", figs. 4–7, tables 2 and 3";
        let statement = format!("{place}: Swift Gap outperforms BGT, CONS and EASY in {}", metric.declared().axis);
        Claim::new(id, source, &statement, figures[metric as usize], checks).tested(format!("{test}{within}"))
    };
    FOUR.into_iter().zip(ids).map(claim).collect()
}

fn becomes_conspicuous(paper: &SwiftGapPaper, ours: Policy) -> Claim<Cell> {
    let gain = |metric: Metric, records: u32| {
        let [other, ours] = [Bgt, ours].map(|policy| paper.cell(Workload::Wagap, policy, records).get(metric));
        (other.clone(), other - ours)
    };
    let mut checks = Vec::new();
    if let (Some(&few), Some(&many)) = (paper.records.first(), paper.records.last())
        && few < many
    {
        let (response, advantage) = gain(Metric::response, few);
        let label = format!("BGT − {}, response, n = {few}, % of BGT's", ours.name());
        checks.push(Check::new(label, advantage / response * 100.0, Rule::Within(-1.0, 1.0)));
        // Response is wait plus a constant.
        for metric in [Metric::slowdown, Metric::tardiness, Metric::wait] {
            let word = metric.declared().axis;
            let label = format!("BGT − {}, {word}, n = {many} − n = {few}", ours.name());
            checks.push(Check::new(label, gain(metric, many).1 - gain(metric, few).1, Rule::POSITIVE));
        }
    }
    let statement = "On Wagap the completion rule is not so obvious when there are few jobs, and becomes very conspicuous as \
                     their number grows";
    let figures = &["fig4", "fig5", "fig6", "fig7"];
    Claim::new("D1", "§\"Simulation and discussion\"", statement, figures, checks).tested(
        "what SG gains over BGT is below 1 % of the response time at the smallest n; at the largest it is more than at \
         the smallest, in slowdown, tardiness and wait",
    )
}

fn recomputed() -> Claim<Cell> {
    let mut checks = Vec::new();
    for workload in Workload::ALL {
        for other in Policy::OTHERS {
            for metric in FOUR {
                let Some(percent) = printed::enhancement(workload, metric, other) else { continue };
                let [theirs, ours] = [other, SwiftGap].map(|policy| printed::mean(workload, metric, policy));
                let at = |sign: f64| {
                    printed::symmetric_difference(theirs.value + sign * theirs.unit, ours.value - sign * ours.unit)
                };
                let [low, high] = [at(-1.0) - percent.unit, at(1.0) + percent.unit].map(|it| (it * 1e4).round() / 1e4);
                let label = format!("{}, {}, {}: table 4", other.name(), workload.name(), metric.declared().axis);
                checks.push(Check::new(label, Quantity::Constant(percent.value), Rule::Within(low, high)));
            }
        }
    }
    Claim::new("D2", "table 4", "Swift Gap's enhancement ratios are those of tables 2 and 3", &["table4"], checks)
        .tested(
            "each ratio is the symmetric difference of the printed means, which are known to one in their last place; \
         nothing is simulated",
        )
}

/// Returns a table of the verdicts under both. Those of the nearest reading are not counted: it was selected to be near.
pub(super) fn side_by_side(paper: &SwiftGapPaper) -> Exhibit<'_, Cell> {
    let is_about_swift_gap = |claim: &Claim<Cell>| claim.cells().iter().any(|cell| cell.policy.is_swift_gap());
    let about = |ours| claims(paper, ours).into_iter().filter(is_about_swift_gap).collect();
    let title = "Swift Gap by the text, and by the reading nearest to table 3";
    let caption = "Verdict, and the estimate of the cell that decides. The text's verdicts are the ones that count; \
                   the nearest reading (scenario, table nearest) was chosen by its outcome.";
    let both = [SwiftGap, Nearest].map(about);
    Exhibit::side_by_side("fig4", ["text", "nearest"], both, ["text-and-nearest", title, caption])
}
