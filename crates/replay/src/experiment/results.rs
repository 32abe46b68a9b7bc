//! All runs of an experiment, and their tables.

use super::design::{Against, Claim, Design, DimensionKey, Method, Setting};
use super::measure::Metric;
use super::plan::IN_LOG;
use super::unit::{Run, RunKey};
use super::weeks::{Weeks, interval};
use crate::units::{as_f64, may_be_best};
use anyhow::Result;
use lab::claim::{self, Check, Judged, Rule};
use lab::exhibit::Exhibit;
use lab::metric::Metric as _;
use lab::observations::Observations;
use lab::quantity::{DesignPoint, Quantity};
use lab::shown::{Looks, Showing, Shown};
use lab::table::{csv, number, optional};
use lab::terminal::csv_name;
use lab::verdict::Verdict;
use metrics::best::{Standing, standings};
use metrics::{Better, ConfidenceInterval, Estimate, order};
use sim_core::Streams;
use std::collections::{BTreeMap, BTreeSet};

/// Columns of an estimate, after those of its place.
const ESTIMATED: [&str; 6] = ["policy", "metric", "mean", "ci_low", "ci_high", "reps"];

pub(super) struct Results<'a> {
    pub(super) design: &'a Design,
    pub(super) settings: Vec<Setting>,
    /// Columns of `runs.csv`.
    measured: Vec<Metric>,
    observations: Observations<Cell>,
    /// Estimates over blocks, if one replay stands for replications.
    weeks: BTreeMap<Cell, Weeks>,
    /// Metrics of the baseline in the logs themselves.
    in_logs: BTreeMap<LogAt, Vec<Option<f64>>>,
    /// Policies that are saturated in at least half of their replications.
    saturated: BTreeSet<Cell>,
}

/// Place of a number: a log under a setting.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LogAt {
    pub(super) log: usize,
    pub(super) setting: usize,
}

/// Policy at a place. The order is that of runs.csv.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    at: LogAt,
    policy: usize,
}

impl DesignPoint for Cell {
    type Metric = Metric;
}

impl<'a> Results<'a> {
    pub(super) fn new(design: &'a Design, runs: impl IntoIterator<Item = Run>) -> Self {
        let rows: BTreeMap<RunKey, _> = runs.into_iter().map(|run| (run.key, (run.metrics, run.weeks))).collect();
        let mut of_weeks = BTreeMap::new();
        let measured: Vec<Metric> = Metric::list().into_iter().chain(design.own_metrics.iter().copied()).collect();
        let flag = measured.iter().position(|metric| metric.is_flag());
        let mut observations = Observations::new(measured.clone());
        let (mut in_logs, mut saturated) = (BTreeMap::new(), BTreeMap::<Cell, (u32, u32)>::new());
        for (RunKey { log, setting, policy, rep }, (row, weeks)) in rows {
            if rep == IN_LOG {
                in_logs.insert(LogAt { log, setting }, row);
                continue;
            }
            of_weeks.extend(weeks.map(|weeks| (Cell { at: LogAt { log, setting }, policy }, weeks)));
            let (many, of) = saturated.entry(Cell { at: LogAt { log, setting }, policy }).or_default();
            *many += u32::from(flag.and_then(|flag| row[flag]).is_some_and(|flag| flag > 0.5));
            *of += 1;
            let row = row.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
            observations.add(Cell { at: LogAt { log, setting }, policy }, row);
        }
        let saturated = saturated.into_iter().filter(|(_, (many, of))| 2 * many >= *of).map(|(cell, _)| cell);
        Self {
            design,
            settings: design.settings(),
            measured,
            observations,
            weeks: of_weeks,
            in_logs,
            saturated: saturated.collect(),
        }
    }

    pub(super) fn places(&self) -> impl Iterator<Item = LogAt> + use<> {
        let settings = self.settings.len();
        (0..self.design.logs.len()).flat_map(move |log| (0..settings).map(move |setting| LogAt { log, setting }))
    }

