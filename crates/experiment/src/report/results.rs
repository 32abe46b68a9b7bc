//! All runs of an experiment, and their tables.

use crate::design::measure::{Cell, metrics_with};
use crate::design::workloads::IN_LOG;
use crate::design::{Claim, Design, Metric, Setting};
use crate::unit::Run;
use anyhow::Result;
use lab::claim::{self, Check, Judged, Rule};
use lab::difference::{Ranked, paired, ranked, sign, with};
use lab::observations::Observations;
use lab::quantity::{DesignPoint, Quantity};
use lab::table::{columns, csv, number};
use lab::terminal::csv_name;
use metrics::ConfidenceInterval;
use metrics::best::Standing;
use std::collections::BTreeMap;

/// Columns of an estimate, after those of its place.
const ESTIMATED: [&str; 6] = ["policy", "metric", "mean", "ci_low", "ci_high", "reps"];

pub(crate) struct Results<'a> {
    pub(crate) design: &'a Design,
    pub(crate) settings: Vec<Setting>,
    observations: Observations<Cell>,
    /// The baseline in the logs themselves.
    in_logs: Observations<Cell>,
}

impl<'a> Results<'a> {
    pub(crate) fn new(design: &'a Design, mut runs: Vec<Run>) -> Self {
        let [observations, in_logs] = [0; 2].map(|_| Observations::new(metrics_with(&design.own_metrics)));
        let mut results = Self { design, settings: design.settings(), observations, in_logs };
        runs.sort_by_key(|run| (run.cell, run.rep));
        for Run { cell, rep, metrics, .. } in runs {
            let here = if rep == IN_LOG { &mut results.in_logs } else { &mut results.observations };
            here.add(cell, metrics.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect());
        }
        results
    }

    /// Every log under every setting.
    pub(crate) fn places(&self) -> impl Iterator<Item = Cell> + use<> {
        let (settings, policy) = (self.settings.len(), self.design.baseline);
        (0..self.design.logs.len()).flat_map(move |log| (0..settings).map(move |setting| Cell { log, setting, policy }))
    }

    pub(crate) fn policies(&self, at: Cell) -> impl Iterator<Item = Cell> + use<> {
        (0..self.design.policies.len()).map(move |policy| at.under(policy))
    }

    /// Every metric in every place.
    pub(crate) fn measures(&self) -> impl Iterator<Item = (Cell, Metric)> {
        self.places().flat_map(|at| self.design.metrics.iter().map(move |metric| (at, *metric)))
    }

    /// Every policy and metric in every place.
    fn each(&self) -> impl Iterator<Item = (Cell, Metric)> {
        let cells = self.places().flat_map(|at| self.policies(at));
        cells.flat_map(|cell| self.design.metrics.iter().map(move |metric| (cell, *metric)))
    }

