//! An explanation out of what was heard of space-shared machines.

use super::history::{About, By, Holder, Obstacle, Promise, Room, Start, Step, Wait, joined};
use super::line::{Explanation, Line};
use super::listener::Tale;
use super::words::{self, Names};
use gap_schedule::Right;
use serde_json::{Map, Value, json};
use sim_core::Time;

/// What is told of a job on machines of these names. `tells` is whether the policy has ever said anything.
pub(crate) fn explanation(policy: &str, tale: &Tale, tells: bool, names: Vec<String>) -> Explanation {
    let names = Names(names);
    // A pass that the policy has not made says nothing of a policy that speaks.
    let is_said = |step: &&Step| !tells || !matches!(step, Step::Waits(wait) if wait.obstacle.is_none());
    let mut steps: Vec<Step> = tale.steps.iter().filter(is_said).cloned().collect();
    close_gaps(&mut steps);
    let lines = |brief| joined(&steps, brief).iter().map(|step| line(step, &tale.about, &names)).collect();
    let note = format!(
        "{policy} tells no reasons: what is told here is what everybody could see; docs/explain.md has the policies that do"
    );
    Explanation {
        policy: policy.to_owned(),
        job: tale.about.label.clone(),
        about: words::about(&tale.about),
        facts: facts(&tale.about, &steps, tells, &names),
        history: lines(false),
        brief: lines(true),
        note: (!tells).then_some(note),
    }
}

/// A wait lasts until something is said again.
fn close_gaps(steps: &mut [Step]) {
    for next in (1..steps.len()).rev() {
        let from = match &steps[next] {
            Step::Waits(wait) => wait.from,
            Step::Starts(start) => start.at,
            Step::Loses { at, .. } | Step::Ends { at } | Step::Rejected { at } => *at,
        };
        if let Step::Waits(wait) = &mut steps[next - 1] {
            wait.until = from;
        }
    }
}

fn line(step: &Step, about: &About, names: &Names) -> Line {
    let at_once = |at: Time, words: String, facts: Value| Line { from: at, until: None, words, facts: object(facts) };
    match step {
        Step::Waits(wait) => Line {
            from: wait.from,
            until: Some(wait.until),
            words: words::wait(wait, about, names),
            facts: object(waiting(wait, names)),
        },
        Step::Starts(start) => at_once(start.at, words::start(start, about, names), starting(start, names)),
        Step::Loses { at, machine } => {
            let words = format!("loses its processors{} to an outage, and waits again", names.on(*machine));
            at_once(*at, words, json!({ "event": "interrupted", "site": names.0[*machine] }))
        }
        Step::Ends { at } => at_once(*at, "ends".to_owned(), json!({ "event": "ends" })),
        Step::Rejected { at } => {
            let words = format!("is rejected: no place has {} processors", about.processors);
            at_once(*at, words, json!({ "event": "rejected" }))
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { unreachable!("facts are objects") };
    object
}

/// In seconds; `null` for never.
fn time(at: Time) -> Value {
    if at == Time::MAX { Value::Null } else { at.as_secs_f64().into() }
}

fn facts(about: &About, steps: &[Step], tells: bool, names: &Names) -> Map<String, Value> {
    let last_start = steps.iter().rev().find_map(|step| match step {
        Step::Starts(start) => Some(start),
        _ => None,
    });
    let finish = steps.iter().rev().find_map(|step| match step {
        Step::Ends { at } => Some(*at),
        _ => None,
    });
    let mut facts = about.facts();
    facts.extend(object(json!({
        "came_behind": about.came_behind,
        "start": last_start.map(|start| time(start.at)),
        "wait": last_start.map(|start| start.at.since(about.submit).as_secs_f64()),
        "finish": finish.map(time),
        "site": last_start.map(|start| &names.0[start.machine]),
        "tells_reasons": tells,
    })));
    facts
}

fn waiting(wait: &Wait, names: &Names) -> Value {
    let Wait { passes, places, obstacle, room, promises, .. } = wait;
    let Room { machine, free, held } = room;
    let holder = |holder: &Holder| json!({ "job": holder.job, "processors": holder.processors, "expected_until": time(holder.until) });
    let promise = |promise: Promise| match promise {
        Promise::At { machine, start } => json!({ "site": names.0[machine], "start": time(start) }),
        Promise::AnyMoment { machine } => json!({ "site": names.0[machine], "start": "at any moment" }),
        Promise::Never => json!({ "site": null, "start": null }),
    };
    json!({
        "event": "waits",
        "reason": obstacle.as_ref().map(reason),
        "passes": passes,
        "place": places.0,
        "last_place": places.1,
        "site": names.0[*machine],
        "free": free.0,
        "held_by": held.iter().map(holder).collect::<Vec<_>>(),
        "promised": promises.map(|(_, last)| promise(last)),
    })
}

fn reason(obstacle: &Obstacle) -> Value {
    match obstacle {
        Obstacle::NoRoom => json!({ "kind": "no-room" }),
        Obstacle::Barred { at, left, by } => {
            let told = |by: &By| json!({ "job": by.job, "start": time(by.start), "processors": by.processors });
            json!({ "kind": "barred", "at": time(*at), "left": left.0, "by": by.iter().map(told).collect::<Vec<_>>() })
        }
        Obstacle::Behind { head } => json!({ "kind": "behind", "head": head }),
        Obstacle::Kept => json!({ "kind": "kept" }),
    }
}

fn starting(start: &Start, names: &Names) -> Value {
    let right = start.right.map(|right| match right {
        Right::InTurn => "in-turn",
        Right::Reserved => "reserved",
        Right::Backfilled => "backfilled",
    });
    json!({
        "event": "starts",
        "site": names.0[start.machine],
        "right": right,
        "free": start.free,
        "passed": start.passed,
        "overtaken": start.overtaken,
    })
}
