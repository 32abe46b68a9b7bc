//! Submissions to the grid.

use sim_core::{Job, JobId, SiteId, Span, Time};

/// Job on its way into the grid, with the service times of its tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The job. A local has an origin, the site of its arrival, and one processor; a gang has no origin, and arrives
    /// at the grid scheduler. `runtime` is that of the longest task.
    pub job: Job,
    /// A gang's tasks, one per processor. Empty for a local, whose only task is the job itself.
    pub tasks: Box<[Span]>,
}

impl Submission {
    /// A local that arrives at `site` and takes `service` at reference speed.
    pub fn local(id: JobId, submit: Time, site: SiteId, service: Span) -> Self {
        let mut job = Job::new(id, submit, 1, service);
        job.origin = Some(site);
        Self { job, tasks: Box::new([]) }
    }

    /// A gang with these tasks, of which the schedulers know the service times exactly (§3.2).
    ///
    /// # Panics
    ///
    /// Panics if there is no task, or more than 2³² − 1.
    pub fn gang(id: JobId, submit: Time, tasks: impl IntoIterator<Item = Span>) -> Self {
        let tasks: Box<[Span]> = tasks.into_iter().collect();
        let longest = tasks.iter().copied().max().expect("a gang has at least one task");
        let processors = u32::try_from(tasks.len()).expect("a gang has fewer than 2³² tasks");
        Self { job: Job::new(id, submit, processors, longest), tasks }
    }
}
