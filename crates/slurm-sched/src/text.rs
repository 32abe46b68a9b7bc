//! Values in the formats of Slurm's files: spans, times, sizes, switches, quoted words.

pub use crate::calendar::second_of;

/// Parses a span in one of Slurm's six forms into seconds; `None` means no limit.
///
/// The forms are `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` and
/// `days-hours:minutes:seconds`.
pub(crate) fn span(text: &str) -> Result<Option<i64>, &'static str> {
    const FORMS: &str =
        "expected minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]] or UNLIMITED";
    let text = text.trim();
    if ["unlimited", "infinite", "-1"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(days), clock),
        None => (None, text),
    };
    let mut parts = [0_i64; 3];
    let mut count = 0;
    for part in clock.split(':') {
        *parts.get_mut(count).ok_or(FORMS)? = whole(part).ok_or(FORMS)?;
        count += 1;
    }
    let seconds = match (days, count) {
        (Some(_), _) | (None, 3) => parts[0] * 3600 + parts[1] * 60 + parts[2],
        (None, _) => parts[0] * 60 + parts[1],
    };
    Ok(Some(seconds + whole(days.unwrap_or("0")).ok_or(FORMS)? * 86_400))
}

/// Parses a time limit into seconds; slurmctld keeps it in minutes and rounds up.
///
/// # Errors
///
/// Lists the allowed forms.
pub fn limit(text: &str) -> Result<Option<i64>, &'static str> {
    Ok(span(text)?.map(|seconds| (seconds + 59) / 60 * 60))
}

/// Parses a number of at most nine digits, without sign.
#[must_use]
pub fn whole(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
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
#[must_use]
pub fn mebibytes(text: &str) -> Option<u64> {
    let (number, power) = with_unit(text)?;
    let number = u64::try_from(whole(number)?).ok()?;
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
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Returns true if `list`, words between blanks, contains the word, ignoring case.
pub(crate) fn is_among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

/// Splits `text` at blanks outside of `'` and `"`, which are removed; `None` if a quote is left open.
#[must_use]
pub fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let (mut word, mut quote) = (None::<String>, None);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Returns the known word nearest to `word`, if at most two letters differ.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().filter(|candidate| candidate.len().abs_diff(word.len()) <= 2);
    let word = word.to_ascii_lowercase();
    let near = near.map(|candidate| (strsim::levenshtein(&word, &candidate.to_ascii_lowercase()), candidate));
    near.filter(|(distance, _)| *distance <= 2).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}
