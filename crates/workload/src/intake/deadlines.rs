//! Deadlines of the jobs of a log.

use crate::error::TextError;
use std::fmt;
use std::str::FromStr;

/// Deadlines of jobs, which logs do not contain.
///
/// Deadlines do not depend on the estimates that policies see ([`Estimates`](crate::Estimates)): studies that differ
/// only in the estimates use the same deadlines.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Deadlines {
    /// No job has one.
    #[default]
    None,
    /// Submission plus a multiple of the limit, which is the requested time (field 9), or else the run time. Above 0,
    /// at most a million.
    Factor(f64),
    /// Column of the log, counted from 1, with the seconds from submission to deadline, and −1 where there is none. A
    /// job whose line ends before it is an error.
    Column(u8),
}

impl Deadlines {
    fn is_possible(&self) -> bool {
        match *self {
            Self::None => true,
            Self::Factor(factor) => factor > 0.0 && factor <= 1e6,
            Self::Column(column) => column > 0,
        }
    }

    /// Panics if the parameter is out of its range, which text of an option never is.
    pub(crate) fn assert_possible(self) {
        assert!(self.is_possible(), "deadlines cannot be {self}");
    }
}

impl FromStr for Deadlines {
    type Err = TextError;

    /// Parses `none`, `factor:2`, or `column:19`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let known = match text.split_once(':') {
            None if text == "none" => Some(Self::None),
            Some(("factor", factor)) => factor.parse().ok().map(Self::Factor),
            Some(("column", column)) => column.parse().ok().map(Self::Column),
            _ => None,
        };
        known.filter(Self::is_possible).ok_or_else(|| {
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
