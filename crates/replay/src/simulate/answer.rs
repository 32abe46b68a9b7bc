//! The answer of a comparison: which policy is best, by how much, for which jobs, and whether the difference is significant.

use super::compare::{Difference, difference, differences, ranked, unit};
use super::report::Report;
use super::world::Run;
use crate::units::{amount, count, percent, range, readable};
use lab::chart::{Axis, Dot, Facet, Forest};
use metrics::best::Standing;
use metrics::{ConfidenceInterval, Estimate, JobClass, Metric};

/// The metric that the headline compares: the first one that all policies have.
pub(super) fn chosen(report: &Report<'_>) -> Option<&'static Metric> {
    differences(report.runs, report.baseline).first().map(|one| one.metric)
}

/// The answer in sentences, the first of them as a headline; none about a single policy.
pub(super) fn sentences(report: &Report<'_>) -> Vec<String> {
    let Some(metric) = chosen(report) else { return Vec::new() };
    let runs = report.runs;
    let (means, standings) = ranked(runs, metric);
    let by_mean = |except: Option<usize>| {
        let others = (0..runs.len()).filter(|policy| Some(*policy) != except && means[*policy].is_finite());
        others.min_by(|a, b| means[*a].total_cmp(&means[*b]))
    };
    let Some(best) = by_mean(None) else { return Vec::new() };
    // The best policy against the baseline; the baseline, if it is the best, against the next.
    let Some((other, base)) = (if best == report.baseline {
        by_mean(Some(best)).map(|next| (next, best))
    } else {
        Some((best, report.baseline))
    }) else {
        return Vec::new();
    };
    let Some(found) = compared(runs, [other, base], metric) else { return Vec::new() };
    let mut all = vec![headline(metric, &found, means[base], best == base)];
    let mut details = Vec::new();
    if found.estimate.low.is_some() {
        details.push(format!(
            "The interval rests on {} blocks of the log, of a week or more each.",
            found.estimate.blocks
        ));
    }
    details.extend(by_class(report, [other, base], metric));
    all.push(details.join(" "));
    all.push(standing_of_others(runs, metric, best, &standings));
    all.retain(|sentence| !sentence.is_empty());
    all
}

/// A policy against another.
struct Compared<'a> {
    policy: &'a str,
    base: &'a str,
    estimate: Estimate,
}

fn compared<'a>(runs: &'a [Run], [policy, base]: [usize; 2], metric: &Metric) -> Option<Compared<'a>> {
    let [one, other] = [&runs[policy], &runs[base]];
    let pair = [one, other].map(|run| (run, &run.outcome.watched.blocks));
    let estimate = difference(pair, metric, ConfidenceInterval::LEVEL)?;
    Some(Compared { policy: &one.name, base: &other.name, estimate })
}

/// `easy+backfill=spf cuts mean wait by 15 min (13 %) against easy, 95 % CI 6 to 24 min.`
fn headline(metric: &Metric, found: &Compared<'_>, of_base: f64, base_is_best: bool) -> String {
    let Compared { policy, base, estimate } = found;
    let label = metric.label();
    let size =
        format!("{} ({})", amount(metric, estimate.mean.abs()), percent(100.0 * (estimate.mean / of_base).abs()));
    let interval = |sign: f64| match (estimate.low, estimate.high, estimate.refused) {
        (Some(low), Some(high), _) => {
            let (low, high) = if sign < 0.0 { (-high, -low) } else { (low, high) };
            format!("95 % CI {}", range(metric, low, high))
        }
        (.., Some(reason)) => reason.to_string(),
        _ => "no interval".to_owned(),
    };
    if estimate.mean.abs() <= f64::EPSILON * of_base.abs() {
        return format!("{policy} and {base} have the same {label}, {}.", amount(metric, of_base));
    }
    match (base_is_best, estimate.is_significant(), estimate.low.is_some()) {
        (true, is_significant, has_interval) => {
            let verdict = match (is_significant, has_interval) {
                (true, _) => "significantly higher, ",
                (false, true) => "no significant difference, ",
                (false, false) => "",
            };
            format!(
                "{base} has the lowest {label}, {}. {policy} is next, {size} above: {verdict}{}.",
                amount(metric, of_base),
                interval(1.0)
            )
        }
        (false, true, _) => format!("{policy} cuts {label} by {size} against {base}, {}.", interval(-1.0)),
        (false, false, true) => format!(
            "No policy has a significantly lower {label} than {base}. The lowest is that of {policy}, by {size}, {}.",
            interval(-1.0)
        ),
        (false, false, false) => format!("{policy} has the lowest {label}, {size} below {base}; {}.", interval(-1.0)),
    }
}

