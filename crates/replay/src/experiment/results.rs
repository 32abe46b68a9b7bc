//! All runs of an experiment, and the tables that are made of them.

use super::design::{Against, Claim, Design, Key, Setting};
use super::measure::{is_better_high, metric_names};
use super::unit::Run;
use crate::experiment::design::Method;
use anyhow::Result;
use lab::claim::Rule;
use lab::terminal::csv_name;
use lab::verdict::Verdict;
use metrics::{ConfidenceInterval, order, paired};
use std::collections::BTreeMap;

/// Everything that was measured.
pub(super) struct Results<'a> {
    pub(super) design: &'a Design,
    pub(super) settings: Vec<Setting>,
    /// By log, setting and policy: the replications in their order, each with its metrics.
    runs: BTreeMap<(usize, usize, usize), Vec<Replication>>,
}

/// The number of a replication, and its metrics.
type Replication = (u32, Vec<f64>);

/// Where a number stands: a log under a setting.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) log: usize,
    pub(super) setting: usize,
}

/// One cell of a claim, judged.
#[derive(Clone, Debug)]
pub(super) struct JudgedCell {
    pub(super) label: String,
    pub(super) estimate: ConfidenceInterval,
    pub(super) verdict: Verdict,
}

/// A claim, judged.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) rule: Rule,
    pub(super) cells: Vec<JudgedCell>,
}

impl Judged {
    /// The worst of its cells.
    pub(super) fn verdict(&self) -> Verdict {
        self.cells.iter().map(|cell| cell.verdict).max().unwrap_or(Verdict::Inconclusive)
    }

    /// The first cell with that verdict.
    pub(super) fn deciding(&self) -> Option<&JudgedCell> {
        let verdict = self.verdict();
        self.cells.iter().find(|cell| cell.verdict == verdict)
    }
}

impl<'a> Results<'a> {
    pub(super) fn new(design: &'a Design, runs: impl IntoIterator<Item = Run>) -> Self {
        let mut table: BTreeMap<_, Vec<Replication>> = BTreeMap::new();
        for Run { key, metrics } in runs {
            let values = metrics.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
            table.entry((key.log, key.setting, key.policy)).or_default().push((key.rep, values));
        }
        table.values_mut().for_each(|runs| runs.sort_by_key(|(rep, _)| *rep));
        Self { design, settings: design.settings(), runs: table }
    }

    /// Every log under every setting.
    pub(super) fn places(&self) -> impl Iterator<Item = At> + use<> {
        let settings = self.settings.len();
        (0..self.design.logs.len()).flat_map(move |log| (0..settings).map(move |setting| At { log, setting }))
    }

    /// One value for each replication; not a number where the metric is not defined.
    pub(super) fn values(&self, at: At, policy: usize, metric: &str) -> Vec<f64> {
        let Some(column) = metric_names().iter().position(|name| *name == metric) else { return Vec::new() };
        let runs = self.runs.get(&(at.log, at.setting, policy));
        runs.into_iter().flatten().map(|(_, row)| row[column]).collect()
    }

    /// The mean over replications; `None` where no replication has the metric.
    pub(super) fn mean(&self, at: At, policy: usize, metric: &str) -> Option<ConfidenceInterval> {
        let values: Vec<f64> = self.values(at, policy, metric).into_iter().filter(|value| value.is_finite()).collect();
        (!values.is_empty()).then(|| ConfidenceInterval::of(&values))
    }

    /// One policy less another, replication by replication.
    pub(super) fn difference(&self, at: At, policy: usize, base: usize, metric: &str) -> Option<ConfidenceInterval> {
        let pairs = self.values(at, policy, metric).into_iter().zip(self.values(at, base, metric));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.filter(|(a, b)| a.is_finite() && b.is_finite()).unzip();
        (!a.is_empty()).then(|| paired(&a, &b))
    }

    /// The same in percent of the mean of the baseline, which is better behaved than a mean of ratios where single
    /// replications wait for hardly anything.
    pub(super) fn percent(&self, at: At, policy: usize, base: usize, metric: &str) -> Option<ConfidenceInterval> {
        let difference = self.difference(at, policy, base, metric)?;
        let base = self.mean(at, base, metric)?.mean.abs();
        (base > 0.0).then(|| {
            let scaled = |value: f64| 100.0 * value / base;
            ConfidenceInterval {
                mean: scaled(difference.mean),
                low: difference.low.map(scaled),
                high: difference.high.map(scaled),
                ..difference
            }
        })
    }

