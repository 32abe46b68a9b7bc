//! Machines: how many processors, how fast.

use crate::running::RunningJob;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Request, SiteId, Span, Time};

/// A machine of a [`MultiCluster`](crate::MultiCluster): processors that are alike, and that a job has to itself while it runs.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Number of processors, at least 1.
    pub processors: u32,
    /// Speed relative to the machine that runtimes and estimates refer to, above 0: on a machine of speed 2, a job takes
    /// half its runtime. Where a paper gives benchmark scores, this is the machine's score divided by the score at which
    /// jobs were measured.
    pub speed: f64,
}

impl Machine {
    /// A machine of reference speed.
    pub const fn new(processors: u32) -> Self {
        Self { processors, speed: 1.0 }
    }

    /// How long something takes here that takes `span` at reference speed. What never ends ([`Span::MAX`]) never ends
    /// here either.
    ///
    /// # Panics
    ///
    /// If the result exceeds 584 years.
    #[track_caller]
    #[inline]
    pub fn takes(&self, span: Span) -> Span {
        // Nearly every machine is of reference speed, and nearly everything is asked of it.
        let is_as_told = span == Span::MAX || self.speed.to_bits() == 1.0_f64.to_bits();
        if is_as_told { span } else { span.scaled(1.0 / self.speed) }
    }

    /// How long the submitter of a job would expect it to run here; [`Span::MAX`] if there is no estimate.
    ///
    /// # Panics
    ///
    /// If the result exceeds 584 years.
    #[track_caller]
    #[inline]
    pub fn expects(&self, request: &Request) -> Span {
        request.estimate.map_or(Span::MAX, |estimate| self.takes(estimate))
    }

    /// Whether the machine is wide enough for the job; see [`View::suits`](crate::View::suits) for whether the job
    /// may run there.
    #[inline]
    pub const fn suits(&self, request: &Request) -> bool {
        request.processors <= self.processors
    }

    /// The job as started here at `start`.
    pub fn running(&self, job: JobId, request: &Request, start: Time) -> RunningJob {
        let expected_end = start.saturating_add(self.expects(request));
        RunningJob { expected_end, job, processors: request.processors, user: request.user, start }
    }

    pub(crate) fn check(&self, index: usize) {
        assert!(self.processors > 0, "machine {index} has no processors");
        assert!(
            self.speed.is_finite() && self.speed > 0.0,
            "machine {index} has speed {}; a speed is above 0",
            self.speed
        );
    }
}

/// The machine's number as others know it.
#[inline]
pub(crate) fn site(machine: usize) -> SiteId {
    SiteId(u32::try_from(machine).expect("fewer than 2^32 machines"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_takes_its_runtime_divided_by_the_speed() {
        let machine = Machine { processors: 4, speed: 2.5 };
        assert_eq!(machine.takes(Span::from_secs(100)), Span::from_secs(40));
        assert_eq!(machine.takes(Span::MAX), Span::MAX);
    }

    #[test]
    #[should_panic(expected = "machine 3 has speed 0; a speed is above 0")]
    fn a_machine_moves() {
        Machine { processors: 1, speed: 0.0 }.check(3);
    }
}
