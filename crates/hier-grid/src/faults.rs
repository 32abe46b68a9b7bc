//! Faults: control messages that are lost, delayed or doubled, and schedulers that crash and restart.
//!
//! Below the model of the paper lies, once faults are switched on, a transport as any system of messages needs one. A
//! sender keeps each message until it has been acknowledged and sends it again and again; a receiver acknowledges every copy,
//! drops those that it has had, and puts messages of one sender into their order. So what is delivered is delivered once
//! and in order, but late.
//!
//! A crashed scheduler hears nothing and does nothing. What it owns is on stable storage: its jobs, what it has delegated, and the
//! messages that have not been acknowledged. What it can ask for again is not: who has requested computation of it, what it
//! has requested, and whom it has heard of. When it restarts it tells its neighbours
//! ([`Payload::Restarted`](crate::message::Payload::Restarted)), and everybody asks anew.

use crate::error::ConfigError;
use serde::{Deserialize, Serialize};

/// How often what fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Probability that a control message is lost on its way, acknowledgements included. Below 1.
    pub loss: f64,
    /// Probability that a message comes twice.
    pub duplication: f64,
    /// Probability that a message is delayed.
    pub delay: f64,
    /// Mean of the delay, which is exponential, in seconds.
    pub mean_delay: f64,
    /// Mean time between the restart of a scheduler and its next crash, in seconds; `None` if none ever crashes.
    pub mean_uptime: Option<f64>,
    /// Mean time that a crashed scheduler stays down, in seconds.
    pub mean_downtime: f64,
}

impl Faults {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first field that makes no sense, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let shares = [("loss", self.loss), ("duplication", self.duplication), ("delay", self.delay)];
        for (field, found) in shares {
            if !(0.0..=0.99).contains(&found) {
                return Err(ConfigError::Number { field, found, expected: "a probability from 0 to 0.99" });
            }
        }
        let means = [("mean_delay", Some(self.mean_delay)), ("mean_uptime", self.mean_uptime)];
        for (field, found) in means.into_iter().chain([("mean_downtime", Some(self.mean_downtime))]) {
            if let Some(found) = found
                && !(1e-9..1e9).contains(&found)
            {
                return Err(ConfigError::Mean { field, found });
            }
        }
        Ok(())
    }
}