    /// The rank of each policy in each replication, the best first; replications in which somebody has no value are left out.
    pub(super) fn ranks(&self, at: At, metric: &str) -> Vec<Vec<f64>> {
        let policies = self.design.policies.len();
        let columns: Vec<Vec<f64>> = (0..policies).map(|policy| self.values(at, policy, metric)).collect();
        let replications = columns.iter().map(Vec::len).min().unwrap_or(0);
        let sign = if is_better_high(metric) { -1.0 } else { 1.0 };
        (0..replications)
            .map(|rep| columns.iter().map(|column| sign * column[rep]).collect::<Vec<f64>>())
            .filter(|values| values.iter().all(|value| value.is_finite()))
            .map(|values| order::ranks(&values))
            .collect()
    }

    /// The mean rank of each policy with its interval, in one place.
    pub(super) fn mean_ranks(&self, at: At, metric: &str) -> Option<Vec<ConfidenceInterval>> {
        intervals(&self.ranks(at, metric))
    }

    /// The same over all logs and settings. An observation is a replication, over all of them; of weeks, which are not the
    /// same in different logs, one week of one log.
    pub(super) fn overall_ranks(&self, metric: &str) -> Option<Vec<ConfidenceInterval>> {
        let mean_of = |places: &[At]| -> Vec<Vec<f64>> {
            let all: Vec<Vec<Vec<f64>>> = places.iter().map(|at| self.ranks(*at, metric)).collect();
            let replications = all.iter().map(Vec::len).min().unwrap_or(0);
            let mean =
                |rep: usize, policy: usize| all.iter().map(|ranks| ranks[rep][policy]).sum::<f64>() / count(all.len());
            (0..replications)
                .map(|rep| (0..self.design.policies.len()).map(|policy| mean(rep, policy)).collect())
                .collect()
        };
        let places: Vec<At> = self.places().collect();
        let observations = if self.design.method == Method::Weeks {
            let of_log = |log| places.iter().copied().filter(|at| at.log == log).collect::<Vec<At>>();
            (0..self.design.logs.len()).flat_map(|log| mean_of(&of_log(log))).collect()
        } else {
            mean_of(&places)
        };
        intervals(&observations)
    }

    /// Kendall's τ between the orders of the policies under two metrics, on average over all places in which both order them.
    pub(super) fn agreement(&self, a: &str, b: &str) -> Option<f64> {
        let order_of = |at: At, metric: &str| -> Option<Vec<f64>> {
            let sign = if is_better_high(metric) { -1.0 } else { 1.0 };
            (0..self.design.policies.len()).map(|policy| Some(sign * self.mean(at, policy, metric)?.mean)).collect()
        };
        let taus = self.places().filter_map(|at| order::kendall(&order_of(at, a)?, &order_of(at, b)?));
        let taus: Vec<f64> = taus.collect();
        (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / count(taus.len()))
    }

    /// Judges a claim in the settings that `holds` admits.
    pub(super) fn judge(&self, claim: &Claim, holds: impl Fn(&Setting) -> bool) -> Judged {
        let bound = match claim.bound {
            Against::Policy(_) => 0.0,
            Against::Number(number) => number,
        };
        let tie = false;
        let rule = if claim.is_below { Rule::Below { bound, tie } } else { Rule::Above { bound, tie } };
        let mut groups: BTreeMap<(Option<usize>, Vec<usize>), Vec<At>> = BTreeMap::new();
        for at in self.places().filter(|at| holds(&self.settings[at.setting])) {
            let values = claim.every.iter().filter_map(|key| self.position(at, *key)).collect();
            groups.entry((claim.every_log.then_some(at.log), values)).or_default().push(at);
        }
        let cells = groups.into_iter().filter_map(|((log, values), places)| {
            let estimate = self.estimate(claim, &places)?;
            let verdict = rule.judge(&estimate);
            Some(JudgedCell { label: self.label(claim, log, &values), estimate, verdict })
        });
        Judged { rule, cells: cells.collect() }
    }

