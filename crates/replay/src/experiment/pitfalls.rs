//! Warnings: known pitfalls that the design of an experiment falls into.

use super::design::{Design, Value};
use super::file::{Log, Method};
use super::results::Results;
use super::workloads::Held;
use crate::simulate::policy::Policy;
use std::collections::BTreeSet;
use workload::Estimates;

/// Number of paired differences at which one of them is expected to stand out by chance.
const MANY_COMPARISONS: usize = 20;

/// A warning, if it applies.
fn warning(applies: bool, words: &str) -> Option<String> {
    applies.then(|| words.to_owned())
}

/// Warnings about the results, each with its remedy.
pub(super) fn pitfalls(design: &Design, held: &[Held], results: &Results<'_>) -> Vec<String> {
    let mut found = of_the_design(design, held);
    found.extend((0..design.policies.len()).filter_map(|policy| saturated(results, policy)));
    let has_one_machine = design.vary.iter().flatten().all(|value| !matches!(value, Value::Procs(_)));
    found.extend(warning(
        !design.window.cuts() && has_one_machine && design.logs.iter().any(|log| log.model.is_some()),
        "A model begins on an empty machine, and that beginning is included here; warm_up = \"mser-5\" in [replicate] leaves it out.",
    ));
    found
}

pub(super) fn of_the_design(design: &Design, held: &[Held]) -> Vec<String> {
    let one_log = "One log: the order of the policies may differ on another log. Add a second [[log]].";
    let mut found: Vec<String> = warning(design.logs.len() == 1, one_log).into_iter().collect();
    let warnings: BTreeSet<&str> = design.metrics.iter().filter_map(|metric| metric.warning()).collect();
    found.extend(warnings.into_iter().rev().map(str::to_owned));
    let cells = design.logs.len() * design.settings().len();
    let compared = cells * (design.policies.len() - 1) * design.metrics.len();
    found.extend((compared >= MANY_COMPARISONS).then(|| {
        format!(
            "{compared} comparisons at 95 %: about {} would be significant by chance if all policies were equal. Rely on claims \
             stated in advance, in [[claim]], or on differences that appear in many cells.",
            compared.div_ceil(20)
        )
    }));
    found.extend(warning(
        cells > 1,
        "A range over logs and settings is the range of noisy estimates, so it is wider than that of the true values. For one \
         cell, use its interval.",
    ));
    let estimates_of = |log: &Log| {
        let own = log.estimates.0;
        design.settings().into_iter().map(move |setting| setting.estimates.unwrap_or(own))
    };
    found.extend(warning(
        design.logs.iter().flat_map(estimates_of).all(|estimates| matches!(estimates, Estimates::Exact)),
        "Exact estimates only: users' estimates are inaccurate, which changes backfilling (Mu'alem & Feitelson 2001). Vary them: \
         estimates = [\"user\", \"exact\"].",
    ));
    for (log, held) in design.logs.iter().zip(held) {
        let is_of_users = |one| matches!(one, Estimates::User | Estimates::MeanOfUser(_));
        let no_limits = "no requested times in the log, so run times are the estimates, which are then exact";
        let no_limits = warning(!held.has_limits() && estimates_of(log).any(is_of_users), no_limits);
        found.extend(no_limits.into_iter().chain(held.ignored()).map(|note| format!("{}: {note}.", log.name)));
    }
    found.extend(design.policies.iter().filter_map(Policy::assumptions));
    let few = format!("{} replications give wide intervals; thirty are customary.", design.count);
    found.extend(warning(design.count < 10, &few));
    found.extend(warning(
        design.method == Method::Shake,
        "Shaken logs differ by seconds, so the intervals cover coincidence within this log, not the difference to another month. \
         method = \"blocks\" covers that.",
    ));
    found.extend(warning(
        design.varied().any(|name| name == "load") && design.logs.iter().any(|log| log.file.is_some()),
        "Load is changed by scaling the times between arrivals: at 1.2 a day has 20 hours, while run times stay the same. With \
         method = \"users\", users = [0.8, 1.0, 1.2] changes the number of users and keeps the length of a day.",
    ));
    found
}

/// Warning that a policy cannot do the work as fast as it arrives, with the places and numbers of replications.
fn saturated(results: &Results<'_>, policy: usize) -> Option<String> {
    let cells = || results.places().map(|at| at.under(policy));
    let described = |cell| {
        let (many, all) = results.saturation(cell);
        let share = if all > 1 { format!(" ({many} of {all} replications)") } else { String::new() };
        (many > 0).then(|| results.place(cell) + &share)
    };
    let places: Vec<String> = cells().filter_map(described).collect();
    let is_refused = cells().any(|cell| results.is_saturated(cell));
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
