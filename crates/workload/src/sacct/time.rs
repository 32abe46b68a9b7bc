//! Instants and lengths of time in the formats of `sacct`.

use crate::error::TextError;
use crate::swf::decimal::LONGEST;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use sim_core::Span;
use std::fmt;
use std::str::FromStr;

/// Zone of times that are written without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Zone {
    /// None: a time without a zone is rejected.
    #[default]
    Unknown,
    /// A fixed number of seconds ahead of UTC, the whole year.
    Fixed(i32),
    /// A place, with its summer times, by the built-in time zone database.
    Named(Box<str>, TimeZone),
}

impl FromStr for Zone {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if let Some(seconds) = offset(text) {
            return Ok(Self::Fixed(seconds));
        }
        // The built-in database, not the computer's own, gives the same result everywhere.
        let expected = "zone: expected UTC, hours and minutes ahead of it such as +01:00 or -0530, or a place such as Europe/Berlin;";
        let found = || TextError::new(expected, text);
        let zone = TimeZoneDatabase::bundled().get(text).map_err(|_| found())?;
        Ok(Self::Named(zone.iana_name().unwrap_or(text).into(), zone))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Fixed(seconds) => {
                let sign = if *seconds < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", seconds.abs() / 3_600, seconds.abs() / 60 % 60)
            }
            Self::Named(name, _) => f.write_str(name),
        }
    }
}

/// Parses `Z`, `UTC`, `+01:00`, `-0530`, `+1` as seconds.
fn offset(text: &str) -> Option<i32> {
    if matches!(text, "Z" | "z" | "UTC" | "utc") {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some((hours, minutes)), _) => (hours, minutes),
        (None, 1 | 2) => (digits, "0"),
        (None, 4) => digits.split_at_checked(2)?,
        _ => return None,
    };
    if !hours.bytes().chain(minutes.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = (hours.parse::<i32>().ok()?, minutes.parse::<i32>().ok()?);
    (hours <= 24 && minutes < 60 && 60 * hours + minutes <= 24 * 60).then_some(sign * (3_600 * hours + 60 * minutes))
}

/// Instant, in seconds since 1970.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Instant {
    /// `Unknown`, `None`, or empty.
    Unknown,
    /// A time that clocks showed once.
    At(i64),
    /// A time that clocks showed twice, or never.
    Ambiguous(i64),
}

impl Instant {
    pub(super) const fn seconds(self) -> Option<i64> {
        match self {
            Self::Unknown => None,
            Self::At(seconds) | Self::Ambiguous(seconds) => Some(seconds),
        }
    }
}

impl Zone {
    /// Returns the zone's distance from UTC at an instant, in seconds; `None` if unknown.
    pub(crate) fn seconds_ahead(&self, unix_seconds: i64) -> Option<i32> {
        match self {
            Self::Unknown => None,
            Self::Fixed(seconds) => Some(*seconds),
            Self::Named(_, zone) => {
                let instant = jiff::Timestamp::from_second(unix_seconds).ok()?;
                Some(zone.to_offset(instant).seconds())
            }
        }
    }

    /// Parses `2026-01-31T08:15:00`, with or without a zone behind it, or seconds since 1970. `None` for other text.
    pub(super) fn instant(&self, text: &str) -> Option<Instant> {
        if matches!(text, "" | "Unknown" | "None" | "N/A") {
            return Some(Instant::Unknown);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok().map(Instant::At);
        }
        let (local, behind) = text.split_at_checked(LOCAL)?;
        if local.as_bytes()[10] != b'T' {
            return None;
        }
        let local: DateTime = local.parse().ok()?;
        let by_offset = |seconds: i32| {
            let offset = Offset::from_seconds(seconds).ok()?;
            Some(Instant::At(offset.to_timestamp(local).ok()?.as_second()))
        };
        match (behind, self) {
            ("", Self::Unknown) => None,
            ("", Self::Fixed(seconds)) => by_offset(*seconds),
            ("", Self::Named(_, zone)) => {
                let told = zone.to_ambiguous_timestamp(local);
                let at = told.compatible().ok()?.as_second();
                Some(if told.is_ambiguous() { Instant::Ambiguous(at) } else { Instant::At(at) })
            }
            (zone, _) => by_offset(offset(zone)?),
        }
    }
}

/// Length of `2026-01-31T08:15:00`.
const LOCAL: usize = 19;

