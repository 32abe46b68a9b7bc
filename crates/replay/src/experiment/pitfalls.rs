//! Warnings: known pitfalls that the design of an experiment falls into.

use super::design::{Design, From, Key, Method, Value};
use super::measure::{Metric, Window};
use super::results::{At, Results};
use super::workloads::{Held, estimates_of};
use metrics::blocks::lag_one;
use workload::Estimates;

/// So many paired differences that one of them is expected to stand out by chance.
const MANY_COMPARISONS: usize = 20;

/// Everything that a reader should know before believing a number, each with what to do about it.
pub(super) fn pitfalls(design: &Design, held: &[Held], results: &Results<'_>) -> Vec<String> {
    let mut found = of_the_design(design, held);
    found.extend(of_the_runs(design, results));
    found
}

/// What can be said before anything runs.
pub(super) fn of_the_design(design: &Design, held: &[Held]) -> Vec<String> {
    let mut found = Vec::new();
    if design.logs.len() == 1 {
        found.push(
            "One log: what holds on it may hold there alone; orders of policies are known to change from log to log. Add a \
             second [[log]]."
                .to_owned(),
        );
    }
    if design.metrics.iter().any(|metric| metric.name().starts_with("slowdown_")) {
        found.push(
            "Slowdown without a bound: jobs of a second, of which nobody feels the wait, rule its mean. Use \
             bounded_slowdown_mean."
                .to_owned(),
        );
    }
    if design.metrics.iter().any(|metric| ["makespan", "utilization"].contains(&metric.name())) {
        found.push(
            "Makespan and utilization of a log that comes at its own pace are decided by its last jobs, and hardly by the \
             policy: policies that look alike there may differ by hours of wait."
                .to_owned(),
        );
    }
    let compared = design.logs.len() * design.settings().len() * (design.policies.len() - 1) * design.metrics.len();
    if compared >= MANY_COMPARISONS {
        found.push(format!(
            "{compared} comparisons at 95 %: about {} would stand out if no policy differed from any. What to believe is said \
             beforehand, in [[claim]]s, or holds in many places.",
            compared.div_ceil(20)
        ));
    }
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
             would bring. method = \"users\" tells that."
                .to_owned(),
        );
    }
    if design.vary.iter().any(|dimension| dimension.key == Key::Load)
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

/// What the runs tell.
fn of_the_runs(design: &Design, results: &Results<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for at in results.places() {
        let At { log, setting } = at;
        let where_ = || {
            let words = design.in_words(&results.settings[setting]);
            let name = &design.logs[log].name;
            if words.is_empty() { name.clone() } else { format!("{name}, {words}") }
        };
        let load = results.mean(at, design.baseline, Metric::of("offered_load")).map(|load| load.mean);
        if let Some(load) = load.filter(|load| *load >= 0.95) {
            found.push(format!(
                "{}: saturated. The offered load is {:.0} % of the machine, so the queue grows as long as jobs come, and means \
                 tell how long the log is rather than what the policy does.",
                where_(),
                100.0 * load
            ));
        }
        if design.method == Method::Weeks {
            for metric in &design.metrics {
                if let Some(lag) =
                    lag_one(&results.sample(&results.of(at, design.baseline, *metric))).filter(|lag| *lag > 0.3)
                {
                    found.push(format!(
                        "{}: weeks depend on one another ({metric}: correlation {lag:.2} between neighbours), so the interval of \
                         its mean is too narrow.",
                        where_()
                    ));
                }
            }
        }
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