    pub(crate) fn name(&self, cell: Cell) -> &'a str {
        self.design.policies[cell.policy].name()
    }

    /// `users, load 0.8`: the log, and the setting if one is varied.
    pub(crate) fn place(&self, at: Cell) -> String {
        let mut words = vec![self.design.logs[at.log].name.clone(), self.settings[at.setting].in_words()];
        words.retain(|part| !part.is_empty());
        words.join(", ")
    }

    /// `users (load 0.8)`.
    pub(crate) fn on(&self, at: Cell) -> String {
        let (log, words) = (&self.design.logs[at.log].name, self.settings[at.setting].in_words());
        if words.is_empty() { log.clone() } else { format!("{log} ({words})") }
    }

    /// The metric of the baseline in the log itself; `None` for a model, and if replications are not made of that log.
    pub(crate) fn in_log(&self, at: Cell, metric: Metric) -> Option<f64> {
        self.in_logs.sample(&at.get(metric), 1).first().copied()
    }

    /// A value in each replication in which it is defined.
    pub(crate) fn sample(&self, quantity: &Quantity<Cell>) -> Vec<f64> {
        self.observations.sample(quantity, u32::MAX)
    }

    /// Numbers of replications in which the policy is saturated, and of all.
    pub(crate) fn saturation(&self, cell: Cell) -> (usize, usize) {
        let flags = self.sample(&cell.get(metrics::Metric::of("saturated")));
        (flags.iter().filter(|flag| **flag > 0.5).count(), flags.len())
    }

    /// Returns true if the policy is saturated in at least half of the replications.
    pub(crate) fn is_saturated(&self, cell: Cell) -> bool {
        let (many, all) = self.saturation(cell);
        many > 0 && 2 * many >= all
    }

    /// Estimate over replications. A comparison with a saturated policy has no interval: its mean grows with the length of the log.
    fn judged(&self, quantity: &Quantity<Cell>) -> ConfidenceInterval {
        let estimate = self.observations.estimate(quantity, u32::MAX);
        let cells = quantity.cells();
        let compares = cells.iter().any(|cell| cells.first().is_some_and(|first| first.policy != cell.policy));
        if compares && cells.iter().any(|cell| self.is_saturated(*cell)) {
            ConfidenceInterval { low: None, high: None, ..estimate }
        } else {
            estimate
        }
    }

    /// The same; `None` if the quantity is defined in no replication.
    pub(crate) fn estimate(&self, quantity: &Quantity<Cell>) -> Option<ConfidenceInterval> {
        Some(self.judged(quantity)).filter(|estimate| estimate.replications > 0)
    }

    pub(crate) fn mean(&self, cell: Cell, metric: Metric) -> Option<ConfidenceInterval> {
        self.estimate(&cell.get(metric))
    }

    /// A policy less the baseline, replication by replication.
    pub(crate) fn difference(&self, cell: Cell, metric: Metric) -> Quantity<Cell> {
        cell.get(metric) - cell.under(self.design.baseline).get(metric)
    }

    /// Mean of the differences over several places, each in percent of the mean of the baseline there. It varies less than a
    /// mean of ratios if single replications have nearly zero waits. Places with a zero mean do not count.
    pub(crate) fn percent_over(&self, at: &[Cell], policy: usize, metric: Metric) -> Option<ConfidenceInterval> {
        let scaled = |at: &Cell| {
            let scale = 100.0 / self.mean(*at, metric)?.mean.abs();
            scale.is_finite().then(|| self.difference(at.under(policy), metric) * scale)
        };
        let found: Vec<Quantity<Cell>> = at.iter().filter_map(scaled).collect();
        if found.is_empty() { None } else { self.estimate(&Quantity::mean_of(found)) }
    }

    /// The rank of a policy among all of them, the best first.
    fn rank(&self, cell: Cell, metric: Metric) -> Quantity<Cell> {
        Quantity::Rank(cell.policy, self.policies(cell).map(|cell| cell.get(metric) * sign(metric)).collect())
    }

    pub(crate) fn ranked(&self, at: Cell, metric: Metric) -> Vec<Ranked<'a>> {
        let mean = |cell| self.mean(cell, metric).map(|mean| mean.mean);
        ranked(metric, self.policies(at).map(|cell| (self.name(cell), mean(cell))), |a, b, level| {
            let cells = [a, b].map(|policy| at.under(policy));
            let has_interval = !cells.iter().any(|cell| self.is_saturated(*cell));
            has_interval.then(|| paired(&self.observations, cells.map(|cell| cell.get(metric)), level))?
        })
    }

    /// The policy with the best mean in one place, then those without a significant difference from it; empty if there is no
    /// interval.
    pub(crate) fn best(&self, at: Cell, metric: Metric) -> Vec<&'a str> {
        let found = self.ranked(at, metric);
        let has_interval = |one: &Ranked<'_>| matches!(one.standing, Standing::MayBeBest | Standing::Worse);
        let best = [Standing::Best, Standing::MayBeBest].map(|standing| with(standing, &found));
        if found.iter().any(has_interval) { best.concat() } else { Vec::new() }
    }

    pub(crate) fn judge(&self, claim: &Claim) -> Judged {
        let (bound, tie) = (claim.bound, false);
        let rule = if claim.is_below { Rule::Below { bound, tie } } else { Rule::Above { bound, tie } };
        // By log and by the positions of values, in the order of the file.
        let mut groups: BTreeMap<(Option<usize>, Vec<usize>), Vec<Cell>> = BTreeMap::new();
        for at in self.places() {
            let values = &self.settings[at.setting].0;
            let position =
                |column: &usize| self.design.vary[*column].iter().position(|value| *value == values[*column]);
            let group = (claim.every_log.then_some(at.log), claim.every.iter().filter_map(position).collect());
            groups.entry(group).or_default().push(at);
        }
        let checks = groups.values().map(|places| {
            let quantity = Quantity::mean_of(places.iter().map(|at| self.claimed(claim, *at)).collect());
            let (at, log) = (places[0], &self.design.logs[places[0].log].name);
            let values = claim.every.iter().map(|column| self.settings[at.setting].0[*column].to_string());
            let label = Vec::from_iter(claim.every_log.then(|| log.clone()).into_iter().chain(values)).join(", ");
            let label = if label.is_empty() { "all logs and settings".to_owned() } else { label };
            Check { label, quantity, rule }
        });
        let (label, unit) = (claim.metric.label(), claim.metric.unit());
        let has_unit = self.whole(claim).is_none() && !unit.is_empty();
        let metric = if has_unit { format!("{label} ({unit})") } else { label.to_owned() };
        let claim = claim::Claim {
            id: &claim.id,
            source: &claim.source,
            statement: claim.says.clone(),
            test: self.test(claim, &metric),
            figures: &[],
            checks: checks.collect(),
        };
        Judged::new(&claim, |quantity| self.judged(quantity))
    }

    /// The claim's number in one place: a difference if policies are compared. Over several logs it is in percent of the other
    /// policy's mean: seconds of different machines do not add.
    fn claimed(&self, claim: &Claim, at: Cell) -> Quantity<Cell> {
        let ours = at.under(claim.policy).get(claim.metric);
        let Some(other) = claim.other else { return ours };
        let theirs = at.under(other).get(claim.metric);
        // "Lower by at least a tenth" is "lower than nine tenths", a form without a division that would widen the interval.
        let difference = ours - claim.share.map_or_else(|| theirs.clone(), |share| theirs.clone() * share);
        if claim.every_log {
            return difference;
        }
        difference * (100.0 / self.estimate(&theirs).map_or(f64::NAN, |theirs| theirs.mean.abs()))
    }

    /// The quantity that decides a claim, with its metric by this name.
    pub(crate) fn test(&self, claim: &Claim, metric: &str) -> String {
        let quantity = self.quantity(claim, metric);
        match self.whole(claim) {
            Some(whole) => format!("{quantity}, in percent of {whole}"),
            None => quantity,
        }
    }

    /// The same without the policy that it is in percent of.
    pub(crate) fn quantity(&self, claim: &Claim, metric: &str) -> String {
        let policy = |position: usize| self.design.policies[position].name();
        let ours = format!("{metric} of {}", policy(claim.policy));
        let share = claim.share.map_or_else(String::new, |share| format!("{share} × "));
        claim.other.map_or(ours.clone(), |other| format!("{ours} − {share}{}", policy(other)))
    }

    /// The policy of whose mean the quantity of a claim is a percentage; `None` of one in the metric's unit.
    pub(crate) fn whole(&self, claim: &Claim) -> Option<&str> {
        let other = claim.other.filter(|_| !claim.every_log)?;
        Some(self.design.policies[other].name())
    }

    /// Number of replications at which every mean's half-width is within `precision` of it, by the variance seen so far; `None` if it is
    /// reached, and the largest number if no number is known to suffice.
    pub(crate) fn replications_for(&self, precision: f64) -> Option<u32> {
        let means: Vec<ConfidenceInterval> = self.each().filter_map(|(cell, metric)| self.mean(cell, metric)).collect();
        let is_precise = |mean: &ConfidenceInterval| {
            mean.half_width().is_some_and(|half| half <= 0.0 || half / mean.mean.abs() <= precision)
        };
        let needed = |mean: &ConfidenceInterval| u32::try_from(mean.replications_for(precision)?).ok();
        let most = means.iter().map(|mean| needed(mean).unwrap_or(u32::MAX)).max();
        most.filter(|_| !means.iter().all(is_precise))
    }
}

