//! Reasons for the waits and starts of a job, as data: formatted as text, and as JSON for programs.

pub(crate) mod history;
pub(crate) mod listener;

use crate::label::Label;
use crate::reasons::history::{Explanation, Line};
use gap_schedule::Right;
use lab::units::span;
use serde::{Serialize, Serializer};
use serde_json::json;
use sim_core::{Span, Time};
use std::fmt;
use workload::LogJob;

/// Largest number of jobs that are named; further ones are counted.
const NAMED: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct SiteName {
    pub(super) name: String,
    /// True if it is the only place, which text then omits.
    #[serde(skip)]
    pub(super) is_only: bool,
}

impl SiteName {
    /// ` on alpha`, or nothing.
    fn on(&self) -> String {
        if self.is_only { String::new() } else { format!(" on {}", self.name) }
    }
}

/// An expected instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    At(Time),
    /// Behind a job that has outlived its expected run time.
    Soon,
}

impl Moment {
    /// Returns true from the time on at which no end is expected.
    pub(super) fn is_never(self) -> bool {
        matches!(self, Self::At(time) if time.as_nanos() >= u64::MAX - 1)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Soon => serializer.serialize_str("at any moment"),
            Self::At(time) => (!self.is_never()).then(|| time.as_secs_f64()).serialize(serializer),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Soon => f.write_str("any moment"),
            Self::At(_) if self.is_never() => f.write_str("an unknown time"),
            Self::At(time) => write!(f, "{time} s"),
        }
    }
}

pub(super) type Step = (Time, Stage);

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Stage {
    Waits(Wait),
    Starts(Began),
    Ends,
    /// No machine that it may use is wide enough.
    Rejected,
}

impl Stage {
    const fn wait(&self) -> Option<&Wait> {
        if let Self::Waits(wait) = self { Some(wait) } else { None }
    }
}

/// Reasons for which a job did not start in a pass, or in adjacent passes that are alike.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Wait {
    /// `None` if the policy reports no reason.
    pub(super) reason: Option<Obstacle>,
    pub(super) passes: usize,
    /// Its place in the policy's order; the first is 1.
    pub(super) place: usize,
    /// The same in the last of the passes.
    pub(super) last_place: usize,
    /// The machine with the most room, among those that it may use.
    pub(super) site: SiteName,
    pub(super) free: u32,
    /// Jobs whose expected ends would give it the missing processors, in that order; empty if enough are free.
    pub(super) held_by: Vec<Holder>,
    pub(super) promised: Option<Promise>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Obstacle {
    NoRoom,
    /// Too few processors are left `at` an instant.
    Barred {
        at: Moment,
        left: u32,
        by: Vec<ByJob>,
    },
    Behind {
        head: Label,
    },
    Kept,
}

/// A reservation of another job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ByJob {
    pub(super) job: Label,
    pub(super) start: Moment,
    pub(super) processors: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Holder {
    pub(super) job: Label,
    pub(super) processors: u32,
    pub(super) expected_until: Moment,
}

/// A reserved start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Promise {
    pub(super) site: Option<SiteName>,
    pub(super) start: Moment,
}

#[derive(Debug, Serialize)]
pub(super) struct Began {
    pub(super) site: SiteName,
    /// The right to start, if the policy reports it.
    pub(super) right: Option<Right>,
    /// Processors that were free there when the policy considered it, if the policy reports reasons.
    pub(super) free: Option<u32>,
    /// Jobs that it passed, in the policy's order.
    pub(super) passed: Vec<Label>,
    /// Jobs that arrived before it and continue to wait.
    pub(super) overtaken: Vec<Label>,
}

impl Wait {
    /// Returns true if nothing has changed except its place.
    fn is_same(&self, next: &Self) -> bool {
        (&self.reason, &self.site, self.free, &self.held_by, &self.promised)
            == (&next.reason, &next.site, next.free, &next.held_by, &next.promised)
    }

    /// Returns true if only numbers have changed.
    fn is_like(&self, next: &Self) -> bool {
        let is_like = match (&self.reason, &next.reason) {
            (Some(Obstacle::Barred { by, .. }), Some(Obstacle::Barred { by: others, .. })) => {
                by.iter().map(|by| &by.job).eq(others.iter().map(|by| &by.job))
            }
            (None, None) => self.held_by.is_empty() == next.held_by.is_empty(),
            (reason, other) => reason == other,
        };
        is_like && self.site == next.site && self.promised.is_some() == next.promised.is_some()
    }
}

fn waits_in_words(waits: &[&Wait], about: &LogJob) -> String {
    let (first, last) = (waits[0], waits[waits.len() - 1]);
    let place = match (first.place, last.place) {
        (1, 1) => "first in the queue".to_owned(),
        (first, last) if first == last => format!("{} in the queue", ordinal(first)),
        (first, last) => format!("{}, finally {}, in the queue", ordinal(first), ordinal(last)),
    };
    let width = processors(about.job.request.processors);
    let promise = match (&first.promised, &last.promised) {
        (Some(first), Some(last)) if first == last => format!("; it holds a reservation of {width} {first}"),
        (Some(first), Some(last)) => format!("; it holds a reservation of {width}, first {first}, finally {last}"),
        _ => String::new(),
    };
    format!("{place}; {}{promise}", kept_by(waits, about))
}

