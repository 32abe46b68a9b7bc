//! The answer of an experiment and its pictures, each with its data: every policy against the baseline, over all logs and settings and by
//! each.

use crate::design::measure::{Cell, better};
use crate::design::{Metric, Setting, Value};
use crate::report::results::Results;
use lab::chart::{Axis, Chart, Facet, Point, Series, extremes};
use lab::difference::{CAPTION, CLASSES, Difference, DifferencesTo, by_class, capitalized, headline};
use lab::shown::{DataRow, Shown};
use lab::terminal::csv_name;
use metrics::{ConfidenceInterval, Estimate, JobClass, Refusal, catalogue};

/// Largest number of panels; with more cells, a panel is a mean over one factor's value.
const MOST_PANELS: usize = 24;

/// Metrics of the design in their order, of the policies against the baseline.
pub(crate) struct Answer<'a> {
    results: &'a Results<'a>,
    against: DifferencesTo<'a>,
    places: Vec<Cell>,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(results: &'a Results<'a>) -> Self {
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
        let (found, of_baseline) = if let [at] = places {
            let difference = results.estimate(&results.difference(at.under(policy), metric))?;
            (difference, Some(results.mean(*at, metric)?.mean))
        } else {
            (results.percent_over(if steady.is_empty() { places } else { &steady }, policy, metric)?, None)
        };
        let interval = Estimate { refused, ..found.into() };
        let (policy, baseline) = (results.design.policies[policy].name(), self.against.baseline);
        Some(Difference { metric, policy, baseline, interval, of_baseline, observations: "replications" })
    }

    /// Differences of all other policies to the baseline.
    fn all(&self, metric: Metric, places: &[Cell]) -> Vec<Difference<'a>> {
        self.against.others.iter().filter_map(|(.., policy)| self.between(*policy, metric, places)).collect()
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
        let has = |value| part(&|at| settings[at.setting].0.contains(value));
        let factors = design.vary.iter().flatten().map(|value| (value.to_string(), has(value)));
        logs.chain(factors).filter(|(_, places)| places.len() < self.places.len()).collect()
    }

    /// The best policy by the first metric over the whole experiment, its difference, and the classes of jobs that gain or lose.
    pub(crate) fn sentences(&self) -> Option<Vec<String>> {
        let (headline, best) = headline(&self.all(self.results.design.metrics[0], &self.places))?;
        let (.., best) = self.against.others.iter().find(|(label, ..)| *label == best)?;
        let of_class = |(metric, class)| Some((class, self.between(*best, metric, &self.places)?));
        let classes: Vec<_> = of_classes(self.shown()).filter_map(of_class).collect();
        Some(std::iter::once(headline).chain(by_class(self.shown(), &classes)).collect())
    }

    /// The metric that charts by class of jobs show: waits for a time, bounded slowdowns for others.
    fn shown(&self) -> Metric {
        let is_time = self.results.design.metrics[0].unit() == "s";
        metrics::Metric::of(if is_time { "wait_mean" } else { "bounded_slowdown_mean" })
    }

    /// The first metric: over the whole experiment, by class of jobs, and by log and setting.
    pub(crate) fn first(&self) -> Vec<Shown> {
        let (metric, shown, count) = (self.results.design.metrics[0], self.shown(), self.places.len());
        let all = self.all(metric, &self.places);
        let facet = self.against.facet(metric.label(), "", all.iter(), Difference::dot);
        let title = format!("{} against {}", metric.label(), self.against.baseline);
        let forest = self.against.forest("main-difference", &title, metric, count > 1, vec![facet]);
        let over = if count > 1 {
            format!(" Means over {count} cells (log and setting), without those where either policy is saturated.")
        } else {
            String::new()
        };
        let rows = all.iter().map(|one| row(one, "all")).collect();
        let overall = Shown::picture(forest, format!("{CAPTION}{over}"), rows);
        // Slowdowns in one place are a picture of that log.
        let classes = || self.classes("classes", shown, &self.places, &format!("{} by class of jobs", shown.label()));
        let classes = (shown.unit() == "s" || count > 1).then(classes).flatten();
        [overall].into_iter().chain(classes).chain(self.by_part(metric)).collect()
    }

    /// The other metrics: over the whole experiment, and each by log and setting.
    pub(crate) fn others(&self) -> Vec<Shown> {
        let others = &self.results.design.metrics[1..];
        let panels = others.iter().map(|metric| (metric.label(), *metric, "all"));
        let (facets, rows) = self.panels(&self.places, panels);
        let forest = self.against.metrics("other-metrics", facets);
        let all = Shown::picture(forest, "Means over all logs and settings.", rows);
        let by_part = others.iter().filter_map(|metric| self.by_part(metric));
        (!others.is_empty()).then_some(all).into_iter().chain(by_part).collect()
    }

    /// Bounded slowdown by class of jobs and the distribution of waits, on each log under the first setting.
    pub(crate) fn by_log(&self) -> Vec<Shown> {
        let slowdown = metrics::Metric::of("bounded_slowdown_mean");
        let of = |at: &Cell| {
            let id = legal(&format!("classes-{}", self.results.design.logs[at.log].name));
            let title = format!("{} by class of jobs on {}", slowdown.label(), self.results.on(*at));
            self.classes(&id, slowdown, &[*at], &title).into_iter().chain(distribution(self.results, *at))
        };
        self.places.iter().filter(|at| at.setting == 0).flat_map(of).collect()
    }

    /// One metric by log and setting; `None` for a single cell.
    fn by_part(&self, metric: Metric) -> Option<Shown> {
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

    /// A metric of classes of jobs; `None` without differences.
    fn classes(&self, id: &str, shown: Metric, places: &[Cell], title: &str) -> Option<Shown> {
        let panels = of_classes(shown).map(|(metric, class)| (class.name(), metric, class.name()));
        let (facets, rows) = self.panels(places, panels);
        let forest = self.against.forest(id, title, shown, true, facets);
        (!rows.is_empty()).then(|| Shown::picture(forest, CLASSES, rows))
    }

    /// Panels in percent, each of a name, a metric and its x in the data, and these data.
    fn panels<'b>(
        &self,
        places: &[Cell],
        panels: impl Iterator<Item = (&'b str, Metric, &'b str)>,
    ) -> (Vec<Facet>, Vec<DataRow>) {
        let mut rows = Vec::new();
        let facets = panels.map(|(name, metric, x)| {
            let all = self.all(metric, places);
            rows.extend(all.iter().map(|one| row(one, x)));
            self.against.facet(&capitalized(name), "", all.iter(), Difference::relative)
        });
        (facets.collect(), rows)
    }
}