    /// The metric of the baseline in the log itself; `None` for a model, and if replications are not made of that log.
    pub(super) fn in_log(&self, at: LogAt, metric: Metric) -> Option<f64> {
        let position = self.measured.iter().position(|one| *one == metric)?;
        self.in_logs.get(&at)?.get(position).copied().flatten()
    }

    /// The metric of a policy in one place.
    pub(super) fn of(&self, at: LogAt, policy: usize, metric: Metric) -> Quantity<Cell> {
        Cell { at, policy }.get(metric)
    }

    /// Its value in each replication in which it is defined.
    pub(super) fn sample(&self, quantity: &Quantity<Cell>) -> Vec<f64> {
        self.observations.sample(quantity, u32::MAX)
    }

    /// Mean over replications; `None` if it is defined in none.
    fn estimate(&self, quantity: &Quantity<Cell>) -> Option<ConfidenceInterval> {
        Some(self.observations.estimate(quantity, u32::MAX)).filter(|estimate| estimate.replications > 0)
    }

    /// Comparison over replications, without an interval if a policy is saturated: its mean then grows with the length of the log.
    fn compared(&self, quantity: &Quantity<Cell>) -> ConfidenceInterval {
        let estimate = self.observations.estimate(quantity, u32::MAX);
        let mut cells = BTreeSet::new();
        quantity.collect_cells(&mut cells);
        let is_single = cells.iter().all(|cell| cells.first().is_some_and(|first| first.policy == cell.policy));
        if is_single || cells.is_disjoint(&self.saturated) {
            estimate
        } else {
            ConfidenceInterval { low: None, high: None, ..estimate }
        }
    }

    pub(super) fn mean(&self, at: LogAt, policy: usize, metric: Metric) -> Option<ConfidenceInterval> {
        match self.weeks.get(&Cell { at, policy }).and_then(|weeks| weeks.means[self.column(metric)?].as_ref()) {
            Some(weekly) => Some(interval(weekly)),
            None => self.estimate(&self.of(at, policy, metric)),
        }
    }

    fn column(&self, metric: Metric) -> Option<usize> {
        self.design.metrics.iter().position(|known| *known == metric)
    }

    /// Difference over blocks of one replay; `None` if replications are compared, or the metric has none.
    pub(super) fn weekly(&self, at: LogAt, policy: usize, base: usize, metric: Metric) -> Option<&Estimate> {
        self.weeks.get(&Cell { at, policy })?.differences[base][self.column(metric)?].as_ref()
    }

    /// One policy less another, replication by replication.
    pub(super) fn difference(
        &self,
        at: LogAt,
        policy: usize,
        base: usize,
        metric: Metric,
    ) -> Option<ConfidenceInterval> {
        match self.weekly(at, policy, base, metric) {
            Some(weekly) => Some(interval(weekly)),
            None => Some(self.compared(&(self.of(at, policy, metric) - self.of(at, base, metric))))
                .filter(|estimate| estimate.replications > 0),
        }
    }

    /// Mean of the differences over several places, each in percent of the mean of the baseline there. It varies less than a
    /// mean of ratios if single replications have nearly zero waits. Places with a zero mean do not count.
    pub(super) fn percent_over(
        &self,
        at: &[LogAt],
        policy: usize,
        base: usize,
        metric: Metric,
    ) -> Option<ConfidenceInterval> {
        let scale =
            |at: &LogAt| Some(100.0 / self.mean(*at, base, metric)?.mean.abs()).filter(|scale| scale.is_finite());
        if self.design.method == Method::Weeks {
            let scaled = |at: &LogAt| {
                let (scale, difference) = (scale(at)?, self.difference(*at, policy, base, metric)?);
                let ends = [difference.low, difference.high].map(|end| end.map(|end| scale * end));
                Some(ConfidenceInterval { mean: scale * difference.mean, low: ends[0], high: ends[1], ..difference })
            };
            return mean_of_intervals(&at.iter().filter_map(scaled).collect::<Vec<_>>());
        }
        let found =
            at.iter().filter_map(|at| Some((self.of(*at, policy, metric) - self.of(*at, base, metric)) * scale(at)?));
        let found: Vec<Quantity<Cell>> = found.collect();
        (!found.is_empty())
            .then(|| self.compared(&Quantity::mean_of(found)))
            .filter(|estimate| estimate.replications > 0)
    }

