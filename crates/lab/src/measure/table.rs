//! Tables of a report: printed values of a paper beside the estimates.

use super::quantity::{DesignPoint, Quantity};
use crate::chart::{decimals_for, fixed, significant};
use metrics::ConfidenceInterval;

/// A table. Its page shows it whole; its estimates also go to the data of its id, with the column as the series.
pub struct Table<C: DesignPoint> {
    /// Id of the figure that it accompanies, or its own.
    pub id: &'static str,
    /// Title above the table.
    pub title: String,
    /// Caption below the table.
    pub caption: String,
    /// Heads of the columns that name a row.
    pub names: Vec<String>,
    /// Heads of the other columns.
    pub columns: Vec<String>,
    /// Rows from top to bottom.
    pub rows: Vec<Row<C>>,
}

/// A row of a [`Table`].
pub struct Row<C: DesignPoint> {
    /// Names of the row, one for each of the table's [`names`](Table::names).
    pub names: Vec<String>,
    /// Value of the column `x` of the data.
    pub x: String,
    /// Value of the column `metric` of the data.
    pub metric: String,
    /// Cells, one for each of the table's columns.
    pub cells: Vec<Entry<C>>,
}

/// Content of a cell of a [`Table`].
pub enum Entry<C: DesignPoint> {
    /// Words, or a number of the paper.
    Text(String),
    /// A quantity to estimate, and the number of decimals shown.
    Found(Quantity<C>, i32),
}

impl<C: DesignPoint> Table<C> {
    pub(crate) fn found(&self) -> impl Iterator<Item = (&str, &Row<C>, &Quantity<C>)> {
        self.rows.iter().flat_map(|row| {
            self.columns.iter().zip(&row.cells).filter_map(move |(column, entry)| match entry {
                Entry::Found(quantity, _) => Some((column.as_str(), row, quantity)),
                Entry::Text(_) => None,
            })
        })
    }
}

impl<C: DesignPoint> Entry<C> {
    pub(crate) fn text(&self, estimate: impl Fn(&Quantity<C>) -> ConfidenceInterval) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Found(quantity, decimals) => {
                let interval = estimate(quantity);
                let mean = fixed(interval.mean, *decimals);
                match interval.half_width().map(|half| fixed(half, *decimals)) {
                    // A width too small for the shown digits comes from rounding errors.
                    Some(half) if half.contains(|digit: char| ('1'..='9').contains(&digit)) => {
                        format!("{mean} ± {half}")
                    }
                    _ => mean,
                }
            }
        }
    }
}

/// Formats an interval: `81.36 ± 0.72`, the half-width to two digits and the mean to as many decimals; without interval, the value.
pub fn in_words(interval: &ConfidenceInterval) -> String {
    match interval.half_width() {
        Some(half) if half > 0.0 => {
            let decimals = decimals_for(half, 2);
            format!("{} ± {}", fixed(interval.mean, decimals), fixed(half, decimals))
        }
        _ => significant(interval.mean),
    }
}

/// Formats a number for tables with the fewest digits that read back the same; empty if undefined.
pub fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// Formats the end of an interval, if there is one.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// Returns the columns `mean`, `ci_low`, `ci_high` and `reps`.
pub fn columns(estimate: &ConfidenceInterval) -> [String; 4] {
    [number(estimate.mean), optional(estimate.low), optional(estimate.high), estimate.replications.to_string()]
}

/// Formats a table as CSV; fails for rows that are longer or shorter than the head.
pub fn csv<R: IntoIterator<Item: AsRef<[u8]>>>(
    head: impl IntoIterator<Item: AsRef<[u8]>>,
    rows: impl IntoIterator<Item = R>,
) -> anyhow::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(head)?;
    rows.into_iter().try_for_each(|row| table.write_record(row))?;
    Ok(table.into_inner()?)
}
