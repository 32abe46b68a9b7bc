//! The interface of a paper to the laboratory, and every name that its author needs: `use lab::paper::*`.

pub mod logs;

pub use crate::measure::claim::{Check, Claim, Remark, Rule};
use crate::measure::metric::Metric as _;
pub use crate::measure::metric::Values;
pub use crate::measure::quantity::{DesignPoint, Quantity};
pub use crate::measure::table::{Entry, Row, Table};
use crate::output::provenance::executable_sha256;
pub use crate::paper::logs::Logs;
pub use crate::report::exhibit::{Exhibit, Figure, Panel, Series};
pub use crate::report::shown::Shown;
pub use crate::scenario::{Effort, Scenario};
pub use anyhow::Result;
use serde::Serialize;
pub use sim_core::Reading;
use sim_core::Streams;
use std::path::Path;

/// Bibliographic data of a paper, and the crate of its model.
#[derive(Copy, Clone, Debug)]
pub struct About {
    /// Name on the command line: `multi-site`.
    pub slug: &'static str,
    /// Title as printed.
    pub title: &'static str,
    /// Authors, title, place of publication, year.
    pub citation: &'static str,
    /// The crate of its model.
    pub package: &'static str,
    /// Subject of the study, in one line.
    pub subject: &'static str,
}

type MetricOf<P> = <<P as Paper>::Cell as DesignPoint>::Metric;

/// A paper, read from its scenario.
pub trait Paper: Sized + Sync {
    /// One point of its experiments. The order is that of `runs.csv`.
    type Cell: DesignPoint + Serialize;

    /// Bibliographic data.
    const ABOUT: About;
    /// The text of its scenario, `workloads/SLUG.toml`. Its table `run` holds `replications`, `seed` and, if it is another number
    /// of replications, `quick_replications`, which the laboratory reads.
    const SCENARIO: &'static str;
    /// Text of `docs/papers/SLUG.md`, whose table of verdicts is the record; empty if there is none.
    const PAGE: &'static str = "";
    /// SHA-256 of the sources that determine a replication, made at build time: a replication computed by other code is computed again. If
    /// empty, the hash of the program is used, which any change of its code changes.
    const MODELS: &'static str = "";
    /// Readings, in the order of the specification: the `LIST` that [`readings!`](crate::readings!) declares.
    const READINGS: &'static [Reading] = &[];
    /// Notes that a reader must see first.
    const NOTES: &'static [&'static str] = &[];
    /// Logs that it runs on, by [`logs!`](crate::logs!). If one is missing, the paper is skipped.
    const LOGS: &'static [(&'static str, &'static str)] = &[];

    /// Returns the scenario as stored; fails if the text is not TOML.
    fn scenario() -> Result<Scenario> {
        Scenario::of_paper(Self::ABOUT.slug, Self::SCENARIO)
    }

    /// Reads and checks the scenario.
    fn new(scenario: &Scenario, effort: Effort) -> Result<Self>;

    /// Receives the folder of logs, before the simulation; not called if the paper is only listed. [`logs!`](crate::logs!) reads the
    /// declared logs. A paper that can run without logs searches `traces` or else the folder that the environment names ([`logs::find`]).
    fn with_traces(self, _traces: Option<&Path>) -> Result<Self> {
        Ok(self)
    }

    /// Returns the exhibits of its report, in the order of the page.
    fn exhibits(&self) -> Vec<Exhibit<'_, Self::Cell>>;

    /// Returns its claims, in the order of the specification.
    fn claims(&self) -> Vec<Claim<Self::Cell>>;

    /// Returns the sentences that are shown and not judged.
    fn remarks(&self) -> Vec<Remark<Self::Cell>> {
        Vec::new()
    }

    /// Returns the first line of the report, if it has one: for example, that a stand-in for a log ran.
    fn preface(&self) -> Option<String> {
        None
    }

    /// Returns the name of the verdicts on record to compare with, if not the plain ones: `stand-in`.
    fn record(&self) -> Option<&'static str> {
        None
    }

    /// Returns additional result files, below the folder of the run: name and content of each. `found` returns the values of a quantity,
    /// replication by replication, over cells that figures or claims use. Not called with `--only`. Fails if a file cannot be made.
    fn files(&self, _found: &dyn Fn(&Quantity<Self::Cell>) -> Vec<f64>) -> Result<Vec<(&'static str, Vec<u8>)>> {
        Ok(Vec::new())
    }

    /// Returns the files read from outside the workspace: name and SHA-256.
    fn data(&self) -> Vec<(String, String)> {
        Self::LOGS.iter().map(|(file, sha256)| ((*file).to_owned(), (*sha256).to_owned())).collect()
    }

    /// Returns the notes that a reader must see first.
    fn notes(&self) -> Vec<String> {
        Self::NOTES.iter().map(|note| (*note).to_owned()).collect()
    }

    /// Returns the parameters that distinguish cells, by name. If empty, they are the fields of the cell.
    fn parameters(&self, _cell: &Self::Cell) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns all that determines a run, except the seed and the replication. By default it is the whole scenario, the logs and the cell.
    /// A paper with cells that do not depend on some readings overrides it, and `doubt` runs these cells once.
    fn determinants(&self, _cell: &Self::Cell) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Returns true if its replications differ. A cell without random draws is run once: its result is exact, is paired with every
    /// replication of the others, and has no interval.
    fn draws(&self, _cell: &Self::Cell) -> bool {
        true
    }

    /// Returns the number of replications to run, at most `wanted`: fewer if they take too long for what they contribute.
    fn affordable(&self, _cell: &Self::Cell, wanted: u32) -> u32 {
        wanted
    }

    /// Returns the approximate cost of a run, in any unit, for the progress bar.
    fn cost(&self, _cell: &Self::Cell) -> u64 {
        1
    }

    /// Returns the metrics of a run, in the order of the columns of `runs.csv`: those that [`metrics!`](crate::metrics!) declares, and
    /// those with an index once for each index.
    fn metrics(&self) -> Vec<MetricOf<Self>> {
        MetricOf::<Self>::list()
    }

    /// Simulates one replication of one cell: a value for each of [`metrics`](Self::metrics), NaN if undefined.
    fn simulate(&self, cell: &Self::Cell, streams: &Streams) -> Values<MetricOf<Self>>;
}

/// Returns the SHA-256, in hexadecimal, of the code behind the replications of `P`: its models' sources, or else the executable.
pub(crate) fn models<P: Paper>() -> &'static str {
    if P::MODELS.is_empty() { executable_sha256() } else { P::MODELS }
}
