//! The answer of an experiment: every policy against the baseline, over all logs and settings and by each.

use super::measure::{Cell, Metric};
use super::results::Results;
use crate::difference::{CAPTION, CLASSES, Difference, DifferencesTo, by_class, capitalized, headline};
use lab::shown::{DataRow, Shown};
use lab::terminal::csv_name;
use metrics::{ConfidenceInterval, Estimate, Refusal, catalogue};

/// Largest number of panels; with more cells, a panel is a mean over one factor's value.
const MOST_PANELS: usize = 24;

/// Metrics of the design in their order, of the policies against the baseline.
pub(super) struct Answer<'a> {
    results: &'a Results<'a>,
    against: DifferencesTo<'a>,
    places: Vec<Cell>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(results: &'a Results<'a>) -> Self {
        let names = results.design.policies.iter().map(|policy| [policy.name(); 2]);
        let against = DifferencesTo::new(names, results.design.baseline);
        Self { results, against, places: results.places().collect() }
    }

    /// A policy less the baseline: in the metric's unit in one place; over several in percent of the baseline's mean, of those places in
    /// which neither is saturated if there are such.
    fn between(&self, policy: usize, metric: Metric, places: &[Cell]) -> Option<Difference<'a>> {
        let results = self.results;
        let is_saturated = |at: &Cell| results.is_saturated(*at) || results.is_saturated(at.under(policy));
        let steady: Vec<Cell> = places.iter().filter(|at| !is_saturated(at)).copied().collect();
        let refused = steady.is_empty().then_some(Refusal::Saturated);
        let (interval, of_baseline) = if let [at] = places {
            let difference = results.estimate(&results.difference(at.under(policy), metric))?;
            (difference, Some(results.mean(*at, metric)?.mean))
        } else {
            (results.percent_over(if steady.is_empty() { places } else { &steady }, policy, metric)?, None)
        };
        let ConfidenceInterval { mean, low, high, replications, .. } = interval;
        let interval = Estimate { mean, low, high, blocks: replications, correlation: None, refused };
        let (policy, baseline) = (results.design.policies[policy].name(), self.against.baseline);
        Some(Difference { metric, policy, baseline, interval, of_baseline, observations: "replications" })
    }

    /// Differences of all other policies to the baseline.
    fn all(&self, metric: Metric, places: &[Cell]) -> Vec<Difference<'a>> {
        self.against.others.iter().filter_map(|other| self.between(other.slot, metric, places)).collect()
    }

    /// The parts that panels show: a place each up to the limit of panels; otherwise one per value of every factor, over the others.
    fn parts(&self) -> Vec<(String, Vec<Cell>)> {
        let (design, settings) = (self.results.design, &self.results.settings);
        if self.places.len() <= MOST_PANELS {
            let name = |at: Cell| match (design.logs.len(), settings[at.setting].in_words()) {
                (1, words) if !words.is_empty() => words,
                _ => self.results.place(at),
            };
            return self.places.iter().map(|at| (name(*at), vec![*at])).collect();
        }
        let part = |has: &dyn Fn(&Cell) -> bool| self.places.iter().copied().filter(has).collect::<Vec<_>>();
        let logs = design.logs.iter().enumerate().map(|(log, of)| (of.name.clone(), part(&|at| at.log == log)));
        let has = |value| part(&|at| settings[at.setting].values.contains(value));
        let factors = design.vary.iter().flatten().map(|value| (format!("{} {value}", value.name()), has(value)));
        logs.chain(factors).filter(|(_, places)| places.len() < self.places.len()).collect()
    }

    /// The best policy by the first metric over the whole experiment, its difference, and the classes of jobs that gain or lose.
    pub(super) fn sentences(&self) -> Vec<String> {
        let Some((headline, best)) = headline(&self.all(self.results.design.metrics[0], &self.places)) else {
            return Vec::new();
        };
        let slot = self.against.others.iter().find(|other| self.results.design.policies[other.slot].name() == best);
        let of_class = |(metric, class)| Some((class, self.between(slot?.slot, metric, &self.places)?));
        let classes: Vec<_> = of_classes(self.shown()).filter_map(of_class).collect();
        std::iter::once(headline).chain(by_class(self.shown(), &classes)).collect()
    }

    /// The metric that charts by class of jobs show: waits for a time, bounded slowdowns for others.
    fn shown(&self) -> Metric {
        let is_time = self.results.design.metrics[0].unit() == "s";
        metrics::Metric::of(if is_time { "wait_mean" } else { "bounded_slowdown_mean" })
    }

    /// The first metric over the whole experiment.
    pub(super) fn overall(&self) -> Shown {
        let (metric, count) = (self.results.design.metrics[0], self.places.len());
        let all = self.all(metric, &self.places);
        let facet = self.against.facet(metric.label(), "", all.iter(), Difference::dot);
        let title = format!("{} against {}", metric.label(), self.against.baseline);
        let forest = self.against.forest("main-difference", &title, metric, count > 1, vec![facet]);
        let over = if count > 1 {
            format!(" Means over {count} cells (log and setting), without those where either policy is saturated.")
        } else {
            String::new()
        };
        Shown::picture(forest, format!("{CAPTION}{over}"), all.iter().map(|one| row(one, "all")).collect())
    }

    /// One metric by log and setting; `None` for a single cell.
    pub(super) fn by_part(&self, metric: Metric) -> Option<Shown> {
        let parts = self.parts();
        let facets = parts
            .iter()
            .map(|(name, places)| self.against.facet(name, "", self.all(metric, places).iter(), Difference::relative));
        let title = format!("{} by log and setting", metric.label());
        let facets = facets.collect();
        let forest = self.against.forest(&format!("differences-{metric}"), &title, metric, true, facets);
        let caption = if parts.len() < self.places.len() {
            "Each panel is a mean over the cells with this log or this value of a setting. The data hold every cell."
        } else {
            "Each panel is one log under one setting."
        };
        let rows = self.places.iter().flat_map(|at| {
            // The name of a log is chosen by its user.
            let x = csv_name(&self.results.row(*at, []).join(" / ")).into_owned();
            self.all(metric, &[*at]).into_iter().map(move |one| row(&one, &x))
        });
        (self.places.len() > 1).then(|| Shown::picture(forest, caption, rows.collect()))
    }

    /// The other metrics over the whole experiment; `None` if there is only one metric.
    pub(super) fn others(&self) -> Option<Shown> {
        let mut rows: Vec<DataRow> = Vec::new();
        let facets = self.results.design.metrics[1..].iter().map(|metric| {
            let all = self.all(metric, &self.places);
            rows.extend(all.iter().map(|one| row(one, "all")));
            self.against.facet(&capitalized(metric.label()), "", all.iter(), Difference::relative)
        });
        let forest = self.against.metrics("other-metrics", facets.collect());
        let has_others = self.results.design.metrics.len() > 1;
        has_others.then(|| Shown::picture(forest, "Means over all logs and settings.", rows))
    }

    /// The first metric by class of jobs over the whole experiment. `None` of slowdowns in one place, where [`Answer::classes_on`] is the
    /// same.
    pub(super) fn all_classes(&self) -> Option<Shown> {
        let (shown, places) = (self.shown(), &self.places);
        let title = format!("{} by class of jobs", shown.label());
        (shown.unit() == "s" || places.len() > 1).then(|| self.classes("classes", shown, places, &title))?
    }

    /// Bounded slowdown by class of jobs, on one log under the first setting.
    pub(super) fn classes_on(&self, id: &str, at: Cell) -> Option<Shown> {
        let slowdown = metrics::Metric::of("bounded_slowdown_mean");
        let title = format!("{} by class of jobs on {}", slowdown.label(), self.results.on(at));
        self.classes(id, slowdown, &[at], &title)
    }

    fn classes(&self, id: &str, shown: Metric, places: &[Cell], title: &str) -> Option<Shown> {
        let mut rows: Vec<DataRow> = Vec::new();
        let facets = of_classes(shown).map(|(metric, class)| {
            let all = self.all(metric, places);
            rows.extend(all.iter().map(|one| row(one, class.name())));
            self.against.facet(&capitalized(class.name()), "", all.iter(), Difference::relative)
        });
        let facets = facets.collect();
        let forest = self.against.forest(id, title, shown, true, facets);
        (!rows.is_empty()).then(|| Shown::picture(forest, CLASSES, rows))
    }
}

/// The metric of each class of jobs that corresponds to a metric of all jobs.
fn of_classes(shown: Metric) -> impl Iterator<Item = (Metric, metrics::JobClass)> {
    let all = catalogue().iter().filter_map(|metric| Some((metric, metric.class()?)));
    all.filter(move |(metric, _)| metric.unit() == shown.unit())
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
