//! Dimitriadou & Karatza 2010: gangs and local jobs on two sites. Only this module knows the axes of the paper.

mod claims;
mod figures;
mod measure;
mod mix;

use anyhow::{Context, Result, ensure};
use gang_grid::config::{SlowdownBase, StopAfter};
use gang_grid::{Approach, Config, Grid, Readings, Site};
use lab::claim::Claim;
use lab::metric::{Metric as _, Values};
use lab::paper::{About, Effort, Exhibit, Paper, Reading};
use lab::scenario::Scenario;
use measure::{Measure, Metric};
use mix::WorkloadTable;
use sim_core::{Sim, Span, Streams};

tables! {
    /// The scenario. In a quick run, the quick numbers replace the others.
    pub(crate) struct MultiSite {
        grid: GridTable,
        workload: WorkloadTable,
        policy: ApproachTable,
        run: RunTable,
        readings: Readings,
    }
    struct GridTable {
        processors: Vec<u32>,
        speeds: Vec<f64>,
    }
    struct ApproachTable {
        approaches: Vec<Approach>,
        thresholds: Vec<f64>,
        overheads: Vec<f64>,
    }
    struct RunTable {
        jobs: u64,
        run_lengths: Vec<u32>,
        bounded_slowdown_floor: f64,
        quick_jobs: u64,
        quick_run_lengths: Vec<u32>,
    }
}

lab::cell! {
    /// One point of the experiments. Numbers with a fraction are positions in the scenario's lists.
    pub(crate) struct Cell of Metric {
        approach: Approach,
        /// Position in `workload.local_interarrival`.
        load: usize,
        /// Position in `policy.thresholds`.
        threshold: usize,
        /// Position in `policy.overheads`.
        overhead: usize,
        jobs: u64,
    }
}

const fn number(approach: Approach) -> u8 {
    approach as u8 + 1
}

/// Largest number of processors: a simulated one takes some dozens of bytes.
const MOST_PROCESSORS: u64 = 1_000_000;

/// Longest run in seconds, with room for the spread of exponential times: the clock ends at 1.8e10.
const LONGEST_RUN: f64 = 1e9;

impl MultiSite {
    /// Returns λ at the position `load`, as the paper writes it: 12.5, 10, 8.333.
    fn lambda(&self, load: usize) -> f64 {
        (1000.0 / self.workload.local_interarrival[load]).round() / 1000.0
    }

    /// Returns the cell of the first set of experiments: T and overhead at their first values.
    const fn cell(&self, approach: Approach, load: usize) -> Cell {
        Cell { approach, load, threshold: 0, overhead: 0, jobs: self.run.jobs }
    }

    /// Returns the positions of the loads, lowest λ first.
    fn loads(&self) -> Vec<usize> {
        let lambdas = (0..self.workload.local_interarrival.len()).map(|load| self.lambda(load));
        crate::ascending(lambdas)
    }

    fn middle_load(&self) -> usize {
        let loads = self.loads();
        loads[loads.len() / 2]
    }

    fn config(&self, cell: &Cell) -> Config {
        let Self { grid, policy, readings, .. } = self;
        let sites = grid.processors.iter().zip(&grid.speeds);
        Config {
            sites: sites.map(|(&processors, &speed)| Site { processors, speed }).collect(),
            approach: cell.approach,
            threshold: Span::from_secs_f64(policy.thresholds[cell.threshold]),
            overhead: policy.overheads[cell.overhead],
            readings: *readings,
        }
    }

