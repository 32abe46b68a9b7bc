//! Warnings: known pitfalls of a design and its results, and replications that differ from the log itself.

use crate::design::Metric;
use crate::design::file::Method;
use crate::design::measure::Cell;
use crate::plan::ExperimentPlan;
use crate::report::results::Results;
use anyhow::Result;
use lab::page::Table;
use lab::quantity::DesignPoint as _;
use lab::table::{csv, number};
use lab::units::level;
use replay::simulate::policy::Policy;
use std::collections::BTreeSet;
use workload::Estimates;

/// Number of paired differences at which one of them is expected to stand out by chance.
const MANY_COMPARISONS: usize = 20;

/// Warnings about the results, each with its remedy.
pub(crate) fn pitfalls(plan: &ExperimentPlan, results: &Results<'_>) -> Vec<String> {
    let (design, mut found) = (&plan.design, of_the_design(plan));
    found.extend((0..design.policies.len()).filter_map(|policy| saturated(results, policy)));
    let has_one_machine = design.varied().all(|name| name != "procs");
    if !design.replicate.cuts() && has_one_machine && design.logs.iter().any(|log| log.model.is_some()) {
        let beginning = "A model begins on an empty machine, and that beginning is included here";
        found.push(format!("{beginning}; warm_up = \"mser-5\" in [replicate] leaves it out."));
    }
    found
}

