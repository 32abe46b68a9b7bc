//! Tables of a comparison of variants, and its sentences.

use super::results::{Arm, VariantResults, of_groups};
use crate::difference::{Difference, headline};
use crate::units::{aligned, best, readable};
use anyhow::Result;
use lab::chart::{fixed, significant};
use lab::table::{csv, in_words, optional};
use lab::terminal::csv_name;
use metrics::{ConfidenceInterval, Estimate, Metric};
use serde_json::{Value, json};
use slurm_sched::workload::array_of;
use slurm_sched::{EndState, hostlist};
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

/// `differences.csv`: differences to the first variant, paired by phase.
pub(super) fn differences(results: &VariantResults<'_>) -> Result<Vec<u8>> {
    let names = results.names();
    let mut rows = Vec::new();
    for metric in results.metrics() {
        for (arm, name) in names.iter().enumerate().skip(1) {
            let Some(found) = results.difference(None, arm, metric) else { continue };
            let head = [metric.name(), name, names[0]].map(str::to_owned);
            rows.push([&head[..], &columns(Some(&found)), &[found.replications.to_string()]].concat());
        }
    }
    csv(["metric", "variant", "baseline", "mean", "ci_low", "ci_high", "phases"], rows)
}

/// `breakdown.csv`: jobs by partition, account, user and QOS.
pub(super) fn breakdown(results: &VariantResults<'_>) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for (at, (group, jobs)) in results.groups.iter().enumerate() {
        for metric in of_groups() {
            for (arm, name) in results.names().into_iter().enumerate() {
                let difference = (arm > 0).then(|| results.difference(Some(at), arm, metric)).flatten();
                let head = [group.by.to_owned(), csv_name(&group.name).into_owned(), jobs.to_string()];
                let middle = [metric.name().to_owned(), name.to_owned()];
                let mean = columns(results.mean(Some(at), arm, metric).as_ref());
                rows.push([&head[..], &middle, &mean, &columns(difference.as_ref())].concat());
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
    let of_job: std::collections::BTreeMap<u32, [usize; 4]> =
        results.jobs.iter().zip(&results.groups_of).map(|(job, groups)| (job.id, *groups)).collect();
    let rows = ends.into_iter().map(|ended| {
        let name = |kind: usize| csv_name(&results.groups[of_job[&ended.job][kind]].0.name).into_owned();
        let nodes: Vec<&str> = ended.nodes.iter().map(|node| conf.nodes[*node].name.as_str()).collect();
        let is = |state: EndState| if ended.state == state { "yes" } else { "no" }.to_owned();
        let times = [ended.submit, ended.start, ended.end, ended.start - ended.submit].map(|time| time.to_string());
        let (job, task) = array_of(ended.job);
        let job = if job == ended.job { job.to_string() } else { format!("{job}_{task}") };
        let head = [job, name(2), name(1), name(3), ended.partition.clone()];
        let by = ended.by.name().to_owned();
        let tail = [nodes.len().to_string(), hostlist::fold(&nodes), by, is(EndState::Timeout), is(EndState::Requeued)];
        head.into_iter().chain(times).chain(tail).collect::<Vec<_>>()
    });
    let head = ["job", "user", "account", "qos", "partition", "submit", "start", "end", "wait"];
    csv(head.into_iter().chain(["nodes", "node_list", "started_by", "cut", "requeued"]), rows)
}

fn columns(estimate: Option<&ConfidenceInterval>) -> [String; 3] {
    let of = |end: fn(&ConfidenceInterval) -> Option<f64>| optional(estimate.and_then(end));
    [of(|found| Some(found.mean)), of(|found| found.low), of(|found| found.high)]
}

/// `1 234 ± 12`; empty without a value.
pub(super) fn with_half_width(estimate: Option<ConfidenceInterval>) -> String {
    let Some(found) = estimate else { return String::new() };
    match found.half_width() {
        Some(half) if half > 0.0 => in_words(&found),
        _ => readable(found.mean),
    }
}

/// `−1 234 [−1 500, −968] (−9.3 %)`; the percentage is of the baseline's mean.
pub(super) fn with_interval(difference: Option<ConfidenceInterval>, base: Option<ConfidenceInterval>) -> String {
    let Some(found) = difference else { return String::new() };
    let interval = match (found.low, found.high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", significant(low), significant(high)),
        _ => String::new(),
    };
    let percent = base.filter(|base| base.mean.abs() > 0.0).map(|base| 100.0 * found.mean / base.mean.abs());
    format!(
        "{}{interval}{}",
        significant(found.mean),
        percent.map_or_else(String::new, |percent| format!(" ({} %)", fixed(percent, 1)))
    )
}

/// Differences of the other variants to the first by one metric, paired by phase.
pub(super) fn compared<'a>(results: &'a VariantResults<'_>, metric: &'static Metric) -> Vec<Difference<'a>> {
    let of_arm = |(arm, policy): (usize, &'a Arm)| {
        let ConfidenceInterval { mean, low, high, replications, .. } = results.difference(None, arm, metric)?;
        let interval = Estimate { mean, low, high, blocks: replications, correlation: None, refused: None };
        let of_baseline = Some(results.mean(None, 0, metric)?.mean);
        let (policy, baseline) = (&*policy.name, &*results.arms[0].name);
        Some(Difference { metric, policy, baseline, interval, of_baseline, observations: "phases" })
    };
    results.arms.iter().enumerate().skip(1).filter_map(of_arm).collect()
}

/// The best variant and its difference by each metric, and the variants that may be the best.
pub(super) fn sentences(results: &VariantResults<'_>) -> Vec<String> {
    let names: Vec<&str> = results.arms.iter().map(|arm| arm.name.as_str()).collect();
    let mut sentences = Vec::new();
    for metric in spoken().filter(|metric| metric.is_in_sentences()) {
        sentences.extend(headline(&compared(results, metric)).map(|(text, _)| text));
        if names.len() > 1 && results.phases > 1 {
            sentences.extend(best(metric.label(), &names, &results.standings(metric)));
        }
    }
    sentences
}

/// The table and the sentences for the terminal.
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

/// The result as JSON.
pub(super) fn as_json(results: &VariantResults<'_>, notes: &[String], out: &Path) -> Value {
    let names = results.names();
    let metrics = results.metrics();
    let of_arm = |(arm, name): (usize, &&str)| {
        let mean = |metric: &'static Metric| results.mean(None, arm, metric).map(|mean| mean.mean);
        let of = |metric: &&'static Metric| (metric.name().to_owned(), mean(metric).into());
        ((*name).to_owned(), Value::Object(metrics.iter().map(of).collect()))
    };
    let means: serde_json::Map<String, Value> = names.iter().enumerate().map(of_arm).collect();
    let differences: Vec<Value> = (1..names.len())
        .flat_map(|arm| metrics.iter().map(move |metric| (arm, *metric)))
        .filter_map(|(arm, metric)| {
            let found = results.difference(None, arm, metric)?;
            Some(json!({
                "metric": metric.name(),
                "variant": names[arm],
                "baseline": names[0],
                "mean": found.mean,
                "ci_low": found.low,
                "ci_high": found.high,
                "phases": found.replications,
            }))
        })
        .collect();
    json!({ "out": out, "variants": means, "differences": differences, "best": sentences(results), "never_started": results.never, "notes": notes })
}