/// Tables.
impl Results<'_> {
    /// Head of a table: the place, then `rest`.
    pub(crate) fn head<'b>(&self, rest: impl IntoIterator<Item = &'b str>) -> Vec<&'b str> {
        let mut head = vec!["log"];
        self.design.varied().for_each(|name| head.push(name));
        head.extend(rest);
        head
    }

    /// A row of such a table on the page.
    pub(crate) fn row(&self, at: Cell, rest: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut row = vec![self.design.logs[at.log].name.clone()];
        row.extend(self.settings[at.setting].0.iter().map(|value| value.text()));
        row.extend(rest);
        row
    }

    /// The same in a file.
    pub(crate) fn placed(&self, at: Cell, rest: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut row = self.row(at, rest);
        row[0] = csv_name(&row[0]).into_owned();
        row
    }

    /// The columns [`ESTIMATED`].
    fn estimated(&self, cell: Cell, metric: Metric, estimate: &ConfidenceInterval) -> Vec<String> {
        [&[self.name(cell).to_owned(), metric.to_string()][..], &columns(estimate)].concat()
    }

    /// A row for each log, setting, policy and metric with an estimate.
    fn rows(&self, of: impl Fn(Cell, Metric) -> Option<ConfidenceInterval>) -> Result<Vec<u8>> {
        let row = |(cell, metric)| Some(self.placed(cell, self.estimated(cell, metric, &of(cell, metric)?)));
        csv(self.head(ESTIMATED), self.each().filter_map(row))
    }

    pub(crate) fn tables(&self) -> Result<[(&'static str, Vec<u8>); 5]> {
        let baseline = self.design.baseline;
        let difference = |cell: Cell, metric| self.estimate(&self.difference(cell, metric));
        let to_baseline = |cell: Cell, metric| (cell.policy != baseline).then(|| difference(cell, metric))?;
        let best = self.measures().flat_map(|(at, metric)| {
            let ranked = self.ranked(at, metric).into_iter();
            ranked.map(move |one| self.placed(at, one.row()))
        });
        let metrics = self.observations.metrics().iter().map(|metric| metric.name());
        let runs = self.observations.rows().map(|(cell, rep, row)| {
            let run = [self.name(*cell).to_owned(), rep.to_string(), self.design.seed.to_string()];
            self.placed(*cell, run.into_iter().chain(row.iter().map(|value| number(*value))))
        });
        Ok([
            ("results.csv", self.rows(|cell, metric| self.mean(cell, metric))?),
            ("differences.csv", self.rows(to_baseline)?),
            ("best.csv", csv(self.head(Ranked::COLUMNS), best)?),
            ("ranks.csv", self.ranks()?),
            ("runs.csv", csv(self.head(["policy", "rep", "seed"].into_iter().chain(metrics)), runs)?),
        ])
    }

    /// Ranks in each place, and over all logs and settings, where an observation is a replication over all of them.
    fn ranks(&self) -> Result<Vec<u8>> {
        let all = (vec!["all".to_owned(); 1 + self.design.vary.len()], self.places().collect());
        let each = self.places().map(|at| (self.placed(at, []), vec![at]));
        let mut rows = Vec::new();
        for (names, places) in each.chain([all]) {
            for (metric, cell) in
                self.design.metrics.iter().flat_map(|metric| self.policies(places[0]).map(move |cell| (*metric, cell)))
            {
                let ranks = places.iter().map(|at| self.rank(at.under(cell.policy), metric));
                // The ranks of a saturated policy do not grow.
                let rank = self.observations.estimate(&Quantity::mean_of(ranks.collect()), u32::MAX);
                let row = || [&names[..], &self.estimated(cell, metric, &rank)].concat();
                rows.extend((rank.replications > 0).then(row));
            }
        }
        csv(self.head(ESTIMATED), rows)
    }
}
