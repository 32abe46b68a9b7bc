//! Exhibits of a report: one list for each paper, in the order of its page.

use crate::extra::{Extra, Made};
use crate::metric::Metric as _;
use crate::quantity::{DesignPoint, Quantity};
use crate::table::Table;
use sim_core::Streams;

/// One exhibit of a report.
///
/// Exhibits with the same id belong together: `--only ID` shows all of them, and `data/ID.csv` has their rows in the order of the list.
pub enum Exhibit<'a, C: DesignPoint> {
    /// Quantities over given x.
    Plot(Figure<C>),
    /// Numbers in rows and columns, usually beside those printed in the paper.
    Table(Table<C>),
    /// Content made after all estimates are known.
    Extra(Extra<'a, C>),
}

impl<'a, C: DesignPoint> Exhibit<'a, C> {
    /// Returns an exhibit without estimates, such as schedules or diagrams, made from the streams of the first replication.
    pub fn made(id: &'static str, make: impl Fn(&Streams) -> Made + 'a) -> Self {
        Self::Extra(Extra { id, needs: Vec::new(), make: Box::new(move |_, streams| make(streams)) })
    }

    /// Returns the id of the specification: `fig2`.
    pub fn id(&self) -> &str {
        match self {
            Self::Plot(figure) => &figure.id,
            Self::Table(table) => table.id,
            Self::Extra(extra) => extra.id,
        }
    }

    /// Returns true for a plot without any series, as when a scenario leaves out all that would be compared.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Plot(figure) if figure.panels.iter().all(|panel| panel.series.is_empty()))
    }

    /// Returns all quantities that must be estimated for it.
    pub fn quantities(&self) -> Vec<&Quantity<C>> {
        match self {
            Self::Plot(figure) => {
                let series = figure.panels.iter().flat_map(|panel| &panel.series);
                series.flat_map(|series| &series.points).map(|(_, quantity)| quantity).collect()
            }
            Self::Table(table) => table.found().map(|(.., quantity)| quantity).collect(),
            Self::Extra(extra) => extra.needs.iter().collect(),
        }
    }
}

impl<C: DesignPoint> From<Figure<C>> for Exhibit<'_, C> {
    fn from(figure: Figure<C>) -> Self {
        Self::Plot(figure)
    }
}

/// Returns the ids of a list of exhibits, each once.
pub fn ids<C: DesignPoint>(exhibits: &[Exhibit<'_, C>]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for id in exhibits.iter().map(Exhibit::id) {
        if ids.iter().all(|known| known != id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// Plots over one x axis.
pub struct Figure<C: DesignPoint> {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) x_label: String,
    pub(crate) log_x: bool,
    /// Most figures have one panel.
    pub(crate) panels: Vec<Panel<C>>,
    /// True if the figure is also shown as a table.
    pub(crate) as_table: bool,
    /// Names of the positions 0, 1, 2 … on the x axis, if they are not numbers.
    pub(crate) positions: &'static [&'static str],
    /// True if points are joined by lines.
    pub(crate) joined: bool,
}

impl<C: DesignPoint> Figure<C> {
    /// Returns a figure over a linear axis of numbers, its points joined by lines. The id is that of the specification, as `fig2`; the
    /// title names the content in a few words, the label of the x axis its quantity and unit.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        x_label: impl Into<String>,
        panels: Vec<Panel<C>>,
    ) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
            x_label: x_label.into(),
            log_x: false,
            panels,
            as_table: false,
            positions: &[],
            joined: true,
        }
    }

    /// Returns a figure of one metric, in one plot.
    pub fn of(
        id: &str,
        title: &str,
        x_label: &str,
        metric: C::Metric,
        series: impl IntoIterator<Item = Series<C>>,
    ) -> Self {
        Self::new(id, title, x_label, vec![Panel::of(metric, series.into_iter().collect())])
    }

    /// Sets the caption below the figure.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Makes the x axis logarithmic.
    #[must_use]
    pub fn log_x(self) -> Self {
        Self { log_x: true, ..self }
    }

    /// Sets names for the positions 0, 1, 2 … of the x axis. The points are then not joined.
    #[must_use]
    pub fn over(self, names: &'static [&'static str]) -> Self {
        Self { positions: names, joined: false, ..self }
    }

    /// Leaves the points unjoined, for x values without an order.
    #[must_use]
    pub fn unjoined(self) -> Self {
        Self { joined: false, ..self }
    }

    /// Shows the figure also as a table.
    #[must_use]
    pub fn with_table(self) -> Self {
        Self { as_table: true, ..self }
    }
}

/// One plot of a figure. Most figures have one.
pub struct Panel<C: DesignPoint> {
    /// Suffix of the plot's files, which are called `ID` or, if it is not empty, `ID-SUFFIX`.
    pub suffix: &'static str,
    /// Name in the column `metric` of the figure's data.
    pub metric: &'static str,
    /// Quantity and unit of the y axis.
    pub y_label: &'static str,
    /// True if the values can be negative. Otherwise the axis does not go below zero.
    pub signed: bool,
    /// True if the y axis is logarithmic.
    pub log_y: bool,
    /// Simulated series.
    pub series: Vec<Series<C>>,
    /// Printed values of the paper: series name, x, value.
    pub printed: Vec<(&'static str, f64, f64)>,
}

impl<C: DesignPoint> Panel<C> {
    /// Returns a panel of a metric with its declared name, axis and sign.
    pub fn of(metric: C::Metric, series: Vec<Series<C>>) -> Self {
        let declared = metric.declared();
        Self { signed: declared.signed, ..Self::derived(declared.field, declared.axis, series) }
    }

    /// Returns a panel of nonnegative values computed from metrics, under a name of its own.
    pub fn derived(metric: &'static str, y_label: &'static str, series: Vec<Series<C>>) -> Self {
        Self { suffix: "", metric, y_label, signed: false, log_y: false, series, printed: Vec::new() }
    }
}

/// One line of a plot.
pub struct Series<C: DesignPoint> {
    /// Name in the legend.
    pub name: String,
    /// Quantity over each x.
    pub points: Vec<(f64, Quantity<C>)>,
}

impl<C: DesignPoint> Series<C> {
    /// Returns a line of this name: `quantity(x)` over each x of `xs`.
    pub fn over(
        name: impl Into<String>,
        xs: impl IntoIterator<Item = u32>,
        quantity: impl Fn(u32) -> Quantity<C>,
    ) -> Self {
        Self { name: name.into(), points: xs.into_iter().map(|x| (f64::from(x), quantity(x))).collect() }
    }
}
