//! The answer of a comparison: the best policy, its difference by class of jobs, and the significance of the difference.

use super::compare::{between, difference, differences, ranked};
use super::report::Simulation;
use super::world::Run;
use crate::difference::{Difference, DifferencesTo, capitalized};
use crate::options::stem;
use crate::units::{aligned, amount, count};
use lab::chart::{Facet, Forest};
use metrics::best::Standing;
use metrics::{ConfidenceInterval, Estimate, JobClass, Metric};

/// Metric of the headline: the first one that all policies have.
pub(super) fn chosen(report: &Simulation) -> Option<&'static Metric> {
    differences(&report.runs, report.baseline, |run| &run.label).first().map(|one| one.metric)
}

/// The answer in sentences, the first of them as a headline; empty for a single policy.
pub(super) fn sentences(report: &Simulation) -> Vec<String> {
    let Some(metric) = chosen(report) else { return Vec::new() };
    let runs = &report.runs;
    let (means, standings) = ranked(runs, metric);
    let by_mean = |except: Option<usize>| {
        let others = (0..runs.len()).filter(|policy| Some(*policy) != except && means[*policy].is_finite());
        others.min_by(|a, b| means[*a].total_cmp(&means[*b]))
    };
    let Some(best) = by_mean(None) else { return Vec::new() };
    // The best policy against the baseline; if the baseline is the best, against the next.
    let Some((other, base)) = (if best == report.baseline {
        by_mean(Some(best)).map(|next| (next, best))
    } else {
        Some((best, report.baseline))
    }) else {
        return Vec::new();
    };
    let all = differences(runs, base, |run| &run.label);
    let is_wanted = |one: &Difference<'_>| one.metric == metric && one.policy == runs[other].label;
    let Some(found) = all.into_iter().find(is_wanted) else { return Vec::new() };
    let mut all = vec![found.headline(best == base)];
    let mut details = Vec::new();
    if found.interval.low.is_some() {
        details.push(format!(
            "The interval rests on {} blocks of the log, of a week or more each.",
            found.interval.blocks
        ));
    }
    details.extend(by_class(report, [other, base], metric));
    all.push(details.join(" "));
    all.push(standing_of_others(runs, metric, best, &standings));
    all.retain(|sentence| !sentence.is_empty());
    all
}

/// Classes of jobs in which one policy is significantly worse or better than another; empty without intervals.
fn by_class(report: &Simulation, pair: [usize; 2], metric: &'static Metric) -> Option<String> {
    let found = JobClass::ALL.into_iter().filter_map(|class| {
        let interval = of_class(&report.runs, pair, metric, class)?;
        let of_baseline = mean_of_class(&report.runs[pair[1]], metric, class)?;
        Some((class, between(pair.map(|run| report.runs[run].label.as_str()), metric, interval, of_baseline)))
    });
    crate::difference::by_class(metric, &found.collect::<Vec<_>>())
}

