//! What a figure shows beyond quantities over given x: plots whose both axes are found, single jobs, verdicts side by side.

use super::quantity::Quantity;
use crate::chart::Chart;
use crate::page;
use metrics::Interval;

/// Estimates a quantity from at most so many replications.
pub(crate) type Estimate<'a, C> = dyn Fn(&Quantity<C>, u32) -> Interval + 'a;

/// What goes with a figure and is made when its estimates are known.
pub(crate) struct Extra<'a, C> {
    /// Of the figure that it belongs to.
    pub(crate) figure: &'static str,
    /// All that it asks estimates of.
    pub(crate) needs: Vec<Quantity<C>>,
    pub(crate) make: Make<'a, C>,
}

/// Makes it.
pub(crate) type Make<'a, C> = Box<dyn Fn(&Estimate<'_, C>) -> Made + 'a>;

/// What came of an [`Extra`].
#[derive(Default)]
pub(crate) struct Made {
    /// Each with its caption. Their ids begin with the figure's, and no other plot of it has the same.
    pub(crate) charts: Vec<(Chart, String)>,
    /// For the figure's data.
    pub(crate) rows: Vec<Tidy>,
    pub(crate) tables: Vec<page::Table>,
}

/// A row of a figure's data.
pub(crate) struct Tidy {
    pub(crate) series: String,
    pub(crate) x: String,
    pub(crate) metric: &'static str,
    pub(crate) estimate: Interval,
}

/// Something that was seen once.
pub(crate) const fn seen(value: f64) -> Interval {
    Interval { mean: value, low: None, high: None, replications: 1, level: Interval::LEVEL }
}
