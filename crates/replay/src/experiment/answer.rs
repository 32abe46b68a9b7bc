//! The answer of an experiment: every policy against the baseline, over all logs and settings and by each.

use super::design::{Design, Method};
use super::measure::Metric;
use super::results::{LogAt, Results};
use crate::difference::{CAPTION, CLASSES, Difference, DifferencesTo, capitalized};
use lab::chart::Forest;
use lab::shown::{DataRow, Shown};
use lab::terminal::csv_name;
use metrics::{Better, ConfidenceInterval, Estimate, Refusal, catalogue};

/// Largest number of panels; with more cells, a panel is a mean over one factor's value.
const MOST_PANELS: usize = 24;

/// A part of the experiment that a panel shows.
struct PanelPart {
    name: String,
    cells: Vec<LogAt>,
}

/// Metrics of the design in their order, of the policies against the baseline.
pub(super) struct Answer<'a> {
    results: &'a Results<'a>,
    against: DifferencesTo<'a>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(results: &'a Results<'a>) -> Self {
        let design = results.design;
        let names = design.policies.iter().map(|policy| [policy.name(); 2]);
        Self { results, against: DifferencesTo::new(names, design.baseline) }
    }

    const fn design(&self) -> &'a Design {
        self.results.design
    }

    /// A policy less another: in the metric's unit in one cell; over several in percent of the other's mean, of those cells in which
    /// neither is saturated if there are such.
    fn between(&self, [policy, base]: [usize; 2], metric: Metric, cells: &[LogAt]) -> Option<Difference<'a>> {
        let results = self.results;
        let (interval, of_baseline) = if let [at] = cells {
            (results.difference(*at, policy, base, metric)?, Some(results.mean(*at, base, metric)?.mean))
        } else {
            let steady =
                cells.iter().filter(|at| !results.is_saturated(**at, policy) && !results.is_saturated(**at, base));
            let steady: Vec<LogAt> = steady.copied().collect();
            (results.percent_over(if steady.is_empty() { cells } else { &steady }, policy, base, metric)?, None)
        };
        let is_saturated = cells.iter().all(|at| results.is_saturated(*at, policy) || results.is_saturated(*at, base));
        let ConfidenceInterval { mean, low, high, replications, .. } = interval;
        let refused = is_saturated.then_some(Refusal::Saturated);
        let interval = Estimate { mean, low, high, blocks: replications, correlation: None, refused };
        let [policy, baseline] = [policy, base].map(|position| self.design().policies[position].name());
        let observations = if self.design().method == Method::Weeks { "blocks of the log" } else { "replications" };
        Some(Difference { metric, policy, baseline, interval, of_baseline, observations })
    }

    /// Differences of all other policies to the baseline.
    fn all(&self, metric: Metric, cells: &[LogAt]) -> Vec<Difference<'a>> {
        let base = self.design().baseline;
        self.against.others.iter().filter_map(|other| self.between([other.slot, base], metric, cells)).collect()
    }

    fn cells(&self) -> Vec<LogAt> {
        self.results.places().collect()
    }

    /// One part per cell up to the limit of panels; otherwise one per value of every factor, over the others.
    fn parts(&self) -> Vec<PanelPart> {
        let (design, cells) = (self.design(), self.cells());
        if cells.len() <= MOST_PANELS {
            return cells.iter().map(|at| PanelPart { name: self.name(*at), cells: vec![*at] }).collect();
        }
        let logs = design.logs.iter().enumerate().map(|(log, of)| {
            let cells = cells.iter().copied().filter(|at| at.log == log).collect();
            PanelPart { name: of.name.clone(), cells }
        });
        let factors = design.vary.iter().enumerate().flat_map(|(column, dimension)| {
            let cells = &cells;
            dimension.values.iter().enumerate().map(move |(value, text)| {
                let has_value = |at: &LogAt| self.results.settings[at.setting].0[column] == value;
                let cells = cells.iter().copied().filter(has_value).collect();
                PanelPart { name: format!("{} {text}", dimension.key.name()), cells }
            })
        });
        logs.chain(factors).filter(|part: &PanelPart| part.cells.len() < cells.len()).collect()
    }

    fn name(&self, at: LogAt) -> String {
        let words = self.design().in_words(&self.results.settings[at.setting]);
        let log = self.design().logs[at.log].name.clone();
        match (self.design().logs.len(), words.is_empty()) {
            (_, true) => log,
            (1, false) => words,
            (_, false) => format!("{log}, {words}"),
        }
    }

    /// The best policy by one metric over the whole experiment, and its difference.
    pub(super) fn headline(&self, metric: Metric) -> Option<String> {
        let sign = if metric.better() == Better::Larger { -1.0 } else { 1.0 };
        let all = self.all(metric, &self.cells());
        let best = all.iter().min_by(|a, b| (sign * a.interval.mean).total_cmp(&(sign * b.interval.mean)))?;
        Some(best.headline(sign * best.interval.mean > 0.0))
    }

    /// The first metric over the whole experiment.
    pub(super) fn overall(&self) -> Shown {
        let (metric, cells) = (self.design().metrics[0], self.cells());
        let all = self.all(metric, &cells);
        let facet = self.against.facet(metric.label(), "", all.iter(), Difference::dot);
        let title = format!("{} against {}", metric.label(), self.against.baseline);
        let forest = self.against.forest("main-difference", &title, metric, cells.len() > 1, vec![facet]);
        let over = if cells.len() > 1 {
            format!(
                " Means over {} cells (log and setting), without those where either policy is saturated.",
                cells.len()
            )
        } else {
            String::new()
        };
        let rows = all.iter().map(|one| row(one, "all"));
        Shown::picture(forest, format!("{CAPTION}{over}"), rows.collect())
    }

    /// One metric by log and setting; `None` for a single cell.
    pub(super) fn by_part(&self, metric: Metric) -> Option<Shown> {
        let (parts, cells) = (self.parts(), self.cells());
        let facets = parts.iter().map(|part| {
            let all = self.all(metric, &part.cells);
            self.against.facet(&part.name, "", all.iter(), Difference::relative)
        });
        let title = format!("{} by log and setting", metric.label());
        let facets = facets.collect();
        let forest = self.against.forest(&format!("differences-{metric}"), &title, metric, true, facets);
        let caption = if parts.len() < cells.len() {
            "A panel is a mean over all cells with this log or this value of a setting. The data hold every cell."
        } else {
            "A panel is a log under a setting."
        };
        let rows = cells.iter().flat_map(|at| {
            let mut heads = vec![self.design().logs[at.log].name.clone()];
            heads.extend(self.design().texts(&self.results.settings[at.setting]));
            // The name of a log is chosen by its user.
            let x = csv_name(&heads.join(" / ")).into_owned();
            self.all(metric, &[*at]).into_iter().map(move |one| row(&one, &x))
        });
        (cells.len() > 1).then(|| Shown::picture(forest, caption, rows.collect()))
    }

    /// The other metrics over the whole experiment; `None` if there is only one metric.
    pub(super) fn others(&self) -> Option<Shown> {
        let (others, cells) = (&self.design().metrics[1..], self.cells());
        let of = |metric: Metric| (metric, self.all(metric, &cells));
        let all: Vec<(Metric, Vec<Difference<'_>>)> = others.iter().map(|metric| of(metric)).collect();
        let facets = all.iter().map(|(metric, all)| {
            self.against.facet(&capitalized(metric.label()), "", all.iter(), Difference::relative)
        });
        let forest = self.against.metrics("other-metrics", facets.collect());
        let rows = all.iter().flat_map(|(_, all)| all.iter().map(|one| row(one, "all")));
        (!others.is_empty()).then(|| Shown::picture(forest, "Means over all logs and settings.", rows.collect()))
    }

    /// Bounded slowdown by class of jobs, on one log under the first setting.
    pub(super) fn classes(&self, id: &str, at: LogAt) -> Option<Shown> {
        let mut rows: Vec<DataRow> = Vec::new();
        let of_classes = catalogue().iter().filter_map(|metric| Some((metric, metric.class()?)));
        let slowdowns = of_classes.filter(|(metric, _)| metric.unit().is_empty());
        let facets = slowdowns.map(|(metric, class)| {
            let all = self.all(metric, &[at]);
            rows.extend(all.iter().map(|one| row(one, class.name())));
            self.against.facet(&capitalized(class.name()), "", all.iter(), Difference::relative)
        });
        let facets = facets.collect();
        let slowdown = metrics::Metric::of("bounded_slowdown_mean");
        let title = format!("{} by class of jobs on {}", slowdown.label(), self.design().logs[at.log].name);
        let setting = self.design().in_words(&self.results.settings[at.setting]);
        let title = if setting.is_empty() { title } else { format!("{title} ({setting})") };
        let forest: Forest = self.against.forest(id, &title, slowdown, true, facets);
        (!rows.is_empty()).then(|| Shown::picture(forest, CLASSES, rows))
    }
}

/// A difference in percent, as data.
fn row(one: &Difference<'_>, x: &str) -> DataRow {
    let dot = one.relative();
    let interval = ConfidenceInterval {
        mean: dot.mean,
        low: dot.interval.map(|(low, _)| low),
        high: dot.interval.map(|(_, high)| high),
        replications: one.interval.blocks,
        level: ConfidenceInterval::LEVEL,
    };
    (one.policy.to_owned(), x.to_owned(), one.metric.to_string(), interval)
}
