//! Names of jobs and users, otherwise their numbers in the log.

use serde::Serialize;
use std::fmt;
use workload::LogJob;

/// A job or a user, as tables, pictures and explanations show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Label {
    /// Name in the log.
    Name(String),
    /// Number in the log, if that has only numbers.
    Number(u64),
}

impl Label {
    fn new(name: Option<&str>, number: u64) -> Self {
        name.map_or(Self::Number(number), |name| Self::Name(name.to_owned()))
    }

    pub(crate) fn of_job(job: &LogJob) -> Self {
        Self::new(job.record.name.as_deref(), job.record.number)
    }

    /// Label of the user of a job, if the log has one.
    pub(crate) fn of_user(job: &LogJob) -> Option<Self> {
        job.record.user.map(|number| Self::new(job.user_name.as_deref(), number.into()))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => number.fmt(f),
        }
    }
}
