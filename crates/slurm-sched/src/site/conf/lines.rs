//! Logical lines: comments, continuations, quoted values, included files, overlays.

use super::keys::{Treatment, treatment};
use crate::error::Collector;
use crate::site::text;
use std::fmt::Display;

/// Maximum number of files that include one another.
const MOST_FILES: usize = 50;

/// Setting `Key=Value`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SettingLine {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: String,
}

impl SettingLine {
    /// Returns its file and line, or the option that it comes from.
    pub(super) fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) }
    }

    pub(super) fn fault(&self, faults: &mut Collector, problem: impl Display) {
        faults.push_in(&self.file, self.line, &self.key, problem);
    }

    /// Returns a value made of its own, or adds a fault.
    pub(super) fn take<T, E: Display>(&self, faults: &mut Collector, result: Result<T, E>) -> Option<T> {
        result.map_err(|problem| self.fault(faults, format_args!("{problem}, found {:?}", self.value))).ok()
    }
}

/// Settings of one line.
pub(super) type Record = Vec<SettingLine>;

/// First keys of lines that are records; the settings of other lines stand for themselves.
const KINDS: &str = "NodeName PartitionName NodeSet DownNodes";

#[derive(Debug, Default)]
pub(super) struct SettingLines {
    records: Vec<Record>,
    pub(super) globals: Vec<SettingLine>,
    /// Lines of overlays for existing nodes and partitions.
    pub(super) changes: Vec<Record>,
    /// Parameters of SchedulerParameters in overlays.
    pub(super) parameters: Vec<SettingLine>,
    files: usize,
}

impl SettingLines {
    pub(super) fn records(&self, kind: &str) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |record| record[0].key.eq_ignore_ascii_case(kind))
    }

    pub(super) fn add_file(
        &mut self,
        file: &str,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
        faults: &mut Collector,
    ) {
        self.files += 1;
        let is_record = |record: &Record| record.first().is_some_and(|one| text::is_among(KINDS, &one.key));
        let (mut logical, mut begin) = (String::new(), 0);
        let mut physical = text.lines().enumerate().peekable();
        while let Some((at, line)) = physical.next() {
            if logical.is_empty() {
                begin = at + 1;
            }
            let line = without_comment(line);
            let line = line.trim_end();
            if let (Some(part), true) = (line.strip_suffix('\\'), physical.peek().is_some()) {
                logical.push_str(part);
                continue;
            }
            logical.push_str(line);
            let whole = std::mem::take(&mut logical);
            let trimmed = whole.trim();
            match trimmed.split_once(char::is_whitespace) {
                Some((word, other)) if word.eq_ignore_ascii_case("include") => {
                    let other = other.trim();
                    const CIRCLE: &str = "files include one another; remove the circle";
                    let result = if self.files < MOST_FILES { include(other) } else { Err(CIRCLE.to_owned()) };
                    let result = result.map_err(|problem| format!("{other}: {problem}"));
                    if let Some(text) = faults.take(begin, "Include", result) {
                        self.add_file(other, &text, include, faults);
                    }
                }
                _ => match settings(file, begin, trimmed, faults) {
                    record if is_record(&record) => self.records.push(record),
                    record => self.globals.extend(record),
                },
            }
        }
    }

    pub(super) fn add_overlays(&mut self, overlays: &[&str], faults: &mut Collector) {
        for overlay in overlays {
            let source = format!("--set {}", overlay.chars().take(60).collect::<String>());
            let (key, value) = overlay.split_once('=').unwrap_or((overlay, ""));
            let setting = |(key, value): (&str, &str)| SettingLine {
                file: source.clone(),
                line: 0,
                key: key.trim().to_owned(),
                value: value.trim().trim_matches('"').to_owned(),
            };
            let own = setting((key, value));
            if text::is_among("NodeName PartitionName", &own.key) {
                self.changes.push(settings(&source, 0, overlay, faults));
            } else if own.key.eq_ignore_ascii_case("SchedulerParameters") {
                let parts = own.value.split(',');
                self.parameters.extend(parts.map(|part| setting(part.split_once('=').unwrap_or((part, "")))));
            } else if !matches!(treatment(&own.key), Treatment::Unknown(_)) {
                self.globals.push(own);
            } else {
                // A name that is neither is reported as an unknown parameter.
                self.parameters.push(own);
            }
        }
    }
}

/// Returns `line` up to a `#` that is not escaped.
fn without_comment(line: &str) -> String {
    let comment = line.match_indices('#').find(|(at, _)| !line[..*at].ends_with('\\'));
    line[..comment.map_or(line.len(), |(at, _)| at)].replace("\\#", "#")
}

/// Parses the settings of one logical line; blanks around `=` and quoted values are allowed.
fn settings(file: &str, line: usize, text: &str, faults: &mut Collector) -> Record {
    let mut record = Record::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else {
            faults.push_in(file, line, rest, "expected Key=Value; quote values that have blanks");
            break;
        };
        let key = key.trim();
        if key.is_empty() || key.contains(|c: char| c.is_whitespace() || c == '"') {
            faults.push_in(file, line, key, "expected one key before '='; quote values that have blanks");
            break;
        }
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => match quoted.split_once('"') {
                Some((value, next)) => (value, next),
                None => {
                    faults.push_in(file, line, key, "a quote is left open; close it");
                    break;
                }
            },
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        record.push(SettingLine { file: file.to_owned(), line, key: key.to_owned(), value: value.trim().to_owned() });
        rest = next.trim_start();
    }
    record
}
