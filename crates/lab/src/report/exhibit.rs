//! Exhibits of a report: one list for each paper, in the order of its page.

use crate::chart::{Axis, Picture};
use crate::measure::claim::{Claim, Judged};
use crate::measure::metric::Metric as _;
use crate::measure::quantity::{DesignPoint, Quantity};
use crate::report::page;
use metrics::ConfidenceInterval;
use sim_core::Streams;

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

/// One exhibit of a report: a [`Figure`], a [`Table`](crate::measure::table::Table), or content made after all estimates are known.
///
/// Exhibits with the same id belong together: `--only ID` shows all of them, and `data/ID.csv` has their rows in the order of the list.
pub struct Exhibit<'a, C: DesignPoint> {
    /// Id of the specification: `fig2`.
    pub id: String,
    /// Names of the series of a figure, panel by panel; `None` for another exhibit.
    pub(crate) series: Option<Vec<String>>,
    /// Quantities that it needs estimates of.
    pub(crate) needs: Vec<Quantity<C>>,
    /// Function that makes it from the estimates and the streams of the first replication.
    pub(crate) make: Make<'a, C>,
}

impl<'a, C: DesignPoint> Exhibit<'a, C> {
    /// Returns content made from the estimates of the quantities that it needs and from the streams of the first replication, beside the
    /// figure of this id or alone.
    pub fn extra(
        id: &'static str,
        needs: Vec<Quantity<C>>,
        make: impl Fn(&Estimate<'_, C>, &Streams) -> Shown + 'a,
    ) -> Self {
        let make: Make<'a, C> = Box::new(move |estimate, streams| Shown { is_extra: true, ..make(estimate, streams) });
        Self { id: id.to_owned(), series: None, needs, make }
    }

    /// Returns an exhibit without estimates, such as schedules or diagrams, made from the streams of the first replication.
    pub fn made(id: &'static str, make: impl Fn(&Streams) -> Shown + 'a) -> Self {
        Self::extra(id, Vec::new(), move |_, streams| make(streams))
    }

    /// Returns true for a plot without any series, as when a scenario leaves out all that would be compared.
    pub fn is_empty(&self) -> bool {
        self.series.as_ref().is_some_and(Vec::is_empty)
    }
}

/// Returns the ids of a list of exhibits, each once.
pub fn ids<C: DesignPoint>(exhibits: &[Exhibit<'_, C>]) -> Vec<String> {
    distinct(exhibits.iter().map(|exhibit| exhibit.id.as_str())).into_iter().map(str::to_owned).collect()
}

/// Returns each name once, in the order of first occurrence.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// Plots over one x axis.
#[must_use]
pub struct Figure<C: DesignPoint> {
    /// Id of the specification.
    pub id: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) x: Axis,
    pub(crate) panels: Vec<Panel<C>>,
    pub(crate) as_table: bool,
    /// Names of the positions 0, 1, 2 … on the x axis, if they are not numbers.
    pub(crate) positions: &'static [&'static str],
    pub(crate) joined: bool,
}

impl<C: DesignPoint> Figure<C> {
    /// Returns a figure over a linear axis of numbers, its points joined by lines. The id is that of the specification, as `fig2`; the
    /// title names the content in a few words, the label of the x axis its quantity and unit.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        x_label: impl Into<String>,
        panels: impl IntoIterator<Item = Panel<C>>,
    ) -> Self {
        let (id, title, x, panels) = (id.into(), title.into(), Axis::new(x_label), panels.into_iter().collect());
        Self { id, title, caption: String::new(), x, panels, as_table: false, positions: &[], joined: true }
    }

    /// Returns a figure of one metric, in one plot.
    pub fn of(
        id: &str,
        title: &str,
        x_label: &str,
        metric: C::Metric,
        series: impl IntoIterator<Item = Series<C>>,
    ) -> Self {
        Self::new(id, title, x_label, [Panel::of(metric, series.into_iter().collect())])
    }

    /// Sets the caption below the figure.
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Makes the x axis logarithmic.
    pub fn log_x(self) -> Self {
        Self { x: Axis { log: true, ..self.x }, ..self }
    }

    /// Sets names for the positions 0, 1, 2 … of the x axis. The points are then not joined.
    pub fn over(self, names: &'static [&'static str]) -> Self {
        Self { positions: names, joined: false, ..self }
    }

    /// Leaves the points unjoined, for x values without an order.
    pub fn unjoined(self) -> Self {
        Self { joined: false, ..self }
    }

    /// Shows the figure also as a table.
    pub fn with_table(self) -> Self {
        Self { as_table: true, ..self }
    }
}

/// Declares exhibits, plots over one x axis, as a table: id, title, caption, panels, and properties ([`log_x`](crate::report::exhibit::Figure::log_x) …).
#[macro_export]
macro_rules! figures {
    (over $x_label:expr; $($id:literal $title:literal $caption:expr => $panels:expr $(, $property:ident)*;)+) => {
        vec![$($crate::exhibit::Exhibit::from(
            $crate::exhibit::Figure::new($id, $title, $x_label, $panels).caption($caption)$(.$property())*
        )),+]
    };
}

