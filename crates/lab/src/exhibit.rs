//! What a report shows: one list for each paper, in the order of its page.

use crate::extra::{Extra, Made};
use crate::metric::Metric as _;
use crate::quantity::{DesignPoint, Quantity};
use crate::table::Table;
use sim_core::Streams;

/// One thing that a report shows.
///
/// Whatever has the same id belongs together: `--only ID` shows all of it, and `data/ID.csv` has its rows in the order of the
/// list.
pub enum Exhibit<'a, C: DesignPoint> {
    /// Quantities over given x.
    Plot(Figure<C>),
    /// Numbers in rows and columns, as a rule beside those that the paper prints.
    Table(Table<C>),
    /// What is made when estimates are known.
    Extra(Extra<'a, C>),
}

impl<'a, C: DesignPoint> Exhibit<'a, C> {
    /// What needs no estimates, such as schedules or diagrams, made from the streams of the first replication if it is shown.
    pub fn made(id: &'static str, make: impl Fn(&Streams) -> Made + 'a) -> Self {
        Self::Extra(Extra { id, needs: Vec::new(), make: Box::new(move |_, streams| make(streams)) })
    }

    /// As in the specification: `fig2`.
    pub fn id(&self) -> &str {
        match self {
            Self::Plot(figure) => &figure.id,
            Self::Table(table) => table.id,
            Self::Extra(extra) => extra.id,
        }
    }

    /// Whether it is a plot without any series, as where a scenario leaves out all that would be compared.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Plot(figure) if figure.panels.iter().all(|panel| panel.series.is_empty()))
    }

    /// All that must be estimated for it.
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

/// The ids of a list of exhibits, each once.
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
    /// Most figures have one.
    pub(crate) panels: Vec<Panel<C>>,
    /// Whether to show it as a table too.
    pub(crate) as_table: bool,
    /// Names of the positions 0, 1, 2 … on the x axis, where these are no numbers.
    pub(crate) positions: &'static [&'static str],
    /// Whether points are joined by lines.
    pub(crate) joined: bool,
}

impl<C: DesignPoint> Figure<C> {
    /// A figure over a linear axis of numbers, its points joined by lines. The id is that of the specification, as `fig2`; the
    /// title says in a few words what is seen, the label of the x axis its quantity and unit.
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

    /// A figure of one metric, in one plot.
    pub fn of(
        id: &str,
        title: &str,
        x_label: &str,
        metric: C::Metric,
        series: impl IntoIterator<Item = Series<C>>,
    ) -> Self {
        Self::new(id, title, x_label, vec![Panel::of(metric, series.into_iter().collect())])
    }

    /// With what a reader should know, below the figure.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Over a logarithmic axis.
    #[must_use]
    pub fn log_x(self) -> Self {
        Self { log_x: true, ..self }
    }

    /// Over things that have these names, at the positions 0, 1, 2 … of the axis. Between them there is nothing to join.
    #[must_use]
    pub fn over(self, names: &'static [&'static str]) -> Self {
        Self { positions: names, joined: false, ..self }
    }

    /// Over numbers that tell things apart that have no order: its points are not joined.
    #[must_use]
    pub fn unjoined(self) -> Self {
        Self { joined: false, ..self }
    }

    /// As a table too.
    #[must_use]
    pub fn with_table(self) -> Self {
        Self { as_table: true, ..self }
    }
}

/// One plot of a figure. Most figures have one.
pub struct Panel<C: DesignPoint> {
    /// The plot's files are called `ID` or, if this is not empty, `ID-SUFFIX`.
    pub suffix: &'static str,
    /// As in the column `metric` of the figure's data.
    pub metric: &'static str,
    /// Quantity and unit of the y axis.
    pub y_label: &'static str,
    /// Whether what is shown can be negative: an axis of what cannot does not go below zero.
    pub signed: bool,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    /// What is plotted.
    pub series: Vec<Series<C>>,
    /// What the paper prints: series name, x, value.
    pub printed: Vec<(&'static str, f64, f64)>,
}

impl<C: DesignPoint> Panel<C> {
    /// A metric: name, axis and sign are those that were declared.
    pub fn of(metric: C::Metric, series: Vec<Series<C>>) -> Self {
        let declared = metric.declared();
        Self { signed: declared.signed, ..Self::derived(declared.field, declared.axis, series) }
    }

    /// What is computed of metrics and is never negative, under a name of its own.
    pub fn derived(metric: &'static str, y_label: &'static str, series: Vec<Series<C>>) -> Self {
        Self { suffix: "", metric, y_label, signed: false, log_y: false, series, printed: Vec::new() }
    }
}

/// One line of a plot.
pub struct Series<C: DesignPoint> {
    /// As in the legend.
    pub name: String,
    /// What is shown over each x.
    pub points: Vec<(f64, Quantity<C>)>,
}

impl<C: DesignPoint> Series<C> {
    /// A line of this name: over each of `xs`, what `quantity` says of it.
    pub fn over(
        name: impl Into<String>,
        xs: impl IntoIterator<Item = u32>,
        quantity: impl Fn(u32) -> Quantity<C>,
    ) -> Self {
        Self { name: name.into(), points: xs.into_iter().map(|x| (f64::from(x), quantity(x))).collect() }
    }
}
