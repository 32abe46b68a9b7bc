//! Names for the numbers of a log, in comments: `; Job: 12352 12345_7` before the record of the job, and `; User: 3
//! alice` anywhere before the user's first job.
//!
//! The standard has such comments for queues and partitions (`; Queue: 1 express`). They are written where first
//! needed, and so streamed like the records.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names given by the comments read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct NameComments {
    /// Name of the next record, if it has this number.
    job: Option<(u64, Arc<str>)>,
    users: BTreeMap<u32, Arc<str>>,
    /// Comments since the previous record with names of other things than jobs.
    passed: Vec<String>,
}

/// Keys of comments with names other than those of jobs, in the order of the columns.
pub(crate) const NAMED: [&str; 5] = ["User", "Group", "Executable", "Queue", "Partition"];

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

    /// Clears the list of passed comments before the next record.
    pub(super) fn go_on(&mut self) {
        self.passed.clear();
    }

    pub(super) fn passed(&self) -> &[String] {
        &self.passed
    }

    /// Returns the name of the next record.
    pub(super) fn of_job(&mut self, number: u64) -> Option<Arc<str>> {
        self.job.take().filter(|(named, _)| *named == number).map(|(_, name)| name)
    }

    pub(super) fn of_user(&self, number: u32) -> Option<&Arc<str>> {
        self.users.get(&number)
    }
}

/// Parses `KEY: NUMBER NAME`.
fn parsed(comment: &[u8]) -> Option<(&str, u64, &str)> {
    let (key, value) = std::str::from_utf8(comment).ok()?.split_once(':')?;
    let (number, name) = value.trim().split_once(|letter: char| letter.is_ascii_whitespace())?;
    Some((key.trim(), number.parse().ok()?, name.trim()))
}
