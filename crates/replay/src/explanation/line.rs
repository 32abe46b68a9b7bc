//! An explanation: what is known of a job, and its history in lines.

use crate::label::Label;
use serde_json::Value;
use sim_core::Time;
use std::fmt::Write;

/// So many lines of a history are told, unless all are asked for.
const FEW: usize = 16;

/// Why a job started when it did.
pub(crate) struct Explanation {
    /// As the folder of its results would be called.
    pub(crate) policy: String,
    pub(crate) job: Label,
    /// What is known of it, in sentences.
    pub(crate) about: Vec<String>,
    /// The same, for programs: keys beside `policy`, `job` and `history`.
    pub(crate) facts: serde_json::Map<String, Value>,
    /// In order of time: every change.
    pub(crate) history: Vec<Line>,
    /// The same with changes of one kind in one line.
    pub(crate) brief: Vec<Line>,
    /// What else is to be known.
    pub(crate) note: Option<String>,
}

#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) from: Time,
    /// `None` of what happens at an instant.
    pub(crate) until: Option<Time>,
    pub(crate) words: String,
    /// For programs: keys beside `from` and `until`.
    pub(crate) facts: serde_json::Map<String, Value>,
}

impl Explanation {
    /// In words; `all` lines of the history, or few.
    pub(crate) fn in_words(&self, log: &str, all: bool) -> String {
        let mut text = format!("job {} of {log} under {}\n", self.job, self.policy);
        self.about.iter().for_each(|sentence| indented(&mut text, sentence));
        let is_brief = !all && self.history.len() > FEW;
        let lines = if is_brief { &self.brief } else { &self.history };
        let (head, tail) = if is_brief && lines.len() > FEW { (FEW - 4, 4) } else { (lines.len(), 0) };
        lines[..head].iter().for_each(|line| indented(&mut text, &line.in_words()));
        if tail > 0 {
            let left_out = lines.len() - head - tail;
            indented(&mut text, &format!("… {left_out} lines are left out here; --all has every change …"));
            lines[lines.len() - tail..].iter().for_each(|line| indented(&mut text, &line.in_words()));
        } else if is_brief {
            let changes = self.history.len();
            indented(
                &mut text,
                &format!("(of {changes} changes, those of one kind are told in one line; --all has each)"),
            );
        }
        if let Some(note) = &self.note {
            indented(&mut text, note);
        }
        text
    }

    /// For programs: every change.
    pub(crate) fn as_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        object.insert("policy".to_owned(), self.policy.clone().into());
        object.insert("job".to_owned(), serde_json::json!(self.job));
        object.extend(self.facts.clone());
        object.insert("note".to_owned(), self.note.clone().into());
        object.insert("history".to_owned(), self.history.iter().map(Line::as_json).collect());
        Value::Object(object)
    }
}

impl Line {
    fn in_words(&self) -> String {
        match self.until {
            None => format!("at {} s: {}", self.from, self.words),
            Some(until) => format!("from {} s to {until} s: {}", self.from, self.words),
        }
    }

    fn as_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        object.insert("from".to_owned(), self.from.as_secs_f64().into());
        object.insert("until".to_owned(), self.until.map(Time::as_secs_f64).into());
        object.extend(self.facts.clone());
        object.insert("words".to_owned(), self.words.clone().into());
        Value::Object(object)
    }
}

/// Adds the sentence, two columns in; what it continues on, four. Terminals show 100 columns.
fn indented(text: &mut String, sentence: &str) {
    const WIDTH: usize = 100;
    let mut column = 2;
    text.push_str("  ");
    for (number, word) in sentence.split(' ').enumerate() {
        let width = word.chars().count();
        if number > 0 && column + 1 + width > WIDTH {
            text.push_str("\n    ");
            column = 4;
        } else if number > 0 {
            text.push(' ');
            column += 1;
        }
        let _ = write!(text, "{word}");
        column += width;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explanation(lines: u64) -> Explanation {
        let line = |at| Line {
            from: Time::from_secs(at),
            until: None,
            words: format!("line {at}"),
            facts: serde_json::Map::new(),
        };
        let (policy, note) = ("easy".to_owned(), None);
        let (history, brief) = ((0..lines).map(line).collect(), (0..lines / 2).map(line).collect());
        Explanation { policy, job: 7.into(), about: Vec::new(), facts: serde_json::Map::new(), history, brief, note }
    }

    #[test]
    fn a_short_history_is_told_whole_a_longer_one_in_brief_and_a_long_one_is_cut() {
        assert_eq!(explanation(16).in_words("log", false).lines().count(), 17);
        let brief = explanation(20).in_words("log", false);
        assert!(
            brief.ends_with("(of 20 changes, those of one kind are told in one line; --all has each)\n"),
            "{brief}"
        );
        let cut = explanation(100).in_words("log", false);
        assert!(cut.contains("… 34 lines are left out here; --all has every change …"), "{cut}");
        assert!(cut.ends_with("at 49 s: line 49\n"), "{cut}");
        assert_eq!(explanation(100).in_words("log", true).lines().count(), 101);
    }

    #[test]
    fn long_sentences_are_broken_between_words() {
        let mut text = String::new();
        indented(&mut text, &"word ".repeat(30));
        assert!(text.lines().all(|line| line.len() <= 100) && text.lines().count() == 2, "{text}");
    }
}
