//! Times in the form of logs, as if their clocks were UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;

/// Returns the second since 1970 of a time such as `2023-11-14T22:13:23.000`; fractions and zones are ignored.
#[must_use]
pub fn second_of(text: &str) -> Option<i64> {
    let time: DateTime = text.get(..19)?.parse().ok()?;
    Some(TimeZone::UTC.to_timestamp(time).ok()?.as_second())
}

fn datetime(second: i64) -> DateTime {
    TimeZone::UTC.to_datetime(Timestamp::from_second(second).unwrap_or(Timestamp::MAX))
}

/// Formats a second since 1970 as date and clock time.
pub(crate) fn stamp(second: i64) -> String {
    datetime(second).to_string()
}

/// Returns the first reset of usage after `now`, both in seconds since 1970, by `PriorityUsageResetPeriod`.
pub(crate) fn next_reset(period: &str, now: i64) -> Option<i64> {
    let today = datetime(now).date();
    let last_day = match period {
        "NOW" => return Some(now),
        "DAILY" => today,
        "WEEKLY" => today.nth_weekday(1, Weekday::Sunday).ok()?.yesterday().ok()?,
        "MONTHLY" => today.last_of_month(),
        "QUARTERLY" => Date::new(today.year(), (today.month() - 1) / 3 * 3 + 3, 1).ok()?.last_of_month(),
        "YEARLY" => today.last_of_year(),
        _ => return None,
    };
    let midnight = last_day.tomorrow().ok()?.to_datetime(jiff::civil::Time::midnight());
    Some(TimeZone::UTC.to_timestamp(midnight).ok()?.as_second())
}
