//! Differences between policies, in words and as dots of a chart, and the policies ranked by a metric.

use crate::chart::{Axis, Dot, Facet, Forest};
use crate::measure::quantity::{DesignPoint, Quantity};
use crate::measure::table::optional;
use crate::report::units::{amount, amount_within, percent, range, readable};
use crate::study::observations::Observations;
use metrics::best::{Standing, standings};
use metrics::{Better, ConfidenceInterval, Estimate, JobClass, Metric, Refusal};

/// Explanation of a [`Forest`] for readers.
pub const CAPTION: &str =
    "Bars are 95 % intervals. A hollow dot is no significant difference. An arrow is a value beyond the axis.";

pub const CLASSES: &str =
    "Short jobs run for an hour at most, narrow ones on eight processors at most (Srinivasan et al. 2002).";

/// A difference between two policies.
#[derive(Debug)]
pub struct Difference<'a> {
    /// Metric of the difference.
    pub metric: &'static Metric,
    /// Policy.
    pub policy: &'a str,
    /// Baseline, whose value is subtracted.
    pub baseline: &'a str,
    /// Difference of the means over jobs, in the metric's unit; in percent of the baseline's for a mean over several logs or
    /// settings.
    pub interval: Estimate,
    /// Mean of the baseline; `None` if the difference is in percent of it.
    pub of_baseline: Option<f64>,
    /// Observations of the interval: `blocks of the log`, `replications`.
    pub observations: &'static str,
}

