//! Differences between policies over blocks of the log: `differences.csv`, `best.csv`, and the answer in words and pictures.

use super::world::{Opened, Run};
use anyhow::{Result, anyhow};
use lab::chart::{Facet, Forest, fixed, significant};
use lab::difference::{self, Difference, DifferencesTo, Ranked, by_class, capitalized, headline, unit, with};
use lab::scenario::did_you_mean;
use lab::table::{csv, optional};
use lab::units::{aligned, amount, count};
use metrics::best::Standing;
use metrics::{Blocks, ConfidenceInterval, Estimate, JobClass, Metric, Refusal};

const USUAL: &str = "easy";

/// Position of the baseline: the one wanted, otherwise EASY, otherwise the first.
pub(super) fn baseline(world: &Opened, wanted: Option<&str>) -> Result<usize> {
    let Some(text) = wanted else { return Ok(world.position(USUAL).unwrap_or(0)) };
    world.position(text).ok_or_else(|| {
        let names: Vec<&str> = world.policies.iter().map(|policy| policy.name.as_str()).collect();
        let hint = did_you_mean(text, names.iter().copied());
        anyhow!("--baseline {text}: none of the policies compared{hint}; choose one of {}", names.join(", "))
    })
}

pub(super) struct ComparedRuns<'a> {
    pub(super) runs: &'a [Run],
    pub(super) baseline: usize,
    /// The text that stands for a policy: its name in files, its label for readers.
    pub(super) naming: fn(&Run) -> &str,
}

fn compared() -> impl Iterator<Item = &'static Metric> {
    Blocks::METRICS.into_iter().map(Metric::of)
}

/// Difference of two runs by a metric. The interval is refused if one of them is saturated.
fn estimate(pair: [&Run; 2], class: Option<JobClass>, metric: &Metric, level: f64) -> Option<Estimate> {
    let [policy, baseline] = pair.map(|run| &run.outcome.blocks);
    let estimate = policy.difference(baseline, class, metric.name(), level)?;
    let is_saturated = pair.iter().any(|run| run.trend().is_saturated());
    Some(if is_saturated { estimate.refused(Refusal::Saturated) } else { estimate })
}

