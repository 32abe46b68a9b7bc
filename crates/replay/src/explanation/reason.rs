//! Why a job waits and starts, as data: in words for people, as JSON for programs.

use super::line::{Explanation, Line};
use crate::label::Label;
use crate::units::span;
use gap_schedule::Right;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use sim_core::{Span, Time};
use std::sync::Arc;
use workload::LogJob;

/// More jobs than these are counted, and not named.
const NAMED: usize = 5;

/// A place by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) name: Arc<str>,
    /// Whether there is no other one: words then leave it out.
    pub(super) is_only: bool,
}

impl Site {
    /// ` on alpha`, or nothing.
    fn on(&self) -> String {
        if self.is_only { String::new() } else { format!(" on {}", self.name) }
    }
}

impl Serialize for Site {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

/// An event in the life of a job, or a time in which nothing changed. Serialized with its facts; times in seconds, `null` for never.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Step {
    Waits(Wait),
    Starts(Start),
    /// Its machine has failed: its work is lost.
    Interrupted {
        #[serde(skip)]
        at: Time,
        site: Site,
    },
    Ends {
        #[serde(skip)]
        at: Time,
    },
    /// No machine that it may use is wide enough.
    Rejected {
        #[serde(skip)]
        at: Time,
    },
}

/// Passes in which the job did not start, for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Wait {
    #[serde(skip)]
    pub(super) from: Time,
    #[serde(skip)]
    pub(super) until: Time,
    /// `None` if the policy reports none.
    pub(super) reason: Option<Obstacle>,
    pub(super) passes: u64,
    /// Its place in the policy's order, in the first pass and the last; the first is 1.
    pub(super) place: usize,
    pub(super) last_place: usize,
    /// The machine with most room, of those that it may use.
    pub(super) site: Site,
    /// Processors that were free there: the fewest and the most.
    pub(super) free: u32,
    #[serde(skip)]
    pub(super) most_free: u32,
    /// Jobs whose expected ends would give it the rest, in that order; empty if enough are free.
    pub(super) held_by: Vec<Holder>,
    /// Its reservation, in the first pass and the last.
    #[serde(skip)]
    pub(super) first_promise: Option<Promise>,
    pub(super) promised: Option<Promise>,
}

/// What keeps a job from starting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Obstacle {
    NoRoom,
    Barred {
        #[serde(serialize_with = "seconds")]
        at: Time,
        /// Processors that are left then: the fewest and the most.
        left: u32,
        #[serde(skip)]
        most_left: u32,
        by: Vec<By>,
    },
    Behind {
        head: Label,
    },
    Kept,
}

/// A reservation of another job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct By {
    pub(super) job: Label,
    #[serde(serialize_with = "seconds")]
    pub(super) start: Time,
    pub(super) processors: u32,
}

/// A holder of processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Holder {
    /// `None`: the machine is down.
    pub(super) job: Option<Label>,
    pub(super) processors: u32,
    /// [`Time::MAX`] if that is unknown.
    #[serde(serialize_with = "seconds")]
    pub(super) expected_until: Time,
}

/// A promised start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Promise {
    pub(super) site: Option<Site>,
    pub(super) start: When,
}

/// The time of a promised start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    At(Time),
    /// Behind a job that has outlived what was expected of it.
    AnyMoment,
    /// By what is expected.
    Never,
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(at) => seconds(at, serializer),
            Self::AnyMoment => serializer.serialize_str("at any moment"),
            Self::Never => serializer.serialize_none(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Start {
    #[serde(skip)]
    pub(super) at: Time,
    pub(super) site: Site,
    /// By which right, if the policy reports it.
    #[serde(serialize_with = "right")]
    pub(super) right: Option<Right>,
    /// Processors that were free there when the policy came to it, if the policy reports reasons.
    pub(super) free: Option<u32>,
    /// Jobs that it passed, in the policy's order.
    pub(super) passed: Vec<Label>,
    /// Jobs that came before it and wait on.
    pub(super) overtaken: Vec<Label>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn seconds<S: Serializer>(at: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*at).filter(|at| *at != Time::MAX).map(Time::as_secs_f64).serialize(serializer)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn right<S: Serializer>(right: &Option<Right>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = right.map(|right| match right {
        Right::InTurn => "in-turn",
        Right::Reserved => "reserved",
        Right::Backfilled => "backfilled",
    });
    name.serialize(serializer)
}

impl Obstacle {
    /// Whether it is the same thing, whatever its numbers.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::NoRoom, Self::NoRoom) | (Self::Kept, Self::Kept) => true,
            (Self::Behind { head }, Self::Behind { head: other }) => head == other,
            (Self::Barred { by, .. }, Self::Barred { by: others, .. }) => {
                by.iter().map(|by| &by.job).eq(others.iter().map(|by| &by.job))
            }
            _ => false,
        }
    }
}

