//! A level over time, for a plot: [`Timeline`].

use sim_core::{Gauge, Span, Time};

/// A level that changes at instants (busy processors, waiting jobs), as time-weighted means over equal slices of time.
///
/// The slices grow with the run: whenever there are 1024 of them, neighbours are merged and the slice
/// is twice as long. Memory is the same for a run of minutes and one of years, and no area is lost.
#[derive(Clone, Debug)]
pub struct Timeline {
    gauge: Gauge,
    slice: Span,
    /// ∫ level dt over each complete slice, in level × nanoseconds.
    areas: Vec<u128>,
    /// ∫ level dt up to the end of the last complete slice.
    covered: u128,
}

impl Timeline {
    const SLICES: usize = 1024;

    pub(crate) const fn level(&self) -> u64 {
        self.gauge.level()
    }

    /// Raises the level by `by` at the instant `now`.
    pub fn raise(&mut self, now: Time, by: u64) {
        self.advance(now);
        self.gauge.raise(now, by);
    }

    /// Lowers the level by `by` at the instant `now`.
    ///
    /// # Panics
    ///
    /// Panics if the level would become negative.
    pub fn lower(&mut self, now: Time, by: u64) {
        self.advance(now);
        self.gauge.lower(now, by);
    }

    /// `(begin, mean level)` of each slice up to `end`, the last of which may be shorter.
    pub fn means(mut self, end: Time) -> Vec<(Time, f64)> {
        self.advance(end);
        let mut begin = Time::ZERO;
        let mut means = Vec::with_capacity(self.areas.len() + 1);
        for area in &self.areas {
            means.push((begin, *area as f64 / self.slice.as_nanos() as f64));
            begin += self.slice;
        }
        if end > begin {
            let area = self.gauge.area(end) - self.covered;
            means.push((begin, area as f64 / end.since(begin).as_nanos() as f64));
        }
        means
    }

    /// Completes the slices that end at or before `now`.
    fn advance(&mut self, now: Time) {
        // With too many slices up to now, longer ones are needed; a long pause costs no more than this.
        while now.as_nanos() / self.slice.as_nanos() >= Self::SLICES as u64 {
            self.merge();
        }
        let mut end = Time::ZERO + self.slice * (self.areas.len() as u64 + 1);
        while end <= now {
            // The gauge has no later value, so its level holds until now.
            let area = self.gauge.area(end);
            self.areas.push(area - self.covered);
            self.covered = area;
            end += self.slice;
        }
    }

    fn merge(&mut self) {
        if self.areas.len() % 2 == 1 {
            // Half of the new slice is not over: it is open again.
            self.covered -= self.areas.pop().expect("an odd number is not zero");
        }
        self.areas = self.areas.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        self.slice = self.slice * 2;
    }
}

impl Default for Timeline {
    /// A timeline that begins at time zero with level 0.
    fn default() -> Self {
        Self { gauge: Gauge::new(Time::ZERO, 0), slice: Span::from_secs(1), areas: Vec::new(), covered: 0 }
    }
}
