//! Output files of `doubt`: `doubt.csv`, the matrix, a page and the manifest.

use super::{Alternative, Doubted, Outcome, Request};
use crate::chart::{Picture, Piece, Sketch, WIDTH};
use crate::measure::claim::Verdict;
use crate::measure::table::csv;
use crate::output::OutDir;
use crate::output::store::Store;
use crate::paper::{Paper, Reading};
use crate::report::page::{self, Page};
use crate::report::shown::write_picture;
use crate::run::cli::program;
use crate::study::{self, Session};
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
    let picture = Picture::from(matrix(outcome, alternatives));
    write_picture(&picture, &out)?;
    let command = command::<P>(request);
    out.write("report.html", page::render(&page(outcome, session, request, picture, &command))?)?;
    let Request { run: study::Request { quick, set, .. }, readings, product } = request;
    let options = json!({ "quick": quick, "readings": readings, "product": product, "set": set });
    let timings = json!({ "replications_damaged": store.damaged });
    let mut manifest = session.manifest(options, &command, timings);
    manifest["answers"] = outcome.tried.into();
    out.finish(manifest)
}

/// Returns `doubt.csv`: a row for each claim and each answer, the scenario's own included, in the order of claims and readings; pairs last.
fn table<P: Paper>(outcome: &Outcome, session: &Session<P>, alternatives: &[Alternative]) -> Result<Vec<u8>> {
    let is_doubted =
        |reading: &&Reading| alternatives.iter().filter_map(Alternative::single).any(|it| it.0 == **reading);
    let own = |reading: &Reading| Alternative(vec![(*reading, session.scenario.answer(reading).to_owned())]);
    // The answers to a reading are in the order in which the paper lists them.
    let order = |(it, _): &(Alternative, Verdict)| {
        let place = |(reading, answer): &(Reading, String)| {
            let place = P::READINGS.iter().position(|known| known == reading);
            (place, reading.answers.iter().position(|known| known == answer))
        };
        (it.single().is_none(), it.single().map(place))
    };
    let mut rows = Vec::new();
    for Doubted { judged, under, .. } in &outcome.claims {
        let own = P::READINGS.iter().filter(is_doubted).map(|reading| (own(reading), judged.verdict));
        let mut tried: Vec<(Alternative, Verdict)> = own.chain(under.iter().cloned()).collect();
        tried.sort_by_key(order);
        for (alternative, verdict) in &tried {
            let (recorded, flips) = (judged.recorded.as_deref().unwrap_or(""), *verdict != judged.verdict);
            let flips = if flips { "yes" } else { "no" };
            let [reading, field, answer] = alternative.columns();
            rows.push(
                [&judged.id, &reading, &field, &answer, &verdict.to_string(), recorded, flips].map(str::to_owned),
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
    let mut page = session.page(&request.run, command);
    page.notes.push(format!(
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
        claims: outcome.claims.iter().map(|claim| claim.judged.clone()).collect(),
        figures: vec![page::Figure::new(picture, caption, "doubt.csv")],
        tables: vec![sentences(outcome), answers(P::READINGS)],
        ..page
    }
}

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

/// Height of a row and width of a column, in CSS pixels.
const ROW: f64 = 17.0;
const COLUMN: f64 = 22.0;
/// Gap between the columns of two readings.
const GAP: f64 = 8.0;
/// Position of the first column and the first row.
const LEFT: f64 = 110.0;
const TOP: f64 = 84.0;

/// Returns the letter and the colour slot of a verdict.
const fn look(verdict: Verdict) -> (&'static str, usize) {
    match verdict {
        Verdict::Reproduced => ("R", 2),
        Verdict::Consistent => ("=", 2),
        Verdict::Contradicted => ("C", 1),
        Verdict::Inconsistent => ("≠", 1),
        Verdict::Inconclusive => ("?", 4),
    }
}

/// Returns `a` for the first answer to a reading, `b` for the second, and so on.
fn letter(reading: &Reading, answer: &str) -> String {
    let place = reading.answers.iter().position(|known| *known == answer);
    place.and_then(|place| ('a'..='z').nth(place)).map_or_else(String::new, String::from)
}

/// Draws a row for each claim: its verdict under the scenario's own answers, and a box for each other single answer, empty if it is the same.
fn matrix(outcome: &Outcome, alternatives: &[Alternative]) -> Sketch {
    let shown: Vec<&(Reading, String)> = alternatives.iter().filter_map(Alternative::single).collect();
    let word = |x: f64, y: f64, text: &str| (Piece::Words { at: (x, y), text: text.to_owned(), size: 10.5 }, None);
    let frame = |x: f64, y: f64, verdict: Option<Verdict>| {
        let (sign, slot) = verdict.map(look).unzip();
        let lines = sign.into_iter().map(str::to_owned).collect();
        (Piece::Box { centre: (x, y), size: (COLUMN - 3.0, ROW - 3.0), lines }, slot)
    };
    let mut pieces = Vec::new();
    let (mut x, mut y) = (LEFT, TOP);
    let mut columns: Vec<f64> = Vec::new();
    pieces.push(word(LEFT - 46.0, TOP - 14.0, "own"));
    for (i, (reading, answer)) in shown.iter().enumerate() {
        if i == 0 || shown[i - 1].0.id != reading.id {
            x += if i == 0 { 0.0 } else { GAP };
            pieces.push(word(x - COLUMN / 2.0, TOP - 27.0, reading.id));
        }
        pieces.push(word(x - 3.0, TOP - 14.0, &letter(reading, answer)));
        columns.push(x);
        x += COLUMN;
    }
    for claim in &outcome.claims {
        pieces.push(word(16.0, y + 4.0, &claim.judged.id));
        pieces.push(frame(LEFT - 36.0, y, Some(claim.judged.verdict)));
        for (answer, x) in shown.iter().zip(&columns) {
            let flip = claim.flips().find(|(its, _)| its.single() == Some(answer));
            pieces.push(frame(*x, y, flip.map(|(_, verdict)| *verdict)));
        }
        y += ROW;
    }
    let bottom = y + 12.0;
    let legend =
        "R reproduced, C contradicted, ? inconclusive; own: under the scenario's own answers; empty: the same verdict";
    pieces.push(word(16.0, bottom, legend));
    Sketch {
        id: "doubt".to_owned(),
        title: format!("Verdicts of {} under other answers to its readings", outcome.about.slug),
        about: format!(
            "A row for each of {} claims and a column for each of {} other answers; a box is filled where the verdict is another.",
            outcome.claims.len(),
            shown.len()
        ),
        pieces,
        size: Some((f64::max(x + 16.0, WIDTH), bottom + 18.0)),
    }
}

fn answers(readings: &[Reading]) -> page::Table {
    let row = |reading: &Reading| {
        let answers = reading.answers.iter().map(|answer| format!("{}: {answer}", letter(reading, answer)));
        let answers = answers.collect::<Vec<_>>().join("; ");
        vec![reading.id.to_owned(), format!("readings.{}", reading.field), reading.question.to_owned(), answers]
    };
    let columns = ["id", "parameter", "the question", "answers"];
    let (title, caption) = ("The readings and their answers", "The first answer, a, is the default.");
    page::Table::new("answers", title, caption, columns, readings.iter().map(row).collect())
}