/// The metric of each class of jobs that corresponds to a metric of all jobs.
fn of_classes(shown: Metric) -> impl Iterator<Item = (Metric, JobClass)> {
    let all = catalogue().iter().filter_map(|metric| Some((metric, metric.class()?)));
    all.filter(move |(metric, _)| metric.unit() == shown.unit())
}

/// A difference in percent, as data.
fn row(one: &Difference<'_>, x: &str) -> DataRow {
    (one.policy.to_owned(), x.to_owned(), one.metric.to_string(), one.share_of_baseline())
}

type OfMetric = (Metric, Vec<Shown>);

/// Means over the values of a number that is varied, with their title, metric by metric; `None` if no number is varied.
pub(crate) fn means(results: &Results<'_>) -> Option<(&'static str, Vec<OfMetric>)> {
    const TITLES: [(&str, &str, &str); 3] = [
        ("load", "Means by load", "load, relative to the log's own"),
        ("users", "Means by number of users", "users, relative to the log's own"),
        ("procs", "Means by number of processors", "processors"),
    ];
    let design = results.design;
    let column = |name: &str| design.vary.iter().position(|values| values[0].name() == name && values.len() > 1);
    let (column, title, label) =
        TITLES.into_iter().find_map(|(name, title, label)| Some((column(name)?, title, label)))?;
    let of_metric = |metric: Metric| {
        (metric, (0..design.logs.len()).flat_map(|log| over(results, (column, label), metric, log)).collect())
    };
    Some((title, design.metrics.iter().map(|metric| of_metric(metric)).collect()))
}

