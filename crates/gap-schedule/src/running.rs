//! Running jobs, by expected end.

use sim_core::{JobId, Time};

/// Running jobs, sorted by expected end, so that no policy has to sort them.
#[derive(Clone, Debug, Default)]
pub struct Running(Vec<RunningJob>);

/// Running job: all that a policy may know of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunningJob {
    /// Start plus estimate; [`Time::MAX`] without an estimate. In the past, if the job has outlived its estimate.
    pub expected_end: Time,
    /// Id of the job.
    pub job: JobId,
    /// Number of processors that it holds.
    pub processors: u32,
    /// User, if known; none for an [outage](Self::OUTAGE).
    pub user: Option<u32>,
    /// Start of the job; for an outage, the time of the failure.
    pub start: Time,
}

impl RunningJob {
    /// Id of the entry that holds a failed machine, see [`MultiCluster::with_outages`](crate::MultiCluster::with_outages).
    pub const OUTAGE: JobId = JobId(u32::MAX);

    /// Sort key in [`Running`]; ids are unique.
    const fn place(&self) -> (Time, JobId) {
        (self.expected_end, self.job)
    }
}

impl Running {
    /// Returns an empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Number of running jobs.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if no job runs.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the jobs by expected end, then by id.
    pub fn iter(&self) -> std::slice::Iter<'_, RunningJob> {
        self.0.iter()
    }

    /// Inserts a job that starts.
    pub fn insert(&mut self, job: RunningJob) {
        self.0.insert(self.0.partition_point(|other| other.place() < job.place()), job);
    }

    /// Removes a job that ends.
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn remove(&mut self, job: &RunningJob) {
        let place = self.0.binary_search_by_key(&job.place(), RunningJob::place).ok();
        self.0.remove(place.unwrap_or_else(|| panic!("job {} ended but does not run", job.job)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "job 2 ended but does not run")]
    fn only_a_running_job_ends() {
        let job =
            |id| RunningJob { expected_end: Time::MAX, job: JobId(id), processors: 1, user: None, start: Time::ZERO };
        let mut running = Running::new();
        running.insert(job(1));
        running.remove(&job(2));
    }
}