fn kept_by(waits: &[&Wait], about: &LogJob) -> String {
    let first = waits[0];
    let (free, on) = (range(waits.iter().map(|wait| wait.free)), first.site.on());
    let is_are = if free == "1" { "is" } else { "are" };
    let has_room = format!("{free} processors are free{on}, enough for the job");
    match &first.reason {
        Some(Obstacle::Barred { at, by, .. }) => {
            let theirs =
                by.iter().map(|by| format!("job {} ({} from {} on)", by.job, processors(by.processors), by.start));
            let (reservation, blocks) =
                if by.len() == 1 { ("reservation", "blocks") } else { ("reservations", "block") };
            let expected = about.job.request.estimate;
            let expected = expected.map_or_else(|| "for ever".to_owned(), |expected| format!("for {expected} s"));
            let left = |wait: &&Wait| match wait.reason {
                Some(Obstacle::Barred { left, .. }) => left,
                _ => 0,
            };
            let left = range(waits.iter().map(left));
            let left = if left == "0" { "none".to_owned() } else { format!("only {left}") };
            let theirs = listed(theirs.collect());
            format!(
                "{has_room}, but the {reservation} of {theirs} {blocks} it: {left} would be left at {at}, and it is expected to \
                     run {expected}, beyond that time"
            )
        }
        Some(Obstacle::Behind { head }) => {
            format!("blocked: the policy stops at job {head}, which does not fit ({free} {is_are} free{on})")
        }
        Some(Obstacle::Kept) => format!("{has_room}, but its reservation moves only when a job ends"),
        None if first.held_by.is_empty() => format!("{has_room}; the policy reports no reason"),
        None | Some(Obstacle::NoRoom) => {
            let (needs, held) = (about.job.request.processors, held(&first.held_by));
            let on = if first.site.is_only { on } else { format!("{on}, which has most") };
            if free == "0" {
                format!("no processor is free{on}, and the job needs {needs}{held}")
            } else {
                format!("{free} of the {needs} processors that it needs {is_are} free{on}{held}")
            }
        }
    }
}

fn held(held_by: &[Holder]) -> String {
    let holder = |Holder { job, processors: width, expected_until }: &Holder| {
        format!("job {job} ({}, expected until {expected_until})", processors(*width))
    };
    let (named, rest) = held_by.split_at(held_by.len().min(NAMED));
    let mut items: Vec<String> = named.iter().map(holder).collect();
    if let Some(last) = rest.last() {
        let theirs = processors(rest.iter().map(|holder| holder.processors).sum());
        items.push(format!("{} more ({theirs}, the last expected until {})", rest.len(), last.expected_until));
    }
    if items.is_empty() { String::new() } else { format!("; the missing ones are held by {}", listed(items)) }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = self.site.as_ref().map_or_else(String::new, SiteName::on);
        match self.start {
            Moment::Soon => write!(f, "to start{on} as soon as a job ends that has run longer than expected"),
            start if start.is_never() => f.write_str("without a start, since a job before it is never expected to end"),
            start => write!(f, "to start at {start}{on}"),
        }
    }
}

impl Began {
    fn in_words(&self, at: Time, about: &LogJob) -> String {
        let Self { site, right, free, passed, overtaken } = self;
        let waited = match at.saturating_since(about.job.submit) {
            Span::ZERO => "at once".to_owned(),
            wait => format!("after {}", span(wait.as_secs_f64())),
        };
        let mut text = format!("starts{} {waited}", site.on());
        match right {
            Some(Right::InTurn) => text += ", in queue order",
            Some(Right::Reserved) => text += ", at its reserved start",
            Some(Right::Backfilled) => {
                text += &format!(", backfilled past {}", jobs(passed));
                match free {
                    None => {}
                    Some(1) => text += " on the only free processor",
                    Some(free) => text += &format!(" on {} of {free} free processors", about.job.request.processors),
                }
            }
            None => {}
        }
        // In the policy's own order, the text of a backfilled job already names the jobs that it passed.
        if !overtaken.is_empty() && *right != Some(Right::Backfilled) {
            let wait = if overtaken.len() == 1 { "waits" } else { "wait" };
            text += &format!(", before {}, which arrived earlier and still {wait}", jobs(overtaken));
        }
        text
    }
}

