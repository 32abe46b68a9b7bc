//! CSV tables of a run: every replication, the claims and their cells, sentences that are not judged, the claims under other seeds.

use super::Findings;
use crate::claim::{Judged, JudgedCell, Remark};
use crate::paper::Paper;
use crate::quantity::Quantity;
use crate::seeds::Seeds;
use crate::study::{parameters, run_id};
use crate::table::{columns, csv, number};
use anyhow::{Result, bail};

impl<P: Paper> Findings<'_, P> {
    /// Returns `runs.csv`: one row per replication.
    pub(super) fn runs(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut header_written = false;
        for (cell, replication, metrics) in self.study.runs() {
            let parameters = parameters(&self.session.paper, cell);
            if !header_written {
                let names = parameters.iter().map(|(name, _)| name.as_str()).chain(["seed", "replication"]);
                let names = names.chain(self.study.names().iter().map(String::as_str)).chain(["run"]);
                let names: Vec<&str> = names.collect();
                // A reader that looks columns up by name would silently get one of the two.
                if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
                    bail!("runs.csv would have two columns {twice}: rename the parameter of the cells or the metric");
                }
                table.write_record(names)?;
                header_written = true;
            }
            let mut row: Vec<String> = parameters.into_iter().map(|(_, value)| value).collect();
            row.extend([self.session.seed.to_string(), replication.to_string()]);
            row.extend(metrics.iter().map(|value| number(*value)));
            row.push(run_id(&self.session.paper, cell, replication));
            table.write_record(row)?;
        }
        Ok(table.into_inner()?)
    }

    /// Returns `claims.csv`: one row per claim. Expected and observed are those of the deciding cell.
    pub(super) fn claims(&self) -> Result<Vec<u8>> {
        let row = |(judged, recorded): &(Judged, Option<String>)| {
            let cell = judged.deciding_cell();
            let expected = format!("{} ({})", cell.expected(), cell.label);
            judged.row(&judged.test, &expected, recorded.as_deref())
        };
        csv(Judged::COLUMNS, self.judged.iter().map(row))
    }

    /// Returns `data/claim-cells.csv`: one row per cell of each claim.
    pub(super) fn claim_cells(&self) -> Result<Vec<u8>> {
        let cells = self.judged.iter().flat_map(|(judged, _)| judged.cells.iter().map(move |cell| (&judged.id, cell)));
        let row = |(id, cell): (&String, &JudgedCell)| {
            let [mean, low, high, reps] = columns(&cell.estimate);
            [id.clone(), cell.label.clone(), cell.expected(), mean, low, high, reps, cell.verdict.to_string()]
        };
        csv(["id", "cell", "expected", "mean", "ci_low", "ci_high", "reps", "verdict"], cells.map(row))
    }

    /// Returns `data/not-judged.csv`: one row per number beside a sentence that is not judged, or one row without a number.
    pub(super) fn not_judged(&self) -> Result<Vec<u8>> {
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
    pub(super) fn under_seeds(&self, seeds: &Seeds) -> Result<Vec<u8>> {
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
