//! Time-weighted mean of a level: queue length, busy processors.

use crate::time::Time;

/// Level that changes at instants, and the area under it: ∫ level dt, exact in integers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    since: Time,
    changed: Time,
    level: u64,
    area: u128,
}

impl Gauge {
    /// Returns a gauge that stands at `level` from the instant `at` on.
    pub const fn new(at: Time, level: u64) -> Self {
        Self { since: at, changed: at, level, area: 0 }
    }

    /// Current level.
    pub const fn level(&self) -> u64 {
        self.level
    }

    /// Sets the level at the instant `now`.
    ///
    /// # Panics
    ///
    /// If `now` lies before the last change.
    #[inline]
    pub fn set(&mut self, now: Time, level: u64) {
        // Adds the area up to now at the old level, before the new one holds.
        self.area = self.area(now);
        self.changed = now;
        self.level = level;
    }

    /// Raises the level by `by`.
    #[inline]
    pub fn raise(&mut self, now: Time, by: u64) {
        self.set(now, self.level + by);
    }

    /// Lowers the level by `by`.
    ///
    /// # Panics
    ///
    /// If the level would become negative.
    #[inline]
    pub fn lower(&mut self, now: Time, by: u64) {
        let level = self.level.checked_sub(by);
        self.set(now, level.unwrap_or_else(|| panic!("a level of {} cannot be lowered by {by}", self.level)));
    }

    /// ∫ level dt from the start to `now`, in level × nanoseconds.
    #[inline]
    pub const fn area(&self, now: Time) -> u128 {
        self.area + self.level as u128 * now.since(self.changed).as_nanos() as u128
    }

    /// Time-weighted mean from the start to `now`; the level itself if no time has passed.
    pub fn mean(&self, now: Time) -> f64 {
        match now.since(self.since).as_nanos() {
            0 => self.level as f64,
            nanos => self.area(now) as f64 / nanos as f64,
        }
    }
}
