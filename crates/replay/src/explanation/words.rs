//! What was heard, in words.

use super::history::{About, Holder, Obstacle, Promise, Room, Start, Wait};
use crate::label::Label;
use crate::units::span;
use gap_schedule::Right;
use sim_core::{Span, Time};

/// So many jobs are called by number.
const NAMED: usize = 5;

/// The names of machines; none is called by name where there is but one.
pub(super) struct Names(pub(super) Vec<String>);

impl Names {
    /// ` on alpha`, or nothing.
    pub(super) fn on(&self, machine: usize) -> String {
        if self.0.len() > 1 { format!(" on {}", self.0[machine]) } else { String::new() }
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
pub(super) fn jobs(numbers: &[Label]) -> String {
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
pub(super) fn after(submit: Time, at: Time) -> String {
    match at.saturating_since(submit) {
        Span::ZERO => "at once".to_owned(),
        wait => format!("after {}", span(wait.as_secs_f64())),
    }
}

pub(super) fn wait(wait: &Wait, about: &About, names: &Names) -> String {
    let place = match &wait.places {
        (1, 1) => "first in the queue".to_owned(),
        (first, last) if first == last => format!("{} in the queue", ordinal(*first)),
        (first, last) => format!("{} and at last {} in the queue", ordinal(*first), ordinal(*last)),
    };
    format!("{place}; {}", obstacle_and_promise(wait, about, names))
}

/// What keeps it from starting, and what it is promised.
fn obstacle_and_promise(wait: &Wait, about: &About, names: &Names) -> String {
    let Wait { obstacle, room, promises, .. } = wait;
    let promise = promises.map(|(first, last)| promised(first, last, about, names)).unwrap_or_default();
    format!("{}{promise}", kept_by(obstacle.as_ref(), room, about, names))
}

fn kept_by(obstacle: Option<&Obstacle>, room: &Room, about: &About, names: &Names) -> String {
    let needs = about.processors;
    let on = names.on(room.machine);
    let is_are = if room.free == (1, 1) { "is" } else { "are" };
    let has_room = format!("{} processors are free{on}, enough for it", range(room.free));
    match obstacle {
        Some(Obstacle::NoRoom) => format!("{}{}", lacks(room, needs, names), held(&room.held)),
        Some(Obstacle::Barred { at, left, by }) => {
            let theirs =
                by.iter().map(|by| format!("job {} ({} from {} s on)", by.job, processors(by.processors), by.start));
            let (reservation, bars) = if by.len() == 1 { ("reservation", "bars") } else { ("reservations", "bar") };
            let expected = about.expected.map_or_else(|| "for ever".to_owned(), |expected| format!("for {expected} s"));
            let left_over = if *left == (0, 0) { "none".to_owned() } else { format!("only {}", range(*left)) };
            format!(
                "{has_room}, but the {reservation} of {} {bars} it: {left_over} would be left over at {at} s, and it is expected to \
                 run {expected}, until after that",
                listed(theirs.collect())
            )
        }
        Some(Obstacle::Behind { head }) => {
            format!(
                "blocked: the policy stops at job {head}, which does not fit ({} {is_are} free{on})",
                range(room.free)
            )
        }
        Some(Obstacle::Kept) => {
            format!("{has_room} by now, but what it is promised is looked at again only when a job has ended")
        }
        None if room.held.is_empty() => format!("{has_room}; the policy does not say why it did not start it"),
        None => format!("{}{}", lacks(room, needs, names), held(&room.held)),
    }
}

/// How many it has of those that it needs.
fn lacks(room: &Room, needs: u32, names: &Names) -> String {
    let on = if names.0.len() > 1 { format!(" on {}, which has most", names.0[room.machine]) } else { String::new() };
    match room.free {
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
        let until =
            if holder.until == Time::MAX { "nobody knows when".to_owned() } else { format!("{} s", holder.until) };
        format!("{who} ({}, expected until {until})", processors(holder.processors))
    };
    let mut items: Vec<String> = holders.iter().take(NAMED).map(told).collect();
    if holders.len() > NAMED {
        let rest = &holders[NAMED..];
        let theirs = rest.iter().map(|holder| holder.processors).sum();
        let last = rest.last().map_or(Time::ZERO, |holder| holder.until);
        let last = if last == Time::MAX { "nobody knows when".to_owned() } else { format!("{last} s") };
        items.push(format!("{} more ({}, the last expected until {last})", rest.len(), processors(theirs)));
    }
    format!("; what it lacks is held by {}", listed(items))
}

fn promised(first: Promise, last: Promise, about: &About, names: &Names) -> String {
    let told = |promise: Promise| match promise {
        Promise::At { machine, start } => format!("to start at {start} s{}", names.on(machine)),
        Promise::AnyMoment { machine } => {
            format!("to start{} as soon as a job ends that has outlived what was expected of it", names.on(machine))
        }
        Promise::Never => "no start, since it hangs on what is never expected to end".to_owned(),
    };
    let width = processors(about.processors);
    if first == last {
        format!("; it holds a reservation of {width} {}", told(first))
    } else {
        format!("; it holds a reservation of {width}, first {}, and at last {}", told(first), told(last))
    }
}

pub(super) fn start(start: &Start, about: &About, names: &Names) -> String {
    let by = by_right(start, about).map_or_else(String::new, |by| format!(", {by}"));
    format!("starts{} {}{by}", names.on(start.machine), after(about.submit, start.at))
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
