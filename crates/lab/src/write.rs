//! Output of a run: exhibits, tables, the manifest and the report page.

use crate::claim::{Judged, JudgedCell, Remark};
use crate::cli::program;
use crate::metric::{Declared, Metric};
use crate::output::OutDir;
use crate::page::{self, Page};
use crate::paper::Paper;
use crate::quantity::{DesignPoint, Quantity};
use crate::shown::{self, Shown};
use crate::study::{Request, Study, parameters, run_id};
use crate::table::{columns, csv, in_words, number};
use anyhow::{Result, bail};
use metrics::ConfidenceInterval;
use serde_json::json;

pub(crate) struct Findings<'a, P: Paper> {
    pub(crate) request: &'a Request,
    pub(crate) exhibits: Vec<Shown>,
    pub(crate) judged: &'a [Judged],
    /// Sentences that are shown and not judged.
    pub(crate) remarks: &'a [Remark<P::Cell>],
    pub(crate) study: &'a Study<'a, P>,
}

impl<P: Paper> Findings<'_, P> {
    pub(crate) fn write(&self, out: OutDir) -> Result<()> {
        let shown = shown::write(&self.exhibits, self.judged, &out)?;
        out.write("runs.csv", self.runs()?)?;
        out.write("claims.csv", self.claims()?)?;
        out.write("data/claim-cells.csv", self.claim_cells()?)?;
        if !self.remarks.is_empty() {
            out.write("data/not-judged.csv", self.not_judged()?)?;
        }
        if self.request.only.is_empty() {
            for (name, content) in self.study.session.paper.files(&|quantity| self.sample(quantity))? {
                out.write(name, content)?;
            }
        }
        if self.request.seeds.is_some() {
            out.write("seeds.csv", self.under_seeds()?)?;
        }
        let report = page::render(&self.page(shown))?;
        out.write("report.html", report)?;
        let Request { quick, decide, seeds, only, set, .. } = self.request;
        let options = json!({ "quick": quick, "decide": decide, "seeds": seeds, "only": only, "set": set });
        let timings = json!({
            "replications_computed": self.study.computed,
            "replications_reused": self.study.reused,
            "replications_damaged": self.study.store.damaged,
        });
        out.finish(self.study.session.manifest(options, &self.command(), timings))
    }

    /// Returns the command that repeats this run. Options that cannot change a result are left out.
    fn command(&self) -> String {
        format!("{} reproduce {}{}", program(), P::ABOUT.slug, self.request.options())
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.observations.estimate(quantity, self.study.session.replications)
    }

    fn sample(&self, quantity: &Quantity<P::Cell>) -> Vec<f64> {
        self.study.observations.sample(quantity, self.study.session.replications)
    }

    /// Returns `runs.csv`: one row per replication.
    fn runs(&self) -> Result<Vec<u8>> {
        let study = self.study;
        let paper = &study.session.paper;
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
            row.extend([self.study.session.seed.to_string(), replication.to_string()]);
            row.extend(metrics.iter().map(|value| number(*value)));
            row.push(run_id(paper, cell, replication));
            row
        };
        csv(names, study.observations.rows().map(row))
    }

    /// Returns `claims.csv`: one row per claim. Expected and observed are those of the deciding cell.
    fn claims(&self) -> Result<Vec<u8>> {
        let row = |judged: &Judged| {
            let cell = judged.deciding_cell();
            let expected = format!("{} ({})", cell.expected(), cell.label);
            judged.row(&judged.test, &expected)
        };
        csv(Judged::COLUMNS, self.judged.iter().map(row))
    }

    /// Returns `data/claim-cells.csv`: one row per cell of each claim.
    fn claim_cells(&self) -> Result<Vec<u8>> {
        let cells = self.judged.iter().flat_map(|judged| judged.cells.iter().map(move |cell| (&judged.id, cell)));
        let row = |(id, cell): (&String, &JudgedCell)| {
            let [mean, low, high, reps] = columns(&cell.estimate);
            [id.clone(), cell.label.clone(), cell.expected(), mean, low, high, reps, cell.verdict.to_string()]
        };
        csv(["id", "cell", "expected", "mean", "ci_low", "ci_high", "reps", "verdict"], cells.map(row))
    }

    /// Returns `data/not-judged.csv`: one row per number beside a sentence that is not judged, or one row without a number.
    fn not_judged(&self) -> Result<Vec<u8>> {
        let rows = |remark: &Remark<P::Cell>| -> Vec<Vec<String>> {
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                [std::slice::from_ref(label), &columns(&self.estimate(quantity))[..]].concat()
            };
            let mut shown: Vec<Vec<String>> = remark.shown.iter().map(shown).collect();
            if shown.is_empty() {
                shown.push(vec![String::new(); 5]);
            }
            shown.into_iter().map(|shown| [&said(remark)[..], &shown].concat()).collect()
        };
        let columns = ["id", "source", "statement", "why", "shown", "mean", "ci_low", "ci_high", "reps"];
        csv(columns, self.remarks.iter().flat_map(rows))
    }

    /// Returns `seeds.csv`: one row per claim and seed.
    fn under_seeds(&self) -> Result<Vec<u8>> {
        let rows = self.judged.iter().flat_map(|judged| judged.seeds.iter().map(move |under| (judged, under)));
        let row = |(judged, (seed, other)): (&Judged, &(u64, Judged))| {
            let cell = other.deciding_cell();
            let stays = if other.verdict == judged.verdict { "yes" } else { "no" };
            let [mean, low, high, _] = columns(&cell.estimate);
            let (verdict, expected) = (other.verdict.to_string(), format!("{} ({})", cell.rule, cell.label));
            [judged.id.clone(), seed.to_string(), verdict, stays.to_owned(), expected, mean, low, high]
        };
        csv(["id", "seed", "verdict", "stays", "expected", "observed", "ci_low", "ci_high"], rows.map(row))
    }

    fn page(&self, figures: Vec<page::Figure>) -> Page {
        let session = self.study.session;
        let mut page = session.page(self.request, &self.command());
        if session.replications == 1 {
            page.notes.push("A single replication: no interval, so no verdict.".to_owned());
        }
        for parameter in session.scenario.parameters().iter().filter(|parameter| parameter.changed) {
            page.notes.push(format!("Not the paper's setting: {} = {}.", parameter.key, parameter.value));
        }
        page.notes.extend(session.paper.notes());
        let first = self.study.observations.rows().next();
        let run = first.map_or_else(String::new, |(cell, i, _)| run_id(&session.paper, cell, i));
        let other = P::READINGS.get(1).or(P::READINGS.first());
        let other = other.and_then(|reading| Some(format!("--set {}={}", reading.key(), reading.answers.get(1)?)));
        let commands = [
            ("Decide inconclusive claims", Some("--decide".to_owned())),
            ("Another reading", other),
            ("Run one replication again and print its metrics", Some(format!("--run '{run}'"))),
        ];
        let command = |(task, options): (&str, Option<String>)| {
            Some((task.to_owned(), format!("{} reproduce {} {}", program(), P::ABOUT.slug, options?)))
        };
        page.commands.extend(commands.into_iter().filter_map(command));
        let tables = |is_extra| {
            let exhibits = self.exhibits.iter().filter(move |exhibit| exhibit.is_extra == is_extra);
            exhibits.flat_map(|exhibit| exhibit.tables.clone())
        };
        Page {
            claims: self.judged.to_vec(),
            tables: tables(false)
                .chain((!self.remarks.is_empty()).then(|| self.remarks_table()))
                .chain(self.request.seeds.map(|seeds| self.seeds_table(seeds)))
                .chain(tables(true))
                .chain([metrics_table(&session.paper.metrics())])
                .collect(),
            figures,
            parameters: {
                let parameters = session.scenario.parameters().iter();
                parameters.filter(|parameter| !parameter.key.starts_with("readings.")).cloned().collect()
            },
            ..page
        }
    }

    fn seeds_table(&self, seeds: u32) -> page::Table {
        let row = |it: &Judged| {
            vec![it.id.clone(), it.verdict.to_string(), it.stays().unwrap_or_default(), it.under_others()]
        };
        let caption = format!(
            "Under how many of the seeds 1 to {seeds} each verdict of this run stays, and the seeds under which it is another."
        );
        let columns = ["claim", "verdict", "stays under", "another under"];
        let rows = self.judged.iter().map(row).collect();
        page::Table::new("seeds", "The verdicts under other seeds", caption, columns, rows)
    }

    fn remarks_table(&self) -> page::Table {
        let row = |remark: &Remark<P::Cell>| {
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                format!("{label}: {}", in_words(&self.estimate(quantity)))
            };
            let shown: Vec<String> = remark.shown.iter().map(shown).collect();
            said(remark).into_iter().chain([shown.join("; ")]).collect()
        };
        let caption = "Statements of the paper that no number here could contradict, with the numbers here.";
        let columns = ["id", "where", "the paper says", "not judged because", "ours"];
        let rows = self.remarks.iter().map(row).collect();
        page::Table::new("not-judged", "Sentences that are not judged", caption, columns, rows)
    }
}