/// One plot of a figure. Most figures have one.
#[must_use]
pub struct Panel<C: DesignPoint> {
    pub(crate) suffix: String,
    pub(crate) metric: String,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series<C>>,
    pub(crate) printed: Vec<(String, f64, f64)>,
}

impl<C: DesignPoint> Panel<C> {
    /// Returns a panel of a metric with its declared name, axis and sign.
    pub fn of(metric: C::Metric, series: Vec<Series<C>>) -> Self {
        let declared = metric.declared();
        let panel = Self::derived(declared.field, declared.axis, series);
        if declared.signed { panel.signed() } else { panel }
    }

    /// Returns a panel of nonnegative values computed from metrics: its name in the figure's data, and the quantity and unit of its y axis.
    pub fn derived(
        metric: impl Into<String>,
        y_label: impl Into<String>,
        series: impl IntoIterator<Item = Series<C>>,
    ) -> Self {
        let (metric, y, series) = (metric.into(), Axis::new(y_label), series.into_iter().collect());
        Self { suffix: String::new(), metric, y, series, printed: Vec::new() }
    }

    /// Sets the suffix of the plot's files, which are called `ID-SUFFIX` instead of `ID`.
    pub fn suffix(self, suffix: impl Into<String>) -> Self {
        Self { suffix: suffix.into(), ..self }
    }

    /// Replaces the label of the y axis.
    pub fn labelled(self, y_label: impl Into<String>) -> Self {
        Self { y: Axis { label: y_label.into(), ..self.y }, ..self }
    }

    /// Extends the y axis below zero, for values of either sign.
    pub fn signed(self) -> Self {
        Self { y: Axis { signed: true, ..self.y }, ..self }
    }

    /// Makes the y axis logarithmic.
    pub fn log_y(self) -> Self {
        Self { y: Axis { log: true, ..self.y }, ..self }
    }

    /// Adds printed values of the paper: series name, x, value.
    pub fn printed<N: Into<String>>(self, values: impl IntoIterator<Item = (N, f64, f64)>) -> Self {
        Self { printed: values.into_iter().map(|(name, x, value)| (name.into(), x, value)).collect(), ..self }
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
    /// Returns a line of this name through these points.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, Quantity<C>)>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect() }
    }

    /// Returns a line of this name: `quantity(x)` over each x of `xs`.
    pub fn over<X: Copy + Into<f64>>(
        name: impl Into<String>,
        xs: impl IntoIterator<Item = X>,
        quantity: impl Fn(X) -> Quantity<C>,
    ) -> Self {
        Self::new(name, xs.into_iter().map(|x| (x.into(), quantity(x))))
    }

    /// Returns a line of this name over the positions 0, 1, 2 … of an axis with names ([`Figure::over`]).
    pub fn at_positions(name: impl Into<String>, quantities: impl IntoIterator<Item = Quantity<C>>) -> Self {
        Self::new(name, (0_u32..).map(f64::from).zip(quantities))
    }
}

/// Estimates a quantity.
pub type Estimate<'a, C> = dyn Fn(&Quantity<C>) -> ConfidenceInterval + 'a;

type Make<'a, C> = Box<dyn Fn(&Estimate<'_, C>, &Streams) -> Shown + 'a>;

impl<'a, C: DesignPoint + 'a> Exhibit<'a, C> {
    /// Compares claims under two sets of settings in a table with this id, title and caption. Each has the verdict and the estimate of the
    /// deciding cell; `names` head the columns of the two.
    pub fn side_by_side(
        id: &'static str,
        [one, other]: [&'a str; 2],
        [ones, others]: [Vec<Claim<C>>; 2],
        [table, title, caption]: [&'static str; 3],
    ) -> Self {
        let claims: Vec<[Claim<C>; 2]> = ones.into_iter().zip(others).map(<[_; 2]>::from).collect();
        let columns = ["claim", one, "observed", other, "observed", "the paper says"];
        let checks = claims.iter().flatten().flat_map(|claim| &claim.checks);
        let needs = checks.map(|check| check.quantity.clone()).collect();
        let make = move |estimate: &Estimate<'_, C>, _: &Streams| {
            let row = |both: &[Claim<C>; 2]| {
                let found = both.each_ref().map(|claim| {
                    let judged = Judged::new(claim, estimate);
                    [judged.verdict.to_string(), judged.deciding_cell().observed()]
                });
                [vec![both[0].id.to_owned()], found.concat(), vec![both[0].statement.clone()]].concat()
            };
            let rows = claims.iter().map(row).collect();
            Shown { tables: vec![page::Table::new(table, title, caption, columns, rows)], ..Shown::default() }
        };
        Self::extra(id, needs, make)
    }
}
