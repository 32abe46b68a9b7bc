//! Printed lists: the papers, and the verdicts of a run.

use anyhow::Result;
use lab::claim::Verdict;
use lab::cli::{Common, Ending, print};
use lab::registry::Entry;
use lab::reproduce::Outcome;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::IsTerminal;

pub(crate) fn list(papers: &[Entry], common: &Common) -> Result<Ending> {
    let papers: Vec<_> = papers.iter().map(|paper| Ok((paper.about, (paper.listed)()?))).collect::<Result<_>>()?;
    if common.json {
        let papers = papers.iter().map(|(about, paper)| {
            json!({
                "slug": about.slug,
                "title": about.title,
                "citation": about.citation,
                "crate": about.package,
                "figures": paper.figures,
                "claims": paper.claims,
                "not_judged": paper.remarks,
            })
        });
        print(&format!("{:#}\n", papers.collect::<Value>()));
        return Ok(Ending::Done);
    }
    for (about, paper) in papers {
        print(&format!(
            "{}\n  {}\n  {}\n  {}\n  crate    {}\n  figures  {}\n  claims   {}\n",
            about.slug,
            about.title,
            about.citation,
            about.subject,
            about.package,
            paper.figures.join(" "),
            paper.claims.join(" ")
        ));
        if !paper.remarks.is_empty() {
            print(&format!("  not judged {}\n", paper.remarks.join(" ")));
        }
    }
    Ok(Ending::Done)
}

/// The verdicts of a run, one line per claim, and the path of the report.
pub(crate) fn verdicts(outcome: &Outcome, quiet: bool) -> String {
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut text = String::new();
    if !quiet {
        for judged in &outcome.judged {
            let (sign, colour) = match judged.verdict {
                Verdict::Reproduced => ("✓", "32"),
                Verdict::Inconclusive => ("?", "33"),
                Verdict::Contradicted => ("✗", "31"),
                Verdict::Consistent => ("=", "0"),
                Verdict::Inconsistent => ("≠", "31"),
            };
            let sign = if colours { format!("\x1b[{colour}m{sign}\x1b[0m") } else { sign.to_owned() };
            let words = judged.in_words();
            let _ = write!(text, "{sign} {:4} {words:12}  {}", judged.id, judged.statement);
            if !matches!(judged.verdict, Verdict::Reproduced | Verdict::Consistent) {
                let cell = judged.deciding_cell();
                let observed = cell.observed();
                let _ = write!(text, "\n         {}: expected {}, observed {observed}", cell.label, cell.expected());
            }
            if let Some(stays) = judged.stays() {
                let others = judged.under_others();
                let others = if others.is_empty() { others } else { format!("; {others}") };
                let _ = write!(text, "\n         stays under {stays} seeds{others}");
            }
            if let Some(recorded) = judged.recorded.as_deref().filter(|recorded| *recorded != words) {
                let _ = write!(text, "\n         on record: {recorded}");
            }
            text.push('\n');
        }
        for (id, statement, why) in &outcome.remarks {
            let _ = writeln!(text, "· {id:4} {:12}  {statement}\n         {why}", "not judged");
        }
    }
    let checks = Verdict::OF_CHECKS.map(|verdict| (outcome.count(verdict), verdict));
    let checks: String = checks
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("; {count} check of printed numbers {verdict}"))
        .collect();
    let _ = writeln!(
        text,
        "{}: {} reproduced, {} contradicted, {} inconclusive{checks}, from {} replications\n{}",
        outcome.about.slug,
        outcome.count(Verdict::Reproduced),
        outcome.count(Verdict::Contradicted),
        outcome.count(Verdict::Inconclusive),
        outcome.replications,
        outcome.out.join("report.html").display()
    );
    text
}

pub(crate) fn verdicts_as_json(outcome: &Outcome) -> Value {
    let claims = outcome.judged.iter().map(|judged| {
        let cell = judged.deciding_cell();
        json!({
            "id": judged.id,
            "verdict": judged.verdict,
            "replications": judged.replications(outcome.replications),
            "recorded": judged.recorded,
            "cell": cell.label,
            "expected": cell.expected(),
            "observed": cell.estimate.mean,
            "ci_low": cell.estimate.low,
            "ci_high": cell.estimate.high,
            "stays": judged.stays(),
        })
    });
    let claims: Value = claims.collect();
    let remarks: Vec<_> = outcome.remarks.iter().map(|(id, ..)| id).collect();
    json!({ "paper": outcome.about.slug, "out": outcome.out, "claims": claims, "not_judged": remarks })
}