fn said<C: DesignPoint>(remark: &Remark<C>) -> [String; 4] {
    [remark.id, remark.source, remark.statement, remark.why].map(str::to_owned)
}

/// Returns the metrics of a run as a table of the page: a row for each metric, and one for all that differ only in their index.
fn metrics_table<M: Metric>(metrics: &[M]) -> page::Table {
    let row = |same: &[M]| {
        let Declared { unit, text, signed, better, of_nothing, .. } = same[0].declared();
        let names = match same {
            [first, .., last] => format!("{first} … {last}"),
            _ => same[0].to_string(),
        };
        let better = better.map_or_else(String::new, |better| better.to_string());
        let of_nothing = if of_nothing.is_nan() { String::new() } else { of_nothing.to_string() };
        let signed = if signed { "yes" } else { "no" };
        vec![names, text.trim().to_owned(), unit.to_owned(), better, signed.to_owned(), of_nothing]
    };
    // Two metrics with an index may alternate in the list.
    let mut rows: Vec<Vec<M>> = Vec::new();
    for metric in metrics {
        let is_same = |row: &&mut Vec<M>| row[0].declared().field == metric.declared().field;
        match rows.iter_mut().find(is_same) {
            Some(row) => row.push(*metric),
            None => rows.push(vec![*metric]),
        }
    }
    let caption = "The metrics among the columns of runs.csv. Empty value: the value if no event could be counted; a gap if the \
                   value does not exist.";
    let columns = ["column", "definition", "unit", "better", "can be negative", "empty value"];
    page::Table::new("metrics", "Metrics of each run", caption, columns, rows.iter().map(|same| row(same)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::for_tests::Metric as Its;

    #[test]
    fn a_metric_has_a_row_and_those_of_an_index_share_one() {
        let table = metrics_table(&[Its::wait, Its::wait_of(2), Its::gain, Its::wait_of(4), Its::jobs]);
        let names: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["wait", "wait_2 … wait_4", "gain", "jobs"]);
        assert_eq!(table.rows[2][1..], ["Against another policy.", "%", "larger", "yes", ""]);
        assert_eq!(table.rows[3][1..], ["Jobs that ended.", "", "", "no", "0"]);
    }
}
