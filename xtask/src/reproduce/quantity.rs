//! What a figure shows and a claim judges: a number per replication, computed from the metrics of one or more cells.

use std::collections::BTreeSet;
use std::ops::{Add, Div, Mul, Sub};

/// An expression over metrics of cells. It is evaluated replication by replication, so a difference of two cells is a
/// paired difference on common random numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity<C> {
    /// One metric of one cell.
    Metric(C, String),
    /// A number.
    Constant(f64),
    /// Two quantities, combined.
    Combined(Operation, Box<Self>, Box<Self>),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl<C: Clone + Ord> Quantity<C> {
    /// `self` relative to `base`, in percent of it.
    pub(crate) fn percent_above(self, base: Self) -> Self {
        (self - base.clone()) / base * 100.0
    }

    /// The value in one replication; not a number where a metric is not defined.
    pub(crate) fn value(&self, metric: &impl Fn(&C, &str) -> f64) -> f64 {
        match self {
            Self::Metric(cell, name) => metric(cell, name),
            Self::Constant(value) => *value,
            Self::Combined(operation, a, b) => {
                let (a, b) = (a.value(metric), b.value(metric));
                match operation {
                    Operation::Add => a + b,
                    Operation::Subtract => a - b,
                    Operation::Multiply => a * b,
                    Operation::Divide => a / b,
                }
            }
        }
    }

    /// Adds the cells that must be simulated to know this.
    pub(crate) fn collect_cells(&self, cells: &mut BTreeSet<C>) {
        match self {
            Self::Metric(cell, _) => {
                cells.insert(cell.clone());
            }
            Self::Constant(_) => {}
            Self::Combined(_, a, b) => {
                a.collect_cells(cells);
                b.collect_cells(cells);
            }
        }
    }

    fn combined(operation: Operation, a: Self, b: Self) -> Self {
        Self::Combined(operation, Box::new(a), Box::new(b))
    }
}

impl<C: Clone + Ord> Add for Quantity<C> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::combined(Operation::Add, self, other)
    }
}

impl<C: Clone + Ord> Sub for Quantity<C> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::combined(Operation::Subtract, self, other)
    }
}

impl<C: Clone + Ord> Div for Quantity<C> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::combined(Operation::Divide, self, other)
    }
}

impl<C: Clone + Ord> Mul<f64> for Quantity<C> {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::combined(Operation::Multiply, self, Self::Constant(factor))
    }
}