/// Parses `[DAYS-]HOURS:MINUTES:SECONDS[.FRACTION]`, where hours are optional. `None` for other text, or for a length
/// beyond [`LONGEST`].
pub(super) fn length(text: &str) -> Option<Span> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (whole(days)?, clock),
        None => (0, text),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let nanos = match fraction.len() {
        0..=9 if fraction.bytes().all(|byte| byte.is_ascii_digit()) => format!("{fraction:0<9}").parse::<u64>().ok()?,
        _ => return None,
    };
    let mut parts = clock.rsplit(':');
    let (seconds, minutes) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let hours = parts.next().map_or(Some(0), whole)?;
    if parts.next().is_some() || seconds > 59 || minutes > 59 {
        return None;
    }
    let total =
        days.checked_mul(86_400)?.checked_add(hours.checked_mul(3_600)?)?.checked_add(60 * minutes + seconds)?;
    (total <= LONGEST).then(|| Span::from_nanos(1_000_000_000 * total + nanos))
}

fn whole(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zone(text: &str) -> Zone {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn zones_have_an_offset_or_a_place() {
        assert_eq!(zone("+01:00"), Zone::Fixed(3_600));
        assert_eq!(zone("-0530"), Zone::Fixed(-19_800));
        assert_eq!((zone("+1"), zone("Z"), zone("UTC")), (Zone::Fixed(3_600), Zone::Fixed(0), Zone::Fixed(0)));
        assert_eq!(zone("europe/berlin").to_string(), "Europe/Berlin");
        assert_eq!([zone("-03:30"), zone("+14")].map(|zone| zone.to_string()), ["-03:30", "+14:00"]);
        for wrong in ["", "CEST", "+", "+1:", "+25:00", "+01:60", "1", "+0100x", "Europe/Berlin2", "+١:00"] {
            assert!(wrong.parse::<Zone>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn instants_are_local_or_seconds_or_unknown() {
        let read = |zone: &str, text: &str| self::zone(zone).instant(text);
        assert_eq!(read("UTC", "1970-01-02T00:00:01"), Some(Instant::At(86_401)));
        assert_eq!(read("+01:00", "1970-01-02T00:00:01"), Some(Instant::At(82_801)));
        // Seconds since 1970, and times with a zone of their own, are the same in every zone.
        assert_eq!(read("+01:00", "86401"), Some(Instant::At(86_401)));
        assert_eq!(read("+05:00", "1970-01-02T00:00:01Z"), Some(Instant::At(86_401)));
        assert_eq!(read("+05:00", "1970-01-02T01:00:01+0100"), Some(Instant::At(86_401)));
        for unknown in ["", "Unknown", "None", "N/A"] {
            assert_eq!(read("UTC", unknown), Some(Instant::Unknown), "{unknown}");
        }
        for wrong in ["2026-01-31", "2026-02-30T00:00:00", "2026-01-31 08:15:00", "08:15", "yesterday", "-5", "1.5"] {
            assert_eq!(read("UTC", wrong), None, "{wrong}");
        }
    }

    #[test]
    fn summer_time_is_that_of_the_place() {
        let berlin = zone("Europe/Berlin");
        let (winter, summer) = (1_767_265_200, 1_782_900_000); // 12:00 in Berlin
        assert_eq!(berlin.instant("2026-01-01T12:00:00"), Some(Instant::At(winter)));
        assert_eq!(berlin.instant("2026-07-01T12:00:00"), Some(Instant::At(summer)));
        assert_eq!((berlin.seconds_ahead(winter), berlin.seconds_ahead(summer)), (Some(3_600), Some(7_200)));
        // Half past two occurred twice on the 25th of October, first at 00:30 UTC. In March it did not occur.
        assert_eq!(berlin.instant("2026-10-25T02:30:00"), Some(Instant::Ambiguous(1_792_888_200)));
        assert_eq!(berlin.instant("2026-03-29T02:30:00"), Some(Instant::Ambiguous(1_774_747_800)));
    }

    #[test]
    fn lengths_have_days_hours_and_fractions_if_they_want() {
        let seconds = |text: &str| length(text).map(Span::as_secs_f64);
        assert_eq!(seconds("1-02:03:04"), Some(93_784.0));
        assert_eq!(
            (seconds("02:03:04"), seconds("03:04"), seconds("00:01.250")),
            (Some(7_384.0), Some(184.0), Some(1.25))
        );
        for wrong in ["", "5", "1-", "1:2:3:4", "00:60", "99999-00:00:00", "a:b", "-00:01", "00:01.1234567890"] {
            assert_eq!(length(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn lengths_are_read_as_they_are_written(days in 0..4_000_u64, clock in 0..86_400_u64, millis in 0..1_000_u64) {
            let (hours, minutes, seconds) = (clock / 3_600, clock / 60 % 60, clock % 60);
            let expected = Span::from_nanos((86_400 * days + clock) * 1_000_000_000 + millis * 1_000_000);
            prop_assert_eq!(length(&format!("{days}-{hours:02}:{minutes:02}:{seconds:02}.{millis:03}")), Some(expected));
            if days == 0 && hours == 0 {
                prop_assert_eq!(length(&format!("{minutes:02}:{seconds:02}.{millis:03}")), Some(expected));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = (length(&text), Zone::Unknown.instant(&text), text.parse::<Zone>());
        }
    }
}