/// Metric of the headline: the first one that all policies have.
fn chosen(all: &[Difference<'_>]) -> Option<&'static Metric> {
    all.first().map(|one| one.metric)
}

impl<'a> ComparedRuns<'a> {
    /// Differences of every policy to the baseline, by metric.
    pub(super) fn to_baseline(&self) -> Vec<Difference<'a>> {
        self.of_pairs(&self.pairs())
    }

    /// Differences of every pair, by metric: those to the baseline first, then those of two others, the later less the earlier.
    pub(super) fn all(&self) -> Vec<Difference<'a>> {
        let mut pairs = self.pairs();
        let others: Vec<&Run> = pairs.iter().map(|[run, _]| *run).collect();
        pairs.extend(others.iter().enumerate().flat_map(|(k, base)| others[k + 1..].iter().map(|run| [*run, *base])));
        self.of_pairs(&pairs)
    }

    /// Every policy but the baseline, with the baseline.
    fn pairs(&self) -> Vec<[&'a Run; 2]> {
        let others = self.runs.iter().enumerate().filter(|(policy, _)| *policy != self.baseline);
        others.map(|(_, run)| [run, &self.runs[self.baseline]]).collect()
    }

    fn of_pairs(&self, pairs: &[[&'a Run; 2]]) -> Vec<Difference<'a>> {
        let of = |metric| pairs.iter().filter_map(move |pair| self.difference(*pair, None, metric));
        compared().flat_map(of).collect()
    }

    fn difference(
        &self,
        pair: [&'a Run; 2],
        class: Option<JobClass>,
        metric: &'static Metric,
    ) -> Option<Difference<'a>> {
        let interval = estimate(pair, class, metric, ConfidenceInterval::LEVEL)?;
        let of_baseline = Some(pair[1].outcome.blocks.mean(class, metric.name())?.mean);
        let [policy, baseline] = pair.map(self.naming);
        Some(Difference { metric, policy, baseline, interval, of_baseline, observations: "blocks of the log" })
    }

    fn ranked(&self, metric: &'static Metric) -> Vec<Ranked<'a>> {
        let mean = |run: &Run| run.outcome.blocks.mean(None, metric.name()).map(|mean| mean.mean);
        difference::ranked(metric, self.runs.iter().map(|run| ((self.naming)(run), mean(run))), |a, b, level| {
            let interval = estimate([&self.runs[a], &self.runs[b]], None, metric, level)?;
            interval.low.zip(interval.high)
        })
    }

    /// Sentences about the best policies; empty for a single one.
    pub(super) fn best_in_words(&self) -> Vec<String> {
        let metrics = compared().filter(|metric| self.runs.len() > 1 && metric.is_in_sentences());
        metrics.filter_map(|metric| difference::best_in_words(&self.ranked(metric))).collect()
    }

    /// Every policy by every metric of which it has a mean.
    pub(super) fn standings(&self) -> Vec<Ranked<'a>> {
        compared().flat_map(|metric| self.ranked(metric)).filter(|one| one.mean.is_finite()).collect()
    }

    pub(super) fn differences_csv(&self) -> Result<Vec<u8>> {
        let row = |Difference { metric, policy, baseline, interval, .. }: Difference<'_>| {
            let names = [metric.name(), policy, baseline].map(str::to_owned);
            let numbers = [Some(interval.mean), interval.low, interval.high].map(optional);
            let rest = [interval.blocks.to_string(), optional(interval.correlation)];
            names.into_iter().chain(numbers).chain(rest).collect::<Vec<_>>()
        };
        let head = ["metric", "policy", "baseline", "mean", "ci_low", "ci_high", "blocks", "correlation"];
        csv(head, self.all().into_iter().map(row))
    }

    /// Differences to the baseline in wait and bounded slowdown, a line for each; empty for one policy.
    pub(super) fn on_terminal(&self) -> String {
        let (mut text, mut reasons) = (String::new(), Vec::new());
        let shown = self.to_baseline().into_iter().filter(|one| one.metric.is_in_sentences());
        for Difference { metric, policy, baseline, interval: estimate, .. } in shown {
            if text.is_empty() {
                let over = "over independent blocks of the log";
                text += &format!("Differences to {baseline} with 95 % intervals, {over}:\n");
            }
            let interval = estimate.low.zip(estimate.high);
            let interval = interval.map(|(low, high)| format!("[{}, {}]", significant(low), significant(high)));
            let interval = interval.unwrap_or_else(|| "[no interval]".to_owned());
            let (name, mean, unit) = (metric.short_label(), significant(estimate.mean), unit(metric));
            let correlation = estimate.correlation.map(|value| format!(" (correlation {})", fixed(value, 2)));
            let blocks = format!("{} blocks{}", estimate.blocks, correlation.unwrap_or_default());
            text += &format!("  {name:16}  {mean}{unit} {interval}  {blocks}  {policy}\n");
            let reason = estimate.refused.map(|why| format!("{policy} and {baseline}: {why}.\n"));
            reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
        }
        let best = self.best_in_words().into_iter().map(|sentence| sentence + "\n");
        text + &reasons.concat() + &best.collect::<String>()
    }

    /// The answer in sentences, the first of them as a headline; empty for a single policy.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut all = self.to_baseline();
        let Some(metric) = chosen(&all) else { return Vec::new() };
        all.retain(|one| one.metric == metric);
        let Some((headline, policy)) = headline(&all) else { return Vec::new() };
        let blocks = all.iter().find(|one| one.policy == policy && one.interval.low.is_some());
        let blocks = blocks.map(|one| {
            format!("The interval rests on {} blocks of the log, of a week or more each.", one.interval.blocks)
        });
        // Classes of jobs in which that policy is significantly worse or better; none without intervals.
        let pair = self.pairs().into_iter().find(|[run, _]| (self.naming)(run) == policy);
        let of_class = |class| Some((class, self.difference(pair?, Some(class), metric)?));
        let classes = by_class(metric, &JobClass::ALL.into_iter().filter_map(of_class).collect::<Vec<_>>());
        let details = blocks.into_iter().chain(classes).collect::<Vec<_>>().join(" ");
        let best = difference::best_in_words(&self.ranked(metric));
        // Without an interval, the headline has all that is known.
        let has_intervals = all.iter().any(|one| one.interval.low.is_some());
        let all = [headline, details].into_iter().chain(best.filter(|_| has_intervals));
        all.filter(|sentence| !sentence.is_empty()).collect()
    }

    /// Every policy against the baseline by the chosen metric, in its unit. `all` are the differences to the baseline.
    pub(super) fn overall(&self, all: &[Difference<'_>]) -> Option<Forest> {
        let (metric, against) = (chosen(all)?, self.against());
        let facet = against.facet(metric.label(), "", all.iter().filter(|one| one.metric == metric), Difference::dot);
        let title = format!("{} against {}", metric.label(), against.baseline);
        Some(against.forest("main-difference", &title, metric, false, vec![facet]))
    }

    /// The same by class of jobs, in percent of the baseline's mean.
    pub(super) fn classes(&self, all: &[Difference<'_>]) -> Option<Forest> {
        let (metric, against, baseline) = (chosen(all)?, self.against(), &self.runs[self.baseline]);
        let facets = JobClass::ALL.into_iter().filter_map(|class| {
            baseline.outcome.blocks.mean(Some(class), metric.name())?;
            let pairs = self.pairs().into_iter();
            let all: Vec<_> = pairs.filter_map(|pair| self.difference(pair, Some(class), metric)).collect();
            let name =
                format!("{} ({})", capitalized(class.name()), count(baseline.sums().of_class(class).wait.count()));
            Some(against.facet(&name, class.name(), all.iter(), Difference::relative))
        });
        let facets: Vec<Facet> = facets.collect();
        let title = format!("{} by class of jobs", metric.label());
        (!facets.is_empty()).then(|| against.forest("class-differences", &title, metric, true, facets))
    }

    /// All metrics, in percent of the baseline's mean. The chosen one and response times, which differ equally, are only data.
    pub(super) fn metrics(&self, all: &[Difference<'_>]) -> Forest {
        let mut metrics: Vec<&Metric> =
            all.iter().map(|one| one.metric).filter(|metric| metric.warning().is_none()).collect();
        metrics.dedup();
        let (chosen, against) = (chosen(all), self.against());
        let facets = metrics.iter().zip(1..).map(|(metric, key)| {
            let of_metric = all.iter().filter(|one| one.metric == *metric);
            let is_hidden = Some(*metric) == chosen || metric.name() == "response_mean";
            let name = capitalized(metric.label());
            Facet { is_hidden, ..against.facet(&name, &i32::to_string(&key), of_metric, Difference::relative) }
        });
        against.metrics("differences", facets.collect())
    }

    /// The policies except the baseline, with the slots of their colours.
    fn against(&self) -> DifferencesTo<'a> {
        DifferencesTo::new(self.runs.iter().map(|run| [run.policy.label.as_str(), &run.policy.name]), self.baseline)
    }

    /// Row of the best policy by the metric of the headline, for [`best_by_log`]: policy, mean, and the policies without a significant
    /// difference from it. `None` of a single policy, and where none has a mean.
    pub(super) fn best(&self) -> Option<[String; 3]> {
        let metric = chosen(&self.to_baseline())?;
        let all = self.ranked(metric);
        let best = all.iter().find(|one| one.standing == Standing::Best)?;
        let mean = format!("{} {}", metric.label(), amount(metric, best.mean));
        let [near, unknown] = [Standing::MayBeBest, Standing::Unknown].map(|standing| with(standing, &all).join(", "));
        let near = if near.is_empty() { "–".to_owned() } else { near };
        let near = if unknown.is_empty() { near } else { format!("{near} (no interval for {unknown})") };
        Some([best.policy.to_owned(), mean, near])
    }
}

/// Table of the best policies of several logs, the name of each log first.
pub(super) fn best_by_log(mut rows: Vec<Vec<String>>) -> String {
    rows.insert(0, ["log", "best", "", "no significant difference"].map(str::to_owned).into());
    format!("\n{}", aligned(&rows))
}