impl Wait {
    /// Whether nothing has changed but its place.
    fn is_same(&self, next: &Self) -> bool {
        (&self.reason, &self.site, self.free, self.most_free, &self.held_by, &self.promised)
            == (&next.reason, &next.site, next.free, next.most_free, &next.held_by, &next.first_promise)
    }

    fn is_like(&self, next: &Self) -> bool {
        self.site == next.site
            && self.promised.is_some() == next.promised.is_some()
            && match (&self.reason, &next.reason) {
                (Some(one), Some(other)) => one.is_like(other),
                (one, other) => one.is_none() && other.is_none() && self.held_by.is_empty() == next.held_by.is_empty(),
            }
    }

    fn append(&mut self, next: &Self) {
        self.until = next.until;
        self.passes += next.passes;
        self.last_place = next.last_place;
        (self.free, self.most_free) = (self.free.min(next.free), self.most_free.max(next.most_free));
        if let (
            Some(Obstacle::Barred { left, most_left, .. }),
            Some(Obstacle::Barred { left: later, most_left: most_later, .. }),
        ) = (&mut self.reason, &next.reason)
        {
            (*left, *most_left) = ((*left).min(*later), (*most_left).max(*most_later));
        }
        if next.promised.is_some() {
            self.promised.clone_from(&next.promised);
        }
    }
}

/// The steps with neighbours joined in which nothing has changed; or, if `brief`, no more than numbers.
fn joined(steps: &[Step], brief: bool) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::new();
    for step in steps {
        if let (Some(Step::Waits(last)), Step::Waits(next)) = (joined.last_mut(), step)
            && (if brief { last.is_like(next) } else { last.is_same(next) })
        {
            last.append(next);
        } else {
            joined.push(step.clone());
        }
    }
    joined
}

impl Step {
    /// When it begins, and when it ends, if it lasts.
    const fn time(&self) -> (Time, Option<Time>) {
        match self {
            Self::Waits(wait) => (wait.from, Some(wait.until)),
            Self::Starts(start) => (start.at, None),
            Self::Interrupted { at, .. } | Self::Ends { at } | Self::Rejected { at } => (*at, None),
        }
    }

    fn in_words(&self, about: &About) -> String {
        match self {
            Self::Waits(wait) => wait_in_words(wait, about),
            Self::Starts(start) => {
                let by = by_right(start, about).map_or_else(String::new, |by| format!(", {by}"));
                format!("starts{} {}{by}", start.site.on(), after(about.submit, start.at))
            }
            Self::Interrupted { site, .. } => {
                format!("loses its processors{} to an outage, and waits again", site.on())
            }
            Self::Ends { .. } => "ends".to_owned(),
            Self::Rejected { .. } => format!("is rejected: no place has {} processors", about.processors),
        }
    }
}

/// The fields of plain data.
pub(super) fn object(data: impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(object)) = serde_json::to_value(data) else { unreachable!("facts are objects") };
    object
}

/// What is known of a job. `tells` is whether the policy has ever reported a reason.
pub(super) fn explanation(policy: &str, job: &About, mut steps: Vec<Step>, tells: bool) -> Explanation {
    // A pass that the policy has not made says nothing of a policy that speaks.
    steps.retain(|step| !tells || !matches!(step, Step::Waits(wait) if wait.reason.is_none()));
    // A wait lasts until the next step.
    for next in (1..steps.len()).rev() {
        let (from, _) = steps[next].time();
        if let Step::Waits(wait) = &mut steps[next - 1] {
            wait.until = from;
        }
    }
    let line = |step: &Step| {
        let (from, until) = step.time();
        Line { from, until, words: step.in_words(job), facts: object(step) }
    };
    let lines = |brief| joined(&steps, brief).iter().map(line).collect();
    let last_start =
        steps.iter().rev().find_map(|step| if let Step::Starts(start) = step { Some(start) } else { None });
    let finish = steps.iter().rev().find_map(|step| if let Step::Ends { at } = step { Some(*at) } else { None });
    let mut facts = job.facts();
    facts.extend(object(json!({
        "came_behind": job.came_behind,
        "start": last_start.map(|start| start.at.as_secs_f64()),
        "wait": last_start.map(|start| start.at.since(job.submit).as_secs_f64()),
        "finish": finish.map(Time::as_secs_f64),
        "site": last_start.map(|start| &start.site),
        "tells_reasons": tells,
    })));
    let note = format!(
        "{policy} tells no reasons: what is told here is what everybody could see; docs/explain.md has the policies that do"
    );
    Explanation {
        policy: policy.to_owned(),
        job: job.label.clone(),
        about: about(job),
        facts,
        history: lines(false),
        brief: lines(true),
        note: (!tells).then_some(note),
    }
}

