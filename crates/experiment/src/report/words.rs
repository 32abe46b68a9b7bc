//! The findings in sentences, built from the numbers.

use crate::design::measure::{Cell, better};
use crate::design::{Claim, Metric};
use crate::report::figures::Answer;
use crate::report::results::Results;
use lab::chart::{extremes, fixed};
use lab::claim::{Judged, JudgedCell, Verdict};
use lab::difference::best_in_words;
use lab::table::in_words;
use lab::units::{level, with_half_width};
use replay::simulate::policy::Policy;

pub(crate) const fn finding(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced | Verdict::Consistent => "supported",
        Verdict::Contradicted | Verdict::Inconsistent => "not supported",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// The answer by the first metric, its differences to the baseline, and verdicts on claims.
pub(crate) fn sentences(results: &Results<'_>, judged: &[Judged]) -> Vec<String> {
    let first = results.design.metrics[0];
    let mut sentences = Answer::new(results).sentences().unwrap_or_default();
    sentences.push(by_metric(results, first));
    let claims = of_claims(results, judged).collect::<Vec<_>>().join(" ");
    sentences.extend((!claims.is_empty()).then_some(claims));
    sentences
}

/// The same by the other metrics.
pub(crate) fn of_others(results: &Results<'_>) -> Vec<String> {
    results.design.metrics.iter().skip(1).map(|metric| by_metric(results, metric)).collect()
}

fn by_metric(results: &Results<'_>, metric: Metric) -> String {
    let design = results.design;
    let places: Vec<Cell> = results.places().collect();
    let of = |(policy, named): (usize, &Policy)| {
        let (mut wins, mut losses, mut intervals, mut percents) = (0, 0, 0, Vec::new());
        for at in &places {
            let difference = results.difference(at.under(policy), metric);
            let Some(difference) = results.estimate(&difference) else { continue };
            intervals += usize::from(difference.low.is_some());
            match better(metric, &difference) {
                Some(true) => wins += 1,
                Some(false) => losses += 1,
                None => {}
            }
            percents.extend(results.percent_over(&[*at], policy, metric).map(|percent| percent.mean));
        }
        let range = match extremes(percents.into_iter()) {
            Some((low, high)) if fixed(low, 0) == fixed(high, 0) => format!(" ({} %)", percent(low)),
            Some((low, high)) => format!(" ({} to {} %)", percent(low), percent(high)),
            None => String::new(),
        };
        let cells = places.len();
        let judged = match (wins, losses) {
            (0, 0) if intervals == 0 => "has no interval".to_owned(),
            (0, 0) if intervals < cells => {
                let rest = "has no interval in the others";
                format!("shows no significant difference in {intervals} of {cells} cells and {rest}")
            }
            (0, 0) => "shows no significant difference".to_owned(),
            (wins, 0) if wins == cells => "is significantly better everywhere".to_owned(),
            (0, losses) if losses == cells => "is significantly worse everywhere".to_owned(),
            (wins, 0) => format!("is significantly better in {wins} of {cells} cells and nowhere worse"),
            (0, losses) => format!("is significantly worse in {losses} of {cells} cells and nowhere better"),
            (wins, losses) => format!("is significantly better in {wins} and worse in {losses} of {cells} cells"),
        };
        format!("{} {judged}{range}", named.name())
    };
    let others = design.policies.iter().enumerate().filter(|(policy, _)| *policy != design.baseline);
    let (parts, base) = (others.map(of).collect::<Vec<_>>(), design.policies[design.baseline].name());
    let best = best(results, metric, &places).map_or_else(String::new, |best| format!(" {best}"));
    format!("By {}, against {base}: {}.{best}", metric.label(), parts.join("; "))
}

/// Policies that may be the best: by name in one place, by number of places in several.
fn best(results: &Results<'_>, metric: Metric, places: &[Cell]) -> Option<String> {
    if let [at] = places {
        return best_in_words(&results.ranked(*at, metric));
    }
    let all: Vec<Vec<&str>> = places.iter().map(|at| results.best(*at, metric)).collect();
    let may_be = |name: &&str| all.iter().filter(|best| best.contains(name)).count();
    let names = results.design.policies.iter().map(Policy::name);
    let mut found: Vec<(usize, &str)> = names.map(|name| (may_be(&name), name)).collect();
    found.retain(|(places, _)| *places > 0);
    found.sort_by_key(|(places, _)| std::cmp::Reverse(*places));
    let parts: Vec<String> = found.iter().map(|(places, name)| format!("{name} in {places}")).collect();
    (!parts.is_empty()).then(|| {
        let (label, cells, list) = (metric.label(), all.len(), parts.join(", "));
        format!("Cells, out of {cells}, in which a policy may have the best {label}: {list}.")
    })
}

fn of_claims(results: &Results<'_>, judged: &[Judged]) -> impl Iterator<Item = String> {
    judged.iter().zip(&results.design.claims).map(|(judged, claim)| {
        let Judged { id, verdict, cells, .. } = judged;
        let (finding, cell) = (finding(*verdict), judged.deciding_cell());
        if *verdict == Verdict::Reproduced && cells.len() > 1 {
            let all = if cells.len() == 2 { "both".to_owned() } else { format!("all {}", cells.len()) };
            return format!("{id} is {finding} in {all} cells.");
        }
        let (label, [_, observed]) = (claim.metric.label(), in_units(results, claim, cell));
        let of = results.whole(claim).map_or_else(String::new, |whole| format!(" of the {label} of {whole}"));
        let interval = if cell.estimate.low.is_some() { "95 % interval" } else { "no interval" };
        let quantity = results.quantity(claim, label);
        format!("{id} is {finding}, decided by {}: {quantity} is {observed}{of} ({interval}).", cell.label)
    })
}

/// The bound of a claim and the estimate of one of its cells, with their unit.
pub(crate) fn in_units(results: &Results<'_>, claim: &Claim, cell: &JudgedCell) -> [String; 2] {
    let bound = if claim.other.is_some() { "0".to_owned() } else { level(claim.metric, claim.bound) };
    let observed = match results.whole(claim) {
        Some(_) => format!("{} %", in_words(&cell.estimate)),
        None => with_half_width(claim.metric, &cell.estimate),
    };
    [format!("{} {bound}", if claim.is_below { "<" } else { ">" }), observed]
}

fn percent(value: f64) -> String {
    let text = fixed(value, 0);
    if value > 0.0 { format!("+{text}") } else { text }
}