impl Difference<'_> {
    /// A value in percent of the baseline's mean.
    fn share(&self, value: f64) -> f64 {
        self.of_baseline.map_or(value, |mean| if value == 0.0 { 0.0 } else { 100.0 * value / mean.abs() })
    }

    /// The same in words; `None` if the baseline's mean is zero and the value is not.
    fn percentage(&self, value: f64) -> Option<String> {
        Some(self.share(value)).filter(|share| share.is_finite()).map(percent)
    }

    /// The difference in percent, for a reader.
    pub fn in_percent(&self) -> String {
        self.percentage(self.interval.mean).unwrap_or_else(|| "–".to_owned())
    }

    /// `15 min (13 %)`, each with this sign.
    fn sized(&self, mean: f64, sign: &str) -> String {
        let share = self.percentage(mean).map(|share| format!("{sign}{share}"));
        let amount =
            || format!("{sign}{}", amount_within(self.metric, mean, self.interval.low.zip(self.interval.high)));
        match (self.of_baseline, share) {
            (Some(_), Some(share)) => format!("{} ({share})", amount()),
            (_, share) => share.unwrap_or_else(amount),
        }
    }

    fn is_zero(&self) -> bool {
        self.share(self.interval.mean).abs() <= 1e-12
    }

    /// `6 to 24 min`.
    fn range(&self, low: f64, high: f64) -> String {
        match self.of_baseline {
            Some(_) => range(self.metric, self.interval.mean, low, high),
            None => format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high)),
        }
    }

    /// `easy cuts mean wait by 15 min (13 %) against fcfs, 95 % CI 6 to 24 min.`, for the best policy, or the next one to the baseline.
    pub fn headline(&self, base_is_best: bool) -> String {
        let Self { metric, policy, baseline: base, interval: estimate, .. } = self;
        let label = metric.label();
        let (cuts, lowest, lower, above, below) = match metric.better() {
            Better::Larger => ("raises", "highest", "higher", "below", "above"),
            Better::Smaller => ("cuts", "lowest", "lower", "above", "below"),
        };
        let size = self.sized(estimate.mean.abs(), "");
        let value = self.of_baseline.map_or_else(String::new, |mean| format!(", {}", amount(metric, mean)));
        let interval = self.interval_in_words((metric.better() == Better::Larger) == base_is_best);
        if self.is_zero() {
            return format!("{policy} and {base} have the same {label}{value}.");
        }
        match (base_is_best, estimate.is_significant(), estimate.low.is_some()) {
            (true, is_significant, has_interval) => {
                let verdict = match (is_significant, has_interval) {
                    (true, _) => "a significant difference, ",
                    (false, true) => "no significant difference, ",
                    (false, false) => "",
                };
                let next = format!("{policy} is next, {size} {above}: {verdict}{interval}");
                format!("{base} has the {lowest} {label}{value}. {next}.")
            }
            (false, true, _) => format!("{policy} {cuts} {label} by {size} against {base}, {interval}."),
            (false, false, true) => format!(
                "No policy has a significantly {lower} {label} than {base}. The {lowest} is that of {policy}, by {size}, {interval}."
            ),
            (false, false, false) => {
                format!("{policy} has the {lowest} {label}, {size} {below} {base}; {interval}.")
            }
        }
    }

    /// `95 % CI 6 to 24 min`, or the reason why there is no interval; of the difference with the other sign if it is turned.
    fn interval_in_words(&self, is_turned: bool) -> String {
        match (self.interval.low.zip(self.interval.high), self.interval.refused) {
            (Some((low, high)), _) if is_turned => format!("95 % CI {}", self.range(-high, -low)),
            (Some((low, high)), _) => format!("95 % CI {}", self.range(low, high)),
            (None, Some(reason)) => reason.to_string(),
            (None, None) => "no interval".to_owned(),
        }
    }

    /// A dot in the unit of the difference, with its text.
    pub fn dot(&self) -> Dot {
        let Estimate { mean, low, high, refused, .. } = self.interval;
        let sign = if mean > 0.0 { "+" } else { "" };
        let end = match (low, high, refused) {
            (Some(low), Some(high), _) => format!("[{}]", self.range(low, high)),
            (.., Some(Refusal::Saturated)) => "saturated".to_owned(),
            _ => "no interval".to_owned(),
        };
        let text = format!("{} {end}", self.sized(mean, sign));
        Dot { mean, interval: low.zip(high), text, ..self.plain() }
    }

    /// The difference and its interval in percent of the baseline's mean.
    pub fn share_of_baseline(&self) -> ConfidenceInterval {
        let Estimate { mean, low, high, blocks: replications, .. } = self.interval;
        ConfidenceInterval { mean, low, high, replications, level: ConfidenceInterval::LEVEL }
            .map(|value| self.share(value))
    }

    /// A dot in percent of the baseline's mean.
    pub fn relative(&self) -> Dot {
        let ConfidenceInterval { mean, low, high, .. } = self.share_of_baseline();
        Dot { mean, interval: low.zip(high), ..self.plain() }
    }

    /// Text under the pointer, behind the name of the policy: the difference with its exact value, the interval, and what it rests on.
    fn plain(&self) -> Dot {
        let Self { metric, baseline, interval, .. } = self;
        let share = self.in_percent();
        let size = match self.of_baseline {
            Some(_) => {
                let exact = format!("{}{}", readable(interval.mean), unit(metric));
                format!("{} ({exact}), {share}", amount(metric, interval.mean))
            }
            None => share,
        };
        let verdict = match (interval.low.is_some(), interval.is_significant()) {
            (true, true) => ": significant",
            (true, false) => ": no significant difference",
            (false, _) => "",
        };
        let facts = vec![
            format!("{} to {baseline}: {size}", metric.label()),
            format!("{}{verdict}", self.interval_in_words(false)),
            format!("{} {}", interval.blocks, self.observations),
        ];
        let reach =
            [interval.low, interval.high].into_iter().flatten().fold(interval.mean.abs(), |a, b| a.max(b.abs()));
        Dot {
            blocks: u32::try_from(interval.blocks).unwrap_or(u32::MAX),
            share: self.share(reach),
            facts,
            ..Dot::default()
        }
    }
}

/// Headline of a comparison, from the differences of the other policies to the baseline, and the best of these; `None` without others.
pub fn headline<'a>(all: &[Difference<'a>]) -> Option<(String, &'a str)> {
    let worse = |one: &Difference<'_>| sign(one.metric) * one.interval.mean;
    let order = |a: &&Difference<'a>, b: &&Difference<'a>| worse(a).total_cmp(&worse(b));
    let best = all.iter().min_by(order)?;
    let text = best.headline(worse(best) > 0.0);
    // A policy that equals the baseline leaves the question open by how much the others differ.
    let next = all.iter().filter(|one| best.is_zero() && worse(one) > 0.0 && !one.is_zero()).min_by(order);
    Some((next.map_or_else(|| text.clone(), |next| format!("{} {text}", next.headline(true))), best.policy))
}

