//! Quality of a plan, and its gain over another.

use sim_core::Time;
use std::cmp::Ordering;

/// Measures by which a plan is judged.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// End of the last running or planned job.
    pub makespan: Time,
    /// Number of jobs in time: those that finished by their deadlines, run and are expected to, or are planned to. A
    /// job without a deadline is always in time.
    pub nondelayed: u64,
}

impl Score {
    /// Gain of the plan over `old`, eq. (1) of §3.2:
    ///
    /// (makespan_old − makespan) / makespan_old + (nondelayed − nondelayed_old) / nondelayed_old.
    ///
    /// Dimensionless. Neither divisor is below 1 (one second, one job): at the start of a run both are zero, a case that the
    /// paper does not cover. Never decreases when the makespan falls or more jobs are in time, rounding included.
    #[expect(clippy::cast_precision_loss, reason = "fewer jobs than 2^53")]
    pub fn weight_over(&self, old: &Self) -> f64 {
        let least = old.makespan.as_secs_f64().max(1.0);
        let makespan = match self.makespan.cmp(&old.makespan) {
            Ordering::Less => old.makespan.since(self.makespan).as_secs_f64() / least,
            Ordering::Equal => 0.0,
            Ordering::Greater => -self.makespan.since(old.makespan).as_secs_f64() / least,
        };
        let more = self.nondelayed.saturating_sub(old.nondelayed) as f64;
        let fewer = old.nondelayed.saturating_sub(self.nondelayed) as f64;
        makespan + (more - fewer) / (old.nondelayed as f64).max(1.0)
    }

    /// Returns the score after planning one more job in a gap, where it delays no job.
    pub(super) fn with(self, end: Time, on_time: bool) -> Self {
        Self { makespan: self.makespan.max(end), nondelayed: self.nondelayed + u64::from(on_time) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(makespan: u64, nondelayed: u64) -> Score {
        Score { makespan: Time::from_secs(makespan), nondelayed }
    }

    #[test]
    fn the_weight_is_the_sum_of_both_relative_gains() {
        let check = |old: Score, new: Score, weight: f64| {
            let found = new.weight_over(&old);
            assert!((found - weight).abs() < 1e-12, "{old:?} to {new:?}: {found}, not {weight}");
        };
        check(score(1_000, 50), score(900, 51), 0.1 + 0.02);
        check(score(1_000, 50), score(1_250, 50), -0.25);
        check(score(1_000, 50), score(1_000, 40), -0.2);
        check(score(1_000, 50), score(1_000, 50), 0.0);
        check(score(0, 0), score(30, 1), -30.0 + 1.0);
    }
}
