//! What is printed for people to read: the papers, and the verdicts of a run.

use anyhow::Result;
use lab::cli::{Common, Ending, print};
use lab::registry::Entry;
use lab::reproduce::Outcome;
use lab::verdict::Verdict;
use std::fmt::Write;
use std::io::IsTerminal;

/// `cargo xtask list`.
pub(crate) fn list(papers: &[Entry], common: &Common) -> Result<Ending> {
    let papers: Vec<_> = papers.iter().map(Entry::listed).collect::<Result<_>>()?;
    if common.json {
        let papers: Vec<_> = papers
            .iter()
            .map(|paper| {
                serde_json::json!({
                    "slug": paper.about.slug,
                    "title": paper.about.title,
                    "citation": paper.about.citation,
                    "crate": paper.about.package,
                    "figures": paper.figures,
                    "claims": paper.claims,
                })
            })
            .collect();
        print(&format!("{:#}\n", serde_json::Value::from(papers)));
        return Ok(Ending::Done);
    }
    for paper in papers {
        print(&format!(
            "{}\n  {}\n  {}\n  {}\n  crate    {}\n  figures  {}\n  claims   {}\n",
            paper.about.slug,
            paper.about.title,
            paper.about.citation,
            paper.about.subject,
            paper.about.package,
            paper.figures.join(" "),
            paper.claims.join(" ")
        ));
    }
    Ok(Ending::Done)
}

/// The verdicts of a run, one claim a line, and where the report is.
pub(crate) fn verdicts(outcome: &Outcome, quiet: bool) -> String {
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut text = String::new();
    if !quiet {
        for (judged, recorded) in &outcome.judged {
            let (sign, colour) = match judged.verdict {
                Verdict::Reproduced => ("✓", "32"),
                Verdict::Inconclusive => ("?", "33"),
                Verdict::Contradicted => ("✗", "31"),
            };
            let sign = if colours { format!("\x1b[{colour}m{sign}\x1b[0m") } else { sign.to_owned() };
            let words = judged.in_words();
            let _ = write!(text, "{sign} {:4} {words:12}  {}", judged.id, judged.statement);
            if judged.verdict != Verdict::Reproduced {
                let cell = judged.deciding_cell();
                let observed = cell.observed();
                let _ = write!(text, "\n         {}: expected {}, observed {observed}", cell.label, cell.rule);
            }
            if let Some(recorded) = recorded.as_deref().filter(|recorded| *recorded != words) {
                let _ = write!(text, "\n         on record: {recorded}");
            }
            text.push('\n');
        }
    }
    let _ = writeln!(
        text,
        "{}: {} reproduced, {} contradicted, {} inconclusive, from {} replications\n{}",
        outcome.about.slug,
        outcome.count(Verdict::Reproduced),
        outcome.count(Verdict::Contradicted),
        outcome.count(Verdict::Inconclusive),
        outcome.replications,
        outcome.out.join("report.html").display()
    );
    text
}

/// The same for programs.
pub(crate) fn verdicts_as_json(outcome: &Outcome) -> serde_json::Value {
    let claims: Vec<_> = outcome
        .judged
        .iter()
        .map(|(judged, recorded)| {
            let cell = judged.deciding_cell();
            serde_json::json!({
                "id": judged.id,
                "verdict": judged.verdict,
                "replications": judged.decided_at.unwrap_or(outcome.replications),
                "recorded": recorded,
                "cell": cell.label,
                "expected": cell.rule.to_string(),
                "observed": cell.estimate.mean,
                "ci_low": cell.estimate.low,
                "ci_high": cell.estimate.high,
            })
        })
        .collect();
    serde_json::json!({ "paper": outcome.about.slug, "out": outcome.out, "claims": claims })
}
