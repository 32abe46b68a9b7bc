//! Values as Slurm's files write them: spans, sizes, switches, quoted words.

/// Seconds of a span in one of Slurm's six forms; `None` means no limit.
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

/// Seconds of a time limit, which slurmctld keeps in minutes and rounds up.
pub(crate) fn limit(text: &str) -> Result<Option<i64>, &'static str> {
    Ok(span(text)?.map(|seconds| (seconds + 59) / 60 * 60))
}

/// A number of at most nine digits, without sign.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// MiB of an amount of memory: a number with the unit K, M, G or T; without a unit, MiB.
pub(crate) fn mebibytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let number = u64::try_from(whole(number)?).ok()?;
    match unit.to_ascii_uppercase().trim_end_matches('B') {
        "K" => Some(number.div_ceil(1024)),
        "" | "M" => Some(number),
        "G" => Some(number << 10),
        "T" => Some(number << 20),
        "P" => Some(number << 30),
        _ => None,
    }
}

/// `YES`, `NO` and their like.
pub(crate) fn switch(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "1" | "up" => Ok(true),
        "no" | "false" | "0" | "down" => Ok(false),
        _ => Err("expected YES or NO"),
    }
}

/// Elements of a list with commas, without blanks and empty ones.
pub(crate) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Returns true if `list`, words between blanks, has the word in any case of letters.
pub(crate) fn is_among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

/// `text` split at blanks outside of `'` and `"`, which are removed; `None` if a quote is left open.
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
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

/// The known word nearest to `word`, if at most two letters differ.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().filter(|candidate| candidate.len().abs_diff(word.len()) <= 2);
    let near = near.map(|candidate| (distance(word, candidate), candidate));
    near.filter(|(distance, _)| *distance <= 2).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Edit distance of two words without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let next = if x == *y { diagonal } else { 1 + diagonal.min(row[j]).min(row[j + 1]) };
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}