/// Means over the values of a column, one chart for each combination of the others.
fn over(results: &Results<'_>, (column, label): (usize, &str), metric: Metric, log: usize) -> Vec<Shown> {
    let (design, name) = (results.design, &results.design.logs[log].name);
    let of = |setting: &Setting| [&setting.0[..column], &setting.0[column + 1..]].concat();
    let chart = |first: &Setting| {
        let others = of(first).iter().map(Value::to_string).collect::<Vec<_>>();
        let under = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        let curve = |policy| {
            let beside = results.settings.iter().enumerate().filter(|(_, other)| of(other) == of(first));
            let point = |(setting, other): (usize, &Setting)| {
                let Value::Number(_, x) = other.0[column] else { return None };
                Some((x, metric, results.mean(Cell { log, setting, policy }, metric)?))
            };
            (policy, beside.filter_map(point).collect())
        };
        let (series, rows) = curves(results, (0..design.policies.len()).map(curve));
        let points = || series.iter().flat_map(|series| &series.points);
        let mut ticks: Vec<(f64, String)> = points().map(|point| (point.x, point.x.to_string())).collect();
        ticks.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ticks.dedup_by(|(a, _), (b, _)| a.to_bits() == b.to_bits());
        let values = points().map(|point| point.y);
        let y = axis(metric, extremes(values).is_some_and(|(low, high)| low > 0.0 && high > 10.0 * low));
        let title = format!("{} on {name}{under}", capitalized(metric.label()));
        let id = legal(&format!("{metric}-{name}-{}", others.join("-")));
        Shown::picture(Chart::new(id, title, Axis::new(label).with_ticks(ticks), y, series), "", rows)
    };
    let is_first = |setting: &&Setting| setting.0[column] == design.vary[column][0];
    results.settings.iter().filter(is_first).map(chart).collect()
}

/// The axis of a metric with its label and unit, logarithmic where one value is more than ten times another.
fn axis(metric: Metric, log: bool) -> Axis {
    let label = metric.label();
    let axis = match metric.unit() {
        // Each tick of a logarithmic axis of spans has its unit.
        "s" if log => Axis::of_spans(label),
        "s" => Axis::of_spans(format!("{label} (s)")),
        "" => Axis::new(label),
        unit => Axis::new(format!("{label} ({unit})")),
    };
    Axis { log, ..axis }
}

/// Lines of policies and their data, given by the position of the policy and the x, metric and estimate of each point.
fn curves(
    results: &Results<'_>,
    all: impl Iterator<Item = (usize, Vec<(f64, Metric, ConfidenceInterval)>)>,
) -> (Vec<Series>, Vec<DataRow>) {
    let mut rows = Vec::new();
    let series = all.map(|(policy, curve)| {
        let name = results.design.policies[policy].name();
        let row = |(x, metric, mean): &(f64, Metric, _)| (name.to_owned(), x.to_string(), metric.to_string(), *mean);
        rows.extend(curve.iter().map(row));
        Series::lines(name, curve.iter().map(|(x, _, mean)| Point::of(*x, mean)).collect()).in_slot(policy)
    });
    (series.collect(), rows)
}

/// Distributions of waits of the baseline and of policies that differ from it significantly in some metric; `None` if none does.
fn distribution(results: &Results<'_>, at: Cell) -> Option<Shown> {
    let design = results.design;
    let differs = |cell: &Cell| {
        let difference = |metric: &Metric| results.estimate(&results.difference(*cell, metric));
        let is_significant = |metric: &Metric| difference(metric).is_some_and(|one| better(metric, &one).is_some());
        *cell == at || design.metrics.iter().any(is_significant)
    };
    let mut quantiles: Vec<(f64, Metric)> =
        catalogue().iter().filter_map(|metric| Some((metric.share_of_waits()?, metric))).collect();
    quantiles.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let curve = |cell: Cell| {
        let point = |(share, metric): &(f64, Metric)| Some((*share, *metric, results.mean(cell, metric)?));
        (cell.policy, quantiles.iter().filter_map(point).collect())
    };
    let (series, rows) = curves(results, results.policies(at).filter(differs).map(curve));
    if series.len() < 2 || rows.is_empty() {
        return None;
    }
    let (id, title) = (legal(&format!("waits-{}", design.logs[at.log].name)), format!("Waits on {}", results.on(at)));
    let chart =
        Chart::new(id, title, Axis::new("share of the jobs (%)"), Axis::of_spans("quantile of the wait (s)"), series);
    let caption = "The distribution of waits, as quantiles averaged over replications: that percentage of the jobs wait less. Shown \
                   are the baseline and the policies that differ from it under some metric.";
    Some(Shown::picture(chart, caption, rows))
}

/// A file name that is valid on every system.
fn legal(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-_.=+".contains(letter) { letter } else { '-' };
    text.trim_end_matches('-').chars().map(plain).collect()
}
