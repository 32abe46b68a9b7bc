//! Tables of a comparison of variants, and its sentences.

use super::results::{Arm, VariantResults, of_groups};
use anyhow::Result;
use lab::chart::{fixed, significant};
use lab::difference::{Difference, best_in_words, headline};
use lab::table::{columns, csv, in_words, optional};
use lab::terminal::csv_name;
use lab::units::{aligned, readable};
use metrics::{ConfidenceInterval, Metric};
use serde_json::{Value, json};
use slurm_sched::EndState;
use slurm_sched::workload::array_of;
use std::collections::BTreeMap;
use std::path::Path;

/// Metrics of sentences and of the terminal.
pub(super) fn spoken() -> impl Iterator<Item = &'static Metric> {
    ["wait_mean", "bounded_slowdown_mean", "utilization"].into_iter().map(Metric::of)
}

/// `summary.csv`: means over phases, a row for each variant and for the log.
pub(super) fn summary(results: &VariantResults<'_>) -> Result<Vec<u8>> {
    let metrics = results.metrics();
    let rows = results.names().into_iter().enumerate().map(|(arm, name)| {
        let values = metrics.iter().map(|metric| optional(results.mean(None, arm, metric).map(|mean| mean.mean)));
        std::iter::once(name.to_owned()).chain(values).collect::<Vec<_>>()
    });
    csv(["variant"].into_iter().chain(metrics.iter().map(|metric| metric.name())), rows)
}

/// Differences of a variant, by number, or of the log to the first variant, paired by phase.
fn to_first<'a>(
    results: &'a VariantResults<'_>,
) -> impl Iterator<Item = (&'static Metric, usize, ConfidenceInterval)> + 'a {
    let arms = 1..results.names().len();
    let pairs = results.metrics().into_iter().flat_map(move |metric| arms.clone().map(move |arm| (metric, arm)));
    pairs.filter_map(|(metric, arm)| Some((metric, arm, results.difference(None, arm, metric)?)))
}

pub(super) fn differences(results: &VariantResults<'_>) -> Result<Vec<u8>> {
    let names = results.names();
    let rows = to_first(results).map(|(metric, arm, found)| {
        let head = [metric.name(), names[arm], names[0]].map(str::to_owned);
        [&head[..], &columns(&found)].concat()
    });
    csv(["metric", "variant", "baseline", "mean", "ci_low", "ci_high", "phases"], rows)
}

pub(super) fn breakdown(results: &VariantResults<'_>) -> Result<Vec<u8>> {
    let interval = |found: Option<ConfidenceInterval>| {
        let [mean, low, high, _] = found.as_ref().map_or_else(Default::default, columns);
        [mean, low, high]
    };
    let mut rows = Vec::new();
    for (at, group) in results.groups.iter().enumerate() {
        for metric in of_groups() {
            for (arm, name) in results.names().into_iter().enumerate() {
                let difference = (arm > 0).then(|| results.difference(Some(at), arm, metric)).flatten();
                let (by, group, jobs) = (group.by, csv_name(&group.name), group.jobs.to_string());
                let head = [by, &group, &jobs, metric.name(), name].map(str::to_owned);
                let mean = results.mean(Some(at), arm, metric);
                rows.push([&head[..], &interval(mean), &interval(difference)].concat());
            }
        }
    }
    let head = ["by", "name", "jobs", "metric", "variant", "mean", "ci_low", "ci_high"];
    csv(head.into_iter().chain(["difference", "difference_low", "difference_high"]), rows)
}

/// `VARIANT/jobs.csv`: the jobs of the first phase. Times are seconds from the zero of the trace.
pub(super) fn jobs(results: &VariantResults<'_>, arm: usize) -> Result<Vec<u8>> {
    let conf = &results.arms[arm].site.conf;
    let mut ends: Vec<_> = results.first[arm].iter().collect();
    ends.sort_by_key(|ended| (ended.submit, ended.job));
    let groups_of: BTreeMap<u32, &[usize; 4]> = results.jobs.iter().map(|job| job.id).zip(&results.groups_of).collect();
    let rows = ends.into_iter().map(|ended| {
        let name = |kind: usize| csv_name(&results.groups[groups_of[&ended.job][kind]].name).into_owned();
        let is = |state: EndState| if ended.state == state { "yes" } else { "no" }.to_owned();
        let times = [ended.submit, ended.start, ended.end, ended.start - ended.submit].map(|time| time.to_string());
        let (job, task) = array_of(ended.job);
        let job = if job == ended.job { job.to_string() } else { format!("{job}_{task}") };
        let head = [job, name(2), name(1), name(3), ended.partition.clone()];
        let (count, list) = (ended.nodes.len().to_string(), conf.node_list(ended.nodes.iter().copied()));
        let by = ended.by.name().to_owned();
        [&head[..], &times, &[count, list, by, is(EndState::Timeout), is(EndState::Requeued)]].concat()
    });
    let head = ["job", "user", "account", "qos", "partition", "submit", "start", "end", "wait"];
    csv(head.into_iter().chain(["nodes", "node_list", "started_by", "cut", "requeued"]), rows)
}

/// `1 234 ± 12`; empty without a value.
pub(super) fn with_half_width(estimate: Option<ConfidenceInterval>) -> String {
    estimate.map_or_else(String::new, |found| match found.half_width() {
        Some(half) if half > 0.0 => in_words(&found),
        _ => readable(found.mean),
    })
}

/// `−1 234 [−1 500, −968] (−9.3 %)`; the percentage is of the baseline's mean.
pub(super) fn with_interval(difference: Option<ConfidenceInterval>, base: Option<ConfidenceInterval>) -> String {
    let Some(found) = difference else { return String::new() };
    let mut text = significant(found.mean);
    if let (Some(low), Some(high)) = (found.low, found.high) {
        text += &format!(" [{}, {}]", significant(low), significant(high));
    }
    if let Some(base) = base.filter(|base| base.mean.abs() > 0.0) {
        text += &format!(" ({} %)", fixed(100.0 * found.mean / base.mean.abs(), 1));
    }
    text
}

/// Differences of the other variants to the first by one metric, paired by phase.
pub(super) fn compared<'a>(results: &'a VariantResults<'_>, metric: &'static Metric) -> Vec<Difference<'a>> {
    let of_arm = |(arm, policy): (usize, &'a Arm)| {
        let interval = results.difference(None, arm, metric)?.into();
        let of_baseline = Some(results.mean(None, 0, metric)?.mean);
        let (policy, baseline) = (&*policy.name, &*results.arms[0].name);
        Some(Difference { metric, policy, baseline, interval, of_baseline, observations: "phases" })
    };
    results.arms.iter().enumerate().skip(1).filter_map(of_arm).collect()
}