pub(crate) fn of_the_design(plan: &ExperimentPlan) -> Vec<String> {
    let (design, mut found) = (&plan.design, Vec::new());
    let mut warn = |applies: bool, words: &str| found.extend(applies.then(|| words.to_owned()));
    warn(design.logs.len() == 1, "One log: the order of the policies may differ on another log. Add a second [[log]].");
    let of_metrics: BTreeSet<&str> = design.metrics.iter().filter_map(|metric| metric.warning()).collect();
    of_metrics.into_iter().rev().for_each(|words| warn(true, words));
    let cells = design.logs.len() * design.settings().len();
    let compared = cells * (design.policies.len() - 1) * design.metrics.len();
    let many = format!(
        "{compared} comparisons at 95 %: about {} would be significant by chance if all policies were equal. Rely on claims \
         stated in advance, in [[claim]], or on differences that appear in many cells.",
        compared.div_ceil(20)
    );
    warn(compared >= MANY_COMPARISONS, &many);
    warn(
        cells > 1,
        "A range over logs and settings is the range of noisy estimates, so it is wider than that of the true values. For one \
         cell, use its interval.",
    );
    let estimates_of = |log| design.settings().into_iter().map(move |setting| setting.estimates(log));
    warn(
        design.logs.iter().flat_map(estimates_of).all(|estimates| matches!(estimates, Estimates::Exact)),
        "Exact estimates only: users' estimates are inaccurate, which changes backfilling (Mu'alem & Feitelson 2001). Vary them: \
         estimates = [\"user\", \"exact\"].",
    );
    for held in &plan.held {
        let (log, name) = (&held.log, &held.log.name);
        let is_of_users = |one| matches!(one, Estimates::User | Estimates::MeanOfUser(_));
        let no_limits = "no requested times in the log, so run times are the estimates, which are then exact";
        warn(!held.has_limits() && estimates_of(log).any(is_of_users), &format!("{name}: {no_limits}."));
        held.sites.ignored(&held.repairs).iter().for_each(|note| warn(true, &format!("{name}: {note}.")));
    }
    design.policies.iter().filter_map(Policy::assumptions).for_each(|words| warn(true, &words));
    let count = design.replicate.count();
    warn(count < 10, &format!("{count} replications give wide intervals; thirty are customary."));
    warn(
        design.replicate.method == Method::Shake,
        "Shaken logs differ by seconds, so the intervals cover coincidence within this log, not the difference to another month. \
         method = \"blocks\" covers that.",
    );
    warn(
        design.varied().any(|name| name == "load") && design.logs.iter().any(|log| log.file.is_some()),
        "Load is changed by scaling the times between arrivals: at 1.2 a day has 20 hours, while run times stay the same. With \
         method = \"users\", users = [0.8, 1.0, 1.2] changes the number of users and keeps the length of a day.",
    );
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

/// Number of lines on the terminal about the log itself.
const SHOWN: usize = 8;

/// One metric of the baseline in one place: in the log itself, and its range over replications of that log.
pub(crate) struct InLog {
    at: Cell,
    metric: Metric,
    /// Value in the log itself; over replications the smallest value, 5th percentile, median, 95th percentile, and largest value.
    values: [f64; 6],
    replications: usize,
    /// `users, load 0.8: mean wait of easy`.
    name: String,
}

impl InLog {
    /// All metrics of the experiment, in every place where the log itself was replayed.
    pub(crate) fn all(results: &Results<'_>) -> Vec<Self> {
        let of = |(at, metric): (Cell, Metric)| {
            let own = results.in_log(at, metric)?;
            let mut sample = results.sample(&at.get(metric));
            sample.sort_by(f64::total_cmp);
            let (name, replications) =
                (format!("{}: {} of {}", results.place(at), metric.label(), results.name(at)), sample.len());
            let [min, low, median, high, max] = [0, 5, 50, 95, 100].map(|percent| percentile(&sample, percent));
            Some(Self { at, metric, values: [own, min?, low?, median?, high?, max?], replications, name })
        };
        // Sums grow with the length of the log.
        let is_cut = results.design.replicate.weeks().is_some();
        results.measures().filter(|(_, metric)| !is_cut || !metric.grows_with_log()).filter_map(of).collect()
    }

    fn is_inside(&self) -> bool {
        let [own, low, .., high] = self.values;
        low <= own && own <= high
    }

    fn words(&self) -> String {
        let [own, low, _, median, _, high] = self.values.map(|value| level(self.metric, value));
        format!(
            "{} is {own} in the log itself, {low} to {high} (median {median}) over {} replications",
            self.name, self.replications
        )
    }

    /// Lines for the terminal: the first metric of each place. Values outside of their range are warnings.
    pub(crate) fn on_terminal(all: &[Self]) -> String {
        let shown: Vec<&Self> = all.iter().filter(|one| one.metric == all[0].metric).collect();
        let mut text: String = shown.iter().take(SHOWN).map(|one| one.words() + "\n").collect();
        if shown.len() > SHOWN {
            text += &format!("… and {} more in log.csv\n", shown.len() - SHOWN);
        }
        text
    }

    /// A warning if some value in the log lies outside of the range over its replications.
    pub(crate) fn warning(all: &[Self]) -> Option<String> {
        let outside: Vec<&Self> = all.iter().filter(|one| !one.is_inside()).collect();
        let (first, more) = outside.split_first()?;
        let more = if more.is_empty() { String::new() } else { format!("; {} more in log.csv", more.len()) };
        Some(format!(
            "{}{more}. The replications differ from the log there, so that results over them may not hold for it.",
            first.words()
        ))
    }

    pub(crate) fn table(all: &[Self]) -> Table {
        let row = |one: &Self| {
            let values = one.values.map(|value| level(one.metric, value));
            let inside = if one.is_inside() { "yes" } else { "no" };
            [one.name.clone()].into_iter().chain(values).chain([inside.to_owned()]).collect()
        };
        let caption = "The baseline in the log as it is, beside its values over the replications.";
        let columns = ["Value", "In the log", "Smallest", "5 %", "Median", "95 %", "Largest", "In this range"];
        Table::new("in-log", "The log itself", caption, columns, all.iter().map(row).collect())
    }

    pub(crate) fn csv(all: &[Self], results: &Results<'_>) -> Result<Vec<u8>> {
        let row = |one: &Self| {
            let names = [results.name(one.at).to_owned(), one.metric.to_string()];
            let cells = names.into_iter().chain(one.values.map(number)).chain([one.replications.to_string()]);
            results.placed(one.at, cells)
        };
        let rest = ["policy", "metric", "in_log", "min", "p5", "median", "p95", "max", "reps"];
        csv(results.head(rest), all.iter().map(row))
    }
}

/// Percentile of sorted values, interpolated between neighbours; `None` of no values.
fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let (at, rest) = (sorted.len().checked_sub(1)? * percent / 100, (sorted.len() - 1) * percent % 100);
    let next = sorted.get(at + 1).unwrap_or(&sorted[at]);
    Some(sorted[at] + (next - sorted[at]) * f64::from(u32::try_from(rest).expect("below a hundred")) / 100.0)
}