/// The other policies by their standing relative to the best.
fn standing_of_others(runs: &[Run], metric: &Metric, best: usize, standings: &[Standing]) -> String {
    let list = |wanted: &dyn Fn(usize) -> bool, text: &str| {
        let names = (0..runs.len())
            .filter(|policy| *policy != best && wanted(*policy))
            .map(|policy| runs[policy].label.as_str());
        let names: Vec<&str> = names.collect();
        if names.is_empty() { String::new() } else { format!("{text}: {}.", names.join(", ")) }
    };
    let is_saturated = |policy: usize| runs[policy].trend().is_saturated();
    let label = metric.label();
    let sentences = [
        list(
            &|policy| standings[policy] == Standing::MayBeBest,
            &format!("{} has the lowest {label}; no significant difference from it", runs[best].label),
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
pub(super) fn overall(report: &Simulation) -> Option<Forest> {
    let metric = chosen(report)?;
    let all = differences(&report.runs, report.baseline, |run| &run.label);
    let against = against(report);
    let facet = against.facet(metric.label(), "", all.iter().filter(|one| one.metric == metric), Difference::dot);
    let title = format!("{} against {}", metric.label(), against.baseline);
    Some(against.forest("main-difference", &title, metric, false, vec![facet]))
}

/// The same by class of jobs, in percent of the baseline's mean.
pub(super) fn classes(report: &Simulation) -> Option<Forest> {
    let metric = chosen(report)?;
    let (runs, against) = (&report.runs, against(report));
    let facets = JobClass::ALL.into_iter().filter_map(|class| {
        let of_baseline = mean_of_class(&runs[report.baseline], metric, class)?;
        let all = against.others.iter().filter_map(|other| {
            let pair = [other.slot, report.baseline];
            let interval = of_class(runs, pair, metric, class)?;
            Some(between(pair.map(|run| runs[run].label.as_str()), metric, interval, of_baseline))
        });
        let all: Vec<Difference<'_>> = all.collect();
        let jobs = runs[report.baseline].outcome.watched.totals.sums.of_class(class).wait.count();
        let name = format!("{} ({})", capitalized(class.name()), count(jobs));
        Some(against.facet(&name, class.name(), all.iter(), Difference::relative))
    });
    let facets: Vec<Facet> = facets.collect();
    let title = format!("{} by class of jobs", metric.label());
    (!facets.is_empty()).then(|| against.forest("class-differences", &title, metric, true, facets))
}

/// All metrics, in percent of the baseline's mean. The chosen metric and response times, which differ equally, are only in the data.
pub(super) fn metrics(report: &Simulation) -> Forest {
    let all = differences(&report.runs, report.baseline, |run| &run.label);
    let mut metrics: Vec<&Metric> =
        all.iter().map(|one| one.metric).filter(|metric| metric.warning().is_none()).collect();
    metrics.dedup();
    let (chosen, against) = (chosen(report), against(report));
    let facets = metrics.iter().zip(1..).map(|(metric, key)| {
        let of_metric = all.iter().filter(|one| one.metric == *metric);
        let is_hidden = Some(*metric) == chosen || metric.name() == "response_mean";
        let name = capitalized(metric.label());
        Facet { is_hidden, ..against.facet(&name, &i32::to_string(&key), of_metric, Difference::relative) }
    });
    against.metrics("differences", facets.collect())
}

/// The policies except the baseline, with the slots of their colours.
fn against(report: &Simulation) -> DifferencesTo<'_> {
    DifferencesTo::new(report.runs.iter().map(|run| [run.label.as_str(), &run.name]), report.baseline)
}

/// Row of the best policy by the metric of the headline, for [`best_by_log`]: log, policy, mean, and the policies without a significant
/// difference from it. `None` of a single policy, and where none has a mean.
pub(super) fn best_of_log(report: &Simulation) -> Option<Vec<String>> {
    let metric = chosen(report)?;
    let (means, standings) = ranked(&report.runs, metric);
    let of = |wanted: Standing| {
        let found = report.runs.iter().zip(&standings).filter(move |(_, standing)| **standing == wanted);
        found.map(|(run, _)| run.label.as_str()).collect::<Vec<_>>().join(", ")
    };
    let best = standings.iter().position(|standing| *standing == Standing::Best)?;
    let mean = format!("{} {}", metric.label(), amount(metric, means[best]));
    let [near, unknown] = [of(Standing::MayBeBest), of(Standing::Unknown)];
    let near = if near.is_empty() { "–".to_owned() } else { near };
    let near = if unknown.is_empty() { near } else { format!("{near} (no interval for {unknown})") };
    Some(vec![stem(report.trace()), of(Standing::Best), mean, near])
}

/// Table of the best policies of several logs.
pub(super) fn best_by_log(mut rows: Vec<Vec<String>>) -> String {
    rows.insert(0, ["log", "best", "", "no significant difference"].map(str::to_owned).into());
    format!("\n{}", aligned(&rows))
}
