//! Terms of a run: the zero of its clock, and the phases of the controller's loops.

use rand::RngExt;
use sim_core::{Purpose, Streams};
use slurm_sched::{Phases, Site, Terms};

/// Seconds from the start of the controller to the zero of the trace, and that zero if the trace does not define it.
const LEAD: i64 = 200;
pub(crate) const ZERO: i64 = 1_700_000_200;

/// Terms of one replication.
pub(crate) fn terms(site: &Site, zero: Option<i64>, seed: u64, phase: u32) -> Terms {
    let zero = zero.unwrap_or(ZERO);
    Terms { start: zero - LEAD, zero, phases: drawn(site, seed, phase) }
}

/// Phases of the loops in one replication, as shares of each loop's period: the same shares for every variant.
fn drawn(site: &Site, seed: u64, phase: u32) -> Phases {
    let mut stream = Streams::new(seed, phase).stream(Purpose("phases of slurmctld"), 0);
    let (scheduling, priority) = (&site.conf.scheduling, &site.conf.priority);
    let mut within = |period: i64| {
        let share: f64 = stream.random();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "a share of a period below 2^53 seconds"
        )]
        let seconds = (share * period as f64) as i64;
        seconds
    };
    Phases {
        full: within(scheduling.sched_interval),
        backfill: within(scheduling.bf_interval),
        decay: within(priority.calc_period),
        limits: within(30),
        backfill_first: within(2) == 1,
    }
}