/// The steps of a job as lines: adjacent passes are one if nothing has changed, or, if `brief`, only numbers.
fn lines(steps: &[Step], brief: bool, about: &LogJob) -> Vec<Line> {
    let groups = steps.chunk_by(|(_, one), (_, next)| {
        one.wait().zip(next.wait()).is_some_and(|(one, next)| if brief { one.is_like(next) } else { one.is_same(next) })
    });
    let mut end = 0;
    let line = |group: &[Step]| {
        let (from, stage) = &group[0];
        end += group.len();
        let (mut until, mut facts) = (None, json!(stage));
        let words = match stage {
            Stage::Waits(_) => {
                // A wait lasts until the next step.
                until = Some(steps.get(end).unwrap_or(&steps[end - 1]).0);
                let waits: Vec<&Wait> = group.iter().filter_map(|(_, stage)| stage.wait()).collect();
                // The first pass, with the place and the reservation of the last.
                let (passes, last) = (waits.len(), waits[waits.len() - 1]);
                let (last_place, promised) = (last.place, last.promised.clone());
                facts = json!(Stage::Waits(Wait { passes, last_place, promised, ..waits[0].clone() }));
                waits_in_words(&waits, about)
            }
            Stage::Starts(start) => start.in_words(*from, about),
            Stage::Ends => "ends".to_owned(),
            Stage::Rejected => format!("is rejected: no machine has {} processors", about.job.request.processors),
        };
        Line { from: *from, until, words, facts }
    };
    groups.map(line).collect()
}

/// Followed job, with its history.
#[derive(Debug)]
pub(super) struct Tale {
    /// The job; its estimate is the prediction, if there is one.
    pub(super) about: LogJob,
    pub(super) steps: Vec<Step>,
    /// Jobs that waited when it was submitted, in order of arrival.
    pub(super) came_behind: Option<Vec<Label>>,
    pub(super) waits: bool,
}

impl Tale {
    pub(super) const fn of(about: LogJob) -> Self {
        Self { about, steps: Vec::new(), came_behind: None, waits: false }
    }

    /// The explanation of the job. `reports` is true if the policy has ever reported a reason.
    pub(super) fn explanation(self, policy: &str, reports: bool) -> Explanation {
        let Self { about, mut steps, came_behind, .. } = self;
        // If the policy reports reasons, a pass without its decision has no information.
        steps.retain(|(_, stage)| !reports || stage.wait().is_none_or(|wait| wait.reason.is_some()));
        let came = came_behind.as_ref().map(|before| match before.len() {
            0 => "arrives when no other job waits".to_owned(),
            count => format!("arrives {} in the queue, behind {}", ordinal(count + 1), jobs(before)),
        });
        let start = steps.iter().rev().find_map(|(at, stage)| match stage {
            Stage::Starts(start) => Some((*at, &start.site)),
            _ => None,
        });
        let finish = steps.iter().rfind(|(_, stage)| matches!(stage, Stage::Ends));
        let submit = about.job.submit;
        let facts = json!({
            "line": about.line,
            "user": Label::of_user(&about),
            "submit": submit.as_secs_f64(),
            "processors": about.job.request.processors,
            "requested": about.record.requested_time.map(Span::as_secs_f64),
            "expected": about.job.request.estimate.map(Span::as_secs_f64),
            "run": about.job.runtime.as_secs_f64(),
            "came_behind": came_behind,
            "start": start.map(|(at, _)| at.as_secs_f64()),
            "wait": start.map(|(at, _)| at.since(submit).as_secs_f64()),
            "finish": finish.map(|(at, _)| at.as_secs_f64()),
            "site": start.map(|(_, site)| site),
            "tells_reasons": reports,
        });
        let where_to = "docs/explain.md lists the policies with reasons";
        let note = || format!("{policy} reports no reasons: the history has what the view shows; {where_to}");
        Explanation {
            policy: policy.to_owned(),
            job: Label::of_job(&about),
            submit,
            about: std::iter::once(in_words(&about)).chain(came).collect(),
            facts,
            history: lines(&steps, false, &about),
            brief: lines(&steps, true, &about),
            note: (!reports).then(note),
        }
    }
}

fn in_words(about: &LogJob) -> String {
    let LogJob { job, line, record, .. } = about;
    let user = Label::of_user(about).map_or_else(String::new, |user| format!(" by user {user}"));
    let expected = match (job.request.estimate, record.requested_time) {
        (None, _) => "for an unknown time".to_owned(),
        (Some(expected), None) => format!("for an expected {expected} s"),
        (Some(expected), Some(requested)) if expected == requested => format!("for {expected} s"),
        (Some(expected), Some(requested)) => format!("for an expected {expected} s ({requested} s were requested)"),
    };
    let (width, run) = (processors(job.request.processors), job.runtime);
    format!("{user} (line {line} of the log); requests {width} {expected}, and runs for {run} s")
}

/// `1 processor`, `4 processors`.
fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}

/// `1st`, `2nd`, `3rd`, `4th`, … `11th`.
fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `a, b and c`.
fn listed(mut items: Vec<String>) -> String {
    let last = items.pop().unwrap_or_default();
    if items.is_empty() { last } else { format!("{} and {last}", items.join(", ")) }
}

/// `job 4`, `jobs 4 and 5`, `jobs 4, 5, 6, 7, 8 and 12 more`.
fn jobs(numbers: &[Label]) -> String {
    let mut items: Vec<String> = numbers.iter().take(NAMED).map(Label::to_string).collect();
    if numbers.len() > NAMED {
        items.push(format!("{} more", numbers.len() - NAMED));
    }
    format!("{} {}", if numbers.len() == 1 { "job" } else { "jobs" }, listed(items))
}

/// `3`, or `3 to 5`.
fn range(numbers: impl Iterator<Item = u32> + Clone) -> String {
    let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
