//! Gantt charts of logs that are small enough.

use super::report::Simulation;
use super::rows::SimulatedJob;
use super::world::Run;
use crate::label::Label;
use crate::units::span;
use lab::chart::{Bar, Gantt, Picture};
use lab::page::{Figure, Part, Section};
use sim_core::{JobRecord, Time};

const DRAWN: &str = "Each job is drawn on the processors of lowest number that were free on its site; the policies do not distinguish processors. \
                       Processors are numbered on through the sites. A job has one colour under every policy.";

/// A chart for each policy, if the log is small enough.
pub(super) fn schedules(report: &Simulation) -> Section {
    let (unit, seconds) = unit_of_time(report);
    let drawn = report.runs.iter().map(|run| (run, bars(run.outcome.drawable(report.runs.len()), seconds)));
    let drawn: Vec<_> = drawn.filter(|(_, bars)| !bars.is_empty()).collect();
    // Equal time axes, so that policies can be compared by eye.
    let spans = drawn.iter().map(|(_, bars)| Gantt::stay(bars));
    let span = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let mut sites: Vec<(u32, String)> =
        report.sites().first_processors().map(|(first, name)| (first, name.to_owned())).collect();
    if sites.len() == 1 {
        sites.clear();
    }
    let words = Vec::from_iter((!drawn.is_empty()).then(|| DRAWN.to_owned()));
    let chart = |(run, bars): (&Run, Vec<Bar>)| {
        let gantt = Gantt {
            id: format!("gantt-{}", run.name),
            title: format!("Schedule under {}", run.label),
            time: format!("time since the first submit ({unit})"),
            unit,
            processors: report.sites().processors(),
            sites: sites.clone(),
            span,
            bars,
        };
        figure(gantt, "")
    };
    section("schedules", "Schedules", words, drawn.into_iter().map(chart).collect())
}

/// Jobs by their starts; times in units of this many seconds.
fn bars(mut jobs: Vec<(&SimulatedJob, &JobRecord)>, seconds: f64) -> Vec<Bar> {
    jobs.sort_by_key(|(_, record)| (record.start, record.job.id));
    let bar = |(job, record): (&SimulatedJob, &JobRecord)| Bar {
        job: Label::of_job(&job.log).to_string(),
        start: record.start.as_secs_f64() / seconds,
        end: record.finish.as_secs_f64() / seconds,
        processors: job.processors.to_vec(),
        facts: facts(job, record),
        slot: Some(record.job.id.0 as usize % 6),
    };
    jobs.into_iter().map(bar).collect()
}

/// The text of a job under the pointer.
fn facts(SimulatedJob { log, processors, .. }: &SimulatedJob, record: &JobRecord) -> Vec<String> {
    let at = |time: Time| span(time.as_secs_f64());
    let user = Label::of_user(log).map_or_else(String::new, |user| format!("user {user}, "));
    let blocks = processors.iter().map(|&(first, count)| match count {
        1 => first.to_string(),
        _ => format!("{first}–{}", first + (count - 1)),
    });
    let blocks: Vec<String> = blocks.take(4).collect();
    let more = if processors.len() > blocks.len() { ", …" } else { "" };
    let requested =
        log.record.requested_time.map_or_else(String::new, |time| format!("requested {}, ", span(time.as_secs_f64())));
    vec![
        format!("{user}{} processors ({}{more})", record.processors, blocks.join(", ")),
        format!("{requested}ran {}", span(record.finish.since(record.start).as_secs_f64())),
        format!("submitted at {}", at(record.job.submit)),
        format!("started at {}", at(record.start)),
        format!("waited {}", span(record.wait().as_secs_f64())),
    ]
}

pub(super) fn section(id: &str, title: &str, words: Vec<String>, parts: Vec<Part>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), words, parts, folds: Vec::new() }
}

/// A picture with its caption and the files beside it.
pub(super) fn figure(picture: impl Into<Picture>, caption: &str) -> Part {
    let picture = picture.into();
    let data = match picture.id().strip_prefix("gantt-") {
        Some(policy) => format!("{policy}/jobs.csv"),
        None => format!("data/{}.csv", picture.id()),
    };
    Part::Figure(Box::new(Figure::new(picture, caption, data)))
}

/// Unit of time axes, and its seconds: days for a log, seconds for an example.
pub(super) fn unit_of_time(report: &Simulation) -> (&'static str, f64) {
    let ends = report.runs.iter().filter_map(|run| run.outcome.busy.last());
    let longest = ends.map(|(at, _)| at.as_secs_f64()).fold(0.0, f64::max);
    if longest > 3.0 * 86_400.0 { ("days", 86_400.0) } else { ("s", 1.0) }
}