/// Classes of jobs in which one policy is significantly worse or better than another by a metric; `None` without intervals.
pub fn by_class(metric: &Metric, all: &[(JobClass, Difference<'_>)]) -> Option<String> {
    let found = || all.iter().filter(|(_, one)| one.interval.low.is_some());
    let (policy, label) = (found().next()?.1.policy, metric.short_label());
    let describe = |direction: &str, sign: f64| {
        let is_wanted = |one: &Difference<'_>| one.interval.is_significant() && sign * one.interval.mean > 0.0;
        let text = |(class, one): &(JobClass, Difference<'_>)| {
            let size = one.interval.mean.abs();
            let share = one.percentage(size).unwrap_or_else(|| amount(metric, size));
            format!("{} jobs (by {share})", class.name())
        };
        let texts: Vec<String> = found().filter(|(_, one)| is_wanted(one)).map(text).collect();
        let listed = texts.join(if texts.len() == 2 { " and " } else { ", " });
        (!texts.is_empty()).then(|| format!("Under {policy}, {label} is significantly {direction} for {listed}."))
    };
    let worse = describe("higher", 1.0);
    let worse = worse.unwrap_or_else(|| format!("No class of jobs has a significantly higher {label} under {policy}."));
    Some(describe("lower", -1.0).map_or_else(|| worse.clone(), |better| format!("{better} {worse}")))
}

/// Standing of a policy among those that are compared.
#[derive(Debug)]
pub struct Ranked<'a> {
    /// Metric of the comparison.
    pub metric: &'static Metric,
    /// Name of the policy.
    pub policy: &'a str,
    /// Mean over jobs; NaN if there is none.
    pub mean: f64,
    /// Standing relative to the best policy.
    pub standing: Standing,
}

/// Ranks policies, given by name and mean. `interval(a, b, level)` is that of the value of `a` less that of `b`, as in [`standings`].
pub fn ranked<'a>(
    metric: &'static Metric,
    policies: impl Iterator<Item = (&'a str, Option<f64>)>,
    interval: impl Fn(usize, usize, f64) -> Option<(f64, f64)>,
) -> Vec<Ranked<'a>> {
    let policies: Vec<(&str, f64)> = policies.map(|(name, mean)| (name, mean.unwrap_or(f64::NAN))).collect();
    let sign = sign(metric);
    let signed: Vec<f64> = policies.iter().map(|(_, mean)| sign * mean).collect();
    let found = standings(&signed, |a, b, level| {
        let (low, high) = interval(a, b, level)?;
        Some(if sign < 0.0 { (-high, -low) } else { (low, high) })
    });
    let all = policies.into_iter().zip(found);
    all.map(|((policy, mean), standing)| Ranked { metric, policy, mean, standing }).collect()
}

impl Ranked<'_> {
    /// Columns of `best.csv`.
    pub const COLUMNS: [&'static str; 4] = ["metric", "policy", "mean", "may_be_best"];

    /// Its row of `best.csv`: `may_be_best` is empty without an interval.
    pub fn row(&self) -> [String; 4] {
        let may_be_best = match self.standing {
            Standing::Best | Standing::MayBeBest => "yes",
            Standing::Worse => "no",
            Standing::Unknown => "",
        };
        [self.metric.name().to_owned(), self.policy.to_owned(), optional(Some(self.mean)), may_be_best.to_owned()]
    }
}

/// Names of the policies with this standing.
pub fn with<'a>(wanted: Standing, all: &[Ranked<'a>]) -> Vec<&'a str> {
    all.iter().filter(|one| one.standing == wanted).map(|one| one.policy).collect()
}

/// `Best by mean wait: a; not significantly worse among all: b. No interval for c.`; `None` if no policy has a value.
pub fn best_in_words(all: &[Ranked<'_>]) -> Option<String> {
    let best = all.iter().find(|one| one.standing == Standing::Best)?;
    let [near, worse, unknown] =
        [Standing::MayBeBest, Standing::Worse, Standing::Unknown].map(|standing| with(standing, all).join(", "));
    let near = match (near.is_empty(), worse.is_empty()) {
        (false, _) => format!("; not significantly worse among all: {near}."),
        (true, false) if unknown.is_empty() => "; all others are significantly worse.".to_owned(),
        (true, false) => format!("; significantly worse: {worse}."),
        (true, true) => ".".to_owned(),
    };
    let unknown = if unknown.is_empty() { String::new() } else { format!(" No interval for {unknown}.") };
    Some(format!("Best by {}: {}{near}{unknown}", best.metric.label(), best.policy))
}

/// Interval of a difference of two quantities over the observations in which both are defined.
pub fn paired<C: DesignPoint>(of: &Observations<C>, [a, b]: [Quantity<C>; 2], level: f64) -> Option<(f64, f64)> {
    let sample = of.sample(&(a - b), u32::MAX);
    let interval = (!sample.is_empty()).then(|| ConfidenceInterval::at(level, &sample))?;
    interval.low.zip(interval.high)
}

/// Factor that makes less of a metric better.
pub fn sign(metric: &Metric) -> f64 {
    if metric.better() == Better::Larger { -1.0 } else { 1.0 }
}

/// Differences of policies to a baseline, as panels of one picture.
pub struct DifferencesTo<'a> {
    pub baseline: &'a str,
    /// The other policies: name in the picture, name under the pointer, and position, which is the slot of the colour.
    pub others: Vec<(&'a str, &'a str, usize)>,
}

