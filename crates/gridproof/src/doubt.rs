//! `sensitivity`: the verdicts that change under alternative readings.

use crate::cli::Doubt;
use crate::unless_missing;
use anyhow::Result;
use lab::cli::{Common, Ending, print};
use lab::doubt::{Outcome, Request};
use lab::registry::Entry;
use lab::terminal::{print_styled, tell};

pub(crate) fn doubt(papers: &[Entry], options: &Doubt, common: &Common) -> Result<Ending> {
    let mut outcomes = Vec::new();
    for paper in options.papers.among(papers)? {
        let run = options.papers.request(common, paper.about.slug);
        let (readings, product) = (options.reading.clone(), options.product);
        let outcome = paper.doubt(&Request { run, readings, product });
        let Some(outcome) = unless_missing(paper.about.slug, outcome)? else { continue };
        if !common.json {
            print_styled(&lines(&outcome, common.quiet));
        }
        outcomes.push(outcome);
    }
    if common.json {
        let all: Vec<_> = outcomes.iter().map(as_json).collect();
        print(&format!("{:#}\n", serde_json::Value::from(all)));
    }
    let mut ending = Ending::Done;
    if options.check {
        for outcome in &outcomes {
            for (claim, recorded) in outcome.surprises() {
                let (slug, id) = (outcome.about.slug, claim.judged.id.as_str());
                tell(&format!("{slug} {id} {}, but on record is: {recorded}", claim.sentence));
                ending = Ending::Differs;
            }
        }
    }
    Ok(ending)
}

/// A line for each claim, by effect, and the path of the report.
fn lines(outcome: &Outcome, quiet: bool) -> String {
    let claims = outcome.by_effect().into_iter().filter(|_| !quiet);
    let mut text: String = claims.map(|claim| format!("{} {}\n", claim.judged.id, claim.sentence)).collect();
    text += &format!(
        "{}: {} of {} claims change their verdict under some of {} answers tried ({} reversed, the others to or from \
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

/// The same for programs.
fn as_json(outcome: &Outcome) -> serde_json::Value {
    let claims: Vec<_> = outcome
        .claims
        .iter()
        .map(|claim| {
            let flips: Vec<_> = claim
                .flips()
                .map(|(alternative, verdict)| {
                    serde_json::json!({
                        "reading": alternative.reading,
                        "field": alternative.field,
                        "answer": alternative.answer,
                        "verdict": verdict,
                    })
                })
                .collect();
            serde_json::json!({
                "id": claim.judged.id,
                "verdict": claim.judged.verdict,
                "recorded": claim.recorded,
                "sentence": claim.sentence,
                "flips": flips,
            })
        })
        .collect();
    serde_json::json!({ "paper": outcome.about.slug, "out": outcome.out, "answers": outcome.tried, "claims": claims })
}
