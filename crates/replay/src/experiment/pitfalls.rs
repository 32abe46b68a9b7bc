//! Warnings: known pitfalls that the design of an experiment falls into.

use super::design::{Design, Value};
use super::file::{Log, Method};
use super::measure::{Cell, Metric};
use super::results::Results;
use super::workloads::Held;
use crate::simulate::policy::Policy;
use metrics::Estimate;
use std::collections::BTreeSet;
use workload::Estimates;

/// Number of paired differences at which one of them is expected to stand out by chance.
const MANY_COMPARISONS: usize = 20;

/// Warnings about the results, each with its remedy.
pub(super) fn pitfalls(design: &Design, held: &[Held], results: &Results<'_>) -> Vec<String> {
    let mut found = of_the_design(design, held);
    found.extend(of_the_runs(design, results));
    found
}

pub(super) fn of_the_design(design: &Design, held: &[Held]) -> Vec<String> {
    let mut found = Vec::new();
    if design.logs.len() == 1 {
        found.push("One log: the order of the policies may differ on another log. Add a second [[log]].".to_owned());
    }
    let warnings: BTreeSet<&str> = design.metrics.iter().filter_map(|metric| metric.warning()).collect();
    found.extend(warnings.into_iter().rev().map(str::to_owned));
    found.extend(of_many(design));
    let estimates_of = |log: &Log| {
        let own = log.estimates.0;
        design.settings().into_iter().map(move |setting| setting.estimates.unwrap_or(own))
    };
    if design.logs.iter().flat_map(estimates_of).all(|estimates| matches!(estimates, Estimates::Exact)) {
        found.push(
            "Exact estimates only: users' estimates are inaccurate, which changes backfilling (Mu'alem & Feitelson 2001). Vary \
             them: estimates = [\"user\", \"exact\"]."
                .to_owned(),
        );
    }
    for (log, held) in design.logs.iter().zip(held) {
        let is_of_users = |one| matches!(one, Estimates::User | Estimates::MeanOfUser(_));
        if !held.has_limits() && estimates_of(log).any(is_of_users) {
            found.push(format!(
                "{}: no requested times in the log, so run times are the estimates, which are then exact.",
                log.name
            ));
        }
        found.extend(held.ignored().into_iter().map(|note| format!("{}: {note}.", log.name)));
        if let Some(of) = held.log()
            && design.method == Method::Weeks
            && of.ties() > 0.05
        {
            found.push(format!(
                "{}: {:.0} % of the jobs are submitted in the same second as another job, and their order in the log is arbitrary. \
                 method = \"shake\" averages over such orders.",
                log.name,
                100.0 * of.ties()
            ));
        }
    }
    found.extend(design.policies.iter().filter_map(Policy::assumptions));
    if design.method != Method::Weeks && design.count < 10 {
        found.push(format!("{} replications give wide intervals; thirty are customary.", design.count));
    }
    if design.method == Method::Shake {
        found.push(
            "Shaken logs differ by seconds, so the intervals cover coincidence within this log, not the difference to another \
             month. method = \"blocks\" covers that."
                .to_owned(),
        );
    }
    if design.varied().any(|name| name == "load") && design.logs.iter().any(|log| log.file.is_some()) {
        found.push(
            "Load is changed by scaling the times between arrivals: at 1.2 a day has 20 hours, while run times stay the same. \
             With method = \"users\", users = [0.8, 1.0, 1.2] changes the number of users and keeps the length of a day."
                .to_owned(),
        );
    }
    found
}

/// Pitfalls of many comparisons and of many places.
fn of_many(design: &Design) -> Vec<String> {
    let mut found = Vec::new();
    let compared = design.logs.len() * design.settings().len() * (design.policies.len() - 1) * design.metrics.len();
    if compared >= MANY_COMPARISONS {
        found.push(format!(
            "{compared} comparisons at 95 %: about {} would be significant by chance if all policies were equal. Rely on claims \
             stated in advance, in [[claim]], or on differences that appear in many cells.",
            compared.div_ceil(20)
        ));
    }
    if design.logs.len() * design.settings().len() > 1 {
        found.push(
            "A range over logs and settings is the range of noisy estimates, so it is wider than that of the true values. For one \
             cell, use its interval."
                .to_owned(),
        );
    }
    found
}

fn of_the_runs(design: &Design, results: &Results<'_>) -> Vec<String> {
    let mut found = Vec::new();
    found.extend((0..design.policies.len()).filter_map(|policy| saturated(results, policy)));
    for at in results.places() {
        let place = results.place(at);
        found.extend(refused(results, at).chain(dependent(results, at)).map(|words| format!("{place}: {words}")));
    }
    if !design.window.cuts()
        && design.vary.iter().flatten().all(|value| !matches!(value, Value::Procs(_)))
        && design.logs.iter().any(|log| log.model.is_some())
    {
        found.push(
            "A model begins on an empty machine, and that beginning is included here; warm_up = \"mser-5\" in [replicate] leaves \
             it out."
                .to_owned(),
        );
    }
    found
}

/// Warning that a policy cannot do the work as fast as it arrives, with the places and numbers of replications.
fn saturated(results: &Results<'_>, policy: usize) -> Option<String> {
    let described = |at: Cell| {
        let (many, all) = results.saturation(at.under(policy));
        let share = if all > 1 { format!(" ({many} of {all} replications)") } else { String::new() };
        (many > 0).then(|| results.place(at) + &share)
    };
    let places: Vec<String> = results.places().filter_map(described).collect();
    let is_refused = results.places().any(|at| results.is_saturated(at.under(policy)));
    let consequence = if is_refused { "Cells with half of the replications saturated have no intervals. " } else { "" };
    (!places.is_empty()).then(|| {
        format!(
            "{} is saturated: work arrives faster than it is done, so its means grow with the length of the log. Affected: {}. \
             {consequence}Lower the load, or leave the policy out.",
            results.design.policies[policy].name(),
            places.join("; ")
        )
    })
}

/// Estimates over blocks of the differences to the baseline.
fn weekly(results: &Results<'_>, cell: Cell) -> impl Iterator<Item = (Metric, Estimate)> {
    let of = move |metric: &Metric| Some((*metric, results.over_blocks(&results.difference(cell, metric))?));
    results.design.metrics.iter().filter_map(of)
}

/// Comparisons with the baseline that have no interval over blocks, each with the reason.
fn refused(results: &Results<'_>, at: Cell) -> impl Iterator<Item = String> {
    results.others(at).filter_map(move |cell| {
        let reason = weekly(results, cell).find_map(|(_, weekly)| weekly.refused)?;
        Some(format!("{} against {}: {reason}.", results.name(cell), results.name(at)))
    })
}

/// Largest correlation of neighbouring blocks among the differences that are judged, if it is large.
fn dependent(results: &Results<'_>, at: Cell) -> Option<String> {
    let of = |cell| {
        weekly(results, cell).filter_map(move |(metric, one)| Some((one.low.and(one.correlation)?, cell, metric)))
    };
    let (correlation, cell, metric) = results.others(at).flat_map(of).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (correlation > 0.3).then(|| {
        format!(
            "blocks of the log depend on one another ({metric} of {} against {}: correlation {correlation:.2} between neighbours), so \
             the interval is too narrow.",
            results.name(cell), results.name(at)
        )
    })
}
