//! Claims × answers as a picture, and the answers as a table.

use super::Outcome;
use super::alternative::Alternative;
use crate::chart::{Piece, Sketch};
use crate::page;
use crate::paper::Reading;
use crate::verdict::Verdict;

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

/// Draws a row for each claim: its verdict under the scenario's own answers, and a box for each other answer, empty if the verdict is the
/// same. Pairs are only in `doubt.csv`.
pub(super) fn picture(outcome: &Outcome, readings: &[Reading], alternatives: &[Alternative]) -> Sketch {
    let shown: Vec<&Alternative> = alternatives.iter().filter(|alternative| alternative.places.len() == 1).collect();
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
    for (i, alternative) in shown.iter().enumerate() {
        if i == 0 || shown[i - 1].reading != alternative.reading {
            x += if i == 0 { 0.0 } else { GAP };
            pieces.push(word(x - COLUMN / 2.0, TOP - 27.0, &alternative.reading));
        }
        pieces.push(word(x - 3.0, TOP - 14.0, &letter(&readings[alternative.places[0]], &alternative.answer)));
        columns.push(x);
        x += COLUMN;
    }
    for claim in &outcome.claims {
        pieces.push(word(16.0, y + 4.0, &claim.judged.id));
        pieces.push(frame(LEFT - 36.0, y, Some(claim.judged.verdict)));
        for (alternative, x) in shown.iter().zip(&columns) {
            pieces.push(frame(*x, y, claim.flips().find(|(its, _)| its == *alternative).map(|(_, verdict)| *verdict)));
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
        size: Some((f64::max(x + 16.0, crate::chart::WIDTH), bottom + 18.0)),
    }
}

/// Lists the answers by letter.
pub(super) fn answers(readings: &[Reading]) -> page::Table {
    let row = |reading: &Reading| {
        let answers = reading.answers.iter().map(|answer| format!("{}: {answer}", letter(reading, answer)));
        let answers = answers.collect::<Vec<_>>().join("; ");
        vec![reading.id.to_owned(), format!("readings.{}", reading.field), reading.question.to_owned(), answers]
    };
    let columns = ["id", "parameter", "the question", "answers"];
    let (title, caption) = ("The readings and their answers", "The first answer, a, is the default.");
    page::Table::new("answers", title, caption, columns, readings.iter().map(row).collect())
}