    /// The claim's number over some places: replication by replication the mean over them, of differences where policies are
    /// compared. Over several logs these are in percent of the other policy's mean: seconds of different machines do not add.
    fn estimate(&self, claim: &Claim, places: &[At]) -> Option<ConfidenceInterval> {
        let columns = places.iter().map(|at| {
            let ours = self.values(*at, claim.policy, &claim.metric);
            match claim.bound {
                Against::Number(_) => Some(ours),
                Against::Policy(other) => {
                    let theirs = self.values(*at, other, &claim.metric);
                    let scale =
                        if claim.every_log { 1.0 } else { 100.0 / self.mean(*at, other, &claim.metric)?.mean.abs() };
                    Some(ours.iter().zip(&theirs).map(|(a, b)| scale * (a - b)).collect())
                }
            }
        });
        let columns: Vec<Vec<f64>> = columns.collect::<Option<_>>()?;
        let replications = columns.iter().map(Vec::len).min()?;
        let mean = |rep: usize| columns.iter().map(|column| column[rep]).sum::<f64>() / count(columns.len());
        let values: Vec<f64> = (0..replications).map(mean).filter(|value| value.is_finite()).collect();
        (!values.is_empty()).then(|| ConfidenceInterval::of(&values))
    }

    fn position(&self, at: At, key: Key) -> Option<usize> {
        let dimension = self.design.vary.iter().position(|dimension| dimension.key == key)?;
        Some(self.settings[at.setting].0[dimension])
    }

    fn label(&self, claim: &Claim, log: Option<usize>, values: &[usize]) -> String {
        let mut parts: Vec<String> = log.map(|log| self.design.logs[log].name.clone()).into_iter().collect();
        for (key, value) in claim.every.iter().zip(values) {
            let dimension = self.design.vary.iter().find(|dimension| dimension.key == *key).expect("it is varied");
            parts.push(format!("{} {}", key.name(), dimension.values[*value]));
        }
        if parts.is_empty() { "all logs and settings".to_owned() } else { parts.join(", ") }
    }

    /// What the numbers of a claim are.
    pub(super) fn unit(&self, claim: &Claim) -> String {
        let policy = |position: usize| self.design.policies[position].name.as_str();
        match claim.bound {
            Against::Number(_) => format!("{} of {}", claim.metric, policy(claim.policy)),
            Against::Policy(other) => {
                let unit = if claim.every_log { String::new() } else { format!(", in percent of {}", policy(other)) };
                format!("{} of {} − {}{unit}", claim.metric, policy(claim.policy), policy(other))
            }
        }
    }

    /// `results.csv`.
    pub(super) fn table(&self) -> Result<Vec<u8>> {
        self.rows(|at, metric| (0..self.design.policies.len()).map(|policy| self.mean(at, policy, metric)).collect())
    }

    /// `differences.csv`: against the baseline.
    pub(super) fn differences(&self) -> Result<Vec<u8>> {
        let base = self.design.baseline;
        self.rows(|at, metric| {
            let of = |policy| if policy == base { None } else { self.difference(at, policy, base, metric) };
            (0..self.design.policies.len()).map(of).collect()
        })
    }

