//! TOML written by people: errors name the line, the key and the probably intended name.

use serde::de::DeserializeOwned;
use toml::de::{DeTable, Deserializer};
use toml_edit::{Document, Table, Value};

#[derive(Debug, thiserror::Error)]
#[error("line {line}: {words}")]
pub struct Wrong {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error, with the key if a value is wrong.
    pub words: String,
}

/// Reads a text; fails for invalid TOML, a missing or unknown key, or a value of the wrong type.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Wrong> {
    read_without(text, |_| ())
}

/// Reads a text from which `cut` removes what another part of the program reads.
pub(crate) fn read_without<T: DeserializeOwned>(text: &str, cut: impl FnOnce(&mut DeTable<'_>)) -> Result<T, Wrong> {
    let read = DeTable::parse(text).and_then(|mut table| {
        cut(table.get_mut());
        T::deserialize(Deserializer::from(table))
    });
    read.map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let message = in_words(error.message());
        let words = match key_at(text, start) {
            Some(key) => {
                // Some messages already begin with the key.
                let own = format!("{}: ", key.rsplit('.').next().unwrap_or_default());
                format!("{key}: {}", message.strip_prefix(&own).unwrap_or(&message))
            }
            None => message.clone(),
        };
        Wrong { line: 1 + text[..start].matches('\n').count(), words: words + &hint(&message) }
    })
}

/// Returns the key, with its tables, whose value holds the byte at `position`: `run.jobs`.
fn key_at(text: &str, position: usize) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let is_there = |(_, value): &(String, &Value)| value.span().is_some_and(|span| span.contains(&position));
    values(document.as_table()).into_iter().find(is_there).map(|(key, _)| key)
}

/// Returns the values of a table and of those inside it, by their dotted keys.
pub(crate) fn values(table: &Table) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (key, item) in table {
        let inner = item.as_table().into_iter().chain(item.as_array_of_tables().into_iter().flatten());
        all.extend(item.as_value().map(|value| (key.to_owned(), value)));
        all.extend(inner.flat_map(values).map(|(name, value)| (format!("{key}.{name}"), value)));
    }
    all
}

/// Returns the position in a text of a value by its path, such as `log.1.file`, otherwise of the innermost table around it.
pub fn position_of(text: &str, path: &str) -> usize {
    let Ok(document) = Document::parse(text) else { return 0 };
    let (mut item, mut position) = (document.as_item(), 0);
    for key in path.split('.') {
        let Some(inner) = key.parse().map_or_else(|_| item.get(key), |place: usize| item.get(place)) else { break };
        (item, position) = (inner, inner.span().map_or(position, |span| span.start));
    }
    position
}

/// Translates a message of serde, with Rust's types in plain words.
fn in_words(message: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        ("u64", "a whole number, at least 0"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("f64", "a number"),
        ("a sequence", "a list such as [1, 2]"),
        ("a boolean", "true or false"),
    ];
    let plain = WORDS.iter().find_map(|(name, words)| {
        let start = message.strip_suffix(name)?.strip_suffix("expected ")?;
        Some(format!("{start}expected {words}"))
    });
    plain.unwrap_or_else(|| message.to_owned())
}

/// Returns `; did you mean "jobs"?` if the first name that serde quotes is unknown and resembles one of the expected names.
fn hint(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next().filter(|_| message.starts_with("unknown")) {
        Some(unknown) => did_you_mean(unknown, quoted),
        None => String::new(),
    }
}

/// Returns `; did you mean "run.jobs"?` if a name is similar, otherwise nothing.
pub fn did_you_mean<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> String {
    // Also compares the last part of a dotted name, since the table is often left out.
    let nearness = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        strsim::jaro_winkler(given, name).max(strsim::jaro_winkler(given, last))
    };
    let nearest = names.map(|name| (nearness(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest
        .filter(|(nearness, _)| *nearness > 0.7)
        .map_or_else(String::new, |(_, name)| format!("; did you mean {name:?}?"))
}
