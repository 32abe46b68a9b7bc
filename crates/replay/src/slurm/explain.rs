//! Reasons for which jobs of a Slurm cluster wait, from the passes of the first phase, as `explain` prints them.

use super::results::Arm;
use super::trace::{Trace, terms};
use crate::label::Label;
use crate::reasons::history::{Explanation, Line};
use anyhow::{Context, Result};
use serde_json::json;
use sim_core::Time;
use slurm_sched::{EndState, Ended, Report, Why, simulate};
use std::collections::BTreeMap;

pub(super) fn explain(arms: &[Arm], trace: &Trace, seed: u64, wanted: &[u32]) -> Result<Vec<Explanation>> {
    let pairs = arms.iter().flat_map(|arm| wanted.iter().map(move |id| (arm, *id)));
    pairs.map(|(arm, id)| one(arm, trace, seed, id)).collect()
}

fn one(arm: &Arm, trace: &Trace, seed: u64, id: u32) -> Result<Explanation> {
    let job = trace.jobs.iter().find(|job| job.id == id);
    let job = job.with_context(|| format!("there is no job {id} in the trace, or it is left out; check --explain"))?;
    let (mut history, mut brief) = (Vec::new(), Vec::new());
    let mut last: BTreeMap<&str, Why> = BTreeMap::new();
    let terms = terms(&arm.site, trace.zero, seed, 0);
    simulate(&arm.site, &trace.jobs, terms, Some(id), |report| match report {
        Report::Waits(time, by, why) => {
            let pass = by.name();
            let new = line(time, why.kind, pass, format!("{pass} pass: {}: {}", why.kind, why.words));
            let known = last.insert(pass, why.clone());
            brief.extend(known.as_ref().is_none_or(|known| known.kind != why.kind).then(|| new.clone()));
            history.extend((known != Some(why)).then_some(new));
        }
        Report::Ended(Ended { job, submit, start, end, by, nodes, state, .. }) if job == id => {
            let pass = by.name();
            let nodes = arm.site.conf.node_list(nodes);
            let words = format!("{pass} pass: starts on {nodes}, after {} s", start - submit);
            let ends = match state {
                EndState::Completed => "ends",
                EndState::Timeout => "is stopped at its time limit",
                EndState::Requeued => "is requeued",
            };
            for new in [line(start, "start", pass, words), line(end, "end", pass, ends.to_owned())] {
                history.push(new.clone());
                brief.push(new);
            }
        }
        _ => {}
    });
    let request = &job.request;
    let nodes = request.nodes.map_or_else(String::new, |nodes| format!(" {nodes} nodes"));
    let limit = job.limit.map_or_else(|| "its partition's limit".to_owned(), |limit| format!("{limit} s"));
    let (user, partitions) = (request.user(), request.partitions.join(","));
    let about = format!(
        " by {user} (line {} of the trace); requests{nodes} {partitions} for {limit}, and runs for {} s",
        job.line, job.run
    );
    let facts = json!({ "line": job.line, "user": user, "submit": job.submit, "limit": job.limit, "run": job.run });
    let submit = Time::from_secs(job.submit.max(0).unsigned_abs());
    let (policy, job) = (arm.name.clone(), Label::Number(u64::from(id)));
    Ok(Explanation { policy, job, submit, about: vec![about], facts, history, brief, note: None })
}

/// Returns the line of a pass at a second of the trace.
fn line(time: i64, event: &str, pass: &str, words: String) -> Line {
    let from = Time::from_secs(time.max(0).unsigned_abs());
    Line { from, until: None, words, facts: json!({ "event": event, "pass": pass }) }
}
