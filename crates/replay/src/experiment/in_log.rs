//! The baseline in the log itself, beside its range over replications of that log.

use super::measure::{Cell, Metric};
use super::results::Results;
use crate::units::level;
use anyhow::Result;
use lab::page::Table;
use lab::quantity::DesignPoint as _;
use lab::table::{csv, number};

/// Number of lines on the terminal.
const SHOWN: usize = 8;

/// One metric of the baseline in one place.
pub(super) struct InLog {
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
    pub(super) fn all(results: &Results<'_>) -> Vec<Self> {
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
        let is_cut = results.design.weeks.is_some();
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
    pub(super) fn on_terminal(all: &[Self]) -> String {
        let shown: Vec<&Self> = all.iter().filter(|one| one.metric == all[0].metric).collect();
        let mut text: String = shown.iter().take(SHOWN).map(|one| one.words() + "\n").collect();
        if shown.len() > SHOWN {
            text += &format!("… and {} more in log.csv\n", shown.len() - SHOWN);
        }
        text
    }

    /// A warning if some value in the log lies outside of the range over its replications.
    pub(super) fn warning(all: &[Self]) -> Option<String> {
        let outside: Vec<&Self> = all.iter().filter(|one| !one.is_inside()).collect();
        let (first, more) = outside.split_first()?;
        let more = if more.is_empty() { String::new() } else { format!("; {} more in log.csv", more.len()) };
        Some(format!(
            "{}{more}. The replications differ from the log there, so that results over them may not hold for it.",
            first.words()
        ))
    }

    pub(super) fn table(all: &[Self]) -> Table {
        let row = |one: &Self| {
            let values = one.values.map(|value| level(one.metric, value));
            let inside = if one.is_inside() { "yes" } else { "no" };
            [one.name.clone()].into_iter().chain(values).chain([inside.to_owned()]).collect()
        };
        let caption = "The baseline in the log as it is, beside its values over the replications.";
        let columns = ["Value", "In the log", "Smallest", "5 %", "Median", "95 %", "Largest", "In this range"];
        Table::new("in-log", "The log itself", caption, columns, all.iter().map(row).collect())
    }

    /// `log.csv`.
    pub(super) fn csv(all: &[Self], results: &Results<'_>) -> Result<Vec<u8>> {
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
