//! Machines: number of processors and speed.

use crate::running::RunningJob;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Request, SiteId, Span, Time};

/// Machine of a [`MultiCluster`](crate::MultiCluster): identical processors, each held by one job at a time.
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
    /// Returns a machine of reference speed.
    pub const fn new(processors: u32) -> Self {
        Self { processors, speed: 1.0 }
    }

    /// Returns the duration on this machine of work that takes `span` at reference speed. [`Span::MAX`], which never
    /// ends, stays [`Span::MAX`].
    ///
    /// # Panics
    ///
    /// If the result exceeds 584 years.
    #[track_caller]
    #[inline]
    pub fn takes(&self, span: Span) -> Span {
        // Fast path: nearly every machine has reference speed, and this is called very often.
        let is_unscaled = span == Span::MAX || self.speed.to_bits() == 1.0_f64.to_bits();
        if is_unscaled { span } else { span.scaled(1.0 / self.speed) }
    }

    /// Returns the expected run time of a job on this machine; [`Span::MAX`] if there is no estimate.
    ///
    /// # Panics
    ///
    /// If the result exceeds 584 years.
    #[track_caller]
    #[inline]
    pub fn expects(&self, request: &Request) -> Span {
        request.estimate.map_or(Span::MAX, |estimate| self.takes(estimate))
    }

    /// Returns true if the machine is wide enough for the job. [`View::suits`](crate::View::suits) also checks that the
    /// job may run there.
    #[inline]
    pub const fn suits(&self, request: &Request) -> bool {
        request.processors <= self.processors
    }

    /// Returns the job as started on this machine at `start`.
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

/// Site id of the machine with this index.
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
