//! Output of a run: exhibits, tables, the manifest and the report page.

mod page;

pub(crate) use page::readings_of;

use crate::claim::{Judged, JudgedCell, Remark};
use crate::cli::program;
use crate::output::OutDir;
use crate::page::render;
use crate::paper::Paper;
use crate::quantity::Quantity;
use crate::seeds::Seeds;
use crate::session::{Request, Session};
use crate::shown::{self, Shown};
use crate::store::Store;
use crate::study::{Study, parameters, run_id};
use crate::table::{columns, csv, number};
use anyhow::{Result, bail};
use metrics::ConfidenceInterval;
use serde_json::json;

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
    pub(crate) store: &'a Store,
}

impl<P: Paper> Findings<'_, P> {
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
        let Request { quick, decide, seeds, only, set, .. } = self.request;
        let options = json!({ "quick": quick, "decide": decide, "seeds": seeds, "only": only, "set": set });
        let timings = json!({
            "replications_computed": self.study.computed,
            "replications_reused": self.study.reused,
            "replications_damaged": self.store.damaged,
        });
        out.finish(self.session.manifest(options, &self.command(), timings))
    }

    /// Returns the command that repeats this run. Options that cannot change a result are left out.
    fn command(&self) -> String {
        format!("{} reproduce {}{}", program(), P::ABOUT.slug, self.request.options())
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.observations.estimate(quantity, self.session.replications)
    }

    fn sample(&self, quantity: &Quantity<P::Cell>) -> Vec<f64> {
        self.study.observations.sample(quantity, self.session.replications)
    }

    /// Returns `runs.csv`: one row per replication.
    fn runs(&self) -> Result<Vec<u8>> {
        let (paper, study) = (&self.session.paper, self.study);
        let Some((first, ..)) = study.observations.rows().next() else { return Ok(Vec::new()) };
        let own = |name: &str| name.to_owned();
        let names = parameters(paper, first).into_iter().map(|(name, _)| name).chain(["seed", "replication"].map(own));
        let names: Vec<String> = names.chain(study.names.iter().cloned()).chain([own("run")]).collect();
        // A reader that looks columns up by name would silently get one of the two.
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            bail!("runs.csv would have two columns {twice}: rename the parameter of the cells or the metric");
        }
        let row = |(cell, replication, metrics): (&P::Cell, usize, &[f64])| {
            let mut row: Vec<String> = parameters(paper, cell).into_iter().map(|(_, value)| value).collect();
            row.extend([self.session.seed.to_string(), replication.to_string()]);
            row.extend(metrics.iter().map(|value| number(*value)));
            row.push(run_id(paper, cell, replication));
            row
        };
        csv(names, study.observations.rows().map(row))
    }

    /// Returns `claims.csv`: one row per claim. Expected and observed are those of the deciding cell.
    fn claims(&self) -> Result<Vec<u8>> {
        let row = |(judged, recorded): &(Judged, Option<String>)| {
            let cell = judged.deciding_cell();
            let expected = format!("{} ({})", cell.expected(), cell.label);
            judged.row(&judged.test, &expected, recorded.as_deref())
        };
        csv(Judged::COLUMNS, self.judged.iter().map(row))
    }

    /// Returns `data/claim-cells.csv`: one row per cell of each claim.
    fn claim_cells(&self) -> Result<Vec<u8>> {
        let cells = self.judged.iter().flat_map(|(judged, _)| judged.cells.iter().map(move |cell| (&judged.id, cell)));
        let row = |(id, cell): (&String, &JudgedCell)| {
            let [mean, low, high, reps] = columns(&cell.estimate);
            [id.clone(), cell.label.clone(), cell.expected(), mean, low, high, reps, cell.verdict.to_string()]
        };
        csv(["id", "cell", "expected", "mean", "ci_low", "ci_high", "reps", "verdict"], cells.map(row))
    }

    /// Returns `data/not-judged.csv`: one row per number beside a sentence that is not judged, or one row without a number.
    fn not_judged(&self) -> Result<Vec<u8>> {
        let row = |remark: &Remark<P::Cell>, shown: [String; 5]| {
            let said = [remark.id, remark.source, remark.statement, remark.why].map(str::to_owned);
            said.into_iter().chain(shown).collect::<Vec<_>>()
        };
        let rows = |remark: &Remark<P::Cell>| -> Vec<Vec<String>> {
            if remark.shown.is_empty() {
                return vec![row(remark, Default::default())];
            }
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                let [mean, low, high, reps] = columns(&self.estimate(quantity));
                row(remark, [label.clone(), mean, low, high, reps])
            };
            remark.shown.iter().map(shown).collect()
        };
        let columns = ["id", "source", "statement", "why", "shown", "mean", "ci_low", "ci_high", "reps"];
        csv(columns, self.remarks.iter().flat_map(rows))
    }

    /// Returns `seeds.csv`: one row per claim and seed.
    fn under_seeds(&self, seeds: &Seeds) -> Result<Vec<u8>> {
        let rows = self.judged.iter().flat_map(|(judged, _)| seeds.of(&judged.id).map(move |under| (judged, under)));
        let row = |(judged, (seed, other)): (&Judged, (u64, &Judged))| {
            let cell = other.deciding_cell();
            let stays = if other.verdict == judged.verdict { "yes" } else { "no" };
            let [mean, low, high, _] = columns(&cell.estimate);
            let (verdict, expected) = (other.verdict.to_string(), format!("{} ({})", cell.rule, cell.label));
            [judged.id.clone(), seed.to_string(), verdict, stays.to_owned(), expected, mean, low, high]
        };
        csv(["id", "seed", "verdict", "stays", "expected", "observed", "ci_low", "ci_high"], rows.map(row))
    }
}
