//! Probes of a grid, compared with their definitions.

use crate::grid_common::WIDEST;
use gap_schedule::testkit::{Run, Scene, Transcript, scenes};
use gap_schedule::{Easy, Passes, Usage, UsageOver};
use proptest::prelude::*;
use sim_core::{JobLog, JobRecord, Sim, Time};
use std::collections::BTreeSet;

/// Computes system usage by its definition: for each stretch of time without events, from finished records and all runs. A stretch counts
/// by its length, or `alike` as one.
fn plain_usage(scene: &Scene, records: &[JobRecord], runs: &[Run], until: Time, alike: bool) -> Option<f64> {
    let processors: u32 = scene.machines.iter().map(|machine| machine.processors).sum();
    let submitted = scene.jobs.iter().map(|job| job.submit);
    let instants: BTreeSet<Time> = submitted.chain(runs.iter().flat_map(|run| [run.start, run.end])).collect();
    let instants: Vec<Time> = instants.into_iter().filter(|at| *at <= until).collect();
    let (mut usage, mut demand) = (0.0, 0.0);
    for stretch in instants.windows(2) {
        let asks = |record: &&JobRecord| record.job.submit <= stretch[0] && stretch[0] < record.finish;
        let asked: u32 = records.iter().filter(asks).map(|record| record.processors).sum();
        let is_active = |run: &&Run| run.start <= stretch[0] && stretch[0] < run.end;
        let active: u32 = runs.iter().filter(is_active).map(|run| scene.job(run.job).request.processors).sum();
        if asked > 0 {
            let span = if alike { 1.0 } else { stretch[1].since(stretch[0]).as_secs_f64() };
            usage += f64::from(active) / f64::from(asked.min(processors)) * span;
            demand += span;
        }
    }
    (demand > 0.0).then_some(usage / demand)
}

proptest! {
    #[test]
    fn usage_and_contention_are_their_definitions(scene in scenes(WIDEST)) {
        let processors = scene.machines.iter().map(|machine| machine.processors).sum();
        let probes = ((JobLog::collecting(), Transcript::new()), Usage::new(processors));
        let grid = scene.grid(Easy::default(), Passes::PerInstant);
        let (_, ((log, told), usage)) = Sim::new(grid, probes).run();
        let (records, runs) = (log.into_sink(), scene.runs(&told));
        let last_arrival = scene.jobs.iter().map(|job| job.submit).max().unwrap_or_default();
        for (over, until) in
            [(UsageOver::Time, Time::MAX), (UsageOver::Events, Time::MAX), (UsageOver::UntilLastArrival, last_arrival)]
        {
            match (usage.mean(over), plain_usage(&scene, &records, &runs, until, over == UsageOver::Events)) {
                (Some(found), Some(plain)) => prop_assert!((found - plain).abs() < 1e-9, "{found} instead of {plain}"),
                (found, plain) => prop_assert_eq!(found, plain),
            }
        }
        let first_start = |record: &JobRecord| {
            let starts = runs.iter().filter(|run| run.job == record.job.id).map(|run| run.start);
            starts.min().expect("it has finished")
        };
        let at_once = records.iter().filter(|record| first_start(record) == record.job.submit).count();
        prop_assert_eq!(usage.started_at_once, at_once as u64);
        let waits = |record: &&JobRecord| {
            let runs_then =
                |run: &Run| run.job == record.job.id && run.start <= last_arrival && last_arrival < run.end;
            record.finish > last_arrival && !runs.iter().any(runs_then)
        };
        prop_assert_eq!(usage.waiting_at_last_arrival(), records.iter().filter(waits).count());
    }
}