    /// Checks the constraints that the types leave open; errors name the key.
    fn validate(&self, scenario: &Scenario, effort: Effort) -> Result<()> {
        let Self { grid, workload, policy, run, .. } = self;
        let quick = if effort == Effort::Quick { "quick_" } else { "" };
        // From a thousand times the resolution of time to three years: 40 times that must fit into the range of time.
        let (shortest, longest) = (1e-6, 1e8);
        crate::within(
            scenario,
            &[
                ("workload.local_interarrival", shortest, longest),
                ("workload.gang_interarrival", shortest, longest),
                ("workload.gang_sizes", 1.0, f64::INFINITY),
                ("workload.mean_service", shortest, longest),
                ("policy.approaches", 0.0, f64::INFINITY),
                ("policy.thresholds", 0.0, 1e9),
                ("policy.overheads", 0.0, f64::INFINITY),
                ("run.jobs", 1.0, f64::INFINITY),
                ("run.quick_jobs", 1.0, f64::INFINITY),
                // At zero, short jobs would have no slowdown.
                ("run.bounded_slowdown_floor", 1e-9, 1e9),
            ],
        )?;
        let lengths = run.run_lengths.iter().copied();
        ensure!(lengths.clone().all(|length| length > 0), "run.{quick}run_lengths holds 0; a run has at least 1 job");
        crate::equally_long(scenario, &[["grid.speeds", "grid.processors"]])?;
        crate::distinct(scenario, &["workload.gang_sizes"])?;
        for overhead in 0..policy.overheads.len() {
            let cell = Cell { overhead, ..self.cell(policy.approaches[0], 0) };
            self.config(&cell).validate().context("[grid] and [policy]")?;
        }
        let processors = grid.processors.iter().map(|processors| u64::from(*processors)).sum::<u64>();
        ensure!(
            processors <= MOST_PROCESSORS,
            "grid.processors: {processors} in all are too many; {MOST_PROCESSORS} fit in memory"
        );
        let widest = workload.gang_sizes.iter().copied().max().unwrap_or_default();
        ensure!(
            u64::from(widest) <= processors,
            "workload.gang_sizes: a gang of {widest} never fits on {processors} processors; leave it out or enlarge \
             grid.processors"
        );
        // Serial service of all jobs after the last arrival: no run takes longer.
        let longest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let slowest = grid.speeds.iter().copied().fold(f64::INFINITY, f64::min);
        let service = workload.mean_service * (1.0 + longest(&policy.overheads)) / slowest;
        let jobs = lengths.map(u64::from).fold(run.jobs, u64::max) as f64;
        ensure!(
            jobs * (longest(&workload.local_interarrival) + service) < LONGEST_RUN,
            "{jobs} jobs, {} apart and {service} long on the slowest site, outrun the clock; lower run.{quick}jobs, \
             workload.local_interarrival, workload.mean_service or policy.overheads, or raise grid.speeds",
            longest(&workload.local_interarrival)
        );
        Ok(())
    }
}

impl Paper for MultiSite {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "multi-site",
        title: "Multi-Site Allocation Policies on a Grid and Local Level",
        citation: "S. K. Dimitriadou and H. D. Karatza, Electronic Notes in Theoretical Computer Science 261 (2010) 163–179",
        package: "gang-grid",
        subject: "gangs and local jobs on two sites: three allocation approaches, backfilling with a threshold",
    };
    const SCENARIO: &'static str = include_str!("../workloads/multi-site.toml");
    const PAGE: &'static str = include_str!("../pages/multi-site.md");
    const MODELS: &'static str = crate::MODELS;

    const READINGS: &'static [Reading] = Readings::LIST;
    const NOTES: &'static [&'static str] = &[
        "WRT and WSLD of gangs are not steady-state values: gangs of 16 tasks starve under approach 1, and the \
         longer the run, the longer they wait (figure run-length). They describe a run of this length and no other.",
        "The mean slowdown of exponential service times has no finite expectation, since a job may be as short as it \
         likes. Figure 7 shows it as the paper does; claim L4 is judged on the bounded slowdown (A1).",
    ];

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let mut paper: Self = scenario.typed()?;
        if effort == Effort::Quick {
            (paper.run.jobs, paper.run.run_lengths) = (paper.run.quick_jobs, paper.run.quick_run_lengths.clone());
        }
        paper.validate(scenario, effort)?;
        Ok(paper)
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        figures::exhibits(self)
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        crate::with_cells([self.of_completed_gangs(), self.table()].concat(), |cell| self.has(cell.approach))
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        vec![
            ("approach", number(cell.approach).to_string()),
            ("lambda", self.lambda(cell.load).to_string()),
            ("threshold", self.policy.thresholds[cell.threshold].to_string()),
            ("overhead", self.policy.overheads[cell.overhead].to_string()),
            ("jobs", cell.jobs.to_string()),
        ]
    }

    fn cost(&self, cell: &Cell) -> u64 {
        cell.jobs
    }

    fn metrics(&self) -> Vec<Metric> {
        let of_size = |size: &u32| [Metric::completed_percent_of(*size), Metric::wrt_of(*size)];
        Metric::list().into_iter().chain(self.workload.gang_sizes.iter().flat_map(of_size)).collect()
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let Self { workload, run, readings, .. } = self;
        let sites = u32::try_from(self.grid.processors.len()).expect("few sites");
        let submissions = workload.jobs(cell.load, sites, readings.service_time, streams);
        let grid = Grid::new(self.config(cell), submissions, streams).expect("the scenario was validated");
        let floor = Span::from_secs_f64(run.bounded_slowdown_floor);
        let mut sim = Sim::new(grid, Measure::new(&workload.gang_sizes, floor, readings.slowdown_base));
        match readings.stop_after {
            StopAfter::Jobs => sim.run_while(|grid| grid.completed() < cell.jobs),
            StopAfter::Locals => sim.run_while(|grid| grid.counts().locals_completed < cell.jobs),
            StopAfter::Tasks => {
                sim.run_while(|grid| grid.counts().locals_completed + grid.counts().gang_tasks_completed < cell.jobs)
            }
        }
        sim.probe().results(sim.model().counts(), sim.model().utilization(sim.now()), sim.now()).into()
    }
}
