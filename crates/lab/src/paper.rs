//! The interface of a paper to the laboratory, and every name that its author needs: `use lab::paper::*`.

pub use crate::claim::{Check, Claim, Remark, Rule};
pub use crate::exhibit::{Exhibit, Figure, Panel, Series};
pub use crate::extra::{Extra, Made};
use crate::logs::Declared;
pub use crate::logs::Logs;
use crate::metric::Metric as _;
pub use crate::metric::Values;
use crate::provenance::executable_sha256;
pub use crate::quantity::{DesignPoint, Quantity};
pub use crate::runs::Effort;
pub use crate::scenario::Scenario;
pub use crate::table::{Entry, Row, Table};
pub use anyhow::Result;
use serde::Serialize;
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
    type Cell: DesignPoint + Serialize;

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
    const READINGS: &'static [Reading] = &[];
    /// The logs that it runs on, by [`logs!`](crate::logs!). Where one is missing, the paper is skipped.
    const LOGS: &'static [Declared] = &[];

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

    /// Keeps the logs that it declares. Called once before anything is simulated, and not where a paper is only listed.
    #[must_use]
    fn with_logs(self, logs: Logs) -> Self {
        let _ = logs;
        self
    }

    /// The same of a paper that declares none because it runs without them, too: looks for logs in the folder `traces` or else where
    /// the environment says ([`logs::find`](crate::logs::find)).
    fn with_traces(self, traces: Option<&Path>) -> Result<Self> {
        let _ = traces;
        Ok(self)
    }

    /// What its report shows, in the order of the page.
    fn exhibits(&self) -> Vec<Exhibit<'_, Self::Cell>>;

    /// Its claims, in the order of the specification.
    fn claims(&self) -> Vec<Claim<Self::Cell>>;

    /// Sentences that are shown and not judged.
    fn remarks(&self) -> Vec<Remark<Self::Cell>> {
        Vec::new()
    }

    /// The first line of the report, if it has one: that something ran in the place of something else, say.
    fn preface(&self) -> Option<String> {
        None
    }

    /// Which verdicts on record this run is compared with, if not the plain ones: `stand-in`.
    fn record(&self) -> Option<&'static str> {
        None
    }

    /// Files of results beside the usual ones, below the folder of the run: each its name and what it holds, from the values of
    /// quantities, replication by replication, over cells that figures or claims ask for. Made where all figures are, and not with
    /// `--only`.
    ///
    /// # Errors
    ///
    /// What keeps it from being written down.
    fn files(&self, found: &dyn Fn(&Quantity<Self::Cell>) -> Vec<f64>) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let _ = found;
        Ok(Vec::new())
    }

    /// Files that were read from outside the workspace: name and SHA-256.
    fn data(&self) -> Vec<(String, String)> {
        Self::LOGS.iter().map(|(file, sha256)| ((*file).to_owned(), (*sha256).to_owned())).collect()
    }

    /// What a reader must know before anything else.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The parameters that distinguish cells, by name. Left out, they are the fields of the cell.
    fn parameters(&self, cell: &Self::Cell) -> Vec<(&'static str, String)> {
        let _ = cell;
        Vec::new()
    }

    /// All that determines a run, but for the seed and the replication. Left out, it is the whole scenario, the logs and the cell; a
    /// paper of which some cells do not depend on some readings says so here, and `doubt` runs these cells once.
    fn determinants(&self, cell: &Self::Cell) -> serde_json::Value {
        let _ = cell;
        serde_json::Value::Null
    }

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

    /// About how long a run takes, in any unit: the progress bar goes by it.
    fn cost(&self, cell: &Self::Cell) -> u64 {
        let _ = cell;
        1
    }

    /// What a run yields, in the order of the columns of `runs.csv`: what [`metrics!`](crate::metrics!) declares, and those behind
    /// an index for each index that there is.
    fn metrics(&self) -> Vec<MetricOf<Self>> {
        MetricOf::<Self>::list()
    }

    /// One replication of one cell: a value for each of [`metrics`](Self::metrics), not a number where undefined.
    fn simulate(&self, cell: &Self::Cell, streams: &Streams) -> Values<MetricOf<Self>>;
}

/// SHA-256 of the code that computes the replications of `P`, in hexadecimal: of its models' sources, or else of the executable.
pub(crate) fn models<P: Paper>() -> &'static str {
    if P::MODELS.is_empty() { executable_sha256() } else { P::MODELS }
}
