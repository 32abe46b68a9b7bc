//! Warnings: known pitfalls that the design of an experiment falls into.

use super::design::{Design, DimensionKey, From, Method, Value};
use super::measure::Window;
use super::results::{LogAt, Results};
use super::workloads::{Held, estimates_of};
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
        found.push(
            "One log: what holds on it may hold there alone; orders of policies are known to change from log to log. Add a \
             second [[log]]."
                .to_owned(),
        );
    }
    let warnings: BTreeSet<&str> = design.metrics.iter().filter_map(|metric| metric.warning()).collect();
    found.extend(warnings.into_iter().rev().map(str::to_owned));
    found.extend(of_many(design));
    let all: Vec<Estimates> = design.logs.iter().flat_map(|log| estimates_of(design, log)).collect();
    if all.iter().all(|estimates| matches!(estimates, Estimates::Exact)) {
        found.push(
            "Exact estimates only: users' are wrong, and backfilling behaves otherwise under them (Mu'alem & Feitelson 2001). \
             Vary estimates, as in estimates = [\"user\", \"exact\"]."
                .to_owned(),
        );
    }
    for (log, held) in design.logs.iter().zip(held) {
        let asks = estimates_of(design, log);
        if !held.has_limits() && asks.iter().any(|one| matches!(one, Estimates::User | Estimates::MeanOfUser(_))) {
            found.push(format!(
                "{}: has no requested times, so run times stand in for the users' estimates, which are then exact.",
                log.name
            ));
        }
        found.extend(held.ignored().into_iter().map(|note| format!("{}: {note}.", log.name)));
        if let Some(of) = held.log()
            && matches!(design.method, Method::Weeks)
            && of.ties() > 0.05
        {
            found.push(format!(
                "{}: {:.0} % of the jobs come in the same second as another, and how a policy breaks such ties is an accident. \
                 method = \"shake\" averages over it.",
                log.name,
                100.0 * of.ties()
            ));
        }
    }
    if design.method != Method::Weeks && design.count < 10 {
        found.push(format!("{} replications: their intervals are wide; thirty are customary.", design.count));
    }
    if matches!(design.method, Method::Shake { .. }) {
        found.push(
            "Shaken logs differ by seconds: the intervals tell what is coincidence within this log, not what another month \
             would bring. method = \"blocks\" covers that."
                .to_owned(),
        );
    }
    if design.vary.iter().any(|dimension| dimension.key == DimensionKey::Load)
        && design.logs.iter().any(|log| matches!(log.from, From::File(_)))
    {
        found.push(
            "Load is changed by the times between arrivals: at 1.2 a day has 20 hours, while jobs last as long as ever. With \
             method = \"users\", users = [0.8, 1.0, 1.2] changes it by who is there, and days stay."
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
            "{compared} comparisons at 95 %: about {} would stand out if no policy differed from any. What to believe is said \
             beforehand, in [[claim]]s, or holds in many places.",
            compared.div_ceil(20)
        ));
    }
    if design.logs.len() * design.settings().len() > 1 {
        found.push(
            "A range over logs and settings is one of noisy values, and wider than the range of the true ones: its ends are where \
             chance helped most. Believe the interval in a place chosen beforehand."
                .to_owned(),
        );
    }
    found
}

fn of_the_runs(design: &Design, results: &Results<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for at in results.places() {
        let LogAt { log, setting } = at;
        let where_ = || {
            let words = design.in_words(&results.settings[setting]);
            let name = &design.logs[log].name;
            if words.is_empty() { name.clone() } else { format!("{name}, {words}") }
        };
        for (policy, named) in design.policies.iter().enumerate() {
            found.extend(saturated(results, at, policy).map(|words| format!("{}: {} {words}", where_(), named.name())));
        }
        found.extend(refused(results, at).into_iter().map(|words| format!("{}: {words}", where_())));
        found.extend(dependent(results, at).map(|words| format!("{}: {words}", where_())));
    }
    if design.window == Window::default()
        && design.vary.iter().flat_map(|dimension| &dimension.values).all(|value| !matches!(value, Value::Procs(_)))
        && design.logs.iter().any(|log| matches!(log.from, From::Model(..)))
    {
        found.push(
            "A model begins on an empty machine, and the beginning counts here; warm_up = \"mser-5\" below [replicate] leaves it \
             out."
                .to_owned(),
        );
    }
    found
}

/// Warning that a policy cannot do the work as fast as it arrives, with the number of such replications.
fn saturated(results: &Results<'_>, at: LogAt, policy: usize) -> Option<String> {
    let flags = results.sample(&results.of(at, policy, metrics::Metric::of("saturated")));
    let many = flags.iter().filter(|flag| **flag > 0.5).count();
    let share = if flags.len() > 1 { format!(" in {many} of {} replications", flags.len()) } else { String::new() };
    let consequence = if 2 * many >= flags.len() { "Its comparisons have no interval. " } else { "" };
    (many > 0).then(|| {
        format!(
            "is saturated{share}: work comes faster than it can do it, so that its means grow with the length of the log. \
             {consequence}Lower the load, or leave the policy out."
        )
    })
}

/// Comparisons with the baseline that have no interval over blocks, each with the reason.
fn refused(results: &Results<'_>, at: LogAt) -> Vec<String> {
    let design = results.design;
    let base = design.baseline;
    let reason = |policy: usize| {
        let mut all = design.metrics.iter().filter_map(|metric| results.weekly(at, policy, base, metric));
        all.find_map(|weekly| weekly.refused)
    };
    let others = (0..design.policies.len()).filter(|policy| *policy != base);
    let named = |policy: usize| design.policies[policy].name();
    others
        .filter_map(|policy| Some(format!("{} against {}: {}.", named(policy), named(base), reason(policy)?)))
        .collect()
}

/// Largest correlation of neighbouring blocks among the differences that are judged, if it is large.
fn dependent(results: &Results<'_>, at: LogAt) -> Option<String> {
    let design = results.design;
    let others = (0..design.policies.len()).filter(|policy| *policy != design.baseline);
    let all = others.flat_map(|policy| design.metrics.iter().map(move |metric| (policy, *metric)));
    let correlations = all.filter_map(|(policy, metric)| {
        let weekly = results.weekly(at, policy, design.baseline, metric)?;
        weekly.low.and(weekly.correlation).map(|correlation| (correlation, policy, metric))
    });
    let (correlation, policy, metric) = correlations.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (correlation > 0.3).then(|| {
        format!(
            "blocks of the log depend on one another ({metric} of {} against {}: correlation {correlation:.2} between neighbours), so \
             the interval is too narrow.",
            design.policies[policy].name(), design.policies[design.baseline].name()
        )
    })
}
