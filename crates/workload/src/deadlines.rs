//! When a job of a log ought to be finished.

use crate::error::TextError;
use sim_core::Span;
use std::fmt;
use std::str::FromStr;

/// When a job ought to be finished: logs do not say, so a study must.
///
/// Deadlines do not depend on the estimates that policies see ([`Estimates`](crate::Estimates)): studies that differ
/// in that alone are judged by the same deadlines.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Deadlines {
    /// No job has one.
    #[default]
    None,
    /// A multiple of its limit after its submission; the limit is the requested time (field 9), or else the run time.
    /// Above 0, at most a million.
    Factor(f64),
    /// The log tells: this column, counted from 1, holds the seconds from submission to deadline, and −1 where there is
    /// none. A job whose line ends before it is an error.
    Column(u8),
}

impl Deadlines {
    /// # Panics
    ///
    /// If there are no deadlines of that kind; [`Deadlines::from_str`] makes none.
    pub(crate) fn assert_possible(self) {
        match self {
            Self::None => {}
            Self::Factor(factor) => assert!(is_factor(factor), "a deadline cannot be at {factor} times the limit"),
            Self::Column(column) => assert!(column > 0, "columns are counted from 1"),
        }
    }
}

/// `limit` times `factor`, at most 136 years, as long as any time of a log can be.
pub(crate) fn after_submit(limit: Span, factor: f64) -> Span {
    let longest = Span::from_secs(u64::from(u32::MAX));
    if limit.as_secs_f64() * factor < longest.as_secs_f64() { limit.scaled(factor) } else { longest }
}

fn is_factor(factor: f64) -> bool {
    factor > 0.0 && factor <= 1e6
}

impl FromStr for Deadlines {
    type Err = TextError;

    /// `none`, `factor:2`, or `column:19`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let known = match text.split_once(':') {
            None if text == "none" => Some(Self::None),
            Some(("factor", factor)) => factor.parse().ok().filter(|factor| is_factor(*factor)).map(Self::Factor),
            Some(("column", column)) => column.parse().ok().filter(|column| *column > 0).map(Self::Column),
            _ => None,
        };
        known.ok_or_else(|| {
            let expected = "deadlines: expected none, factor:F with F above 0 and up to 1000000, or column:N with N from 1 to 255,";
            TextError::new(expected, text)
        })
    }
}

impl fmt::Display for Deadlines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Factor(factor) => write!(f, "factor:{factor}"),
            Self::Column(column) => write!(f, "column:{column}"),
        }
    }
}
