//! Quantities that figures show and claims judge: a number per replication, computed from the metrics of one or more cells.

use crate::measure::metric::Metric;
use metrics::best::ranks;
use std::collections::BTreeSet;
use std::ops::{Add, Div, Mul, Sub};

/// One point of a paper's experiments, and its metrics.
pub trait DesignPoint: Clone + Ord + Send + Sync {
    /// Type that [`metrics!`](crate::metrics!) declares.
    type Metric: Metric;

    /// Returns the metric at this point, for figures and claims.
    fn get(self, metric: Self::Metric) -> Quantity<Self> {
        Quantity::Metric(self, metric)
    }
}

/// Declares the type of a paper's design points. Its fields are numbers, text or plain names: the columns of `runs.csv`.
#[macro_export]
macro_rules! cell {
    ($(#[$meta:meta])* $vis:vis struct $Cell:ident of $Metric:ty {
        $($(#[$field_meta:meta])* $field:ident: $Type:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, ::serde::Serialize)]
        $vis struct $Cell {
            $($(#[$field_meta])* $field: $Type),+
        }

        impl $crate::quantity::DesignPoint for $Cell {
            type Metric = $Metric;
        }
    };
}

/// An expression over metrics of cells. It is evaluated replication by replication, so a difference of two cells is a
/// paired difference on common random numbers.
#[derive(Clone, Debug)]
pub enum Quantity<C: DesignPoint> {
    /// One metric of one cell.
    Metric(C, C::Metric),
    /// A number.
    Constant(f64),
    /// Two quantities, combined.
    Combined(fn(f64, f64) -> f64, Box<Self>, Box<Self>),
    /// The larger of two. Its mean is biased: chance raises the larger of noisy values.
    Larger(Box<Self>, Box<Self>),
    /// The rank of one among several, by its position in the list: 1 is the smallest, and ties share the mean of their ranks.
    Rank(usize, Vec<Self>),
}

impl<C: DesignPoint> Quantity<C> {
    /// Returns `self` relative to `base`, in percent of `base`.
    pub fn percent_above(self, base: Self) -> Self {
        (self - base.clone()) / base * 100.0
    }

    /// Returns the larger of the two, in each replication.
    pub fn or_larger(self, other: Self) -> Self {
        Self::Larger(Box::new(self), Box::new(other))
    }

    /// Returns 1 in a replication in which both have the same sign or are both nearly zero; otherwise 0.
    pub fn has_the_sign_of(self, other: Self) -> Self {
        Self::combined(|a, b| f64::from(u8::from(sign(a) == sign(b))), self, other)
    }

    /// Returns the mean of several, in each replication.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn mean_of(quantities: Vec<Self>) -> Self {
        let count = Self::Constant(quantities.len() as f64);
        quantities.into_iter().reduce(|sum, next| sum + next).expect("a mean is of something") / count
    }

    /// Returns the value in one replication; NaN if a metric is undefined.
    pub fn value(&self, metric: &impl Fn(&C, C::Metric) -> f64) -> f64 {
        match self {
            Self::Metric(cell, its) => metric(cell, *its),
            Self::Constant(value) => *value,
            Self::Combined(operation, a, b) => operation(a.value(metric), b.value(metric)),
            Self::Larger(a, b) => a.value(metric).max(b.value(metric)),
            Self::Rank(place, among) => {
                let values: Vec<f64> = among.iter().map(|one| one.value(metric)).collect();
                // Undefined values have no order.
                if values.iter().any(|value| value.is_nan()) { f64::NAN } else { ranks(&values)[*place] }
            }
        }
    }

    /// Returns the cells that must be simulated to evaluate it.
    pub fn cells(&self) -> BTreeSet<C> {
        match self {
            Self::Metric(cell, _) => BTreeSet::from([cell.clone()]),
            Self::Constant(_) => BTreeSet::new(),
            Self::Combined(_, a, b) | Self::Larger(a, b) => {
                let mut cells = a.cells();
                cells.extend(b.cells());
                cells
            }
            Self::Rank(_, among) => among.iter().flat_map(Self::cells).collect(),
        }
    }

    fn combined(operation: fn(f64, f64) -> f64, a: Self, b: Self) -> Self {
        Self::Combined(operation, Box::new(a), Box::new(b))
    }
}

/// Returns the sign of `value`; values within 1e-9 of zero count as zero.
fn sign(value: f64) -> i8 {
    const ZERO: f64 = 1e-9;
    i8::from(value > ZERO) - i8::from(value < -ZERO)
}

impl<C: DesignPoint> Add for Quantity<C> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::combined(Add::add, self, other)
    }
}

impl<C: DesignPoint> Sub for Quantity<C> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::combined(Sub::sub, self, other)
    }
}

impl<C: DesignPoint> Div for Quantity<C> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::combined(Div::div, self, other)
    }
}

impl<C: DesignPoint> Mul<f64> for Quantity<C> {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::combined(Mul::mul, self, Self::Constant(factor))
    }
}

#[cfg(test)]
impl DesignPoint for u8 {
    type Metric = crate::measure::metric::for_tests::Metric;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::metric::for_tests::Metric;

    fn value(quantity: &Quantity<u8>) -> f64 {
        quantity.value(&|cell, _| f64::from(*cell))
    }

    fn cell(value: u8) -> Quantity<u8> {
        value.get(Metric::wait)
    }

    #[test]
    fn an_expression_is_evaluated_replication_by_replication() {
        let alike = |a: [u8; 2], b: [u8; 2]| (cell(a[0]) - cell(a[1])).has_the_sign_of(cell(b[0]) - cell(b[1]));
        for (quantity, expected) in [
            (Quantity::mean_of(vec![cell(3), cell(4), cell(8)]), 5.0),
            // Differences are alike if they point the same way.
            (alike([5, 3], [9, 1]), 1.0),
            (alike([3, 5], [9, 1]), 0.0),
            (alike([3, 5], [1, 9]), 1.0),
            (alike([4, 4], [2, 2]), 1.0),
            (alike([4, 4], [2, 1]), 0.0),
        ] {
            assert!((value(&quantity) - expected).abs() < 1e-12, "{quantity:?}");
        }
        assert!(value(&Quantity::Rank(0, vec![cell(7), Quantity::Constant(f64::NAN)])).is_nan());
        assert_eq!(Quantity::Rank(0, vec![cell(7), cell(5)]).cells(), BTreeSet::from([5, 7]));
    }
}
