//! Submissions, and the knowledge of a job before it has run.

use sim_core::{Job, JobId, Span};

/// One processor, in the units of [`Demand`].
pub(crate) const PROCESSOR: u32 = 1_000_000;

/// Demand of a task on its node, as measured when the application ran in isolation (§2.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// CPU, in millionths of a node's: sums of integers are independent of the order.
    cpu: u32,
    /// Memory, in KiB.
    memory: u64,
}

impl Demand {
    /// A demand of `cpu`, a fraction of a node's CPU, and of `memory` KiB.
    ///
    /// # Panics
    ///
    /// Panics if `cpu` is not between a millionth and 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked just before")]
    pub fn new(cpu: f64, memory: u64) -> Self {
        assert!((1e-6..=1.0).contains(&cpu), "a task requests a fraction of a CPU between 0.000001 and 1, found {cpu}");
        Self { cpu: (cpu * f64::from(PROCESSOR)).round() as u32, memory }
    }

    /// CPU, as a fraction of a node's.
    pub fn cpu(&self) -> f64 {
        f64::from(self.cpu) / f64::from(PROCESSOR)
    }

    /// Memory, in KiB.
    pub const fn memory(&self) -> u64 {
        self.memory
    }

    pub(crate) const fn millionths(&self) -> u32 {
        self.cpu
    }
}

/// Submission of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The job. Its request's estimate is the measured run time of its application in isolation; its runtime
    /// is the true run time, alone at reference speed.
    pub job: Job,
    /// Demand of each of its tasks on a node; `None` for [`Config::default_demand`](crate::Config::default_demand).
    pub demand: Option<Demand>,
}

/// Job as LoRaS knows it: the request, and the measurements in isolation (§2.1). It does not contain the true run time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// The job's number.
    pub job: JobId,
    /// Nodes requested, one task on each.
    pub tasks: u32,
    /// Demand of each task on its node.
    pub demand: Demand,
    /// Execution time in isolation at reference speed: the profile.
    pub time: Span,
}

impl Application {
    pub(crate) fn of(submission: &Submission, default_demand: Demand, default_time: Span) -> Self {
        let Submission { job, demand } = submission;
        Self {
            job: job.id,
            tasks: job.request.processors,
            demand: demand.unwrap_or(default_demand),
            time: job.request.estimate.unwrap_or(default_time).max(Span::from_nanos(1)),
        }
    }
}
