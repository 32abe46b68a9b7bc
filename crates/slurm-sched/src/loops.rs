//! Timing of the controller's three loops (SPEC 0), in whole seconds.

use crate::conf::Scheduling;

/// Offsets of the loops at the controller's start, in seconds: the first interval of each is shortened by its offset.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Phases {
    /// Offset of the full main pass.
    pub full: i64,
    /// Offset of the backfill pass.
    pub backfill: i64,
    /// Offset of the decay thread.
    pub decay: i64,
    /// Offset of the check of time limits.
    pub limits: i64,
    /// True if the backfill thread runs before the background loop within one second.
    pub backfill_first: bool,
}

/// Timers of the background loop and of the backfill thread.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    sched_interval: i64,
    batch_sched_delay: i64,
    bf_interval: i64,
    has_backfill: bool,
    last_full: i64,
    last_request: i64,
    has_request: bool,
    last_backfill: i64,
    last_change: i64,
}

impl Loops {
    pub(crate) fn new(settings: &Scheduling, start: i64, phases: Phases) -> Self {
        Self {
            sched_interval: settings.sched_interval,
            batch_sched_delay: settings.batch_sched_delay,
            bf_interval: settings.bf_interval,
            has_backfill: settings.backfill,
            last_full: start - phases.full,
            last_request: start,
            // Nodes register at the start, which requests a pass and changes the state for backfill.
            has_request: true,
            last_backfill: start - phases.backfill,
            last_change: start,
        }
    }

    /// Requests a main pass, after a submission or the end of a job (SPEC 0.5).
    pub(crate) fn request(&mut self) {
        self.has_request = true;
    }

    /// Requests a main pass at `time`, without a delay.
    pub(crate) fn request_at(&mut self, time: i64) {
        (self.has_request, self.last_request) = (true, time - self.batch_sched_delay);
    }

    /// Records a change of jobs or nodes (SPEC 0.4).
    pub(crate) fn change(&mut self, now: i64) {
        self.last_change = self.last_change.max(now);
    }

    /// Runs one round of the background loop (SPEC 0.1). Returns `Some` if a main pass begins, with true for a full one.
    pub(crate) fn look(&mut self, now: i64) -> Option<bool> {
        let is_full = now - self.last_full >= self.sched_interval;
        let is_due = self.has_request && now - self.last_request >= self.batch_sched_delay;
        if !(is_full || is_due) {
            return None;
        }
        if is_full {
            self.last_full = now;
        }
        self.has_request = false;
        self.last_request = now;
        Some(is_full)
    }

    /// Runs one round of the backfill thread (SPEC 0.3). Returns true if a pass begins.
    pub(crate) fn look_backfill(&mut self, now: i64) -> bool {
        let begins =
            self.has_backfill && now - self.last_backfill >= self.bf_interval && self.last_change >= self.last_backfill;
        if begins {
            self.last_backfill = now;
        }
        begins
    }

    /// Returns the next second after `now` in which a loop acts if no other event happens.
    pub(crate) fn next(&self, now: i64) -> i64 {
        let mut next = self.last_full + self.sched_interval;
        if self.has_request {
            next = next.min(self.last_request + self.batch_sched_delay);
        }
        if self.has_backfill && self.last_change >= self.last_backfill {
            next = next.min(self.last_backfill + self.bf_interval);
        }
        next.max(now + 1)
    }
}