/// What is known of the job itself.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) label: Label,
    /// In the log's file.
    pub(super) line: u64,
    pub(super) user: Option<Label>,
    pub(super) submit: Time,
    pub(super) processors: u32,
    /// What its user asked for.
    pub(super) requested: Option<Span>,
    /// What the policy expects, at reference speed.
    pub(super) expected: Option<Span>,
    /// What it takes, at reference speed.
    pub(super) run: Span,
    /// How many waited when it came to wait, itself among them, and who was before it.
    pub(super) came_behind: Option<Vec<Label>>,
}

impl About {
    /// What the log knows.
    pub(super) fn of(job: &LogJob) -> Self {
        Self {
            label: Label::of_job(job),
            line: job.line,
            user: Label::of_user(job),
            submit: job.job.submit,
            processors: job.job.request.processors,
            requested: job.requested_time,
            expected: job.job.request.estimate,
            run: job.job.runtime,
            came_behind: None,
        }
    }

    /// For programs, times in seconds.
    pub(super) fn facts(&self) -> serde_json::Map<String, serde_json::Value> {
        let facts = serde_json::json!({
            "line": self.line,
            "user": self.user,
            "submit": self.submit.as_secs_f64(),
            "processors": self.processors,
            "requested": self.requested.map(Span::as_secs_f64),
            "expected": self.expected.map(Span::as_secs_f64),
            "run": self.run.as_secs_f64(),
        });
        let serde_json::Value::Object(facts) = facts else { unreachable!("facts are objects") };
        facts
    }
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

fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}

/// `3`, or `3 to 5`.
fn range((least, most): (u32, u32)) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// What is known of the job itself, in sentences.
pub(super) fn about(about: &About) -> Vec<String> {
    let About { line, user, submit, processors: width, requested, expected, run, came_behind, .. } = about;
    let user = user.as_ref().map_or_else(String::new, |user| format!(" by user {user}"));
    let expected = match expected {
        Some(expected) if requested == &Some(*expected) => format!("for {expected} s, as it requested"),
        Some(expected) => {
            let requested = requested.map_or_else(String::new, |requested| format!(" ({requested} s were requested)"));
            format!("for {expected} s, as is expected of it{requested}")
        }
        None => "for a time that nobody can tell".to_owned(),
    };
    let asks = format!(
        "submitted at {submit} s{user} (line {line} of the log); asks for {} {expected}, and runs for {run} s",
        processors(*width)
    );
    let came = came_behind.as_ref().map(|before| match before.len() {
        0 => "comes when nobody else waits".to_owned(),
        count => format!("comes as the {} in the queue, behind {}", ordinal(count + 1), jobs(before)),
    });
    std::iter::once(asks).chain(came).collect()
}

/// How long a job waited before an instant, in brackets.
fn after(submit: Time, at: Time) -> String {
    match at.saturating_since(submit) {
        Span::ZERO => "at once".to_owned(),
        wait => format!("after {}", span(wait.as_secs_f64())),
    }
}

fn wait_in_words(wait: &Wait, about: &About) -> String {
    let place = match (wait.place, wait.last_place) {
        (1, 1) => "first in the queue".to_owned(),
        (first, last) if first == last => format!("{} in the queue", ordinal(first)),
        (first, last) => format!("{} and at last {} in the queue", ordinal(first), ordinal(last)),
    };
    let promise = wait.first_promise.as_ref().zip(wait.promised.as_ref());
    let promise = promise.map(|(first, last)| promised(first, last, about)).unwrap_or_default();
    format!("{place}; {}{promise}", kept_by(wait, about))
}

fn kept_by(wait: &Wait, about: &About) -> String {
    let Wait { site, held_by, .. } = wait;
    let (free, on) = ((wait.free, wait.most_free), site.on());
    let is_are = if free == (1, 1) { "is" } else { "are" };
    let has_room = format!("{} processors are free{on}, enough for it", range(free));
    match &wait.reason {
        Some(Obstacle::NoRoom) => format!("{}{}", lacks(wait, about.processors), held(held_by)),
        Some(Obstacle::Barred { at, left, most_left, by }) => {
            let theirs =
                by.iter().map(|by| format!("job {} ({} from {} s on)", by.job, processors(by.processors), by.start));
            let (reservation, bars) = if by.len() == 1 { ("reservation", "bars") } else { ("reservations", "bar") };
            let expected = about.expected.map_or_else(|| "for ever".to_owned(), |expected| format!("for {expected} s"));
            let left = (*left, *most_left);
            let left_over = if left == (0, 0) { "none".to_owned() } else { format!("only {}", range(left)) };
            format!(
                "{has_room}, but the {reservation} of {} {bars} it: {left_over} would be left over at {at} s, and it is expected to \
                 run {expected}, until after that",
                listed(theirs.collect())
            )
        }
        Some(Obstacle::Behind { head }) => {
            format!("blocked: the policy stops at job {head}, which does not fit ({} {is_are} free{on})", range(free))
        }
        Some(Obstacle::Kept) => {
            format!("{has_room} by now, but what it is promised is looked at again only when a job has ended")
        }
        None if held_by.is_empty() => format!("{has_room}; the policy does not say why it did not start it"),
        None => format!("{}{}", lacks(wait, about.processors), held(held_by)),
    }
}

