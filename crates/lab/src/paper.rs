//! What a paper must tell so that the laboratory can run it.

use super::claim::{Claim, Remark};
pub use super::extra::Extra;
use super::quantity::{DesignPoint, Quantity};
pub use super::runs::Effort;
pub use super::table::{Entry, Row, Table};
use crate::chart::{Gantt, Sketch};
use crate::metric::{Metric as _, Values};
use crate::scenario::Scenario;
use anyhow::Result;
use metrics::ConfidenceInterval;
pub use sim_core::Reading;
use sim_core::Streams;
use std::path::Path;

/// Who wrote it, and which crate holds it.
#[derive(Copy, Clone, Debug)]
pub struct About {
    /// Its name on the command line: `multi-site`.
    pub slug: &'static str,
    /// As printed.
    pub title: &'static str,
    /// Authors, title, where it appeared, year.
    pub citation: &'static str,
    /// The crate of its model.
    pub package: &'static str,
    /// What it studies, in one line.
    pub subject: &'static str,
}

/// What the replications of a paper measure.
pub type MetricOf<P> = <<P as Paper>::Cell as DesignPoint>::Metric;

/// A paper, read from its scenario.
pub trait Paper: Sized + Sync {
    /// One point of its experiments. The order is that of `runs.csv`.
    type Cell: DesignPoint;

