//! Node lists in Slurm's format: `n[1-8,10]`, `rack[1-2]n[01-16],login`.
//!
//! [`expand`] reads a list with brackets anywhere in a name; [`fold`] prints names like slurmctld, with brackets around
//! the last number only and without sorting.

/// Maximum number of names that one list may expand to, so that a typo such as `n[1-999999999]` is an error and does not fill the memory.
const MOST_NAMES: usize = 1 << 18;

const BRACKET: &str = "unbalanced bracket; write ranges as n[1-4,7]";
const TOO_MANY: &str = "expands to more than 262144 names; check the range";

/// Returns the names of `list` in its order. An error is the first fault, with its position counted from 1.
pub(crate) fn expand(list: &str) -> Result<Vec<String>, String> {
    let fail = |(column, problem): (usize, &'static str)| {
        let list: String = list.chars().take(80).collect();
        format!("node list {list:?}, column {}: {problem}", column + 1)
    };
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    let mut begin = 0;
    let mut depth = 0_u32;
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '[' if depth == 0 => depth = 1,
            ']' if depth == 1 => depth = 0,
            '[' | ']' => return Err(fail((at, BRACKET))),
            ',' if depth == 0 => {
                expand_one(&list[begin..at], begin, &mut names).map_err(fail)?;
                begin = at + 1;
            }
            _ => {}
        }
    }
    if depth == 0 { Ok(names) } else { Err(fail((list.len(), BRACKET))) }
}

/// Appends the names of one element, `rack[1-2]n[01-16]`, which begins at `offset` of its list.
fn expand_one(element: &str, offset: usize, names: &mut Vec<String>) -> Result<(), (usize, &'static str)> {
    let mut partial = vec![String::new()];
    let mut rest = element;
    let room = MOST_NAMES.saturating_sub(names.len());
    while !rest.is_empty() {
        let at = offset + element.len() - rest.len();
        let (plain, bracket) = rest.split_once('[').map_or((rest, None), |(plain, tail)| (plain, Some(tail)));
        let plain = plain.trim_matches(' ');
        if !plain.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
            return Err((at, "node names have letters, digits, '-', '_' and '.' only"));
        }
        partial.iter_mut().for_each(|name| name.push_str(plain));
        let Some(tail) = bracket else { break };
        let (inner, after) = tail.split_once(']').ok_or((at, BRACKET))?;
        let ranges = ranges(inner, room / partial.len()).map_err(|problem| (at + plain.len() + 1, problem))?;
        partial = partial
            .iter()
            .flat_map(|name| ranges.iter().map(move |(number, width)| format!("{name}{number:0width$}")))
            .collect();
        rest = after;
    }
    if partial.len() > room {
        return Err((offset, TOO_MANY));
    }
    if partial.iter().any(String::is_empty) {
        return Err((offset, "empty name; remove the extra comma"));
    }
    names.append(&mut partial);
    Ok(())
}

/// Parses numbers and widths of `01-16,20`.
fn ranges(inner: &str, room: usize) -> Result<Vec<(u64, usize)>, &'static str> {
    let number = |text: &str| {
        let digits = Some(text).filter(|text| text.len() <= 18 && text.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse::<u64>().ok());
        number.ok_or("expected a number or a range such as 1-4 between brackets")
    };
    let mut all = Vec::new();
    for range in inner.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (begin, end) = (number(first)?, number(last)?);
        if end < begin {
            return Err("the range runs backwards; write the smaller number first");
        }
        if usize::try_from(end - begin).map_or(true, |more| all.len() + more >= room) {
            return Err(TOO_MANY);
        }
        all.extend((begin..=end).map(|n| (n, first.len())));
    }
    Ok(all)
}

/// First and last of consecutive numbers, and the digits of the first.
type Numbers = (u64, u64, usize);

/// Prints `names` in their order, neighbours with one prefix between one pair of brackets.
pub(crate) fn fold<S: AsRef<str>>(names: &[S]) -> String {
    // Prefixes with their numbers; a whole name without a number has none.
    let mut runs: Vec<(&str, Option<Numbers>)> = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[prefix.len()..];
        match (digits.parse().ok().filter(|_| digits.len() <= 18), runs.last_mut()) {
            (None, _) => runs.push((name, None)),
            (Some(number), Some((open, Some((_, last, width)))))
                if *open == prefix && number == *last + 1 && digits == format!("{number:0width$}") =>
            {
                *last = number;
            }
            (Some(number), _) => runs.push((prefix, Some((number, number, digits.len())))),
        }
    }
    let range = |(first, last, width)| match first == last {
        true => format!("{first:0width$}"),
        false => format!("{first:0width$}-{last:0width$}"),
    };
    let neighbours = runs.chunk_by(|one, other| one.0 == other.0 && one.1.is_some() && other.1.is_some());
    let items = neighbours.map(|runs| match runs {
        [(prefix, None), ..] => (*prefix).to_owned(),
        [(prefix, Some(only))] if only.0 == only.1 => format!("{prefix}{}", range(*only)),
        runs => {
            let ranges = runs.iter().filter_map(|(_, numbers)| numbers.map(range));
            format!("{}[{}]", runs[0].0, ranges.collect::<Vec<_>>().join(","))
        }
    });
    items.collect::<Vec<_>>().join(",")
}
