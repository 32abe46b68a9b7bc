//! Names of jobs and users, otherwise their numbers in the log.

use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use workload::LogJob;

/// A job or a user, as tables, pictures and explanations show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// Number in the log.
    pub(crate) number: u64,
    /// `None` if the log has only numbers.
    pub(crate) name: Option<Arc<str>>,
}

impl Label {
    /// Label of a job.
    pub(crate) fn of_job(job: &LogJob) -> Self {
        Self { number: job.record.number, name: job.record.name.clone() }
    }

    /// Label of the user of a job, if the log has one.
    pub(crate) fn of_user(job: &LogJob) -> Option<Self> {
        job.record.user.map(|number| Self { number: number.into(), name: job.user_name.clone() })
    }
}

impl From<u64> for Label {
    fn from(number: u64) -> Self {
        Self { number, name: None }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.number.fmt(f),
        }
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.name {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_u64(self.number),
        }
    }
}