impl<'a> DifferencesTo<'a> {
    /// Returns the differences of policies, given by label and name, to the policy at position `baseline`.
    pub fn new(policies: impl Iterator<Item = [&'a str; 2]>, baseline: usize) -> Self {
        let mut others: Vec<_> = policies.zip(0..).map(|([label, name], slot)| (label, name, slot)).collect();
        Self { baseline: others.remove(baseline).0, others }
    }

    /// A panel; policies without a difference have no dot.
    pub fn facet<'d, 'r: 'd>(
        &self,
        name: &str,
        key: &str,
        of: impl Iterator<Item = &'d Difference<'r>>,
        dot: fn(&Difference<'r>) -> Dot,
    ) -> Facet {
        let of: Vec<&Difference<'r>> = of.collect();
        let dot_of = |(label, name, _): &(&str, &str, usize)| {
            let mut dot = of.iter().find(|one| one.policy == *label).map(|one| dot(one))?;
            dot.facts.insert(0, (*name).to_owned());
            Some(dot).filter(|dot| dot.mean.is_finite())
        };
        let dots = self.others.iter().map(dot_of).collect();
        Facet { name: name.to_owned(), key: key.to_owned(), dots, is_hidden: false }
    }

    /// The picture of one metric in its own unit, or in percent.
    pub fn forest(&self, id: &str, title: &str, metric: &Metric, in_percent: bool, facets: Vec<Facet>) -> Forest {
        let unit = match (in_percent, metric.unit()) {
            (true, _) => " (%)".to_owned(),
            (false, "") => String::new(),
            (false, unit) => format!(" ({unit})"),
        };
        let label = format!("difference in {} to {}{unit}", metric.label(), self.baseline);
        let x = Axis { spans: !in_percent && metric.unit() == "s", ..Axis::new(label) };
        Forest { larger_is_better: metric.better() == Better::Larger, ..self.panels(id, title, x, facets) }
    }

    /// The picture of several metrics, in percent.
    pub fn metrics(&self, id: &str, facets: Vec<Facet>) -> Forest {
        let x = Axis::new(format!("difference to {} (% of its mean)", self.baseline));
        self.panels(id, &format!("Other metrics against {}", self.baseline), x, facets)
    }

    fn panels(&self, id: &str, title: &str, x: Axis, facets: Vec<Facet>) -> Forest {
        let rows = self.others.iter().map(|(label, _, slot)| ((*label).to_owned(), *slot)).collect();
        let x = Axis { signed: true, ..x };
        Forest { id: id.to_owned(), title: capitalized(title), x, rows, facets, larger_is_better: false }
    }
}

/// Unit of differences of a metric, after a blank: `points` of a percentage, none of a share.
pub fn unit(metric: &Metric) -> String {
    match metric.unit() {
        "" | "0 … 1" => String::new(),
        "%" => " points".to_owned(),
        unit => format!(" {unit}"),
    }
}

pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Standing::{Best, MayBeBest, Unknown, Worse};

    #[test]
    fn the_best_policy_is_named_with_those_that_do_not_differ_from_it() {
        for (standings, expected) in [
            ([Best, MayBeBest, Worse], "a; not significantly worse among all: b."),
            ([Unknown, Best, Worse], "b; significantly worse: c. No interval for a."),
            ([Unknown, Best, MayBeBest], "b; not significantly worse among all: c. No interval for a."),
            ([Unknown, Unknown, Best], "c. No interval for a, b."),
        ] {
            let ranked = |(policy, standing)| Ranked { metric: Metric::of("wait_mean"), policy, mean: 1.0, standing };
            let all = Vec::from_iter(["a", "b", "c"].into_iter().zip(standings).map(ranked));
            assert_eq!(best_in_words(&all), Some(format!("Best by mean wait: {expected}")));
        }
    }
}
