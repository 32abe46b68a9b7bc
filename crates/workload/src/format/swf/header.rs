//! Comments: the header, which precedes the first record, and names for the numbers of a log.
//!
//! Names are given by comments: `; Job: 12352 12345_7` before the record of the job, and `; User: 3 alice` anywhere before the
//! user's first job. The standard has such comments for queues and partitions (`; Queue: 1 express`). They are written where first
//! needed, and so streamed like the records.

use super::SwfRecord;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Header of a log: comments before its first record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Processors of the machine (`MaxProcs`).
    pub max_procs: Option<u32>,
    /// Nodes of the machine (`MaxNodes`); a node may have several processors.
    pub max_nodes: Option<u32>,
    /// Beginning of the log, in seconds since 1970 (`UnixStartTime`), from which submit times count. `None` also if it
    /// lies beyond the year 9999.
    pub unix_start_time: Option<u64>,
    /// All `key: value` lines in their order, and those without a key as continuations of the previous line.
    entries: Vec<(String, String)>,
}

/// Last second of the year 9999. A later value is not in seconds, and would overflow.
const LATEST_START: u64 = 253_402_300_799;

impl Header {
    /// Returns the value of the first line with that key, ignoring case: `header.get("TimeZoneString")`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Iterates over the `(key, value)` pairs in the order of the file. Keys may repeat (`Note`, `Queue`).
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Adds one comment line, without its `;`. Old logs are in Latin-1, so bytes that are no UTF-8 are replaced.
    pub(super) fn take_in(&mut self, comment: &[u8]) {
        let comment = String::from_utf8_lossy(comment);
        let comment = comment.trim_start_matches(';').trim();
        if comment.is_empty() {
            return;
        }
        let Some((key, value)) = comment.split_once(':').filter(|(key, _)| is_key(key)) else {
            if let Some((_, above)) = self.entries.last_mut() {
                above.push('\n');
                above.push_str(comment);
            }
            return;
        };
        let value = value.trim();
        let number = leading_number(value);
        let small = || number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        if key.eq_ignore_ascii_case("MaxProcs") {
            self.max_procs = self.max_procs.or_else(small);
        } else if key.eq_ignore_ascii_case("MaxNodes") {
            self.max_nodes = self.max_nodes.or_else(small);
        } else if key.eq_ignore_ascii_case("UnixStartTime") {
            self.unix_start_time = self.unix_start_time.or(number.filter(|start| *start <= LATEST_START));
        }
        self.entries.push((key.to_owned(), value.to_owned()));
    }
}

/// Returns true for single words; `http://…` and `job<=10 (see: …)` are continuations.
fn is_key(key: &str) -> bool {
    !key.is_empty()
        && !key.eq_ignore_ascii_case("http")
        && !key.eq_ignore_ascii_case("https")
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Parses the number at the start of `338 (batch partition; 512 total)`.
fn leading_number(value: &str) -> Option<u64> {
    let end = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}

/// Names given by the comments read so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameComments {
    /// Name of the next record, if it has this number.
    job: Option<(u64, Arc<str>)>,
    users: BTreeMap<u32, Arc<str>>,
    /// Comments since the previous record with names of users, groups, executables, queues or partitions.
    pub(crate) passed: Vec<String>,
}

/// Keys of comments with names other than those of jobs, in the order of the columns.
const NAMED: [&str; 5] = ["User", "Group", "Executable", "Queue", "Partition"];

impl NameComments {
    /// Reads the text of a comment, behind its `;`. Returns true if it names a job, which is no entry of a header.
    pub(super) fn take_in(&mut self, comment: &[u8]) -> bool {
        let Some((key, number, name)) = parsed(comment) else { return false };
        if key.eq_ignore_ascii_case("Job") {
            self.job = Some((number, name.into()));
            return true;
        }
        let Some(key) = NAMED.into_iter().find(|known| key.eq_ignore_ascii_case(known)) else { return false };
        self.passed.push(format!("{key}: {number} {name}"));
        if key == "User"
            && let Ok(number) = u32::try_from(number)
        {
            self.users.insert(number, name.into());
        }
        false
    }

    pub(super) fn of_job(&mut self, number: u64) -> Option<Arc<str>> {
        self.job.take().filter(|(named, _)| *named == number).map(|(_, name)| name)
    }

    /// Returns the name of the user of a record, if a comment so far gives one: `; User: 3 alice`.
    pub(crate) fn of_user(&self, record: &SwfRecord) -> Option<Arc<str>> {
        self.users.get(&record.user?).cloned()
    }
}

/// Parses `KEY: NUMBER NAME`.
fn parsed(comment: &[u8]) -> Option<(&str, u64, &str)> {
    let (key, value) = std::str::from_utf8(comment).ok()?.split_once(':')?;
    let (number, name) = value.trim().split_once(|letter: char| letter.is_ascii_whitespace())?;
    Some((key.trim(), number.parse().ok()?, name.trim()))
}
