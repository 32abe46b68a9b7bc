//! `doubt`: which verdicts change under which reading.

use crate::cli::Doubt;
use crate::unless_missing;
use anyhow::Result;
use lab::cli::{Common, Ending, print};
use lab::doubt::{Outcome, Request};
use lab::registry::{Entry, find};
use lab::reproduce;
use lab::terminal::{print_styled, tell};

pub(crate) fn doubt(papers: &[Entry], options: &Doubt, common: &Common) -> Result<Ending> {
    let wanted = if options.slug == "all" { papers } else { std::slice::from_ref(find(papers, &options.slug)?) };
    let mut outcomes = Vec::new();
    for paper in wanted {
        let outcome = paper.doubt(&request(options, common, paper.about.slug));
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
                tell(&format!("{slug} {id} {}, but on record is: {recorded}", claim.told));
                ending = Ending::Differs;
            }
        }
    }
    Ok(ending)
}

fn request(options: &Doubt, common: &Common, slug: &str) -> Request {
    // Several papers into one folder: each gets its own below it.
    let out = options.out.as_ref().map(|out| if options.slug == "all" { out.join(slug) } else { out.clone() });
    Request {
        run: reproduce::Request {
            quick: options.quick,
            reps: options.reps,
            seed: options.seed,
            set: options.set.clone(),
            traces: options.traces.clone(),
            out,
            fresh: options.fresh,
            quiet: common.quiet,
            ..reproduce::Request::default()
        },
        readings: options.reading.clone(),
        product: options.product,
    }
}

/// A line for each claim, and where the report is.
fn lines(outcome: &Outcome, quiet: bool) -> String {
    let claims = outcome.claims.iter().filter(|_| !quiet);
    let mut text: String = claims.map(|claim| format!("{} {}\n", claim.judged.id, claim.told)).collect();
    text += &format!(
        "{}: {} of {} claims change their verdict under some of {} answers tried, from {} replications\n{}\n",
        outcome.about.slug,
        outcome.shaken(),
        outcome.claims.len(),
        outcome.tried,
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
                "told": claim.told,
                "flips": flips,
            })
        })
        .collect();
    serde_json::json!({ "paper": outcome.about.slug, "out": outcome.out, "answers": outcome.tried, "claims": claims })
}