    /// Who wrote it.
    const ABOUT: About;
    /// The text of its scenario, `workloads/SLUG.toml`. Its table `run` holds `replications`, `seed` and, if it is another number
    /// of replications, `quick_replications`, which the laboratory reads ([`Runs`](crate::runs::Runs)).
    const SCENARIO: &'static str;
    /// The text of `docs/papers/SLUG.md`, whose table of verdicts is on record; empty if nothing is.
    const PAGE: &'static str = "";
    /// SHA-256 of the sources that determine a replication, made at build time: one that was computed by other code is
    /// computed again. Left empty, it is that of the program, which any change of its code changes.
    const MODELS: &'static str = "";
    /// The readings, in the order of the specification: the `LIST` of what [`readings!`](crate::readings!) declares.
    const READINGS: &'static [Reading];
    /// Ids of the figures that show schedules.
    const SCHEDULES: &'static [&'static str] = &[];

    /// Ids of the figures that are drawings.
    const DRAWINGS: &'static [&'static str] = &[];

    /// The scenario as it is on file.
    ///
    /// # Errors
    ///
    /// The text is no TOML.
    fn scenario() -> Result<Scenario> {
        Scenario::of_paper(Self::ABOUT.slug, Self::SCENARIO)
    }

    /// Reads and checks the scenario.
    fn new(scenario: &Scenario, effort: Effort) -> Result<Self>;

    /// Looks for data that are no part of the workspace: logs, in the folder `traces` or else where the environment says.
    /// Called once before anything is simulated, and not where a paper is only listed.
    fn with_traces(self, traces: Option<&Path>) -> Result<Self> {
        let _ = traces;
        Ok(self)
    }

    /// Its plots, in the order of the page.
    fn figures(&self) -> Vec<Figure<Self::Cell>>;
    /// Its claims, in the order of the specification.
    fn claims(&self) -> Vec<Claim<Self::Cell>>;

    /// Sentences that are shown and not judged.
    fn remarks(&self) -> Vec<Remark<Self::Cell>> {
        Vec::new()
    }

    /// Names of the positions 0, 1, 2 … on the x axis of a figure, where these are no numbers.
    fn positions(&self, figure: &str) -> &'static [&'static str] {
        let _ = figure;
        &[]
    }

    /// Whether the points of a figure are joined by lines: not where its x tells things apart that have no order.
    fn is_joined(&self, figure: &str) -> bool {
        self.positions(figure).is_empty()
    }

    /// Tables that go with figures.
    fn tables(&self) -> Vec<Table<Self::Cell>> {
        Vec::new()
    }

    /// What goes with figures and is made when their estimates are known. `streams` are those of the first replication.
    fn extras(&self, streams: &Streams) -> Vec<Extra<'_, Self::Cell>> {
        let _ = streams;
        Vec::new()
    }

    /// The figure called `id`, one of [`SCHEDULES`](Self::SCHEDULES).
    fn schedule(&self, id: &'static str, streams: &Streams) -> Schedule {
        let _ = streams;
        Schedule { id, caption: String::new(), panels: Vec::new() }
    }

    /// The figure called `id`, one of [`DRAWINGS`](Self::DRAWINGS).
    fn drawing(&self, id: &'static str, streams: &Streams) -> Drawing {
        let _ = streams;
        Drawing { id, caption: String::new(), sketch: Sketch::default(), data: Vec::new() }
    }

    /// The first line of the report, if it has one: that something ran in the place of something else, say.
    fn preface(&self) -> Option<String> {
        None
    }

    /// Which verdicts on record this run is compared with, if not the plain ones: `stand-in`.
    fn record(&self) -> Option<&'static str> {
        None
    }

    /// Files of results beside the usual ones, below the folder of the run: each its name and what it holds, from estimates of
    /// quantities over cells that figures or claims ask for. Made where all figures are, and not with `--only`.
    ///
    /// # Errors
    ///
    /// What keeps it from being written down.
    fn files(
        &self,
        found: &dyn Fn(&Quantity<Self::Cell>) -> ConfidenceInterval,
    ) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let _ = found;
        Ok(Vec::new())
    }

    /// Files that were read from outside the workspace: name and SHA-256.
    fn data(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What a reader must know before anything else.
    fn notes(&self) -> Vec<String>;

    /// The parameters that tell one cell from another, by name.
    fn parameters(&self, cell: &Self::Cell) -> Vec<(&'static str, String)>;

    /// All that determines a run, but for the seed and the replication.
    fn determinants(&self, cell: &Self::Cell) -> serde_json::Value;

    /// Whether its replications differ. A cell that draws nothing is run once: what it yields is exact, stands beside every
    /// replication of the others, and has no interval.
    fn draws(&self, cell: &Self::Cell) -> bool {
        let _ = cell;
        true
    }

    /// How many of `wanted` replications of a cell are run: fewer where they take too long for what they tell.
    fn affordable(&self, cell: &Self::Cell, wanted: u32) -> u32 {
        let _ = cell;
        wanted
    }

    /// About how long a run takes, in any unit.
    fn cost(&self, cell: &Self::Cell) -> u64;

    /// What a run yields, in the order of the columns of `runs.csv`: what [`metrics!`](crate::metrics!) declares, and those behind
    /// an index for each index that there is.
    fn metrics(&self) -> Vec<MetricOf<Self>> {
        MetricOf::<Self>::list()
    }

    /// One replication of one cell: a value for each of [`metrics`](Self::metrics), not a number where undefined.
    fn simulate(&self, cell: &Self::Cell, streams: &Streams) -> Values<MetricOf<Self>>;
}

/// One figure or table of a paper.
pub struct Figure<C: DesignPoint> {
    /// As in the specification: `fig2`.
    pub id: &'static str,
    /// What is seen, in a few words.
    pub title: String,
    /// What a reader should know, below the figure.
    pub caption: String,
    /// Quantity and unit of the x axis.
    pub x_label: &'static str,
    /// Whether the x axis is logarithmic.
    pub log_x: bool,
    /// Its plots.
    pub panels: Vec<Panel<C>>,
    /// Whether to show it as a table too.
    pub as_table: bool,
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

/// A figure that shows schedules as Gantt charts.
pub struct Schedule {
    /// One of [`Paper::SCHEDULES`].
    pub id: &'static str,
    /// What a reader should know, below the figure.
    pub caption: String,
    /// Each is called `ID-SUFFIX`, in files as in its own id.
    pub panels: Vec<(&'static str, Gantt)>,
}

/// A figure of boxes and lines: a tree, say. What it shows is computed.
pub struct Drawing {
    /// One of [`Paper::DRAWINGS`].
    pub id: &'static str,
    /// What a reader should know, below the figure.
    pub caption: String,
    /// The picture.
    pub sketch: Sketch,
    /// What was drawn, as in the columns `series`, `x`, `metric` and `mean` of the figure's data.
    pub data: Vec<(String, String, &'static str, f64)>,
}

/// One line of a plot.
pub struct Series<C: DesignPoint> {
    /// As in the legend.
    pub name: String,
    /// What is shown over each x.
    pub points: Vec<(f64, Quantity<C>)>,
}
