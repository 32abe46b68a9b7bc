//! Values in the formats of Slurm's files: times as if clocks were UTC, spans, sizes, switches, quoted words.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use std::str::FromStr;

/// Returns the second since 1970 of a time such as `2023-11-14T22:13:23.000`; fractions and zones are ignored.
pub(crate) fn second_of(text: &str) -> Option<i64> {
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

/// Parses a span in one of Slurm's six forms into seconds; `None` means no limit.
///
/// The forms are `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` and
/// `days-hours:minutes:seconds`.
pub(crate) fn span(text: &str) -> Result<Option<i64>, &'static str> {
    let text = text.trim();
    if ["unlimited", "infinite", "-1"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let (days, clock) = text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
    let parts = clock.split(':').map(whole).collect::<Option<Vec<i64>>>();
    let seconds = match (days, parts.as_deref()) {
        (None, Some([minutes])) => Some(minutes * 60),
        (None, Some([minutes, seconds])) => Some(minutes * 60 + seconds),
        (Some(_), Some([hours])) => Some(hours * 3600),
        (Some(_), Some([hours, minutes])) => Some(hours * 3600 + minutes * 60),
        (_, Some([hours, minutes, seconds])) => Some(hours * 3600 + minutes * 60 + seconds),
        _ => None,
    };
    let days = whole::<i64>(days.unwrap_or("0"));
    let all = seconds.zip(days).map(|(seconds, days)| Some(seconds + days * 86_400));
    all.ok_or("expected minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]] or UNLIMITED")
}

/// Parses a time limit into seconds; slurmctld keeps it in minutes and rounds up.
pub(crate) fn limit(text: &str) -> Result<Option<i64>, &'static str> {
    Ok(span(text)?.map(|seconds| (seconds + 59) / 60 * 60))
}

/// Parses a number of at most nine digits, without sign.
pub(crate) fn whole<T: FromStr>(text: &str) -> Option<T> {
    let is_whole = text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_whole)
}

/// Splits a number from its unit of memory: K, M, G, T or P, as a power of 1 024 MiB; without a unit, MiB.
pub(crate) fn with_unit(text: &str) -> Option<(&str, i32)> {
    let (number, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let power = match unit.to_ascii_uppercase().trim_end_matches('B') {
        "K" => -1,
        "" | "M" => 0,
        "G" => 1,
        "T" => 2,
        "P" => 3,
        _ => return None,
    };
    Some((number, power))
}

/// Parses an amount of memory into MiB: a number with the unit K, M, G, T or P; without a unit, MiB.
pub(crate) fn mebibytes(text: &str) -> Option<u64> {
    let (number, power) = with_unit(text)?;
    let number: u64 = whole(number)?;
    Some(if power < 0 { number.div_ceil(1024) } else { number << (10 * power) })
}

/// Parses `YES`, `NO` and their synonyms.
pub(crate) fn switch(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "1" | "up" => Ok(true),
        "no" | "false" | "0" | "down" => Ok(false),
        _ => Err("expected YES or NO"),
    }
}

/// Iterates over the elements of a list with commas, without blanks and empty ones.
pub(crate) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Returns true if `list`, words between blanks, contains the word, ignoring case.
pub(crate) fn is_among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

/// Splits `text` at the characters that end a field outside of quotes, which are removed. A field without a character or a quote is
/// `None`. Also returns true if a quote is left open.
pub(crate) fn fields(text: &str, quotes: &[char], ends: impl Fn(char) -> bool) -> (Vec<Option<String>>, bool) {
    let (mut fields, mut field, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if quotes.contains(&c) => {
                quote = Some(c);
                field.get_or_insert_default();
            }
            None if ends(c) => fields.push(field.take()),
            _ => field.get_or_insert_default().push(c),
        }
    }
    fields.push(field);
    (fields, quote.is_some())
}

/// Splits `text` at blanks outside of `'` and `"`; `None` if a quote is left open.
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
    let (words, is_open) = fields(text, &['\'', '"'], char::is_whitespace);
    (!is_open).then(|| words.into_iter().flatten().collect())
}

/// Returns the known word nearest to `word`, if at most two letters differ.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().filter(|candidate| candidate.len().abs_diff(word.len()) <= 2);
    let word = word.to_ascii_lowercase();
    let near = near.map(|candidate| (strsim::levenshtein(&word, &candidate.to_ascii_lowercase()), candidate));
    near.filter(|(distance, _)| *distance <= 2).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}
