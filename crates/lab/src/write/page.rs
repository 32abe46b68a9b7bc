//! Content of the report page of a run.

use super::Findings;
use crate::claim::{Judged, Remark};
use crate::cli::program;
use crate::metric::{Declared, Metric};
use crate::page::{self, Page};
use crate::paper::{About, Paper, Reading};
use crate::quantity::Quantity;
use crate::scenario::Scenario;
use crate::seeds::Seeds;
use crate::study::run_id;
use crate::table::in_words;

impl<P: Paper> Findings<'_, P> {
    pub(super) fn page(&self, figures: Vec<page::Figure>) -> Page {
        let About { slug, title, citation, .. } = P::ABOUT;
        let program = program();
        let session = self.session;
        let mut notes = session.lead(self.request);
        if session.replications == 1 {
            notes.push("A single replication: no interval, so no verdict.".to_owned());
        }
        for parameter in session.scenario.parameters().iter().filter(|parameter| parameter.changed) {
            notes.push(format!("Not the paper's setting: {} = {}.", parameter.key, parameter.value));
        }
        notes.extend(session.paper.notes());
        let tables = |is_extra| {
            let exhibits = self.exhibits.iter().filter(move |exhibit| exhibit.is_extra == is_extra);
            exhibits.flat_map(|exhibit| exhibit.tables.clone())
        };
        Page {
            title: title.to_owned(),
            subtitle: citation.to_owned(),
            lead: Vec::new(),
            caveats: Vec::new(),
            notes,
            claims: self.judged.to_vec(),
            has_own_claims: false,
            sections: Vec::new(),
            tables: tables(false)
                .chain((!self.remarks.is_empty()).then(|| self.remarks_table()))
                .chain(self.seeds.map(|seeds| self.seeds_table(seeds)))
                .chain(tables(true))
                .chain([metrics_table(&session.paper.metrics())])
                .collect(),
            figures,
            readings: readings_of::<P>(&session.scenario),
            parameters: {
                let parameters = session.scenario.parameters().iter();
                parameters.filter(|parameter| !parameter.key.starts_with("readings.")).cloned().collect()
            },
            commands: [
                Some(("The same run".to_owned(), self.command())),
                Some(("Decide inconclusive claims".to_owned(), format!("{program} reproduce {slug} --decide"))),
                P::READINGS.get(1).or(P::READINGS.first()).and_then(|reading| {
                    let other = reading.answers.get(1)?;
                    let command = format!("{program} reproduce {slug} --set {}={other}", reading.key());
                    Some(("Another reading".to_owned(), command))
                }),
                Some((
                    "Run one replication again and print its metrics".to_owned(),
                    format!("{program} reproduce {slug} --run '{}'", self.first_run()),
                )),
            ]
            .into_iter()
            .flatten()
            .collect(),
            provenance: session.provenance(),
        }
    }

    fn first_run(&self) -> String {
        self.study
            .observations
            .rows()
            .next()
            .map_or_else(String::new, |(cell, i, _)| run_id(&self.session.paper, cell, i))
    }

    /// Returns the verdicts under other seeds as a table of the page.
    fn seeds_table(&self, seeds: &Seeds) -> page::Table {
        let row = |(judged, _): &(Judged, _)| {
            vec![judged.id.clone(), judged.verdict.to_string(), seeds.stays(judged), seeds.others(judged)]
        };
        let caption = format!(
            "Under how many of the seeds 1 to {} each verdict of this run stays, and the seeds under which it is another.",
            seeds.count()
        );
        let columns = ["claim", "verdict", "stays under", "another under"];
        let rows = self.judged.iter().map(row).collect();
        page::Table::new("seeds", "The verdicts under other seeds", caption, columns, rows)
    }

    /// Returns the sentences that are not judged as a table of the page.
    fn remarks_table(&self) -> page::Table {
        let row = |remark: &Remark<P::Cell>| {
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                format!("{label}: {}", in_words(&self.estimate(quantity)))
            };
            let shown: Vec<String> = remark.shown.iter().map(shown).collect();
            let said = [remark.id, remark.source, remark.statement, remark.why].map(str::to_owned);
            said.into_iter().chain([shown.join("; ")]).collect()
        };
        let caption = "Statements of the paper that no number here could contradict, with the numbers here.";
        let columns = ["id", "where", "the paper says", "not judged because", "ours"];
        let rows = self.remarks.iter().map(row).collect();
        page::Table::new("not-judged", "Sentences that are not judged", caption, columns, rows)
    }
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

/// Returns the readings of a paper with the answers taken.
pub(crate) fn readings_of<P: Paper>(scenario: &Scenario) -> Vec<(Reading, String)> {
    P::READINGS.iter().map(|reading| (*reading, scenario.answer(reading).to_owned())).collect()
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
