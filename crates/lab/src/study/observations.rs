//! Observations at each design point and replication, from a paper's study or an experiment's units, and estimates of quantities over them.

use crate::measure::quantity::{DesignPoint, Quantity};
use crate::report::shown::seen;
use metrics::ConfidenceInterval;
use std::collections::{BTreeMap, BTreeSet};

/// For each design point, a row for each replication with a value for each metric.
#[derive(Clone, Debug)]
pub struct Observations<C: DesignPoint> {
    metrics: Vec<C::Metric>,
    rows: BTreeMap<C, Vec<Vec<f64>>>,
    /// Points without random draws: their one row is paired with every replication of the others.
    exact: BTreeSet<C>,
}

impl<C: DesignPoint> Observations<C> {
    /// Returns an empty set; `metrics` are the columns of a row.
    pub const fn new(metrics: Vec<C::Metric>) -> Self {
        Self { metrics, rows: BTreeMap::new(), exact: BTreeSet::new() }
    }

    /// Adds the next replication of a point; an undefined metric is NaN.
    pub fn add(&mut self, cell: C, row: Vec<f64>) {
        self.rows.entry(cell).or_default().push(row);
    }

    /// Adds the only row of a point without random draws.
    pub fn add_exact(&mut self, cell: C, row: Vec<f64>) {
        self.exact.insert(cell.clone());
        self.add(cell, row);
    }

    /// Returns the columns of a row.
    pub fn metrics(&self) -> &[C::Metric] {
        &self.metrics
    }

    pub(crate) fn replications_of(&self, cell: &C) -> u32 {
        u32::try_from(self.rows.get(cell).map_or(0, Vec::len)).expect("few replications")
    }

    /// Iterates over the rows with their points and replications.
    pub fn rows(&self) -> impl Iterator<Item = (&C, usize, &[f64])> {
        self.rows.iter().flat_map(|(cell, rows)| rows.iter().enumerate().map(move |(i, row)| (cell, i, row.as_slice())))
    }

    /// Returns the mean of `quantity` over the first `replications` replications, with its interval; limited to those that all of its
    /// random cells have, and in which it is defined: if in none, the mean is NaN. A quantity without random cells is exact.
    ///
    /// # Panics
    ///
    /// If it names a metric that is no column, or a point without random draws that was not run.
    pub fn estimate(&self, quantity: &Quantity<C>, replications: u32) -> ConfidenceInterval {
        if self.drawn(quantity).is_empty() {
            return ConfidenceInterval::exact(self.value(quantity, 0));
        }
        let sample = self.sample(quantity, replications);
        if sample.is_empty() {
            return ConfidenceInterval { replications: 0, ..seen(f64::NAN) };
        }
        ConfidenceInterval::of(&sample)
    }

    /// Returns the value of `quantity` in each of the first `replications` replications in which it is defined.
    pub fn sample(&self, quantity: &Quantity<C>, replications: u32) -> Vec<f64> {
        let most = self.drawn(quantity).iter().map(|cell| self.replications_of(cell)).fold(replications, u32::min);
        (0..most as usize).map(|at| self.value(quantity, at)).filter(|value| value.is_finite()).collect()
    }

    /// Returns the points of a quantity that differ from replication to replication.
    fn drawn(&self, quantity: &Quantity<C>) -> BTreeSet<C> {
        quantity.cells().difference(&self.exact).cloned().collect()
    }

    fn value(&self, quantity: &Quantity<C>, replication: usize) -> f64 {
        quantity.value(&|cell, metric| {
            let position = self.metrics.iter().position(|known| *known == metric);
            // A figure or a claim names an index that the list of metrics lacks.
            let position = position.unwrap_or_else(|| panic!("{metric} is not listed"));
            self.rows[cell][if self.exact.contains(cell) { 0 } else { replication }][position]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::metric::for_tests::Metric;

    #[test]
    fn a_quantity_is_estimated_over_the_replications_in_which_all_of_it_is_defined() {
        let mut observations = Observations::new(vec![Metric::wait]);
        let nan = f64::NAN;
        let rows: [(u8, &[f64]); 4] = [(1, &[10.0, 20.0, 30.0]), (2, &[9.0, 18.0]), (3, &[nan, nan]), (4, &[nan, 4.0])];
        for (cell, waits) in rows {
            waits.iter().for_each(|wait| observations.add(cell, vec![*wait]));
        }
        observations.add_exact(5, vec![1.0]);
        let wait = |cell: u8| cell.get(Metric::wait);
        let estimate = |quantity: Quantity<u8>| observations.estimate(&quantity, 10);
        // A difference is paired over the replications that both have.
        let paired = estimate(wait(1) - wait(2));
        assert_eq!((paired.replications, paired.mean.to_bits()), (2, 1.5_f64.to_bits()));
        // Where nothing is defined there is no number and no interval.
        assert!(estimate(wait(3)).mean.is_nan() && estimate(wait(3)).replications == 0);
        assert_eq!(observations.sample(&wait(4), 10).len(), 1);
        assert_eq!(estimate(wait(6)).replications, 0, "it was not run");
        // What draws nothing stands beside every replication.
        assert!(estimate(wait(5)).is_exact());
        assert_eq!(estimate(wait(1) - wait(5)).replications, 3);
    }
}