/// Classes of jobs in which one policy is significantly worse or better than another; empty without intervals.
fn by_class(report: &Report<'_>, pair: [usize; 2], metric: &Metric) -> Option<String> {
    let found = JobClass::ALL.into_iter().filter_map(|class| {
        let estimate = of_class(report.runs, pair, metric, class)?;
        estimate.low?;
        Some((class, estimate, 100.0 * estimate.mean / mean_of_class(&report.runs[pair[1]], metric, class)?))
    });
    let found: Vec<(JobClass, Estimate, f64)> = found.collect();
    let (policy, label) = (&report.runs[pair[0]].name, metric.short_label());
    let describe = |wanted: fn(&Estimate) -> bool, direction: &str| {
        let classes = found.iter().filter(|(_, estimate, _)| wanted(estimate));
        let texts = classes.map(|(class, _, share)| format!("{} jobs (by {})", class.name(), percent(share.abs())));
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| format!("Under {policy}, {label} is {direction} for {}.", texts.join(" and ")))
    };
    let worse = describe(|estimate| estimate.low.is_some_and(|low| low > 0.0), "significantly higher");
    let worse = worse.unwrap_or_else(|| format!("No class of jobs has a significantly higher {label} under {policy}."));
    let better = describe(|estimate| estimate.high.is_some_and(|high| high < 0.0), "significantly lower");
    (!found.is_empty()).then(|| [better, Some(worse)].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// The other policies by their standing to the best.
fn standing_of_others(runs: &[Run], metric: &Metric, best: usize, standings: &[Standing]) -> String {
    let list = |wanted: &dyn Fn(usize) -> bool, text: &str| {
        let names = (0..runs.len())
            .filter(|policy| *policy != best && wanted(*policy))
            .map(|policy| runs[policy].name.as_str());
        let names: Vec<&str> = names.collect();
        if names.is_empty() { String::new() } else { format!("{text}: {}.", names.join(", ")) }
    };
    let is_saturated = |policy: usize| runs[policy].trend().is_saturated();
    let label = metric.label();
    let sentences = [
        list(
            &|policy| standings[policy] == Standing::MayBeBest,
            &format!("No significant difference from {}, the lowest {label}", runs[best].name),
        ),
        list(&|policy| standings[policy] == Standing::Worse, &format!("Significantly higher {label}")),
        list(&is_saturated, "Saturated, so the mean grows with the length of the log"),
    ];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

fn of_class(runs: &[Run], pair: [usize; 2], metric: &Metric, class: JobClass) -> Option<Estimate> {
    let pair = pair.map(|run| (&runs[run], &runs[run].outcome.watched.classes.blocks[class as usize]));
    difference(pair, metric, ConfidenceInterval::LEVEL)
}

fn mean_of_class(run: &Run, metric: &Metric, class: JobClass) -> Option<f64> {
    run.outcome.watched.classes.blocks[class as usize].mean(metric.name()).map(|mean| mean.mean)
}

/// Every policy against the baseline by the chosen metric, in its unit.
pub(super) fn overall(report: &Report<'_>) -> Option<Forest> {
    let metric = chosen(report)?;
    let all = differences(report.runs, report.baseline);
    let dot = |one: &Difference<'_>| {
        let Estimate { mean, low, high, refused, .. } = one.interval;
        let sign = if mean > 0.0 { "+" } else { "" };
        let end = match (low, high, refused) {
            (Some(low), Some(high), _) => format!("[{}]", range(metric, low, high)),
            (.., Some(metrics::Refusal::Saturated)) => "saturated".to_owned(),
            _ => "no interval".to_owned(),
        };
        let share = percent(100.0 * mean / one.of_baseline.abs());
        let text = format!("{sign}{} ({sign}{share}) {end}", amount(metric, mean));
        Dot { mean, interval: low.zip(high), blocks: blocks(&one.interval), text, facts: facts(one) }
    };
    let facet = facet(report, metric.label(), "", all.iter().filter(|one| one.metric == metric), dot);
    let unit = if metric.unit().is_empty() { String::new() } else { format!(" ({})", metric.unit()) };
    let label = format!("difference in {} to {}{unit}", metric.label(), base(report));
    let x = Axis { signed: true, spans: metric.unit() == "s", ..Axis::new(label) };
    let title = capitalized(&format!("{} against {}", metric.label(), base(report)));
    Some(forest(report, "main-difference", title, x, vec![facet]))
}

/// The same by class of jobs, in percent of the baseline's mean.
pub(super) fn classes(report: &Report<'_>) -> Option<Forest> {
    let metric = chosen(report)?;
    let runs = report.runs;
    let facets = JobClass::ALL.into_iter().filter_map(|class| {
        let of_baseline = mean_of_class(&runs[report.baseline], metric, class)?;
        let all = others(report).filter_map(|(run, slot)| {
            let interval = of_class(runs, [slot, report.baseline], metric, class)?;
            Some(Difference { metric, policy: &run.name, baseline: base(report), interval, of_baseline })
        });
        let all: Vec<Difference<'_>> = all.collect();
        let jobs = runs[report.baseline].outcome.watched.totals.sums.jobs_of(class);
        let name = format!("{} ({})", capitalized(class.name()), count(jobs));
        Some(facet(report, &name, class.name(), all.iter(), relative))
    });
    let facets: Vec<Facet> = facets.collect();
    let label = format!("difference in {} to {} (% of it)", metric.label(), base(report));
    let title = capitalized(&format!("{} by class of jobs", metric.label()));
    let x = Axis { signed: true, ..Axis::new(label) };
    (!facets.is_empty()).then(|| forest(report, "class-differences", title, x, facets))
}

/// All metrics, in percent of the baseline's mean. The chosen metric and responses, which differ by as much, are in the data alone.
pub(super) fn metrics(report: &Report<'_>) -> Forest {
    let all = differences(report.runs, report.baseline);
    let mut metrics: Vec<&Metric> =
        all.iter().map(|one| one.metric).filter(|metric| metric.warning().is_none()).collect();
    metrics.dedup();
    let chosen = chosen(report);
    let facets = metrics.iter().zip(1..).map(|(metric, key)| {
        let of_metric = all.iter().filter(|one| one.metric == *metric);
        let is_hidden = Some(*metric) == chosen || metric.name() == "response_mean";
        let name = capitalized(metric.label());
        Facet { is_hidden, ..facet(report, &name, &i32::to_string(&key), of_metric, relative) }
    });
    let x = Axis { signed: true, ..Axis::new(format!("difference to {} (% of its mean)", base(report))) };
    forest(report, "differences", format!("Other metrics against {}", base(report)), x, facets.collect())
}

fn base<'a>(report: &Report<'a>) -> &'a str {
    &report.runs[report.baseline].name
}

