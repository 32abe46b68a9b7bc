//! A row of `jobs.csv`, and how its values are written.

use crate::label::Label;
use lab::terminal::csv_name;
use serde::{Serialize, Serializer};
use sim_core::{Span, Time};
use std::fmt::Write as _;

/// The columns of `jobs.csv`: the fields of a [`Row`].
pub(super) const COLUMNS: [&str; 12] = [
    "job",
    "submit",
    "start",
    "finish",
    "processors",
    "site",
    "user",
    "requested",
    "run",
    "deadline",
    "state",
    "allocated",
];

/// A job that has left the system; `None` for what does not exist. `columns.md` defines each field.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    pub(super) job: Cell<'a>,
    pub(super) submit: Seconds,
    pub(super) start: Option<Seconds>,
    pub(super) finish: Option<Seconds>,
    pub(super) processors: u32,
    pub(super) site: Option<&'a str>,
    pub(super) user: Option<Cell<'a>>,
    pub(super) requested: Option<Seconds>,
    pub(super) run: Seconds,
    pub(super) deadline: Option<Seconds>,
    pub(super) state: &'static str,
    pub(super) allocated: Option<String>,
}

/// A label as a field of a table.
#[derive(Copy, Clone, Debug)]
pub(super) struct Cell<'a>(pub(super) &'a Label);

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.name {
            Some(name) => serializer.serialize_str(&csv_name(name)),
            None => serializer.serialize_u64(self.0.number),
        }
    }
}

/// An instant as seconds in full precision, not as a float.
#[derive(Copy, Clone, Debug)]
pub(super) struct Seconds(pub(super) Time);

pub(super) const fn in_seconds(span: Span) -> Seconds {
    Seconds(Time::from_nanos(span.as_nanos()))
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// `0-3,7`.
pub(super) fn listed(blocks: &[(u32, u32)], between: char) -> String {
    let mut text = String::new();
    for &(first, count) in blocks {
        if !text.is_empty() {
            text.push(between);
        }
        // Writing to a string does not fail.
        let _ = match count {
            1 => write!(text, "{first}"),
            _ => write!(text, "{first}-{}", first + (count - 1)),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_listed_as_ranges() {
        assert_eq!(listed(&[(0, 4), (7, 1), (9, 2)], ','), "0-3,7,9-10");
        assert_eq!(listed(&[(u32::MAX - 1, 2)], ' '), "4294967294-4294967295");
        assert_eq!(listed(&[], ','), "");
    }
}
