//! The tables of a run as CSV: every replication, the claims and their cells, what is not judged, the claims under other seeds.

use super::Findings;
use crate::claim::Judged;
use crate::paper::Paper;
use crate::seeds::Seeds;
use crate::study::{parameters, run_id};
use crate::table::{number, optional};
use anyhow::{Result, bail};

impl<P: Paper> Findings<'_, P> {
    /// `runs.csv`: one row per replication.
    pub(super) fn runs(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut header_written = false;
        for (cell, replication, metrics) in self.study.runs() {
            let parameters = parameters(&self.session.paper, cell);
            if !header_written {
                let names = parameters.iter().map(|(name, _)| name.as_str()).chain(["seed", "replication"]);
                let names = names.chain(self.study.names().iter().map(String::as_str)).chain(["run"]);
                let names: Vec<&str> = names.collect();
                // Whoever reads the table by its header would silently get one of the two.
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

    /// `claims.csv`: one row per claim. Expected and observed are those of the cell that decides.
    pub(super) fn claims(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(Judged::COLUMNS)?;
        for (judged, recorded) in self.judged {
            let cell = judged.deciding_cell();
            let expected = format!("{} ({})", cell.expected(), cell.label);
            table.write_record(judged.row(&judged.test, &expected, recorded.as_deref()))?;
        }
        Ok(table.into_inner()?)
    }

    /// `data/claim-cells.csv`: one row per cell of each claim.
    pub(super) fn claim_cells(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "cell", "expected", "mean", "ci_low", "ci_high", "reps", "verdict"])?;
        for (judged, _) in self.judged {
            for cell in &judged.cells {
                table.write_record([
                    judged.id.as_str(),
                    &cell.label,
                    &cell.expected(),
                    &number(cell.estimate.mean),
                    &optional(cell.estimate.low),
                    &optional(cell.estimate.high),
                    &cell.estimate.replications.to_string(),
                    &cell.verdict.to_string(),
                ])?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// `data/not-judged.csv`: one row per number beside a sentence that is not judged, or one without a number.
    pub(super) fn not_judged(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "source", "statement", "why", "shown", "mean", "ci_low", "ci_high", "reps"])?;
        for remark in self.remarks {
            let said = [remark.id, remark.source, remark.statement, remark.why];
            for (label, quantity) in &remark.shown {
                let estimate = self.estimate(quantity);
                let [low, high] = [estimate.low, estimate.high].map(optional);
                let found = [label, &number(estimate.mean), &low, &high, &estimate.replications.to_string()];
                table.write_record(said.into_iter().chain(found.map(String::as_str)))?;
            }
            if remark.shown.is_empty() {
                table.write_record(said.into_iter().chain([""; 5]))?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// `seeds.csv`: one row per claim and seed.
    pub(super) fn under_seeds(&self, seeds: &Seeds) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "seed", "verdict", "stays", "expected", "observed", "ci_low", "ci_high"])?;
        for (judged, _) in self.judged {
            for (seed, other) in seeds.of(&judged.id) {
                let cell = other.deciding_cell();
                table.write_record([
                    judged.id.as_str(),
                    &seed.to_string(),
                    &other.verdict.to_string(),
                    if other.verdict == judged.verdict { "yes" } else { "no" },
                    &format!("{} ({})", cell.rule, cell.label),
                    &number(cell.estimate.mean),
                    &optional(cell.estimate.low),
                    &optional(cell.estimate.high),
                ])?;
            }
        }
        Ok(table.into_inner()?)
    }
}
