//! Messages as short text, for pictures and transcripts.

use super::Payload;
use sim_core::JobId;
use std::fmt;

/// Purpose of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Request for a job to be taken, or for jobs.
    Asks,
    /// Pushing and accepting jobs.
    Pushes,
    /// Information about resources: discovery.
    Tells,
    /// Taking jobs back and returning them.
    TakesBack,
    /// Running jobs, and offers to run them.
    Runs,
}

impl Payload {
    /// Returns its purpose.
    pub const fn family(&self) -> Family {
        match self {
            Self::Request { .. } | Self::Forward { .. } | Self::Rfjm { .. } | Self::Rfc { .. } => Family::Asks,
            Self::Block { .. } | Self::Confirm { .. } | Self::Accept { .. } => Family::Pushes,
            Self::Discover { .. } | Self::Bags { .. } | Self::Ports { .. } => Family::Tells,
            Self::Cancel { .. } | Self::Cancelled { .. } | Self::Returned { .. } | Self::Decline { .. } => {
                Family::TakesBack
            }
            Self::Started { .. } | Self::Offer { .. } | Self::Answer { .. } => Family::Runs,
        }
    }
}

/// Formats the kind, as in a transcript, and its jobs, counted from 1 as in the paper: `request 1`.
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = kind(self);
        match self {
            Self::Request { job, .. }
            | Self::Forward { job, .. }
            | Self::Started { job }
            | Self::Offer { job }
            | Self::Answer { job }
            | Self::Accept { job }
            | Self::Confirm { job }
            | Self::Decline { job } => write!(f, "{kind} {}", number(*job)),
            Self::Block { jobs, .. }
            | Self::Cancel { jobs, .. }
            | Self::Cancelled { jobs, .. }
            | Self::Returned { jobs } => write!(f, "{kind} {}", numbers(jobs)),
            Self::Discover { jobs, .. } => write!(f, "{kind}: {jobs} raw"),
            Self::Bags { bags, .. } => write!(f, "{kind}: {}", bags.len()),
            Self::Ports { bags } => write!(f, "{kind}: {}", bags.len()),
            Self::Rfjm { .. } | Self::Rfc { .. } => f.write_str(&kind),
        }
    }
}

fn kind(payload: &Payload) -> String {
    match payload {
        // The field's abbreviations, as in the paper.
        Payload::Rfjm { .. } => "RFJM".to_owned(),
        Payload::Rfc { .. } => "RFC".to_owned(),
        other => format!("{:?}", other.kind()).to_lowercase(),
    }
}

fn number(job: JobId) -> u32 {
    job.0 + 1
}

fn numbers(jobs: &[JobId]) -> String {
    match jobs {
        [] => "none".to_owned(),
        jobs if jobs.len() > 6 => format!("{} jobs", jobs.len()),
        jobs => jobs.iter().map(|job| number(*job).to_string()).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_prints_its_kind_and_its_jobs_as_the_paper_counts_them() {
        assert_eq!(Payload::Request { job: JobId(0), hops: 3 }.to_string(), "request 1");
        let returned = |jobs: u32| Payload::Returned { jobs: (0..jobs).map(JobId).collect() };
        assert_eq!(returned(2).to_string(), "returned 1 2");
        assert_eq!(returned(7).to_string(), "returned 7 jobs");
        assert_eq!(returned(2).family(), Family::TakesBack);
    }
}
