//! Instants of the simulator: [`Clock`].

use sim_core::{Span, Time};

/// Instant, both exact and as shown by Alea's clock, in seconds as a double.
///
/// Alea adds delays to a double, so that its instants are off by some 10⁻¹⁰ s, more so after long chains of starts 8 ms
/// apart. Alea takes equal times in the order of their hashes, and sums them to compare plans, so this affects its
/// decisions. The order of events and the records follow the exact time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Clock {
    /// Exact instant.
    pub time: Time,
    /// Instant shown by Alea's clock.
    pub seconds: f64,
}

impl Clock {
    /// Returns an instant without accumulated delays, such as that of a submission or of the start-up.
    pub(crate) fn at(time: Time) -> Self {
        Self { time, seconds: time.as_secs_f64() }
    }

    pub(crate) fn after(self, delay: Span) -> Self {
        Self { time: self.time + delay, seconds: self.seconds + delay.as_secs_f64() }
    }
}
