//! Output of a run: exhibits, tables, the manifest and the report page.

mod page;
mod tables;

pub(crate) use page::readings_of;

use crate::claim::{Judged, Remark};
use crate::cli::program;
use crate::output::OutDir;
use crate::page::render;
use crate::paper::Paper;
use crate::quantity::Quantity;
use crate::seeds::Seeds;
use crate::session::{Request, Session};
use crate::shown::{self, Shown};
use crate::study::Study;
use anyhow::Result;
use metrics::ConfidenceInterval;
use serde_json::json;

/// All results of a run.
pub(crate) struct Findings<'a, P: Paper> {
    pub(crate) session: &'a Session<P>,
    pub(crate) request: &'a Request,
    /// Exhibits in the order of the page.
    pub(crate) exhibits: Vec<Shown>,
    pub(crate) judged: &'a [(Judged, Option<String>)],
    /// Sentences that are shown and not judged.
    pub(crate) remarks: &'a [Remark<P::Cell>],
    /// The claims under other seeds, if requested.
    pub(crate) seeds: Option<&'a Seeds>,
    pub(crate) study: &'a Study<'a, P>,
}

impl<P: Paper> Findings<'_, P> {
    /// Writes every file.
    pub(crate) fn write(&self, out: OutDir) -> Result<()> {
        let shown = shown::write(&self.exhibits, self.judged.iter().map(|(judged, _)| judged), &out)?;
        out.write("runs.csv", self.runs()?)?;
        out.write("claims.csv", self.claims()?)?;
        out.write("data/claim-cells.csv", self.claim_cells()?)?;
        if !self.remarks.is_empty() {
            out.write("data/not-judged.csv", self.not_judged()?)?;
        }
        if self.request.only.is_empty() {
            for (name, content) in self.session.paper.files(&|quantity| self.sample(quantity))? {
                out.write(name, content)?;
            }
        }
        if let Some(seeds) = self.seeds {
            out.write("seeds.csv", self.under_seeds(seeds)?)?;
        }
        let report = render(&self.page(shown))?;
        out.write("report.html", report)?;
        let (computed, reused, damaged) = self.study.effort();
        let Request { quick, decide, seeds, only, set, .. } = self.request;
        let options = json!({ "quick": quick, "decide": decide, "seeds": seeds, "only": only, "set": set });
        let timings = json!({
            "replications_computed": computed, "replications_reused": reused, "replications_damaged": damaged,
        });
        out.finish(self.session.manifest(options, &self.command(), timings))
    }

    /// Returns the command that repeats this run. Options that cannot change a result are left out.
    fn command(&self) -> String {
        format!("{} reproduce {}{}", program(), P::ABOUT.slug, self.request.options())
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.estimate(quantity, self.session.replications)
    }

    fn sample(&self, quantity: &Quantity<P::Cell>) -> Vec<f64> {
        self.study.observations().sample(quantity, self.session.replications)
    }
}
