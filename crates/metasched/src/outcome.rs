//! What became of each job, and of what was predicted for it.

use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId, Span, Time};

/// A finished job, from arrival to end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which job.
    pub job: JobId,
    /// Where it ran.
    pub cluster: SiteId,
    /// When it joined the input queue.
    pub arrival: Time,
    /// When it left it for a LoRaS queue.
    pub dispatched: Time,
    /// When its tasks began.
    pub start: Time,
    /// When they ended.
    pub finish: Time,
    /// What the LoRaS of the cluster that was chosen predicted for the time from dispatch to end.
    pub predicted: Option<Span>,
    /// Whether it moved to another cluster after its dispatch.
    pub moved: bool,
}

impl Outcome {
    /// From arrival to end.
    pub const fn turnaround(&self) -> Span {
        self.finish.since(self.arrival)
    }

    /// From dispatch to end: what was predicted.
    pub const fn since_dispatch(&self) -> Span {
        self.finish.since(self.dispatched)
    }

    /// Whether it waited in a LoRaS queue.
    pub fn was_queued(&self) -> bool {
        self.start > self.dispatched
    }

    /// |predicted − actual| / actual, of the time from dispatch to end; `None` if nothing was predicted.
    pub fn prediction_error(&self) -> Option<f64> {
        let actual = self.since_dispatch().as_secs_f64();
        self.predicted.map(|predicted| (predicted.as_secs_f64() - actual).abs() / actual)
    }
}

/// Takes in outcomes, one at a time, as jobs finish. `()` takes no notice; a `Vec` keeps them; a closure does as it
/// likes.
pub trait OutcomeSink {
    /// Takes in the outcome of a job that has just finished.
    fn record(&mut self, outcome: &Outcome);
}

impl OutcomeSink for () {
    fn record(&mut self, _: &Outcome) {}
}

impl OutcomeSink for Vec<Outcome> {
    fn record(&mut self, outcome: &Outcome) {
        self.push(*outcome);
    }
}

impl<F: FnMut(&Outcome)> OutcomeSink for F {
    fn record(&mut self, outcome: &Outcome) {
        self(outcome);
    }
}
