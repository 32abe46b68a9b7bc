//! Integer time: [`Time`] is an instant, [`Span`] a length, both in nanoseconds.
//!
//! Where a paper has abstract time units, one unit is one second. `f64` appears only at the boundary: drawing a
//! variate, dividing work by speed, printing. Integers make equality mean something: slots touch exactly, ties
//! are real ties, and areas sum without drift. The range is 584 years; leaving it is a panic, never a wrap.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Instant: nanoseconds since the start of the simulation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

/// Length of time in nanoseconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Time {
    /// Start of the simulation.
    pub const ZERO: Self = Self(0);
    /// Instant later than any that a model can reach; "never".
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the instant `secs` seconds after the start.
    ///
    /// # Panics
    ///
    /// If `secs` exceeds 584 years.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Span::from_secs(secs).0)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for printing and statistics.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Returns the time from `earlier` to this instant.
    ///
    /// # Panics
    ///
    /// If `earlier` is later: a broken invariant of the caller.
    #[track_caller]
    pub const fn since(self, earlier: Self) -> Span {
        match self.0.checked_sub(earlier.0) {
            Some(nanos) => Span(nanos),
            None => panic!("time runs backwards: asked for the span since a later instant"),
        }
    }

    /// Returns the time from `earlier` to this instant, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Returns this instant plus `span`, or [`Time::MAX`] beyond the range.
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// Length zero.
    pub const ZERO: Self = Self(0);
    /// Length greater than that of any run.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a length of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns a length of `secs` seconds.
    ///
    /// # Panics
    ///
    /// If `secs` exceeds 584 years.
    pub const fn from_secs(secs: u64) -> Self {
        match secs.checked_mul(NANOS_PER_SEC) {
            Some(nanos) => Self(nanos),
            None => panic!("time out of range: more than 584 years"),
        }
    }

    /// Returns the nearest whole number of nanoseconds to `secs` seconds: the rim where drawn variates become time.
    ///
    /// # Panics
    ///
    /// If `secs` is negative, not a number, or exceeds 584 years.
    #[track_caller]
    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked just before")]
    pub fn from_secs_f64(secs: f64) -> Self {
        let nanos = secs * NANOS_PER_SEC as f64 + 0.5;
        assert!((0.0..u64::MAX as f64).contains(&nanos), "a span cannot be {secs} s");
        Self(nanos as u64)
    }

    /// Length in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Length in seconds, for printing and statistics.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Returns true if the length is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the length multiplied by `factor`, rounded to the nearest nanosecond: an overhead of 10 % is
    /// `scaled(1.1)`, work on a processor of speed `s` takes `scaled(1.0 / s)`.
    ///
    /// # Panics
    ///
    /// If `factor` is negative or not a number, or the result exceeds 584 years.
    #[track_caller]
    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked just before")]
    pub fn scaled(self, factor: f64) -> Self {
        let nanos = self.0 as f64 * factor + 0.5;
        assert!((0.0..u64::MAX as f64).contains(&nanos), "a span of {self} cannot be scaled by {factor}");
        Self(nanos as u64)
    }

    /// Returns this length minus `other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

#[track_caller]
#[inline]
fn checked(nanos: Option<u64>) -> u64 {
    nanos.expect("time stays between zero and 584 years")
}

/// Implements an operator and its assigning form, which panic outside of the range.
macro_rules! checked_operator {
    ($Operator:ident $operator:ident, $Assign:ident $assign:ident, $checked:ident: $($Left:ident with $Right:ident),+) => {$(
        impl $Operator<$Right> for $Left {
            type Output = Self;
            #[track_caller]
            #[inline]
            fn $operator(self, other: $Right) -> Self {
                Self(checked(self.0.$checked(other.0)))
            }
        }

        impl $Assign<$Right> for $Left {
            #[track_caller]
            fn $assign(&mut self, other: $Right) {
                *self = $Operator::$operator(*self, other);
            }
        }
    )+};
}

checked_operator!(Add add, AddAssign add_assign, checked_add: Time with Span, Span with Span);
checked_operator!(Sub sub, SubAssign sub_assign, checked_sub: Time with Span, Span with Span);

impl Mul<u64> for Span {
    type Output = Self;
    #[track_caller]
    fn mul(self, times: u64) -> Self {
        Self(checked(self.0.checked_mul(times)))
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    /// Writes seconds with as many decimals as needed: `12`, `0.08`, `3.000000001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / NANOS_PER_SEC, self.0 % NANOS_PER_SEC);
        if rest == 0 {
            write!(f, "{whole}")
        } else {
            let decimals = format!("{rest:09}");
            write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Time(self.0).fmt(f)
    }
}