    /// `ranks.csv`: the same of ranks, and of all logs and settings together.
    pub(super) fn rank_table(&self) -> Result<Vec<u8>> {
        let mut table = self.begin()?;
        for at in self.places() {
            for metric in &self.design.metrics {
                let ranks = self.mean_ranks(at, metric).unwrap_or_default();
                let texts = self.design.texts(&self.settings[at.setting]);
                for (policy, rank) in ranks.iter().enumerate() {
                    self.row(&mut table, &self.design.logs[at.log].name, &texts, policy, metric, rank)?;
                }
            }
        }
        for metric in &self.design.metrics {
            let texts: Vec<String> = self.design.vary.iter().map(|_| "all".to_owned()).collect();
            for (policy, rank) in self.overall_ranks(metric).unwrap_or_default().iter().enumerate() {
                self.row(&mut table, "all", &texts, policy, metric, rank)?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// `runs.csv`: every run with every metric.
    pub(super) fn run_table(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let head = ["log"].into_iter().chain(self.design.vary.iter().map(|dimension| dimension.key.name()));
        let head = head.chain(["policy", "rep", "seed"]).chain(metric_names().iter().copied());
        table.write_record(head)?;
        for ((log, setting, policy), runs) in &self.runs {
            for (rep, row) in runs {
                let mut fields = vec![csv_name(&self.design.logs[*log].name).into_owned()];
                fields.extend(self.design.texts(&self.settings[*setting]));
                fields.extend([
                    self.design.policies[*policy].name.clone(),
                    rep.to_string(),
                    self.design.seed.to_string(),
                ]);
                fields.extend(row.iter().map(|value| number(*value)));
                table.write_record(fields)?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// `doubt.csv`: each claim under each value of what is varied alone.
    pub(super) fn doubt_table(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["claim", "reading", "field", "answer", "verdict", "recorded", "flips"])?;
        for (claim, key, value, verdict, overall) in self.doubts() {
            let flips = if verdict == overall { "no" } else { "yes" };
            let fields = [&claim.id, "vary", key.name(), &value, &verdict.to_string(), &overall.to_string(), flips];
            table.write_record(fields)?;
        }
        Ok(table.into_inner()?)
    }

    /// Each claim under each value alone: its verdict there, and over all.
    pub(super) fn doubts(&self) -> Vec<(&Claim, Key, String, Verdict, Verdict)> {
        let mut doubts = Vec::new();
        for claim in &self.design.claims {
            let overall = self.judge(claim, |_| true).verdict();
            for (column, dimension) in self.design.vary.iter().enumerate() {
                for (position, value) in dimension.values.iter().enumerate() {
                    let alone = self.judge(claim, |setting| setting.0[column] == position).verdict();
                    doubts.push((claim, dimension.key, value.to_string(), alone, overall));
                }
            }
        }
        doubts
    }

    fn begin(&self) -> Result<csv::Writer<Vec<u8>>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let head = ["log"].into_iter().chain(self.design.vary.iter().map(|dimension| dimension.key.name()));
        table.write_record(head.chain(["policy", "metric", "mean", "ci_low", "ci_high", "reps"]))?;
        Ok(table)
    }

    fn row(
        &self,
        table: &mut csv::Writer<Vec<u8>>,
        log: &str,
        texts: &[String],
        policy: usize,
        metric: &str,
        estimate: &ConfidenceInterval,
    ) -> Result<()> {
        let mut fields = vec![csv_name(log).into_owned()];
        fields.extend(texts.iter().cloned());
        let end = |end: Option<f64>| end.map_or_else(String::new, number);
        fields.extend([
            self.design.policies[policy].name.clone(),
            metric.to_owned(),
            number(estimate.mean),
            end(estimate.low),
            end(estimate.high),
            estimate.replications.to_string(),
        ]);
        Ok(table.write_record(fields)?)
    }

    /// A row for each log, setting, policy and metric for which there is an estimate.
    fn rows(&self, of: impl Fn(At, &str) -> Vec<Option<ConfidenceInterval>>) -> Result<Vec<u8>> {
        let mut table = self.begin()?;
        for at in self.places() {
            let texts = self.design.texts(&self.settings[at.setting]);
            let columns: Vec<_> = self.design.metrics.iter().map(|metric| of(at, metric)).collect();
            for policy in 0..self.design.policies.len() {
                for (metric, estimates) in self.design.metrics.iter().zip(&columns) {
                    if let Some(estimate) = &estimates[policy] {
                        self.row(&mut table, &self.design.logs[at.log].name, &texts, policy, metric, estimate)?;
                    }
                }
            }
        }
        Ok(table.into_inner()?)
    }

    /// The largest relative half-width of any mean; `None` where some mean has no width, or is zero.
    pub(super) fn precision(&self) -> Option<f64> {
        let mut worst = 0.0_f64;
        for at in self.places() {
            for policy in 0..self.design.policies.len() {
                for metric in &self.design.metrics {
                    let Some(mean) = self.mean(at, policy, metric) else { continue };
                    let half = mean.half_width()?;
                    if half > 0.0 {
                        worst = worst.max(mean.relative_precision()?);
                    }
                }
            }
        }
        Some(worst)
    }

    /// How many replications would bring every mean to a relative half-width of `precision`, by the variance seen so far.
    pub(super) fn replications_for(&self, precision: f64) -> Option<usize> {
        let mut most = 0;
        for at in self.places() {
            for policy in 0..self.design.policies.len() {
                for metric in &self.design.metrics {
                    if let Some(mean) = self.mean(at, policy, metric) {
                        most = most.max(mean.replications_for(precision)?);
                    }
                }
            }
        }
        Some(most)
    }
}

/// The interval of each column, over rows.
fn intervals(rows: &[Vec<f64>]) -> Option<Vec<ConfidenceInterval>> {
    let width = rows.first()?.len();
    Some(
        (0..width)
            .map(|column| ConfidenceInterval::of(&rows.iter().map(|row| row[column]).collect::<Vec<_>>()))
            .collect(),
    )
}

fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of places")]
const fn count(places: usize) -> f64 {
    places as f64
}
