//! A row of `jobs.csv`, and the format of its values.

use lab::terminal::csv_name;
use serde::{Serialize, Serializer};
use sim_core::{Span, Time};
use std::fmt::{self, Write as _};

/// Job that has left the system, in the columns of `jobs.csv`; `None` for missing values. `columns.md` defines each field.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "columns.md")]
pub struct Row<'a> {
    pub job: Name<'a>,
    pub submit: Seconds,
    pub start: Option<Seconds>,
    pub finish: Option<Seconds>,
    pub processors: u32,
    pub site: Option<&'a str>,
    pub user: Option<Name<'a>>,
    pub requested: Option<Seconds>,
    pub run: Seconds,
    pub deadline: Option<Seconds>,
    pub state: &'static str,
    pub allocated: Option<Processors<'a>>,
}

/// The fields of [`Row`] as the header of the table.
pub(super) const HEADER: &str = "job,submit,start,finish,processors,site,user,requested,run,deadline,state,allocated";

/// Job or user, with its number in the log, and its name if the log has one.
#[derive(Copy, Clone, Debug)]
#[expect(missing_docs, reason = "the line above")]
pub struct Name<'a> {
    pub number: u64,
    pub name: Option<&'a str>,
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name {
            Some(name) => serializer.serialize_str(&csv_name(name)),
            None => serializer.serialize_u64(self.number),
        }
    }
}

/// Processors as blocks of `(first, count)`, written as `0-3,7`.
#[derive(Copy, Clone, Debug)]
pub struct Processors<'a>(pub &'a [(u32, u32)]);

impl fmt::Display for Processors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(self.0, ','))
    }
}

impl Serialize for Processors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&listed(self.0, ','))
    }
}

/// Instant in seconds with full precision.
#[derive(Copy, Clone, Debug)]
pub struct Seconds(pub Time);

pub(super) const fn in_seconds(span: Span) -> Seconds {
    Seconds(Time::from_nanos(span.as_nanos()))
}

impl Seconds {
    /// The number nearest to the digits of `jobs.csv`, parsed from the same digits: a quotient of nanoseconds over years would be rounded
    /// twice.
    pub fn as_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        let whole = self.whole().map(|whole| whole as f64);
        whole.unwrap_or_else(|| self.0.to_string().parse().expect("a number is written as one"))
    }

    /// The number of seconds, if it has no fraction.
    fn whole(self) -> Option<u64> {
        let nanos = self.0.as_nanos();
        nanos.is_multiple_of(1_000_000_000).then_some(nanos / 1_000_000_000)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Most are whole, and take no text of their own.
        match self.whole() {
            Some(whole) => serializer.serialize_u64(whole),
            None => serializer.collect_str(&self.0),
        }
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
