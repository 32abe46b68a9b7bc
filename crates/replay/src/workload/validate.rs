//! `cargo xtask workload validate`: every anomaly of a log, line by line.

use super::cli::Validate;
use super::io::{failed, swf};
use super::words::counted;
use anyhow::{Result, bail};
use lab::cli::{Common, Ending, print};
use lab::units::{aligned, count, repair};
use std::io::IsTerminal;
use workload::repair::Repair;
use workload::validate::Finding;
use workload::{InputError, Repairs, Rule, Validation};

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
    let (mut kinds, mut listed, mut text): (Repairs, Vec<serde_json::Value>, String) = Default::default();
    let (mut found, mut unreadable): (u64, Option<InputError>) = (0, None);
    for finding in Validation::new(records, capacity) {
        found += 1;
        kinds.note(finding.rule, Some(finding.line));
        if found <= limit {
            if common.json {
                listed.push(as_json(&finding));
            } else {
                // The message about an unreadable file contains its name.
                let place = if finding.error.is_some() { String::new() } else { format!("{name}:") };
                text += &format!("{place}{finding}\n");
                if text.len() > PIECE {
                    print(&std::mem::take(&mut text));
                }
            }
        }
        unreadable = finding.error.or(unreadable);
    }
    if let Some(error) = unreadable.take_if(|error| error.is_io()) {
        bail!(failed(error));
    }

    let mut kinds: Vec<Repair> = kinds.iter().collect();
    kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.count), kind.first_line));
    if common.json {
        let kind = |kind: &Repair| {
            let Repair { rule, count, first_line } = *kind;
            let (name, what, simulation) = (rule.name(), rule.description(), consequence(rule));
            serde_json::json!({
                "name": name, "count": count, "first_line": first_line, "what": what, "simulation": simulation,
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
    if let Some(Repair { count, first_line, .. }) = kinds.iter().find(|kind| kind.rule == Rule::Unreadable) {
        let (lines, first) = (counted(*count, "line"), first_line.unwrap_or_default());
        bail!("{name}: {lines} cannot be read, the first of them line {first}; mend or delete it");
    }
    Ok(Ending::Done)
}

/// Action of a simulation on an anomaly.
const fn consequence(anomaly: Rule) -> &'static str {
    match anomaly {
        Rule::NoSubmit | Rule::NoRuntime | Rule::NoProcessors | Rule::CompletedWithoutRunning => "skips the job",
        Rule::ProcessorsFromRequest => "uses the processors requested",
        Rule::EstimateFromRuntime => "uses the run time as estimate",
        Rule::CutAtEstimate => "cuts the job at its requested time",
        Rule::SubmitOutOfOrder => "submits it together with the job before",
        Rule::WiderThanMachine => "rejects the job",
        Rule::CapacityFromNodes => "takes a node for a processor",
        Rule::Unreadable => "refuses the log",
        Rule::NumberNotAscending => "keeps the order of the lines",
        Rule::ProcessorsDiffer => "uses the processors allocated",
        Rule::MoreCpuTimeThanRunTime => "takes no notice: CPU times are not used",
        Rule::MoreMemoryThanRequested => "takes no notice: memory is not used",
        Rule::WaitUnknown => "takes no notice: waits are not used",
        Rule::UserUnknown => "takes no notice, unless run times are predicted",
        Rule::PrecedingJobNotBefore => "takes no notice: jobs do not wait for others",
    }
}

fn as_json(finding: &Finding) -> serde_json::Value {
    let what = finding.error.as_ref().map_or_else(|| finding.rule.description().to_owned(), ToString::to_string);
    serde_json::json!({ "line": finding.line, "job": finding.job, "name": finding.rule.name(), "what": what })
}

fn summary(found: u64, limit: u64, kinds: &[Repair], whole_log: Option<&str>) -> String {
    let mut text = String::new();
    if limit > 0 && found > 0 {
        if found > limit {
            text += &format!("… and {} more\n", count(found - limit));
        }
        text.push('\n');
    }
    if found > 0 {
        let mut rows = vec![["anomaly", "records", "first line"].map(str::to_owned).to_vec()];
        rows.extend(kinds.iter().map(|kind| repair(kind)[..3].to_vec()));
        // The last column is a sentence, and is aligned to the left.
        let said = std::iter::once("a simulation").chain(kinds.iter().map(|kind| consequence(kind.rule)));
        text.extend(aligned(&rows).lines().zip(said).map(|(row, said)| format!("{row}  {said}\n")));
    } else {
        text += "no anomaly\n";
    }
    if let Some(whole_log) = whole_log {
        text += &format!("the log as a whole: {whole_log}\n");
    }
    text
}
