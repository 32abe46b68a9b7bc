//! Parts of a figure beyond quantities over given x: plots with two estimated axes, single jobs, verdicts side by side.

use crate::chart::Picture;
use crate::claim::{Claim, Judged};
use crate::page;
use crate::quantity::{DesignPoint, Quantity};
use metrics::ConfidenceInterval;
use sim_core::Streams;

/// Estimates a quantity from at most the given number of replications.
pub type Estimate<'a, C> = dyn Fn(&Quantity<C>, u32) -> ConfidenceInterval + 'a;

/// Content made after all estimates are known, beside a figure or alone.
pub struct Extra<'a, C: DesignPoint> {
    /// Id of the figure that it accompanies, or its own.
    pub id: &'static str,
    /// Quantities that it needs estimates of.
    pub needs: Vec<Quantity<C>>,
    /// Function that makes it from the estimates and the streams of the first replication.
    pub make: Make<'a, C>,
}

impl<'a, C: DesignPoint + 'a> Extra<'a, C> {
    /// Compares claims under two sets of settings in a table with this id, title and caption. Each has the verdict and the estimate of the
    /// deciding cell; `names` head the columns of the two.
    pub fn side_by_side(
        id: &'static str,
        [one, other]: [&'a str; 2],
        claims: impl IntoIterator<Item = (Claim<C>, Claim<C>)>,
        [table, title, caption]: [&'static str; 3],
    ) -> Self {
        let claims: Vec<[Claim<C>; 2]> = claims.into_iter().map(<[_; 2]>::from).collect();
        let columns = ["claim", one, "observed", other, "observed", "the paper says"];
        let checks = claims.iter().flatten().flat_map(|claim| &claim.checks);
        let needs = checks.map(|check| check.quantity.clone()).collect();
        let make = move |estimate: &Estimate<'_, C>, _: &Streams| {
            let row = |both: &[Claim<C>; 2]| {
                let found = both.each_ref().map(|claim| {
                    let judged = Judged::new(claim, |quantity| estimate(quantity, u32::MAX));
                    [judged.verdict.to_string(), judged.deciding_cell().observed()]
                });
                [vec![both[0].id.to_owned()], found.concat(), vec![both[0].statement.clone()]].concat()
            };
            let rows = claims.iter().map(row).collect();
            Shown { tables: vec![page::Table::new(table, title, caption, columns, rows)], ..Shown::default() }
        };
        Self { id, needs, make: Box::new(make) }
    }
}

/// Function that makes an [`Extra`].
pub type Make<'a, C> = Box<dyn Fn(&Estimate<'_, C>, &Streams) -> Shown + 'a>;

/// An exhibit with its estimates.
#[derive(Default)]
pub struct Shown {
    /// Name of its data, `data/ID.csv`. Exhibits with one id share the file.
    pub id: String,
    /// Pictures with their captions. Their ids begin with that of the exhibit and are distinct.
    pub pictures: Vec<(Picture, String)>,
    /// Rows of its data, in order.
    pub rows: Vec<DataRow>,
    /// Tables of the page.
    pub tables: Vec<page::Table>,
    /// True if its tables come after those of the paper.
    pub is_extra: bool,
}

impl Shown {
    /// Returns one picture with its data, under the picture's id.
    pub fn picture(picture: impl Into<Picture>, caption: impl Into<String>, rows: Vec<DataRow>) -> Self {
        let picture = picture.into();
        Self { id: picture.id().to_owned(), pictures: vec![(picture, caption.into())], rows, ..Self::default() }
    }
}

/// Columns `series`, `x` and `metric` of a figure's data, and the estimate.
pub type DataRow = (String, String, String, ConfidenceInterval);

/// Returns a single observation as an estimate without an interval.
pub const fn seen(value: f64) -> ConfidenceInterval {
    ConfidenceInterval { mean: value, low: None, high: None, replications: 1, level: ConfidenceInterval::LEVEL }
}
