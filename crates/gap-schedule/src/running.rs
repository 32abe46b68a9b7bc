//! The jobs that run, by their expected ends.

use sim_core::{JobId, Time};

/// The jobs that run, sorted by expected end, so that no policy has to sort them.
#[derive(Clone, Debug, Default)]
pub struct Running(Vec<RunningJob>);

/// A job that runs: all that a policy may know of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunningJob {
    /// Its start plus its estimate; [`Time::MAX`] if it has none. Past, if the job has outlived its estimate.
    pub expected_end: Time,
    /// Which job.
    pub job: JobId,
    /// The processors it holds.
    pub processors: u32,
    /// Its user, if known; none for an [outage](Self::OUTAGE).
    pub user: Option<u32>,
    /// When it started; for an outage, when the machine failed.
    pub start: Time,
}

impl RunningJob {
    /// Not a job: what holds all processors of a machine that is down, see [`MultiCluster::with_outages`](crate::MultiCluster::with_outages).
    pub const OUTAGE: JobId = JobId(u32::MAX);

    /// Place in the order of [`Running`]: no two jobs have the same id.
    const fn place(&self) -> (Time, JobId) {
        (self.expected_end, self.job)
    }
}

impl Running {
    /// Nothing runs.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many jobs run.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing runs.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The jobs by expected end; of those with the same, by id.
    pub fn iter(&self) -> std::slice::Iter<'_, RunningJob> {
        self.0.iter()
    }

    /// The job starts.
    pub fn insert(&mut self, job: RunningJob) {
        self.0.insert(self.0.partition_point(|other| other.place() < job.place()), job);
    }

    /// The job ends.
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
