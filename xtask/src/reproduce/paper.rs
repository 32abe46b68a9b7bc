//! What a paper must tell so that the laboratory can run it.

use super::claim::{Claim, Remark};
pub(crate) use super::extra::Extra;
use super::quantity::Quantity;
pub(crate) use super::table::{Entry, Row, Table};
use crate::chart::{Gantt, Sketch};
use crate::scenario::Scenario;
use anyhow::Result;
use sim_core::Streams;
use std::path::Path;

/// Who wrote it, and which crate holds it.
pub(crate) struct About {
    pub(crate) slug: &'static str,
    pub(crate) title: &'static str,
    pub(crate) citation: &'static str,
    pub(crate) package: &'static str,
    /// What it studies, in one line.
    pub(crate) subject: &'static str,
}

/// How much work to do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// All of it.
    Full,
    /// A tenth or less, for people and CI in a hurry.
    Quick,
}

/// A paper, read from its scenario.
pub(crate) trait Paper: Sized + Sync {
    /// One point of its experiments. The order is that of `runs.csv`.
    type Cell: Clone + Ord + Send + Sync;

    const ABOUT: About;
    /// The readings, in the order of the specification.
    const READINGS: &'static [Reading];
    /// Ids of the figures that show schedules.
    const SCHEDULES: &'static [&'static str] = &[];

    /// Ids of the figures that are drawings.
    const DRAWINGS: &'static [&'static str] = &[];

    /// Reads and checks the scenario.
    fn new(scenario: &Scenario, effort: Effort) -> Result<Self>;

    /// Looks for data that are no part of the workspace: logs, in the folder `traces` or else where the environment says.
    /// Called once before anything is simulated, and not where a paper is only listed.
    fn with_traces(self, traces: Option<&Path>) -> Result<Self> {
        let _ = traces;
        Ok(self)
    }

    fn replications(&self) -> u32;
    fn seed(&self) -> u64;

    fn figures(&self) -> Vec<Figure<Self::Cell>>;
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

    /// How many of `wanted` replications of a cell are run: fewer where they take too long for what they tell.
    fn affordable(&self, cell: &Self::Cell, wanted: u32) -> u32 {
        let _ = cell;
        wanted
    }

    /// About how long a run takes, in any unit.
    fn cost(&self, cell: &Self::Cell) -> u64;

    /// Names of what a run yields.
    fn metrics(&self) -> Vec<String>;

    /// One replication of one cell: a value for each name in [`metrics`](Self::metrics); not a number where undefined.
    fn simulate(&self, cell: &Self::Cell, streams: &Streams) -> Vec<f64>;
}

/// One figure or table of a paper.
pub(crate) struct Figure<C> {
    /// As in the specification: `fig2`.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) x_label: &'static str,
    /// Whether the x axis is logarithmic.
    pub(crate) log_x: bool,
    pub(crate) panels: Vec<Panel<C>>,
    /// Whether to show it as a table too.
    pub(crate) as_table: bool,
}

/// One plot of a figure. Most figures have one.
pub(crate) struct Panel<C> {
    /// The plot's files are called `ID` or, if this is not empty, `ID-SUFFIX`.
    pub(crate) suffix: &'static str,
    /// As in the column `metric` of the figure's data.
    pub(crate) metric: &'static str,
    pub(crate) y_label: &'static str,
    /// Whether the y axis is logarithmic.
    pub(crate) log_y: bool,
    pub(crate) series: Vec<Series<C>>,
    /// What the paper prints: series name, x, value.
    pub(crate) printed: Vec<(&'static str, f64, f64)>,
}

/// A figure that shows schedules as Gantt charts.
pub(crate) struct Schedule {
    pub(crate) id: &'static str,
    pub(crate) caption: String,
    /// Each is called `ID-SUFFIX`, in files as in its own id.
    pub(crate) panels: Vec<(&'static str, Gantt)>,
}

/// A figure of boxes and lines: a tree, say. What it shows is computed.
pub(crate) struct Drawing {
    pub(crate) id: &'static str,
    pub(crate) caption: String,
    pub(crate) sketch: Sketch,
    /// What was drawn, as in the columns `series`, `x`, `metric` and `mean` of the figure's data.
    pub(crate) data: Vec<(String, String, &'static str, f64)>,
}

/// One line of a plot.
pub(crate) struct Series<C> {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, Quantity<C>)>,
}

/// One reading: a question that the paper leaves open, and the scenario field that answers it.
pub(crate) struct Reading {
    pub(crate) id: &'static str,
    /// In the scenario's table `readings`.
    pub(super) field: &'static str,
    pub(crate) question: &'static str,
    /// The answers, the default first.
    pub(crate) answers: &'static [&'static str],
}

impl Reading {
    pub(crate) const fn new(
        id: &'static str,
        field: &'static str,
        question: &'static str,
        answers: &'static [&'static str],
    ) -> Self {
        Self { id, field, question, answers }
    }

    /// The scenario key, as `--set` takes it.
    pub(crate) fn key(&self) -> String {
        format!("readings.{}", self.field)
    }
}