/// How many it has of those that it needs.
fn lacks(wait: &Wait, needs: u32) -> String {
    let on = if wait.site.is_only { String::new() } else { format!("{}, which has most", wait.site.on()) };
    match (wait.free, wait.most_free) {
        (0, 0) => format!("no processor is free{on}, and it asks for {needs}"),
        free => {
            let is_are = if free == (1, 1) { "is" } else { "are" };
            format!("{} {is_are} free{on}, of the {needs} that it asks for", range(free))
        }
    }
}

/// Who holds what it lacks.
fn held(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return String::new();
    }
    let told = |holder: &Holder| {
        let who = holder.job.as_ref().map_or_else(|| "an outage".to_owned(), |job| format!("job {job}"));
        let until = if holder.expected_until == Time::MAX {
            "nobody knows when".to_owned()
        } else {
            format!("{} s", holder.expected_until)
        };
        format!("{who} ({}, expected until {until})", processors(holder.processors))
    };
    let mut items: Vec<String> = holders.iter().take(NAMED).map(told).collect();
    if holders.len() > NAMED {
        let rest = &holders[NAMED..];
        let theirs = rest.iter().map(|holder| holder.processors).sum();
        let last = rest.last().map_or(Time::ZERO, |holder| holder.expected_until);
        let last = if last == Time::MAX { "nobody knows when".to_owned() } else { format!("{last} s") };
        items.push(format!("{} more ({}, the last expected until {last})", rest.len(), processors(theirs)));
    }
    format!("; what it lacks is held by {}", listed(items))
}

fn promised(first: &Promise, last: &Promise, about: &About) -> String {
    let told = |promise: &Promise| {
        let on = promise.site.as_ref().map_or_else(String::new, Site::on);
        match promise.start {
            When::At(start) => format!("to start at {start} s{on}"),
            When::AnyMoment => format!("to start{on} as soon as a job ends that has outlived what was expected of it"),
            When::Never => "no start, since it hangs on what is never expected to end".to_owned(),
        }
    };
    let width = processors(about.processors);
    if first == last {
        format!("; it holds a reservation of {width} {}", told(first))
    } else {
        format!("; it holds a reservation of {width}, first {}, and at last {}", told(first), told(last))
    }
}

/// By which right it starts, if the policy tells, and before whom.
fn by_right(start: &Start, about: &About) -> Option<String> {
    let Start { right, free, passed, overtaken, .. } = start;
    let by = right.map(|right| match right {
        Right::InTurn => "in its turn".to_owned(),
        Right::Reserved => "as it was promised".to_owned(),
        Right::Backfilled => format!("backfilled past {}{}", jobs(passed), room_to_start(about.processors, *free)),
    });
    // In the policy's own order, nobody was passed.
    let is_told = overtaken.is_empty() || *right == Some(Right::Backfilled);
    let before = || format!("before {}, which came earlier and {} on", jobs(overtaken), waits(overtaken));
    let parts: Vec<String> = by.into_iter().chain((!is_told).then(before)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// ` on 2 of 4 free processors`.
fn room_to_start(width: u32, free: Option<u32>) -> String {
    match free {
        None => String::new(),
        Some(1) => " on the only free processor".to_owned(),
        Some(free) => format!(" on {width} of {free} free processors"),
    }
}

fn waits(jobs: &[Label]) -> &'static str {
    if jobs.len() == 1 { "waits" } else { "wait" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_people_say_them() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal);
        assert_eq!(ordinals, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]);
        let jobs = |numbers: &[u64]| jobs(&numbers.iter().copied().map(Label::from).collect::<Vec<_>>());
        assert_eq!(jobs(&[4]), "job 4");
        assert_eq!(jobs(&[4, 5]), "jobs 4 and 5");
        assert_eq!(jobs(&[1, 2, 3, 4, 5, 6, 7]), "jobs 1, 2, 3, 4, 5 and 2 more");
    }
}