    /// Returns true if a policy is saturated in at least half of the replications of one place.
    pub(super) fn is_saturated(&self, at: LogAt, policy: usize) -> bool {
        self.saturated.contains(&Cell { at, policy })
    }

    pub(super) fn shown(&self, exhibits: &[Exhibit<'_, Cell>]) -> Vec<Shown> {
        let (looks, streams) = (Looks::of(exhibits), Streams::new(self.design.seed, 0));
        let showing = Showing { observations: &self.observations, replications: u32::MAX, looks: &looks, streams };
        exhibits.iter().map(|exhibit| showing.show(exhibit)).collect()
    }

    /// The rank of a policy among all of them, the best first.
    fn rank(&self, at: LogAt, policy: usize, metric: Metric) -> Quantity<Cell> {
        let sign = if metric.better() == Better::Larger { -1.0 } else { 1.0 };
        let all = (0..self.design.policies.len()).map(|policy| self.of(at, policy, metric) * sign);
        Quantity::Rank(policy, all.collect())
    }

    /// Mean rank of a policy over all logs and settings. An observation is a replication, over all of them; one replay gives no
    /// interval.
    pub(super) fn overall_rank(&self, policy: usize, metric: Metric) -> Option<ConfidenceInterval> {
        self.estimate(&Quantity::mean_of(self.places().map(|at| self.rank(at, policy, metric)).collect()))
    }

    /// Standing of each policy in one place: those that may be the best.
    pub(super) fn standings(&self, at: LogAt, metric: Metric) -> Vec<Standing> {
        let sign = if metric.better() == Better::Larger { -1.0 } else { 1.0 };
        let policies = 0..self.design.policies.len();
        let mean = |policy| self.mean(at, policy, metric).map_or(f64::NAN, |mean| sign * mean.mean);
        standings(&policies.map(mean).collect::<Vec<f64>>(), |a, b, level| {
            let interval = match self.weeks.get(&Cell { at, policy: a }) {
                Some(weeks) => interval(weeks.simultaneous[b][self.column(metric)?].as_ref()?),
                None => {
                    let sample = self.sample(&(self.of(at, a, metric) - self.of(at, b, metric)));
                    let is_saturated =
                        [a, b].iter().any(|policy| self.saturated.contains(&Cell { at, policy: *policy }));
                    (!sample.is_empty() && !is_saturated).then(|| ConfidenceInterval::at(level, &sample))?
                }
            };
            let (low, high) = interval.low.zip(interval.high)?;
            Some(if sign < 0.0 { (-high, -low) } else { (low, high) })
        })
    }

    /// Kendall's τ between the orders of the policies under two metrics, averaged over all places in which both order them.
    pub(super) fn agreement(&self, a: Metric, b: Metric) -> Option<f64> {
        let order_of = |at: LogAt, metric: Metric| -> Option<Vec<f64>> {
            let sign = if metric.better() == Better::Larger { -1.0 } else { 1.0 };
            (0..self.design.policies.len()).map(|policy| Some(sign * self.mean(at, policy, metric)?.mean)).collect()
        };
        let taus = self.places().filter_map(|at| order::kendall(&order_of(at, a)?, &order_of(at, b)?));
        let taus: Vec<f64> = taus.collect();
        (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / as_f64(taus.len()))
    }

    /// Judges a claim in the settings that `holds` admits.
    pub(super) fn judge(&self, claim: &Claim, holds: impl Fn(&Setting) -> bool) -> Judged {
        let bound = match claim.bound {
            Against::Policy(_) => 0.0,
            Against::Number(number) => number,
        };
        let tie = false;
        let rule = if claim.is_below { Rule::Below { bound, tie } } else { Rule::Above { bound, tie } };
        let mut groups: BTreeMap<(Option<usize>, Vec<usize>), Vec<LogAt>> = BTreeMap::new();
        for at in self.places().filter(|at| holds(&self.settings[at.setting])) {
            let values = claim.every.iter().filter_map(|key| self.position(at, *key)).collect();
            groups.entry((claim.every_log.then_some(at.log), values)).or_default().push(at);
        }
        let mut of_weeks: Vec<(Quantity<Cell>, ConfidenceInterval)> = Vec::new();
        let mut checks = Vec::new();
        for ((log, values), places) in groups {
            let quantity = Quantity::mean_of(places.iter().map(|at| self.claimed(claim, *at)).collect());
            of_weeks.extend(self.claimed_by_weeks(claim, &places).map(|interval| (quantity.clone(), interval)));
            checks.push(Check { label: self.label(claim, log, &values), quantity, rule });
        }
        let (label, unit) = (claim.metric.label(), claim.metric.unit());
        let has_unit = self.whole(claim).is_none() && !unit.is_empty();
        let metric = if has_unit { format!("{label} ({unit})") } else { label.to_owned() };
        let claim = claim::Claim {
            id: &claim.id,
            source: &claim.source,
            statement: claim.says.clone(),
            test: self.test(claim, &metric),
            figures: &[],
            checks,
        };
        Judged::new(&claim, |quantity| match of_weeks.iter().find(|(known, _)| known == quantity) {
            Some((_, interval)) => *interval,
            None => self.compared(quantity),
        })
    }

    /// The claim's number over blocks of one replay, as a mean over settings.
    fn claimed_by_weeks(&self, claim: &Claim, places: &[LogAt]) -> Option<ConfidenceInterval> {
        let position = self.design.claims.iter().position(|known| known.id == claim.id)?;
        let of = |at: &LogAt| self.weeks.get(&Cell { at: *at, policy: claim.policy })?.claims[position].as_ref();
        let found: Vec<ConfidenceInterval> = places.iter().map(|at| Some(interval(of(at)?))).collect::<Option<_>>()?;
        mean_of_intervals(&found)
    }

    /// The claim's number in one place: a difference if policies are compared. Over several logs it is in percent of the other
    /// policy's mean: seconds of different machines do not add.
    fn claimed(&self, claim: &Claim, at: LogAt) -> Quantity<Cell> {
        let ours = self.of(at, claim.policy, claim.metric);
        let Against::Policy(other) = claim.bound else { return ours };
        let theirs = self.of(at, other, claim.metric);
        let whole = self.estimate(&theirs).map_or(f64::NAN, |theirs| theirs.mean.abs());
        // "Lower by at least a tenth" is "lower than nine tenths", a form without a division that would widen the interval.
        let share = claim.share();
        let difference = ours - if claim.by > 0.0 { theirs * share } else { theirs };
        if claim.every_log { difference } else { difference * (100.0 / whole) }
    }

    fn position(&self, at: LogAt, key: DimensionKey) -> Option<usize> {
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

    /// The quantity that decides a claim, with its metric by this name.
    pub(super) fn test(&self, claim: &Claim, metric: &str) -> String {
        let quantity = self.quantity(claim, metric);
        match self.whole(claim) {
            Some(whole) => format!("{quantity}, in percent of {whole}"),
            None => quantity,
        }
    }

    /// The same without the policy that it is in percent of.
    pub(super) fn quantity(&self, claim: &Claim, metric: &str) -> String {
        let policy = |position: usize| self.design.policies[position].name();
        match claim.bound {
            Against::Number(_) => format!("{metric} of {}", policy(claim.policy)),
            Against::Policy(other) => {
                let share = if claim.by > 0.0 { format!("{} × ", claim.share()) } else { String::new() };
                format!("{metric} of {} − {share}{}", policy(claim.policy), policy(other))
            }
        }
    }

    /// The policy of whose mean the quantity of a claim is a percentage; `None` of one in the metric's unit.
    pub(super) fn whole(&self, claim: &Claim) -> Option<&str> {
        match claim.bound {
            Against::Policy(other) if !claim.every_log => Some(self.design.policies[other].name()),
            _ => None,
        }
    }

    /// `results.csv`.
    pub(super) fn table(&self) -> Result<Vec<u8>> {
        self.rows(|at, policy, metric| self.mean(at, policy, metric))
    }

    /// `differences.csv`: against the baseline.
    pub(super) fn differences(&self) -> Result<Vec<u8>> {
        let base = self.design.baseline;
        self.rows(|at, policy, metric| if policy == base { None } else { self.difference(at, policy, base, metric) })
    }

    /// The policy with the best mean in one place, then those without a significant difference from it; empty if there is no
    /// interval.
    pub(super) fn best(&self, at: LogAt, metric: Metric) -> Vec<&str> {
        let found = self.standings(at, metric);
        if !found.iter().any(|one| matches!(one, Standing::MayBeBest | Standing::Worse)) {
            return Vec::new();
        }
        let of = |wanted: Standing| {
            let all = self.design.policies.iter().zip(found.clone());
            all.filter(move |(_, standing)| *standing == wanted).map(|(policy, _)| policy.name())
        };
        of(Standing::Best).chain(of(Standing::MayBeBest)).collect()
    }

    /// Head of a table: the place, then `rest`.
    pub(super) fn head<'b>(&'b self, rest: &[&'b str]) -> Vec<&'b str> {
        let varied = self.design.vary.iter().map(|dimension| dimension.key.name());
        ["log"].into_iter().chain(varied).chain(rest.iter().copied()).collect()
    }

    /// A row of such a table.
    pub(super) fn placed(&self, at: LogAt, rest: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut row = vec![csv_name(&self.design.logs[at.log].name).into_owned()];
        row.extend(self.design.texts(&self.settings[at.setting]));
        row.extend(rest);
        row
    }

    /// `best.csv`: policies that may be the best, by log, setting and metric.
    pub(super) fn best_table(&self) -> Result<Vec<u8>> {
        let mut rows = Vec::new();
        for at in self.places() {
            for metric in &self.design.metrics {
                for (policy, standing) in self.standings(at, metric).into_iter().enumerate() {
                    let mean = self.mean(at, policy, metric).map_or(f64::NAN, |mean| mean.mean);
                    let name = self.design.policies[policy].name().to_owned();
                    let found = [metric.to_string(), name, number(mean), may_be_best(standing).to_owned()];
                    rows.push(self.placed(at, found));
                }
            }
        }
        csv(self.head(&["metric", "policy", "mean", "may_be_best"]), rows)
    }

    /// `ranks.csv`: ranks in each place, and over all logs and settings.
    pub(super) fn rank_table(&self) -> Result<Vec<u8>> {
        let mut rows = Vec::new();
        for at in self.places() {
            for metric in &self.design.metrics {
                let of = |policy| Some((policy, self.estimate(&self.rank(at, policy, metric))?));
                let found = (0..self.design.policies.len()).filter_map(of);
                rows.extend(found.map(|(policy, rank)| self.placed(at, self.estimated(policy, metric, &rank))));
            }
        }
        for metric in &self.design.metrics {
            let of = |policy| Some((policy, self.overall_rank(policy, metric)?));
            let place = vec!["all".to_owned(); 1 + self.design.vary.len()];
            rows.extend(
                (0..self.design.policies.len())
                    .filter_map(of)
                    .map(|(policy, rank)| place.iter().cloned().chain(self.estimated(policy, metric, &rank)).collect()),
            );
        }
        csv(self.head(&ESTIMATED), rows)
    }

    /// `runs.csv`: every run with every metric.
    pub(super) fn run_table(&self) -> Result<Vec<u8>> {
        let metrics = self.measured.iter().map(|metric| metric.name());
        let rest: Vec<&str> = ["policy", "rep", "seed"].into_iter().chain(metrics).collect();
        let rows = self.observations.rows().map(|(Cell { at, policy }, rep, row)| {
            let run = [self.design.policies[*policy].name().to_owned(), rep.to_string(), self.design.seed.to_string()];
            self.placed(*at, run.into_iter().chain(row.iter().map(|value| number(*value))))
        });
        csv(self.head(&rest), rows)
    }

    /// `doubt.csv`: each claim under each single value of a varied dimension.
    pub(super) fn doubt_table(&self) -> Result<Vec<u8>> {
        let rows = self.doubts().into_iter().map(|(claim, key, value, verdict, overall)| {
            let flips = if verdict == overall { "no" } else { "yes" };
            let (verdict, overall) = (verdict.to_string(), overall.to_string());
            vec![claim.id.clone(), "vary".to_owned(), key.name().to_owned(), value, verdict, overall, flips.to_owned()]
        });
        csv(["claim", "reading", "field", "answer", "verdict", "recorded", "flips"], rows)
    }

    /// Each claim under each single value: its verdict there, and over all.
    pub(super) fn doubts(&self) -> Vec<(&Claim, DimensionKey, String, Verdict, Verdict)> {
        let mut doubts = Vec::new();
        for claim in &self.design.claims {
            let overall = self.judge(claim, |_| true).verdict;
            for (column, dimension) in self.design.vary.iter().enumerate() {
                for (position, value) in dimension.values.iter().enumerate() {
                    let alone = self.judge(claim, |setting| setting.0[column] == position).verdict;
                    doubts.push((claim, dimension.key, value.to_string(), alone, overall));
                }
            }
        }
        doubts
    }

    /// The columns [`ESTIMATED`].
    fn estimated(&self, policy: usize, metric: Metric, estimate: &ConfidenceInterval) -> [String; 6] {
        [
            self.design.policies[policy].name().to_owned(),
            metric.to_string(),
            number(estimate.mean),
            optional(estimate.low),
            optional(estimate.high),
            estimate.replications.to_string(),
        ]
    }

    /// Every policy and metric in every place.
    fn each(&self) -> impl Iterator<Item = (LogAt, usize, Metric)> {
        let Design { policies, metrics, .. } = self.design;
        let of_policy = move |at, policy| metrics.iter().map(move |metric| (at, policy, *metric));
        self.places().flat_map(move |at| (0..policies.len()).flat_map(move |policy| of_policy(at, policy)))
    }

    /// A row for each log, setting, policy and metric with an estimate.
    fn rows(&self, of: impl Fn(LogAt, usize, Metric) -> Option<ConfidenceInterval>) -> Result<Vec<u8>> {
        let row = |(at, policy, metric): (LogAt, usize, Metric)| {
            Some(self.placed(at, self.estimated(policy, metric, &of(at, policy, metric)?)))
        };
        csv(self.head(&ESTIMATED), self.each().filter_map(row))
    }

    /// Result of the comparison of every mean's relative half-width with `precision`, and the number of replications needed by the
    /// variance seen so far.
    pub(super) fn precision(&self, precision: f64) -> Precision {
        let means: Vec<ConfidenceInterval> =
            self.each().filter_map(|(at, policy, metric)| self.mean(at, policy, metric)).collect();
        let is_precise = |mean: &ConfidenceInterval| match mean.half_width() {
            Some(half) if half > 0.0 => mean.relative_precision().is_some_and(|reached| reached <= precision),
            half => half.is_some(),
        };
        if means.iter().all(is_precise) {
            return Precision::Reached;
        }
        let needed = means.iter().map(|mean| mean.replications_for(precision));
        Precision::Needs(needed.collect::<Option<Vec<usize>>>().and_then(|all| all.into_iter().max()))
    }
}

/// Result of [`Results::precision`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Reached,
    /// Number of replications; `None` if no number of them is known to suffice.
    Needs(Option<usize>),
}

/// Mean of several numbers, each over blocks of one replay. An interval of a mean is at most as wide as the mean of the intervals,
/// under any dependence between them.
fn mean_of_intervals(all: &[ConfidenceInterval]) -> Option<ConfidenceInterval> {
    let mean = |end: fn(&ConfidenceInterval) -> Option<f64>| {
        let ends: Vec<f64> = all.iter().map(end).collect::<Option<_>>()?;
        Some(ends.iter().sum::<f64>() / as_f64(ends.len()))
    };
    Some(ConfidenceInterval {
        replications: all.iter().map(|interval| interval.replications).min()?,
        mean: mean(|interval| Some(interval.mean))?,
        low: mean(|interval| interval.low),
        high: mean(|interval| interval.high),
        level: ConfidenceInterval::LEVEL,
    })
}
