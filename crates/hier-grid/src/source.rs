//! Where jobs come from: the work stations of the paper's experiments, or outside.

use crate::jobs::Submission;
use crate::stations::Stations;

#[derive(Clone, Debug)]
pub(crate) enum Source<L> {
    /// Work stations submit one job after another, as `config.experiment` says.
    Stations {
        stations: Box<Stations>,
        /// CPUs of a server, in the mean: every job's record needs it.
        mean_cpus: f64,
    },
    Outside {
        submissions: L,
        next: Option<Submission>,
        /// Whether the work of a job is spread over all CPUs of its server.
        divides: bool,
    },
}

impl<L> Source<L> {
    /// Whether jobs are still to come.
    pub(crate) fn expects_jobs(&self) -> bool {
        match self {
            Self::Stations { stations, .. } => stations.left() > 0,
            Self::Outside { next, .. } => next.is_some(),
        }
    }
}
