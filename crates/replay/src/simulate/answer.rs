//! The answer of a comparison: the best policy, its difference by class of jobs, and the significance of the difference.

use super::compare::{difference, differences, ranked};
use super::report::Simulation;
use super::world::Run;
use crate::difference::{Difference, DifferencesTo, best_in_words, by_class, capitalized, headline, with};
use crate::options::stem;
use crate::units::{aligned, amount, count};
use lab::chart::{Facet, Forest};
use metrics::best::Standing;
use metrics::{JobClass, Metric};

/// The answer in sentences, the first of them as a headline; empty for a single policy.
pub(super) fn sentences(report: &Simulation) -> Vec<String> {
    let runs = &report.runs;
    let mut all = differences(runs, report.baseline, |run| &run.label);
    let Some(metric) = chosen(&all) else { return Vec::new() };
    all.retain(|one| one.metric == metric);
    let Some((headline, policy)) = headline(&all) else { return Vec::new() };
    let blocks = all.iter().find(|one| one.policy == policy && one.interval.low.is_some());
    let blocks = blocks
        .map(|one| format!("The interval rests on {} blocks of the log, of a week or more each.", one.interval.blocks));
    // Classes of jobs in which that policy is significantly worse or better; none without intervals.
    let run = runs.iter().find(|run| run.label == policy);
    let of_class = |class| Some((class, in_class(report, run?, metric, class)?));
    let classes = by_class(metric, &JobClass::ALL.into_iter().filter_map(of_class).collect::<Vec<_>>());
    let details = blocks.into_iter().chain(classes).collect::<Vec<_>>().join(" ");
    let best = best_in_words(&ranked(runs, metric, |run| &run.label));
    // Without an interval, the headline has all that is known.
    let has_intervals = all.iter().any(|one| one.interval.low.is_some());
    let all = [headline, details].into_iter().chain(best.filter(|_| has_intervals));
    all.filter(|sentence| !sentence.is_empty()).collect()
}

/// Metric of the headline: the first one that all policies have.
fn chosen(all: &[Difference<'_>]) -> Option<&'static Metric> {
    all.first().map(|one| one.metric)
}

/// A difference to the baseline over the jobs of one class.
fn in_class<'a>(
    report: &'a Simulation,
    run: &'a Run,
    metric: &'static Metric,
    class: JobClass,
) -> Option<Difference<'a>> {
    let pair = [run, &report.runs[report.baseline]];
    difference(pair, |run| &run.outcome.blocks_by_class[class as usize], metric, |run| &run.label)
}

/// Every policy against the baseline by the chosen metric, in its unit. `all` are the differences to the baseline.
pub(super) fn overall(report: &Simulation, all: &[Difference<'_>]) -> Option<Forest> {
    let (metric, against) = (chosen(all)?, against(report));
    let facet = against.facet(metric.label(), "", all.iter().filter(|one| one.metric == metric), Difference::dot);
    let title = format!("{} against {}", metric.label(), against.baseline);
    Some(against.forest("main-difference", &title, metric, false, vec![facet]))
}

/// The same by class of jobs, in percent of the baseline's mean.
pub(super) fn classes(report: &Simulation, all: &[Difference<'_>]) -> Option<Forest> {
    let (metric, against) = (chosen(all)?, against(report));
    let facets = JobClass::ALL.into_iter().filter_map(|class| {
        let watched = &report.runs[report.baseline].outcome;
        watched.blocks_by_class[class as usize].mean(metric.name())?;
        let of = |run| in_class(report, run, metric, class);
        let all: Vec<Difference<'_>> = against.others.iter().filter_map(|(.., slot)| of(&report.runs[*slot])).collect();
        let jobs = watched.totals.sums.of_class(class).wait.count();
        let name = format!("{} ({})", capitalized(class.name()), count(jobs));
        Some(against.facet(&name, class.name(), all.iter(), Difference::relative))
    });
    let facets: Vec<Facet> = facets.collect();
    let title = format!("{} by class of jobs", metric.label());
    (!facets.is_empty()).then(|| against.forest("class-differences", &title, metric, true, facets))
}

/// All metrics, in percent of the baseline's mean. The chosen metric and response times, which differ equally, are only in the data.
pub(super) fn metrics(report: &Simulation, all: &[Difference<'_>]) -> Forest {
    let mut metrics: Vec<&Metric> =
        all.iter().map(|one| one.metric).filter(|metric| metric.warning().is_none()).collect();
    metrics.dedup();
    let (chosen, against) = (chosen(all), against(report));
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
    let metric = chosen(&differences(&report.runs, report.baseline, |run| &run.label))?;
    let all = ranked(&report.runs, metric, |run| &run.label);
    let best = all.iter().find(|one| one.standing == Standing::Best)?;
    let mean = format!("{} {}", metric.label(), amount(metric, best.mean));
    let [near, unknown] = [Standing::MayBeBest, Standing::Unknown].map(|standing| with(standing, &all).join(", "));
    let near = if near.is_empty() { "–".to_owned() } else { near };
    let near = if unknown.is_empty() { near } else { format!("{near} (no interval for {unknown})") };
    Some(vec![stem(report.trace()), best.policy.to_owned(), mean, near])
}

/// Table of the best policies of several logs.
pub(super) fn best_by_log(mut rows: Vec<Vec<String>>) -> String {
    rows.insert(0, ["log", "best", "", "no significant difference"].map(str::to_owned).into());
    format!("\n{}", aligned(&rows))
}
