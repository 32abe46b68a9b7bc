//! `cargo xtask workload validate`: every anomaly of a log, line by line.

use super::cli::Validate;
use super::source::{failed, swf};
use super::words::counted;
use crate::units::aligned;
use crate::units::count;
use anyhow::{Result, anyhow, bail};
use lab::cli::{Common, Ending, print};
use std::io::IsTerminal;
use workload::validate::{Anomaly, AnomalyCount, Contradiction, Finding};
use workload::{InputError, Rule, Validation};

/// Size of the pieces in which text is printed.
const PIECE: usize = 1 << 16;

pub(super) fn validate(options: &Validate, common: &Common) -> Result<Ending> {
    // A bar and a list cannot share a terminal.
    let quiet = common.quiet || std::io::stdout().is_terminal();
    let records = swf(&options.file, "validate", quiet)?;
    let header = records.header();
    let whole_log = match (options.machine.procs, header.max_procs, header.max_nodes) {
        (Some(_), ..) | (None, Some(_), _) => None,
        (None, None, Some(_)) => Some(Rule::CapacityFromNodes.description()),
        (None, None, None) => Some("no MaxProcs or MaxNodes in the header: a simulation needs --procs or --machines"),
    };
    let capacity = options.machine.procs.or(header.max_procs).or(header.max_nodes);

    let limit = if options.summary { 0 } else { options.limit.unwrap_or(u64::MAX) };
    let name = options.file.display();
    let (mut kinds, mut listed, mut text): (Vec<AnomalyCount>, Vec<serde_json::Value>, String) = Default::default();
    let (mut found, mut unreadable): (u64, Option<(u64, InputError)>) = (0, None);
    for finding in Validation::new(records, capacity) {
        found += 1;
        AnomalyCount::add(&mut kinds, &finding);
        if found <= limit {
            if common.json {
                listed.push(as_json(&finding));
            } else {
                // The message about an unreadable file contains its name.
                let place =
                    if matches!(finding.anomaly, Anomaly::Unreadable(_)) { String::new() } else { format!("{name}:") };
                text += &format!("{place}{finding}\n");
                if text.len() > PIECE {
                    print(&std::mem::take(&mut text));
                }
            }
        }
        if let Anomaly::Unreadable(error) = finding.anomaly {
            let first = unreadable.map_or(finding.line, |(first, _)| first);
            unreadable = Some((first, error));
        }
    }
    if let Some((_, error)) = unreadable.take_if(|(_, error)| error.is_io()) {
        bail!(failed(error));
    }

    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    if common.json {
        let kind = |kind: &AnomalyCount| {
            let AnomalyCount { name, description, count, first_line } = *kind;
            let simulation = consequence(name);
            serde_json::json!({
                "name": name, "count": count, "first_line": first_line, "what": description, "simulation": simulation,
            })
        };
        let answer = serde_json::json!({
            "file": options.file,
            "readable": unreadable.is_none(),
            "anomalies": found,
            "log": whole_log,
            "kinds": kinds.iter().map(kind).collect::<Vec<_>>(),
            "findings": listed,
        });
        print(&format!("{answer:#}\n"));
    } else {
        print(&(text + &summary(found, limit, &kinds, whole_log)));
    }
    match unreadable {
        None => Ok(Ending::Done),
        Some((first, _)) => {
            let lines = kinds.iter().find(|kind| kind.name == UNREADABLE).map_or(0, |kind| kind.count);
            Err(anyhow!(
                "{name}: {} cannot be read, the first of them line {first}; mend or delete it",
                counted(lines, "line")
            ))
        }
    }
}

const UNREADABLE: &str = "unreadable";

/// Action of a simulation on an anomaly of that name.
fn consequence(anomaly: &str) -> &'static str {
    let rule = Rule::ALL.into_iter().find(|rule| rule.name() == anomaly);
    let contradiction = Contradiction::ALL.into_iter().find(|contradiction| contradiction.name() == anomaly);
    match (rule, contradiction) {
        (Some(rule), _) => match rule {
            Rule::NoSubmit | Rule::NoRuntime | Rule::NoProcessors => "skips the job",
            Rule::ProcessorsFromRequest => "uses the processors requested",
            Rule::EstimateFromRuntime => "uses the run time as estimate",
            Rule::CutAtEstimate => "cuts the job at its requested time",
            Rule::SubmitOutOfOrder => "submits it together with the job before",
            Rule::WiderThanMachine => "rejects the job",
            Rule::CapacityFromNodes => "takes a node for a processor",
        },
        (None, Some(contradiction)) => match contradiction {
            Contradiction::NumberNotAscending => "keeps the order of the lines",
            Contradiction::ProcessorsDiffer => "uses the processors allocated",
            Contradiction::MoreCpuTimeThanRunTime => "takes no notice: CPU times are not used",
            Contradiction::MoreMemoryThanRequested => "takes no notice: memory is not used",
            Contradiction::CompletedWithoutRunning => "skips the job",
            Contradiction::WaitUnknown => "takes no notice: waits are not used",
            Contradiction::UserUnknown => "takes no notice, unless run times are predicted",
            Contradiction::PrecedingJobNotBefore => "takes no notice: jobs do not wait for others",
        },
        (None, None) => "refuses the log",
    }
}

fn as_json(finding: &Finding) -> serde_json::Value {
    let what = match &finding.anomaly {
        Anomaly::Unreadable(error) => error.to_string(),
        anomaly => anomaly.description().to_owned(),
    };
    serde_json::json!({ "line": finding.line, "job": finding.job, "name": finding.anomaly.name(), "what": what })
}

fn summary(found: u64, limit: u64, kinds: &[AnomalyCount], whole_log: Option<&str>) -> String {
    let mut text = String::new();
    if limit > 0 && found > 0 {
        if found > limit {
            text += &format!("… and {} more\n", count(found - limit));
        }
        text.push('\n');
    }
    if found > 0 {
        let mut rows = vec![["anomaly", "records", "first line"].map(str::to_owned).to_vec()];
        rows.extend(
            kinds.iter().map(|kind| vec![kind.name.to_owned(), count(kind.count), kind.first_line.to_string()]),
        );
        // The last column is a sentence, and is aligned to the left.
        let said = std::iter::once("a simulation").chain(kinds.iter().map(|kind| consequence(kind.name)));
        text.extend(aligned(&rows).lines().zip(said).map(|(row, said)| format!("{row}  {said}\n")));
    } else {
        text += "no anomaly\n";
    }
    if let Some(whole_log) = whole_log {
        text += &format!("the log as a whole: {whole_log}\n");
    }
    text
}
