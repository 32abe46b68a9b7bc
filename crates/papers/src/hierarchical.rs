//! Al-Zoubi & Wainer: grid trees, peers and hybrids. Only this module knows the axes of the paper.

mod claims;
mod drawings;
mod figures;
mod measure;

use anyhow::{Context, Result, ensure};
use hier_grid::config::{GridConfig, JobConfig, NetworkConfig, SubmissionRule};
use hier_grid::{Algorithms, Config, Experiment, Grid, Readings, System, World};
use lab::claim::{Claim, Remark};
use lab::metric::Values;
use lab::paper::{About, Effort, Exhibit, Paper, Reading};
use lab::scenario::Scenario;
use measure::{Metric, RunSums};
use serde::Serialize;
use sim_core::{JobLog, Purpose, Sim, Streams};

tables! {
    /// The scenario, with numbers of jobs in ascending order. In a quick run, the quick numbers replace the others.
    pub(crate) struct Hierarchical {
        grid: GridConfig,
        network: NetworkConfig,
        workload: WorkloadTable,
        experiments: ExperimentsTable,
        algorithms: Algorithms,
        run: RunTable,
        readings: ReadingsTable,
    }
    /// The readings of the world (R1 to R16), and one of a statement.
    struct ReadingsTable {
        #[serde(flatten)]
        of_sentences: OfSentences,
        #[serde(flatten)]
        of_world: Readings,
    }
}

lab::readings! {
    /// Readings of statements, independent of the model.
    struct OfSentences {
        R17 declining: enum Declining "What does an AWT do that \"starts declining\" with too many trees?" {
            /// It falls, as in the author's use of the word for figure 9.
            Falls,
            /// It gets worse, as "it gets closer and closer to the P2P system" suggests.
            Worsens,
        }
    }
}

