//! Many sites, many jobs.

use crate::generator::Load;
use gang_grid::{Approach, Config, Grid};
use sim_core::{JobLog, JobRecord, Sim, Streams};

/// No wall clock is read here (`benches/world.rs` measures the cost of a job on 2 and on 1000 sites): events are counted.
#[test]
fn ten_thousand_sites_serve_fifty_thousand_jobs() {
    const SITES: u32 = 10_000;
    const JOBS: u32 = 50_000;
    for approach in [Approach::One, Approach::Three] {
        let streams = Streams::new(2010, 0);
        // Gangs of 20 find no room inside one site of 16.
        let load = Load { sites: SITES, locals: 10.0, gangs: 5000.0, sizes: &[2, 3, 4, 8, 16, 20] };
        let config = Config::uniform(SITES as usize, 16, approach);
        let grid = Grid::new(config, load.submissions(JOBS, &streams), &streams).expect("a valid configuration");
        let mut tasks = 0;
        let mut sim = Sim::new(grid, JobLog::new(|record: JobRecord| tasks += u64::from(record.processors)));
        let mut events = 0_u64;
        while sim.step() {
            events += 1;
        }
        let (grid, log) = sim.into_parts();
        let (counts, seen) = (*grid.counts(), log.counts());
        assert_eq!(log.present(), 0);
        assert_eq!(seen.submitted, u64::from(JOBS));
        assert_eq!(seen.finished, u64::from(JOBS) - counts.gangs_rejected);
        assert_eq!(counts.gangs_rejected > 0, approach == Approach::One);
        assert_eq!(counts.gangs_spanning > 0, approach == Approach::Three);
        // One event per arrival and one per task: waiting jobs are not polled.
        assert_eq!(events, u64::from(JOBS) + tasks);
    }
}