/// The policies but for the baseline, with the slots of their colours.
fn others<'a>(report: &Report<'a>) -> impl Iterator<Item = (&'a Run, usize)> {
    let baseline = report.baseline;
    report.runs.iter().zip(0..).filter(move |(_, slot)| *slot != baseline)
}

fn forest(report: &Report<'_>, id: &str, title: String, x: Axis, facets: Vec<Facet>) -> Forest {
    let rows = others(report).map(|(run, slot)| (run.name.clone(), slot)).collect();
    Forest { id: id.to_owned(), title, x, rows, facets }
}

fn facet<'a>(
    report: &Report<'_>,
    name: &str,
    key: &str,
    of: impl Iterator<Item = &'a Difference<'a>>,
    dot: impl Fn(&Difference<'_>) -> Dot,
) -> Facet {
    let of: Vec<&Difference<'_>> = of.collect();
    let dots = others(report).map(|(run, _)| of.iter().find(|one| one.policy == run.name).map(|one| dot(one)));
    let dots = dots.map(|dot| dot.filter(|dot| dot.mean.is_finite())).collect();
    Facet { name: name.to_owned(), key: key.to_owned(), dots, is_hidden: false }
}

/// A dot in percent of the baseline's mean.
fn relative(one: &Difference<'_>) -> Dot {
    let share = |value: f64| 100.0 * value / one.of_baseline.abs();
    let Estimate { mean, low, high, .. } = one.interval;
    let interval = low.zip(high).map(|(low, high)| (share(low), share(high)));
    Dot { mean: share(mean), interval, blocks: blocks(&one.interval), text: String::new(), facts: facts(one) }
}

fn blocks(estimate: &Estimate) -> u32 {
    u32::try_from(estimate.blocks).unwrap_or(u32::MAX)
}

/// What the pointer reads over a difference: the policy, the difference with its exact value, the interval, and the blocks.
fn facts(one: &Difference<'_>) -> Vec<String> {
    let Difference { metric, policy, baseline, interval, of_baseline } = one;
    let share = percent(100.0 * interval.mean / of_baseline.abs());
    let (exact, unit) = (readable(interval.mean), unit(metric));
    let end = match (interval.low, interval.high) {
        (Some(low), Some(high)) => {
            let verdict = if interval.is_significant() { "significant" } else { "no significant difference" };
            format!("95 % CI {}: {verdict}", range(metric, low, high))
        }
        _ => interval.refused.map_or_else(|| "no interval".to_owned(), |why| why.to_string()),
    };
    vec![
        policy.to_string(),
        format!("{} to {baseline}: {} ({exact}{unit}), {share}", metric.label(), amount(metric, interval.mean)),
        end,
        format!("{} blocks of the log", interval.blocks),
    ]
}

pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
