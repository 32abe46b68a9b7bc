//! The baseline in the log itself, beside its range over replications of that log.

use super::design::{Design, Method};
use super::measure::Metric;
use super::results::{LogAt, Results};
use crate::units::level;
use anyhow::Result;
use lab::page::Table;
use lab::table::{csv, number};

/// Number of lines on the terminal.
const SHOWN: usize = 8;

/// One metric of the baseline in one place.
pub(super) struct InLog {
    at: LogAt,
    metric: Metric,
    /// Value in the log itself.
    own: f64,
    /// Smallest value over replications, 5th percentile, median, 95th percentile, and largest value.
    range: [f64; 5],
    replications: usize,
}

impl InLog {
    /// All metrics of the experiment, in every place where the log itself was replayed.
    pub(super) fn all(results: &Results<'_>) -> Vec<Self> {
        let mut all = Vec::new();
        let is_cut =
            matches!(results.design.method, Method::Blocks { weeks: Some(_) } | Method::Users { weeks: Some(_) });
        for at in results.places() {
            for metric in &results.design.metrics {
                // Sums grow with the length of the log.
                if is_cut && metric.grows_with_log() {
                    continue;
                }
                let Some(own) = results.in_log(at, metric) else { continue };
                let mut sample = results.sample(&results.of(at, results.design.baseline, metric));
                sample.sort_by(f64::total_cmp);
                if sample.is_empty() {
                    continue;
                }
                let range = [0, 5, 50, 95, 100].map(|percent| percentile(&sample, percent));
                all.push(Self { at, metric: *metric, own, range, replications: sample.len() });
            }
        }
        all
    }

    fn is_inside(&self) -> bool {
        self.range[0] <= self.own && self.own <= self.range[4]
    }

    fn place(&self, results: &Results<'_>) -> String {
        let Design { logs, policies, baseline, .. } = results.design;
        let setting = results.design.in_words(&results.settings[self.at.setting]);
        let comma = if setting.is_empty() { "" } else { ", " };
        format!("{}{comma}{setting}: {} of {}", logs[self.at.log].name, self.metric.label(), policies[*baseline].name())
    }

    fn words(&self, results: &Results<'_>) -> String {
        let [low, _, median, _, high] = self.range.map(|value| level(self.metric, value));
        format!(
            "{} is {} in the log itself, {low} to {high} (median {median}) over {} replications",
            self.place(results),
            level(self.metric, self.own),
            self.replications
        )
    }

    /// Lines for the terminal: the first metric of each place. Values outside of their range are warnings.
    pub(super) fn on_terminal(all: &[Self], results: &Results<'_>) -> String {
        let first = results.design.metrics.first();
        let shown: Vec<&Self> = all.iter().filter(|one| first == Some(&one.metric)).collect();
        let mut text: String = shown.iter().take(SHOWN).map(|one| one.words(results) + "\n").collect();
        if shown.len() > SHOWN {
            text += &format!("… and {} more in log.csv\n", shown.len() - SHOWN);
        }
        text
    }

    /// A warning if some value in the log lies outside of the range over its replications.
    pub(super) fn warning(all: &[Self], results: &Results<'_>) -> Option<String> {
        let outside: Vec<&Self> = all.iter().filter(|one| !one.is_inside()).collect();
        let (first, more) = outside.split_first()?;
        let more = if more.is_empty() { String::new() } else { format!("; {} more in log.csv", more.len()) };
        Some(format!(
            "{}{more}. The replications differ from the log there, so that results over them may not hold for it.",
            first.words(results)
        ))
    }

    pub(super) fn table(all: &[Self], results: &Results<'_>) -> Table {
        let row = |one: &Self| {
            let inside = if one.is_inside() { "inside" } else { "outside" };
            let mut row = vec![one.place(results), level(one.metric, one.own)];
            row.extend(one.range.map(|value| level(one.metric, value)));
            row.push(inside.to_owned());
            row
        };
        let caption = "The baseline in the log as it is, beside its values over the replications.";
        let columns = ["", "In the log", "Smallest", "5 %", "Median", "95 %", "Largest", ""];
        Table::new("in-log", "The log itself", caption, columns, all.iter().map(row).collect())
    }

    /// `log.csv`.
    pub(super) fn csv(all: &[Self], results: &Results<'_>) -> Result<Vec<u8>> {
        let design = results.design;
        let row = |one: &Self| {
            let names = [design.policies[design.baseline].name().to_owned(), one.metric.to_string(), number(one.own)];
            let numbers = one.range.map(number).into_iter().chain([one.replications.to_string()]);
            results.placed(one.at, names.into_iter().chain(numbers))
        };
        let rest = ["policy", "metric", "in_log", "min", "p5", "median", "p95", "max", "reps"];
        csv(results.head(&rest), all.iter().map(row))
    }
}

/// Percentile of sorted values, interpolated between neighbours.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let (at, rest) = ((sorted.len() - 1) * percent / 100, (sorted.len() - 1) * percent % 100);
    let next = sorted.get(at + 1).unwrap_or(&sorted[at]);
    sorted[at] + (next - sorted[at]) * f64::from(u32::try_from(rest).expect("below a hundred")) / 100.0
}
