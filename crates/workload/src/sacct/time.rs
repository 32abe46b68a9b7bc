//! Instants and lengths of time in the formats of `sacct`.

use crate::error::TextError;
use crate::swf::decimal::LONGEST;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use sim_core::Span;
use std::fmt;
use std::str::FromStr;

/// Zone of times that are written without one: a number of seconds ahead of UTC, or a place with its summer times. By default
/// there is none, and such a time is rejected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zone(Option<TimeZone>);

impl FromStr for Zone {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        // The built-in database, not the computer's own, gives the same result everywhere.
        let zone = offset(text).map(TimeZone::fixed).or_else(|| TimeZoneDatabase::bundled().get(text).ok());
        let expected = "zone: expected UTC, hours and minutes ahead of it such as +01:00 or -0530, or a place such as Europe/Berlin;";
        zone.map(|zone| Self(Some(zone))).ok_or_else(|| TextError::new(expected, text))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.place(), self.seconds_ahead(0)) {
            (Some(place), _) => f.write_str(place),
            (None, None) => f.write_str("unknown"),
            (None, Some(seconds)) => {
                let sign = if seconds < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", seconds.abs() / 3_600, seconds.abs() / 60 % 60)
            }
        }
    }
}

/// Parses `Z`, `UTC`, `+01:00`, `-0530`, `+1`.
fn offset(text: &str) -> Option<Offset> {
    if matches!(text, "Z" | "z" | "UTC" | "utc") {
        return Some(Offset::UTC);
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
    let is_good = hours <= 24 && minutes < 60 && 60 * hours + minutes <= 24 * 60;
    Offset::from_seconds(sign * (3_600 * hours + 60 * minutes)).ok().filter(|_| is_good)
}

impl Zone {
    pub(super) const fn utc() -> Self {
        Self(Some(TimeZone::UTC))
    }

    /// Name of the place, if the zone is one.
    pub(crate) fn place(&self) -> Option<&str> {
        self.0.as_ref()?.iana_name().filter(|name| *name != "UTC")
    }

    /// Returns the zone's distance from UTC at an instant, in seconds; `None` if unknown.
    pub(crate) fn seconds_ahead(&self, unix_seconds: i64) -> Option<i32> {
        let instant = jiff::Timestamp::from_second(unix_seconds).ok()?;
        Some(self.0.as_ref()?.to_offset(instant).seconds())
    }

    /// Parses `2026-01-31T08:15:00`, with or without a zone behind it, or seconds since 1970. Returns seconds since 1970, with
    /// true for a time that clocks showed twice or never; `Some(None)` for `Unknown`, `None` for other text.
    pub(super) fn instant(&self, text: &str) -> Option<Option<(i64, bool)>> {
        if matches!(text, "" | "Unknown" | "None" | "N/A") {
            return Some(None);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Some((text.parse().ok()?, false)));
        }
        let (local, behind) = text.split_at_checked(LOCAL)?;
        if local.as_bytes()[10] != b'T' {
            return None;
        }
        let local: DateTime = local.parse().ok()?;
        let zone = if behind.is_empty() { self.0.clone()? } else { TimeZone::fixed(offset(behind)?) };
        let instant = zone.to_ambiguous_timestamp(local);
        Some(Some((instant.compatible().ok()?.as_second(), instant.is_ambiguous())))
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

pub(super) fn whole(digits: &str) -> Option<u64> {
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
        for (text, seconds) in
            [("+01:00", 3_600), ("-0530", -19_800), ("+1", 3_600), ("Z", 0), ("UTC", 0), ("-03:30", -12_600)]
        {
            assert_eq!((zone(text).seconds_ahead(0), zone(text).place()), (Some(seconds), None), "{text}");
            assert_eq!(zone(&zone(text).to_string()), zone(text), "{text}");
        }
        assert_eq!(zone("europe/berlin").to_string(), "Europe/Berlin");
        assert_eq!(zone("-03:30").to_string(), "-03:30");
        for wrong in ["", "CEST", "+", "+1:", "+25:00", "+01:60", "1", "+0100x", "Europe/Berlin2", "+١:00"] {
            assert!(wrong.parse::<Zone>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn instants_are_local_or_seconds_or_unknown() {
        for (zone, text, expected) in [
            ("UTC", "1970-01-02T00:00:01", Some((86_401, false))),
            ("+01:00", "1970-01-02T00:00:01", Some((82_801, false))),
            // Seconds since 1970, and times with a zone of their own, are the same in every zone.
            ("+01:00", "86401", Some((86_401, false))),
            ("+05:00", "1970-01-02T00:00:01Z", Some((86_401, false))),
            ("+05:00", "1970-01-02T01:00:01+0100", Some((86_401, false))),
            ("UTC", "", None),
            ("UTC", "Unknown", None),
            ("UTC", "None", None),
            ("UTC", "N/A", None),
            // Noon in winter and in summer; half past two occurred twice on the 25th of October, first at 00:30 UTC, and in
            // March it did not occur.
            ("Europe/Berlin", "2026-01-01T12:00:00", Some((1_767_265_200, false))),
            ("Europe/Berlin", "2026-07-01T12:00:00", Some((1_782_900_000, false))),
            ("Europe/Berlin", "2026-10-25T02:30:00", Some((1_792_888_200, true))),
            ("Europe/Berlin", "2026-03-29T02:30:00", Some((1_774_747_800, true))),
        ] {
            assert_eq!(self::zone(zone).instant(text), Some(expected), "{text} in {zone}");
        }
        for wrong in ["2026-01-31", "2026-02-30T00:00:00", "2026-01-31 08:15:00", "08:15", "yesterday", "-5", "1.5"] {
            assert_eq!(zone("UTC").instant(wrong), None, "{wrong}");
        }
        assert_eq!(Zone::default().instant("1970-01-02T00:00:01"), None);
    }

    #[test]
    fn lengths_need_minutes_and_no_days() {
        assert_eq!(length("02:03:04"), Some(Span::from_secs(7_384)));
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
            let _ = (length(&text), Zone::default().instant(&text), text.parse::<Zone>());
        }
    }
}
