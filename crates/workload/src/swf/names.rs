//! Names behind the numbers of a log, in comments: `; Job: 12352 12345_7` before the record of the job, and
//! `; User: 3 alice` anywhere before the user's first job.
//!
//! The standard has such comments for queues and partitions (`; Queue: 1 express`). Written where they are first needed,
//! they are streamed like the records themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names that the comments read so far give.
#[derive(Clone, Debug, Default)]
pub(super) struct NameComments {
    /// The next record's, if it has this number.
    job: Option<(u64, Arc<str>)>,
    users: BTreeMap<u32, Arc<str>>,
    /// Comments with other names than of jobs, since the record before.
    passed: Vec<String>,
}

/// Keys of comments with names, beside jobs.
const NAMED: [&str; 5] = ["User", "Group", "Executable", "Queue", "Partition"];

impl NameComments {
    /// Takes in the text of a comment, behind its `;`. Returns whether it names a job, which is no entry of a header.
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

    /// Forgets which comments have been passed: the next record is read.
    pub(super) fn go_on(&mut self) {
        self.passed.clear();
    }

    pub(super) fn passed(&self) -> &[String] {
        &self.passed
    }

    /// The name of the record that comes next.
    pub(super) fn of_job(&mut self, number: u64) -> Option<Arc<str>> {
        self.job.take().filter(|(named, _)| *named == number).map(|(_, name)| name)
    }

    pub(super) fn of_user(&self, number: u32) -> Option<&Arc<str>> {
        self.users.get(&number)
    }
}

/// `KEY: NUMBER NAME`.
fn parsed(comment: &[u8]) -> Option<(&str, u64, &str)> {
    let (key, value) = std::str::from_utf8(comment).ok()?.split_once(':')?;
    let (number, name) = value.trim().split_once(|letter: char| letter.is_ascii_whitespace())?;
    Some((key.trim(), number.parse().ok()?, name.trim()))
}
