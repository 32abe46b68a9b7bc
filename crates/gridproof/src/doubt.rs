//! `sensitivity`: the verdicts that change under alternative readings.

use crate::cli::Doubt;
use crate::{of_each, requested};
use anyhow::Result;
use lab::cli::{Common, Ending};
use lab::doubt::{Outcome, Request};
use lab::registry::Entry;
use lab::terminal::tell;
use serde_json::{Value, json};

pub(crate) fn doubt(papers: &[Entry], options: &Doubt, common: &Common) -> Result<Ending> {
    let Doubt { slug, run, check, reading, product } = options;
    let doubt = |paper: &Entry, run| (paper.doubt)(&Request { run, readings: reading.clone(), product: *product });
    let outcomes = of_each(requested(papers, slug, run, common)?, common, doubt, lines, as_json)?;
    let mut ending = Ending::Done;
    for outcome in outcomes.iter().filter(|_| *check) {
        for (claim, recorded) in outcome.surprises() {
            let (slug, id) = (outcome.about.slug, claim.judged.id.as_str());
            tell(&format!("{slug} {id} {}, but on record is: {recorded}", claim.sentence));
            ending = Ending::Differs;
        }
    }
    Ok(ending)
}

/// A line for each claim, by effect, and the path of the report.
fn lines(outcome: &Outcome, quiet: bool) -> String {
    let claims = outcome.by_effect().into_iter().filter(|_| !quiet);
    let mut text: String = claims.map(|claim| format!("{} {}\n", claim.judged.id, claim.sentence)).collect();
    text += &format!(
        "{}: {} of {} claims change their verdict under some of {} alternative readings ({} reversed, the others to or from \
         inconclusive, which noise can do), from {} replications\n{}\n",
        outcome.about.slug,
        outcome.shaken(),
        outcome.claims.len(),
        outcome.tried,
        outcome.reversed(),
        outcome.replications,
        outcome.out.join("report.html").display()
    );
    text
}

fn as_json(outcome: &Outcome) -> Value {
    let claims = outcome.claims.iter().map(|claim| {
        let flips = claim.flips().map(|(alternative, verdict)| {
            let [reading, field, answer] = alternative.columns();
            json!({ "reading": reading, "field": field, "answer": answer, "verdict": verdict })
        });
        json!({
            "id": claim.judged.id,
            "verdict": claim.judged.verdict,
            "recorded": claim.judged.recorded,
            "sentence": claim.sentence,
            "flips": flips.collect::<Value>(),
        })
    });
    let claims: Value = claims.collect();
    json!({ "paper": outcome.about.slug, "out": outcome.out, "answers": outcome.tried, "claims": claims })
}
