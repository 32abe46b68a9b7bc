//! Lost, delayed and doubled messages, crashed and restarted schedulers: no job is lost, and none is run twice.

use crate::common::{Small, Transcript, histories, small};
use hier_grid::{Faults, Kind};
use proptest::prelude::*;
use proptest::sample::select;

/// Any small world in which nearly everything fails.
fn failing() -> impl Strategy<Value = Small> {
    let shares = || select(vec![0.0, 0.05, 0.4]);
    // Delays of a tenth of a second make servers give up before an answer comes in.
    let means = (select(vec![0.001, 0.1]), select(vec![None, Some(0.1), Some(0.5)]), select(vec![0.02, 0.5]));
    (small(), shares(), shares(), shares(), means).prop_map(|(mut small, loss, duplication, delay, means)| {
        // Times between crashes, in lengths of a job; but long enough for a few messages to get through.
        let job = (1e5 * small.config.jobs.mean_input).max(20.0);
        // News must travel faster than it ages.
        for mean in small.config.experiment.changes.iter_mut().flatten() {
            *mean = mean.max(20.0);
        }
        small.config.faults = Some(Faults {
            loss,
            duplication,
            delay,
            mean_delay: means.0,
            mean_uptime: means.1.map(|uptime| uptime * job),
            mean_downtime: means.2 * means.1.unwrap_or(1.0) * job,
        });
        small
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn every_job_ends_exactly_once_whatever_fails(small in failing()) {
        let (grid, told) = small.finish((), Transcript::new());
        prop_assert_eq!(grid.is_at_rest(), Ok(()));
        // A job that was seized, finished or released twice would be a panic.
        let histories = histories(&told);
        prop_assert_eq!(histories.len(), small.config.jobs.count as usize);
        for (job, history) in &histories {
            prop_assert!(history.finished.is_some(), "job {} never finished", job);
        }
    }

    #[test]
    fn a_transport_without_faults_delivers_what_is_sent(small in small()) {
        let mut carried = small;
        carried.config.faults = Some(Faults {
            loss: 0.0,
            duplication: 0.0,
            delay: 0.0,
            mean_delay: 1.0,
            mean_uptime: None,
            mean_downtime: 1.0,
        });
        let (grid, _) = carried.finish((), ());
        prop_assert_eq!(grid.is_at_rest(), Ok(()));
        let counts = grid.counts();
        prop_assert_eq!((counts.repeated, counts.crashes), (0, 0));
        prop_assert_eq!(counts.messages(Kind::Restarted), 0);
    }
}