/// The best variant and its difference by each metric, and the variants that may be the best.
pub(super) fn sentences(results: &VariantResults<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    for metric in spoken().filter(|metric| metric.is_in_sentences()) {
        sentences.extend(headline(&compared(results, metric)).map(|(text, _)| text));
        if results.arms.len() > 1 && results.phases > 1 {
            sentences.extend(best_in_words(&results.ranked(metric)));
        }
    }
    sentences
}

pub(super) fn on_terminal(results: &VariantResults<'_>) -> String {
    let width = results.names().iter().map(|name| name.chars().count()).max().unwrap_or(0).max(8);
    let mut text =
        format!("{:width$}  {:>24}  {:>24}  {:>18}\n", "variant", "mean wait (s)", "bounded slowdown", "utilization");
    for (arm, name) in results.names().into_iter().enumerate() {
        let mut cells = spoken().map(|metric| with_half_width(results.mean(None, arm, metric)));
        let [wait, slowdown, utilization] = std::array::from_fn(|_| cells.next().unwrap_or_default());
        text += &format!("{name:width$}  {wait:>24}  {slowdown:>24}  {utilization:>18}\n");
    }
    if results.arms.len() > 1 {
        let of_metric = |metric: &'static Metric| {
            let row = |one: Difference<'_>| vec![one.policy.to_owned(), metric.label().to_owned(), one.dot().text];
            compared(results, metric).into_iter().map(row)
        };
        let (phases, base) = (results.phases, &results.arms[0].name);
        text += &format!("Differences to {base}, paired by phase ({phases}), with 95 % intervals:\n");
        text += &aligned(&spoken().flat_map(of_metric).collect::<Vec<_>>());
    }
    sentences(results).into_iter().for_each(|sentence| text += &(sentence + "\n"));
    text
}

pub(super) fn as_json(results: &VariantResults<'_>, notes: &[String], out: &Path) -> Value {
    let names = results.names();
    let mut variants = serde_json::Map::new();
    for (arm, name) in names.iter().enumerate() {
        let mean = |metric: &'static Metric| results.mean(None, arm, metric).map(|mean| mean.mean);
        let means = results.metrics().into_iter().map(|metric| (metric.name().to_owned(), mean(metric).into()));
        variants.insert((*name).to_owned(), Value::Object(means.collect()));
    }
    let mut differences: Vec<_> = to_first(results).collect();
    differences.sort_by_key(|(_, arm, _)| *arm);
    let row = |(metric, arm, found): (&Metric, usize, ConfidenceInterval)| {
        json!({
            "metric": metric.name(),
            "variant": names[arm],
            "baseline": names[0],
            "mean": found.mean,
            "ci_low": found.low,
            "ci_high": found.high,
            "phases": found.replications,
        })
    };
    let differences: Vec<Value> = differences.into_iter().map(row).collect();
    json!({ "out": out, "variants": variants, "differences": differences, "best": sentences(results), "never_started": results.never, "notes": notes })
}
