//! Instants as the simulator holds them: [`Clock`].

use sim_core::{Span, Time};

/// An instant: exactly, and as Alea's clock shows it, in seconds as a double.
///
/// Alea adds delays to a double, so that its instants are off by some 10⁻¹⁰ s, more so after long chains of starts 8 ms apart.
/// Where it takes equal times in the order of their hashes, or sums them up to compare plans, that is part of its
/// decisions. What happens when, and what is recorded, goes by the exact time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Clock {
    /// The exact instant.
    pub time: Time,
    /// What Alea's clock shows.
    pub seconds: f64,
}

impl Clock {
    /// An instant that no sum of delays led to: of a submission, or of the start-up.
    pub fn at(time: Time) -> Self {
        Self { time, seconds: time.as_secs_f64() }
    }

    /// The instant after a delay.
    #[must_use]
    pub fn after(self, delay: Span) -> Self {
        Self { time: self.time + delay, seconds: self.seconds + delay.as_secs_f64() }
    }
}