tables! {
    struct WorkloadTable {
        jobs: Vec<u32>,
        mean_input: Vec<f64>,
        sample: f64,
        output_factor: f64,
        shortest: f64,
    }
    struct ExperimentsTable {
        systems: Vec<System>,
        think_times: Vec<f64>,
        chance: [f64; 2],
        intervals: Vec<f64>,
        interval_jobs: u32,
        changes: Vec<f64>,
    }
    struct RunTable {
        batch: u32,
        quick_jobs: Vec<u32>,
        quick_interval_jobs: u32,
        quick_batch: u32,
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum Trial {
    First,
    Second,
    /// Third experiment with the mean interval at this position of `experiments.intervals`.
    Third(usize),
    Fourth,
}

/// Rescheduling algorithms that are switched off, of those that the scenario has on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum Off {
    None,
    Butterfly,
    LoadBalance,
    /// Butterfly and load-balance.
    Both,
    All,
}

impl Off {
    /// Returns its name, the words for it in a legend, and whether butterfly, fallback and load-balance stay on.
    const fn parts(self) -> (&'static str, &'static str, [bool; 3]) {
        match self {
            Self::None => ("none", "", [true; 3]),
            Self::Butterfly => ("butterfly", ", butterfly off", [false, true, true]),
            Self::LoadBalance => ("load-balance", ", load-balance off", [true, true, false]),
            Self::Both => ("butterfly+load-balance", ", butterfly and load-balance off", [false, true, false]),
            Self::All => ("all", ", all three off", [false; 3]),
        }
    }
}

lab::cell! {
    pub(crate) struct Cell of Metric {
        scene: Trial,
        /// Position in `workload.mean_input`.
        input: usize,
        off: Off,
        jobs: u32,
        system: System,
        /// Number of runs per replication: one, except for the spread of several.
        runs: u32,
    }
}

/// Returns the name in the series of the paper's figures.
fn name(system: System) -> String {
    match system {
        System::P2p => "P2P".to_owned(),
        System::Trees(1) => "Hierarchical".to_owned(),
        System::Trees(trees) => format!("Hybrid-{trees}T"),
    }
}

/// Returns true if the behaviour of a system depends on a field of the readings. Other fields do not change its runs, which are simulated
/// once for all their answers.
fn asks(system: System, field: &str) -> bool {
    match field {
        "peer_deadline" | "peer_wait_ends" | "neighbours" => system == System::P2p,
        "share" | "unassigned_order" | "branch_order" | "load_balance_takes" | "requests_to" | "bags" => {
            matches!(system, System::Trees(_))
        }
        _ => true,
    }
}

/// The hierarchical system of the paper.
const TREE: System = System::Trees(1);

impl Hierarchical {
    const fn cell(&self, scene: Trial, input: usize, jobs: u32, system: System) -> Cell {
        Cell { scene, input, off: Off::None, jobs, system, runs: 1 }
    }

    fn over_jobs(&self, scene: Trial, input: usize, system: System) -> impl Iterator<Item = Cell> {
        self.workload.jobs.iter().map(move |jobs| self.cell(scene, input, *jobs, system))
    }

    fn over_intervals(&self, system: System) -> impl Iterator<Item = Cell> {
        let jobs = self.experiments.interval_jobs;
        (0..self.experiments.intervals.len()).map(move |at| self.cell(Trial::Third(at), self.sample(), jobs, system))
    }

    /// Returns a cell with several runs of experiment 1 as one replication, at the middle number of jobs.
    fn several(&self, system: System) -> Cell {
        let jobs = self.workload.jobs[self.workload.jobs.len() / 2];
        Cell { runs: self.run.batch, ..self.cell(Trial::First, self.sample(), jobs, system) }
    }

    /// Position of the small jobs: 1 GB.
    const SMALL: usize = 0;

    /// Returns the position of the large jobs: 100 GB.
    fn large(&self) -> usize {
        self.workload.mean_input.len() - 1
    }

    /// Returns the position of the jobs in figures that show "a sample".
    fn sample(&self) -> usize {
        let WorkloadTable { mean_input, sample, .. } = &self.workload;
        mean_input.iter().position(|mean| mean.total_cmp(sample).is_eq()).expect("validated")
    }

    fn has(&self, system: System) -> bool {
        self.experiments.systems.contains(&system)
    }

    fn experiment(&self, scene: Trial) -> Experiment {
        let ExperimentsTable { think_times, chance, intervals, changes, .. } = &self.experiments;
        let thinking =
            |means, chance| Experiment { submission: SubmissionRule::Thinking { means, chance }, changes: None };
        match scene {
            Trial::First => Experiment::first(),
            Trial::Second => thinking(think_times.clone(), Some(*chance)),
            Trial::Third(interval) => thinking(vec![intervals[interval]], None),
            Trial::Fourth => Experiment { changes: Some(changes.clone()), ..Experiment::first() },
        }
    }

    /// Returns the number of the experiment, and the mean interval of the third.
    fn number(&self, scene: Trial) -> (u32, Option<f64>) {
        match scene {
            Trial::First => (1, None),
            Trial::Second => (2, None),
            Trial::Third(interval) => (3, Some(self.experiments.intervals[interval])),
            Trial::Fourth => (4, None),
        }
    }

    fn config(&self, cell: &Cell) -> Config {
        let Self { grid, network, workload, algorithms, readings, .. } = self;
        let (.., [butterfly, fallback, load_balance]) = cell.off.parts();
        Config {
            grid: grid.clone(),
            network: network.clone(),
            jobs: JobConfig {
                count: cell.jobs,
                mean_input: workload.mean_input[cell.input],
                output_factor: workload.output_factor,
                shortest: workload.shortest,
            },
            experiment: self.experiment(cell.scene),
            system: cell.system,
            algorithms: Algorithms {
                butterfly: algorithms.butterfly && butterfly,
                fallback: algorithms.fallback && fallback,
                load_balance: algorithms.load_balance && load_balance,
            },
            readings: readings.of_world.clone(),
        }
    }

    fn play(&self, config: Config, world: World, streams: &Streams) -> Values<Metric> {
        let types = measure::server_types(&self.grid, &world);
        let grid = Grid::in_world(config, world, streams, ()).expect("the scenario was validated");
        let mut sim = Sim::new(grid, JobLog::new(RunSums::default()));
        let mut events = 0;
        while sim.step() {
            events += 1;
        }
        sim.probe().sink().results(sim.model().counts(), events, types).into()
    }

    /// Checks the constraints that the types leave open; errors name the key.
    fn validate(&self, scenario: &Scenario) -> Result<()> {
        let Self { workload, experiments, .. } = self;
        crate::within(
            scenario,
            &[
                ("workload.jobs", 1.0, MOST_JOBS),
                ("workload.mean_input", 0.0, f64::INFINITY),
                ("experiments.systems", 0.0, f64::INFINITY),
                ("experiments.intervals", 0.0, f64::INFINITY),
                ("experiments.interval_jobs", 1.0, MOST_JOBS),
                ("run.quick_jobs", 1.0, MOST_JOBS),
                ("run.quick_interval_jobs", 1.0, MOST_JOBS),
                // A spread is that of several runs.
                ("run.batch", 2.0, 1000.0),
                ("run.quick_batch", 2.0, 1000.0),
            ],
        )?;
        ensure!(
            workload.mean_input.iter().any(|mean| mean.total_cmp(&workload.sample).is_eq()),
            "workload.sample is {}, which is none of workload.mean_input; name one of {:?}",
            workload.sample,
            workload.mean_input
        );
        let servers = self.grid.all_sites().saturating_mul(u64::from(self.grid.nodes));
        ensure!(servers <= MOST_NODES, "[grid]: {servers} nodes are too many; {MOST_NODES} fit in memory");
        let scenes = (0..experiments.intervals.len()).map(Trial::Third);
        for scene in scenes.chain([Trial::First, Trial::Second, Trial::Fourth]) {
            for &system in &experiments.systems {
                for input in 0..workload.mean_input.len() {
                    let cell = self.cell(scene, input, workload.jobs[0], system);
                    self.config(&cell).validate().context("the grid, its jobs or its experiments")?;
                }
            }
        }
        Ok(())
    }
}

/// Largest number of jobs: more would take minutes for each run.
const MOST_JOBS: f64 = 1e7;

/// Largest number of nodes: a node takes some hundreds of bytes.
const MOST_NODES: u64 = 10_000_000;

impl Paper for Hierarchical {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "hierarchical",
        title: "Hierarchical Scheduling in Grid Systems",
        citation: "S. Al-Zoubi and G. Wainer: self-discovery, adaptive hierarchical scheduling, butterfly, fallback, load-balance",
        package: "hier-grid",
        subject: "grid trees against peers, and hybrids of both, on 2400 nodes of 160 sites",
    };
    const SCENARIO: &'static str = include_str!("../workloads/hierarchical.toml");
    const PAGE: &'static str = include_str!("../pages/hierarchical.md");
    const MODELS: &'static str = crate::MODELS;

    const READINGS: &'static [Reading] = &{
        let (model, sentences) = (Readings::LIST, OfSentences::LIST);
        let (mut all, mut i) = ([model[0]; Readings::LIST.len() + OfSentences::LIST.len()], 0);
        while i < all.len() {
            all[i] = if i < model.len() { model[i] } else { sentences[i - model.len()] };
            i += 1;
        }
        all
    };
    const NOTES: &'static [&'static str] = &[
        "The paper's curves are lost in the copy that we worked from; its sentences remain. It prints no number but the \
         spread of its runs.",
        "Experiment 1 has no time of its own: execution and transfer grow with the size of the jobs, and no user thinks. \
         All its times are proportional to the job size, so what differs for large jobs differs for small ones, and \
         claims H6 and H7 cannot both hold.",
    ];

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let mut paper: Self = scenario.typed()?;
        let Self { workload, experiments, run, .. } = &mut paper;
        if effort == Effort::Quick {
            workload.jobs = run.quick_jobs.clone();
            (experiments.interval_jobs, run.batch) = (run.quick_interval_jobs, run.quick_batch);
        }
        workload.jobs.sort_unstable();
        workload.jobs.dedup();
        paper.validate(scenario)?;
        Ok(paper)
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        figures::exhibits(self)
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        self.table()
    }

    fn remarks(&self) -> Vec<Remark<Cell>> {
        claims::remarks(self)
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        let (experiment, interval) = self.number(cell.scene);
        let grid = &self.grid;
        vec![
            ("nodes", (grid.all_sites() * u64::from(grid.nodes)).to_string()),
            ("system", name(cell.system)),
            ("experiment", experiment.to_string()),
            ("interval", interval.map_or_else(String::new, |interval| interval.to_string())),
            ("input", self.workload.mean_input[cell.input].to_string()),
            ("off", cell.off.parts().0.to_owned()),
            ("jobs", cell.jobs.to_string()),
            ("runs", cell.runs.to_string()),
        ]
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let config = self.config(cell);
        let answers = crate::answers(&config.readings, |field| asks(cell.system, field));
        let others = Config { readings: Readings::default(), ..config };
        serde_json::json!({ "config": format!("{others:?}"), "readings": answers, "runs": cell.runs })
    }

    fn cost(&self, cell: &Cell) -> u64 {
        let weight = if cell.system == System::P2p { 2 } else { 1 };
        weight * u64::from(cell.jobs) * u64::from(cell.runs)
    }

    fn metrics(&self) -> Vec<Metric> {
        measure::all(&self.grid)
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let config = self.config(cell);
        let world = World::draw(&config, streams).expect("the scenario was validated");
        if cell.runs == 1 {
            return self.play(config, world, streams);
        }
        let run = |k: u32| {
            let mut seeds = streams.stream(Purpose("seeds of several runs"), k);
            let seed = rand::Rng::next_u64(&mut seeds);
            self.play(config.clone(), world.clone(), &Streams::new(seed, 0))
        };
        measure::of_several(&(0..cell.runs).map(run).collect::<Vec<_>>())
    }
}
