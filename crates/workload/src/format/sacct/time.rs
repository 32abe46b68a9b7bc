//! Instants and lengths of time in the formats of `sacct`.

use crate::error::TextError;
use crate::format::swf::decimal::LONGEST;
use jiff::Timestamp;
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
        match (&self.0, self.place()) {
            (None, _) => f.write_str("unknown"),
            (Some(_), Some(place)) => f.write_str(place),
            (Some(zone), None) => Timestamp::UNIX_EPOCH.to_zoned(zone.clone()).strftime("%:z").fmt(f),
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
        let instant = Timestamp::from_second(unix_seconds).ok()?;
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
