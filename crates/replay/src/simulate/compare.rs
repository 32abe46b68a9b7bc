//! Differences between policies over blocks of the log: `differences.csv`, and the same in words.

use super::world::{Opened, Run};
use crate::difference::{self, Difference, Ranked, unit};
use anyhow::{Result, anyhow};
use lab::chart::{fixed, significant};
use lab::scenario::did_you_mean;
use lab::table::csv;
use metrics::{Blocks, ConfidenceInterval, Estimate, Metric, Refusal};

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

/// The text that stands for a policy: its name in files, its label for readers.
pub(super) type Naming = fn(&Run) -> &str;

/// Differences of every policy to the baseline, by metric.
pub(super) fn differences(runs: &[Run], baseline: usize, naming: Naming) -> Vec<Difference<'_>> {
    of_pairs(against(runs, baseline), naming)
}

/// Differences of every pair of policies, by metric: those to the baseline first, then those of two others, the later less the earlier.
pub(super) fn all(runs: &[Run], baseline: usize) -> Vec<Difference<'_>> {
    let mut pairs = against(runs, baseline);
    let others: Vec<&Run> = pairs.iter().map(|[run, _]| *run).collect();
    pairs.extend(others.iter().enumerate().flat_map(|(k, base)| others[k + 1..].iter().map(|run| [*run, *base])));
    of_pairs(pairs, |run| &run.name)
}

fn against(runs: &[Run], baseline: usize) -> Vec<[&Run; 2]> {
    let others = runs.iter().enumerate().filter(|(policy, _)| *policy != baseline);
    others.map(|(_, run)| [run, &runs[baseline]]).collect()
}

fn of_pairs(pairs: Vec<[&Run; 2]>, naming: Naming) -> Vec<Difference<'_>> {
    let of = |metric| pairs.iter().filter_map(move |pair| difference(*pair, blocks, metric, naming));
    compared().flat_map(of).collect()
}

/// Difference between two runs over blocks of the log, which hold all jobs or those of a class.
pub(super) fn difference<'a>(
    pair: [&'a Run; 2],
    blocks: impl Fn(&Run) -> &Blocks,
    metric: &'static Metric,
    naming: Naming,
) -> Option<Difference<'a>> {
    let interval = estimate(pair, &blocks, metric, ConfidenceInterval::LEVEL)?;
    let of_baseline = Some(blocks(pair[1]).mean(metric.name())?.mean);
    let [policy, baseline] = pair.map(naming);
    Some(Difference { metric, policy, baseline, interval, of_baseline, observations: "blocks of the log" })
}

fn compared() -> impl Iterator<Item = &'static Metric> {
    Blocks::METRICS.into_iter().map(Metric::of)
}

const fn blocks(run: &Run) -> &Blocks {
    &run.outcome.blocks
}

/// The interval is refused if one of the policies is saturated.
fn estimate(pair: [&Run; 2], blocks: impl Fn(&Run) -> &Blocks, metric: &Metric, level: f64) -> Option<Estimate> {
    let estimate = blocks(pair[0]).difference_at(blocks(pair[1]), metric.name(), level)?;
    let is_saturated = pair.iter().any(|run| run.trend().is_saturated());
    Some(if is_saturated { estimate.refused(Refusal::Saturated) } else { estimate })
}

/// Ranks the policies by a metric.
pub(super) fn ranked<'a>(runs: &'a [Run], metric: &'static Metric, naming: Naming) -> Vec<Ranked<'a>> {
    let policies = runs.iter().map(|run| (naming(run), blocks(run).mean(metric.name()).map(|mean| mean.mean)));
    difference::ranked(metric, policies, |a, b, level| {
        let interval = estimate([&runs[a], &runs[b]], blocks, metric, level)?;
        interval.low.zip(interval.high)
    })
}

/// Sentences about the best policies; empty for a single one.
pub(super) fn best_in_words(runs: &[Run], naming: Naming) -> Vec<String> {
    let metrics = compared().filter(|metric| runs.len() > 1 && metric.is_in_sentences());
    metrics.filter_map(|metric| difference::best_in_words(&ranked(runs, metric, naming))).collect()
}

/// Every policy by every metric of which it has a mean.
pub(super) fn standings(runs: &[Run]) -> Vec<Ranked<'_>> {
    let all = compared().flat_map(|metric| ranked(runs, metric, |run| &run.name));
    all.filter(|one| one.mean.is_finite()).collect()
}

/// `best.csv`.
pub(super) fn best_table(runs: &[Run]) -> Result<Vec<u8>> {
    csv(Ranked::COLUMNS, standings(runs).iter().map(Ranked::row))
}

/// `differences.csv`.
pub(super) fn table(runs: &[Run], baseline: usize) -> Result<Vec<u8>> {
    let row = |Difference { metric, policy, baseline, interval, .. }: Difference<'_>| {
        let names = [metric.name(), policy, baseline].map(str::to_owned);
        let numbers = [Some(interval.mean), interval.low, interval.high]
            .map(|value| value.map_or_else(String::new, |value| value.to_string()));
        let correlation = interval.correlation.map_or_else(String::new, |value| value.to_string());
        names.into_iter().chain(numbers).chain([interval.blocks.to_string(), correlation]).collect::<Vec<_>>()
    };
    let head = ["metric", "policy", "baseline", "mean", "ci_low", "ci_high", "blocks", "correlation"];
    csv(head, all(runs, baseline).into_iter().map(row))
}

/// Differences to the baseline in wait and bounded slowdown, a line for each; empty for one policy.
pub(super) fn on_terminal(runs: &[Run], baseline: usize) -> String {
    let mut text = String::new();
    let mut reasons: Vec<String> = Vec::new();
    for one in differences(runs, baseline, |run| &run.label).into_iter().filter(|one| one.metric.is_in_sentences()) {
        let (name, unit) = (one.metric.short_label(), unit(one.metric));
        if text.is_empty() {
            text +=
                &format!("Differences to {} with 95 % intervals, over independent blocks of the log:\n", one.baseline);
        }
        let interval = match (one.interval.low, one.interval.high) {
            (Some(low), Some(high)) => format!("[{}, {}]", significant(low), significant(high)),
            _ => "[no interval]".to_owned(),
        };
        let (mean, blocks) = (significant(one.interval.mean), one.interval.blocks);
        let correlation =
            one.interval.correlation.map(|correlation| format!(" (correlation {})", fixed(correlation, 2)));
        let blocks = format!("{blocks} blocks{}", correlation.unwrap_or_default());
        text += &format!("  {name:16}  {mean}{unit} {interval}  {blocks}  {}\n", one.policy);
        let reason = one.interval.refused.map(|why| format!("{} and {}: {why}.\n", one.policy, one.baseline));
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    let best = best_in_words(runs, |run| &run.label).into_iter().map(|sentence| sentence + "\n");
    text + &reasons.concat() + &best.collect::<String>()
}
