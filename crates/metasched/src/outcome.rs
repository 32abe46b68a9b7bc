//! Outcome of each job, and of its prediction.

use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId, Span, Time};

/// A finished job, from arrival to end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The job's number.
    pub job: JobId,
    /// Cluster where it ran.
    pub cluster: SiteId,
    /// Time at which it joined the input queue.
    pub arrival: Time,
    /// Time at which it left the input queue for a LoRaS queue.
    pub dispatched: Time,
    /// Time at which its tasks began.
    pub start: Time,
    /// Time at which its tasks ended.
    pub finish: Time,
    /// Predicted time from dispatch to end, by the LoRaS of the chosen cluster.
    pub predicted: Option<Span>,
}

impl Outcome {
    pub(crate) const fn arriving(job: JobId, arrival: Time) -> Self {
        let (cluster, later) = (SiteId(0), Time::ZERO);
        Self { job, cluster, arrival, dispatched: later, start: later, finish: later, predicted: None }
    }

    /// Time from arrival to end.
    pub const fn turnaround(&self) -> Span {
        self.finish.since(self.arrival)
    }

    /// Time from dispatch to end, which is predicted.
    pub const fn since_dispatch(&self) -> Span {
        self.finish.since(self.dispatched)
    }

    /// Returns true if it waited in a LoRaS queue.
    pub fn was_queued(&self) -> bool {
        self.start > self.dispatched
    }

    /// |predicted − actual| / actual, of the time from dispatch to end; `None` without a prediction.
    pub fn prediction_error(&self) -> Option<f64> {
        let actual = self.since_dispatch().as_secs_f64();
        self.predicted.map(|predicted| (predicted.as_secs_f64() - actual).abs() / actual)
    }
}
