//! Output files of `doubt`: `doubt.csv`, the matrix, a page and the manifest.

use super::alternative::Alternative;
use super::{Doubted, Outcome, Request, matrix};
use crate::chart::Picture;
use crate::cli::program;
use crate::output::OutDir;
use crate::page::{self, Page};
use crate::paper::{Paper, Reading};
use crate::session::{self, Session};
use crate::shown::write_picture;
use crate::store::Store;
use crate::table::csv;
use crate::verdict::Verdict;
use crate::write::readings_of;
use anyhow::Result;
use serde_json::json;

pub(super) fn write<P: Paper>(
    outcome: &Outcome,
    session: &Session<P>,
    request: &Request,
    alternatives: &[Alternative],
    out: OutDir,
    store: &Store,
) -> Result<()> {
    out.write("doubt.csv", table(outcome, session, alternatives)?)?;
    let picture = Picture::from(matrix::picture(outcome, P::READINGS, alternatives));
    write_picture(&picture, &out)?;
    let command = command::<P>(request);
    out.write("report.html", page::render(&page(outcome, session, request, picture, &command))?)?;
    let session::Request { quick, set, .. } = &request.run;
    let Request { readings, product, .. } = request;
    let options = json!({ "quick": quick, "readings": readings, "product": product, "set": set });
    let timings = json!({ "replications_damaged": store.damaged });
    let mut manifest = session.manifest(options, &command, timings);
    manifest["answers"] = outcome.tried.into();
    out.finish(manifest)
}

/// Returns `doubt.csv`: a row for each claim and each answer, including the scenario's own, in the order of the claims and of the readings;
/// pairs come last.
fn table<P: Paper>(outcome: &Outcome, session: &Session<P>, alternatives: &[Alternative]) -> Result<Vec<u8>> {
    let readings: &[Reading] = P::READINGS;
    // Each reading's answers in the order in which the paper lists them, the scenario's own in its place.
    let mut tried: Vec<Alternative> = Vec::new();
    for (place, reading) in readings.iter().enumerate() {
        let of_it = |alternative: &&Alternative| alternative.places == [place];
        if alternatives.iter().any(|alternative| of_it(&alternative)) {
            let own = session.scenario.answer(reading);
            let listed = reading.answers.iter().copied();
            let unlisted = (!reading.answers.contains(&own)).then_some(own);
            tried.extend(unlisted.into_iter().chain(listed).map(|answer| Alternative::one(readings, place, answer)));
        }
    }
    tried.extend(alternatives.iter().filter(|alternative| alternative.places.len() > 1).cloned());
    let mut rows = Vec::new();
    for claim in &outcome.claims {
        for alternative in &tried {
            let verdict = match claim.under.iter().find(|(its, _)| its == alternative) {
                Some((_, verdict)) => *verdict,
                None if alternatives.contains(alternative) => continue,
                None => claim.judged.verdict,
            };
            let Alternative { reading, field, answer, .. } = alternative;
            let (recorded, flips) = (claim.recorded.as_deref().unwrap_or(""), verdict != claim.judged.verdict);
            let flips = if flips { "yes" } else { "no" };
            rows.push(
                [&claim.judged.id, reading, field, answer, &verdict.to_string(), recorded, flips].map(str::to_owned),
            );
        }
    }
    csv(["claim", "reading", "field", "answer", "verdict", "recorded", "flips"], rows)
}

/// Returns the command that repeats this run. Options that cannot change a result are left out.
fn command<P: Paper>(request: &Request) -> String {
    let mut command = format!("{} doubt {}", program(), P::ABOUT.slug);
    if !request.readings.is_empty() {
        command += &format!(" --reading {}", request.readings.join(","));
    }
    if request.product {
        command += " --product";
    }
    command + &request.run.options()
}

fn page<P: Paper>(outcome: &Outcome, session: &Session<P>, request: &Request, picture: Picture, command: &str) -> Page {
    let mut notes = session.lead(&request.run);
    notes.push(format!(
        "{} other answers were tried, {}; {} of {} claims change their verdict under some.",
        outcome.tried,
        if request.product { "one and two readings at a time" } else { "one reading at a time" },
        outcome.shaken(),
        outcome.claims.len()
    ));
    let caption =
        "A verdict that an answer changes is written into its box. The letters are those of the table of answers.";
    Page {
        title: format!("Doubt: {}", P::ABOUT.title),
        subtitle: P::ABOUT.citation.to_owned(),
        notes,
        claims: outcome.claims.iter().map(|claim| (claim.judged.clone(), claim.recorded.clone())).collect(),
        figures: vec![page::Figure::new(picture, caption, "doubt.csv")],
        tables: vec![sentences(outcome), matrix::answers(P::READINGS)],
        readings: readings_of::<P>(&session.scenario),
        commands: vec![("The same run".to_owned(), command.to_owned())],
        provenance: session.provenance(),
        ..Page::default()
    }
}

/// Returns a table with a row for each claim.
fn sentences(outcome: &Outcome) -> page::Table {
    let row = |claim: &Doubted| {
        let counts =
            Verdict::ALL.map(|verdict| claim.under.iter().filter(|(_, its)| *its == verdict).count().to_string());
        let words = [claim.judged.id.clone(), claim.judged.statement.clone(), claim.sentence.clone()];
        words.into_iter().chain(counts).collect()
    };
    let caption = "Claims by effect, and in how many of the runs with another answer each has each verdict.";
    let columns = ["claim", "the paper says", "it", "reproduced", "contradicted", "inconclusive"];
    let rows = outcome.by_effect().into_iter().map(row).collect();
    page::Table::new("doubt-lines", "Verdict of each claim under other readings", caption, columns, rows)
}
