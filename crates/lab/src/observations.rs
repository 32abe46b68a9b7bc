//! Observations at each design point and replication, and estimates of quantities over them.
//!
//! The observations come from the study of a paper or from the units of an experiment.

use crate::quantity::{DesignPoint, Quantity};
use crate::shown::seen;
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

    /// Returns the number of replications of a point.
    pub(crate) fn replications_of(&self, cell: &C) -> u32 {
        u32::try_from(self.rows.get(cell).map_or(0, Vec::len)).expect("few replications")
    }

    /// Iterates over the rows with their points and replications.
    pub fn rows(&self) -> impl Iterator<Item = (&C, usize, &[f64])> {
        self.rows.iter().flat_map(|(cell, rows)| rows.iter().enumerate().map(move |(i, row)| (cell, i, row.as_slice())))
    }

    /// Returns the mean of `quantity` over the first `replications` replications, with its interval; limited to those that all of its
    /// random cells have. A quantity without random cells is exact.
    ///
    /// Replications in which it is undefined are left out; if it is defined in none, the mean is NaN.
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
        let mut cells = BTreeSet::new();
        quantity.collect_cells(&mut cells);
        cells.retain(|cell| !self.exact.contains(cell));
        cells
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
    use crate::metric::for_tests::Metric;

    fn observed(rows: &[(u8, &[f64])]) -> Observations<u8> {
        let mut observations = Observations::new(vec![Metric::wait]);
        for (cell, waits) in rows {
            waits.iter().for_each(|wait| observations.add(*cell, vec![*wait]));
        }
        observations
    }

    #[test]
    fn a_difference_is_paired_over_the_replications_that_both_have() {
        let observations = observed(&[(1, &[10.0, 20.0, 30.0]), (2, &[9.0, 18.0])]);
        let estimate = observations.estimate(&(1.get(Metric::wait) - 2.get(Metric::wait)), 10);
        assert_eq!((estimate.replications, estimate.mean.to_bits()), (2, 1.5_f64.to_bits()));
    }

    #[test]
    fn where_nothing_is_defined_there_is_no_number_and_no_interval() {
        let observations = observed(&[(1, &[f64::NAN, f64::NAN]), (2, &[f64::NAN, 4.0])]);
        let none = observations.estimate(&1.get(Metric::wait), 10);
        assert!(none.mean.is_nan() && none.replications == 0);
        assert_eq!(observations.sample(&2.get(Metric::wait), 10).len(), 1);
        assert_eq!(observations.estimate(&3.get(Metric::wait), 10).replications, 0, "it was not run");
    }

    #[test]
    fn what_draws_nothing_stands_beside_every_replication() {
        let mut observations = observed(&[(1, &[10.0, 20.0])]);
        observations.add_exact(2, vec![1.0]);
        assert!(observations.estimate(&2.get(Metric::wait), 10).is_exact());
        assert_eq!(observations.estimate(&(1.get(Metric::wait) - 2.get(Metric::wait)), 10).replications, 2);
    }
}
