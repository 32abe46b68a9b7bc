//! Histories of jobs that are followed through a run: as text, and as JSON for programs.

use crate::label::Label;
use lab::chart::date;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sim_core::Time;

/// Number of lines of a history that are shown without `--all`.
const FEW: usize = 16;

/// Event, or a period without changes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    #[serde(serialize_with = "in_seconds")]
    pub(crate) from: Time,
    /// End of a period; `None` for an instant.
    #[serde(serialize_with = "in_seconds")]
    pub(crate) until: Option<Time>,
    /// Further keys for programs: an object.
    #[serde(flatten)]
    pub(crate) facts: Value,
    pub(crate) words: String,
}

fn in_seconds<S: Serializer>(time: &(impl Copy + Into<Option<Time>>), serializer: S) -> Result<S::Ok, S::Error> {
    let time: Option<Time> = (*time).into();
    time.map(Time::as_secs_f64).serialize(serializer)
}

impl Line {
    fn in_words(&self, start: Option<i64>) -> String {
        let Self { from, until, words, .. } = self;
        let clock = clock(start, *from, *until);
        match until {
            None => format!("at {from} s{clock}: {words}"),
            Some(until) => format!("from {from} s to {until} s{clock}: {words}"),
        }
    }
}

/// The history of one job under one policy. Programs get every change.
#[derive(Serialize)]
pub(crate) struct Explanation {
    pub(crate) policy: String,
    pub(crate) job: Label,
    #[serde(flatten)]
    pub(crate) facts: Value,
    pub(crate) note: Option<String>,
    /// Every change, in order of time.
    pub(crate) history: Vec<Line>,
    /// The same with adjacent changes of one kind in one line.
    #[serde(skip)]
    pub(crate) brief: Vec<Line>,
    #[serde(skip)]
    pub(crate) submit: Time,
    /// Sentences about the job itself; the first one follows the time of submission.
    #[serde(skip)]
    pub(crate) about: Vec<String>,
}

impl Explanation {
    /// Formats the explanation as text, with `all` lines of the history or few, and with dates if the `start` of the log is known.
    pub(crate) fn in_words(&self, log: &str, start: Option<i64>, all: bool) -> String {
        let is_brief = !all && self.history.len() > FEW;
        let lines: &[Line] = if is_brief { &self.brief } else { &self.history };
        let shown = lines.iter().map(|line| line.in_words(start));
        let mut sentences = self.about.clone();
        if let Some(first) = sentences.first_mut() {
            *first = format!("submitted at {} s{}{first}", self.submit, clock(start, self.submit, None));
        }
        if is_brief && lines.len() > FEW {
            let (head, tail) = (FEW - 4, 4);
            let left_out = lines.len() - head - tail;
            sentences.extend(shown.clone().take(head));
            sentences.push(format!("… {left_out} lines are left out here; --all has every change …"));
            sentences.extend(shown.skip(lines.len() - tail));
        } else {
            sentences.extend(shown);
            let changes = self.history.len();
            let note = || format!("(of {changes} changes, those of one kind are in one line; --all has each)");
            sentences.extend(is_brief.then(note));
        }
        sentences.extend(self.note.clone());
        let text: String = sentences.iter().map(|sentence| indented(sentence)).collect();
        format!("job {} of {log} under {}\n{text}", self.job, self.policy)
    }
}

/// Formats an instant, or a time in which nothing changed, on the clock of the log's site: ` (1996-09-23 10:01:00 to 10:02:40)`.
fn clock(start: Option<i64>, from: Time, until: Option<Time>) -> String {
    let Some(start) = start else { return String::new() };
    let moment = |at: Time| {
        let seconds = start + i64::try_from(at.as_nanos() / 1_000_000_000).unwrap_or(0);
        let [hour, minute, second] = [3_600, 60, 1].map(|unit| seconds.rem_euclid(86_400) / unit);
        (date(seconds), format!("{hour:02}:{:02}:{:02}", minute % 60, second % 60))
    };
    let (day, time) = moment(from);
    match until.map(moment) {
        None => format!(" ({day} {time})"),
        Some((last, end)) if last == day => format!(" ({day} {time} to {end})"),
        Some((last, end)) => format!(" ({day} {time} to {last} {end})"),
    }
}

/// The sentence, indented by two columns; its continuation lines by four.
fn indented(sentence: &str) -> String {
    let (mut text, mut column, most) = (" ".to_owned(), 1, lab::terminal::width());
    for word in sentence.split(' ') {
        let width = word.chars().count();
        if column > 4 && column + 1 + width > most {
            text += "\n   ";
            column = 3;
        }
        text += " ";
        text += word;
        column += 1 + width;
    }
    text + "\n"
}
