//! Source of jobs: the work stations of the paper's experiments, or outside.

use crate::jobs::Submission;
use crate::stations::Stations;

#[derive(Clone, Debug)]
pub(crate) enum Source<L> {
    /// Work stations that submit one job after another, according to `config.experiment`.
    Stations {
        stations: Box<Stations>,
        /// Mean CPUs of a server, for the run time in every job's record.
        mean_cpus: f64,
    },
    Outside {
        submissions: L,
        next: Option<Submission>,
        /// True if the work of a job is spread over all CPUs of its server.
        divides: bool,
    },
}

impl<L> Source<L> {
    /// Returns true if jobs are still to come.
    pub(crate) fn expects_jobs(&self) -> bool {
        match self {
            Self::Stations { stations, .. } => stations.left() > 0,
            Self::Outside { next, .. } => next.is_some(),
        }
    }
}
