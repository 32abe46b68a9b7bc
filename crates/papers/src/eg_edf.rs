//! Klusáček et al. 2008: FCFS, EASY, Flexible backfilling, EG-EDF and Tabu search on 150 machines. Only this module knows the axes of the
//! paper.

mod claims;
mod cost;
mod figures;
mod measure;

use anyhow::{Context, Result};
use cost::{Scan, Scanned};
use gap_schedule::{
    BackfillReadings, BackfillRule, Edf, EgEdf, EgTies, Fcfs, FlexibleBackfill, FlexibleConfig, GapBound, Machine,
    Minext, MultiCluster, OrderedBackfill, Placement, Planner, Tabu, TabuChoice, TabuMemory, UsageOver,
};
use lab::claim::Claim;
use lab::metric::Values;
use lab::paper::{About, Effort, Exhibit, Paper, Reading};
use lab::scenario::Scenario;
use measure::{Measure, Metric, Promises};
use serde::{Deserialize, Serialize};
use sim_core::{Sim, Streams};
use workload::deadline_mix::{DeadlineMix, Margin};

tables! {
    /// The scenario. In a quick run, the quick number of jobs replaces the other.
    pub(crate) struct EgEdfPaper {
        grid: MachineTable,
        workload: WorkloadTable,
        flexible: FlexibleConfig,
        run: RunTable,
        readings: Readings,
    }
    struct MachineTable {
        machines: u32,
        machine_processors: [u32; 2],
        machine_speed: [f64; 2],
    }
    struct WorkloadTable {
        jobs: u32,
        job_processors: [u32; 2],
        runtime: [f64; 2],
        interarrival: Vec<f64>,
        deadline_share: f64,
    }
    struct RunTable {
        quick_jobs: u32,
    }
}

lab::readings! {
    /// Questions that the paper leaves open.
    #[serde(deny_unknown_fields)]
    struct Readings {
        R1 benchmark: type Benchmark
            "Which speed do run times refer to?"
            { "200.0", "250.0", "300.0", "400.0", "per-job", "ignored" }
        R2 deadline: type Margin
            "When is a job due: a number of seconds after its run time, or a multiple of its run time after submission?"
            { "[30.0, 250.0]", "[0.0, 3000.0]", "[0.0, 8000.0]", "{ times = [1.0, 3.0] }" }
        R3 late_percent_of: enum LateOf "What are late jobs counted against?" {
            /// All jobs.
            AllJobs,
            /// Jobs that have a deadline.
            JobsWithDeadline,
        }
        R4 machines: enum MachineDraws "Does every replication have machines of its own?" {
            /// One draw for all replications of a seed.
            Fixed,
            /// A new draw for each replication.
            Redrawn,
        }
        R5 placement: type Placement "Which machine with room does a job go to?"
        R6 backfill: type BackfillRule "When may a job pass the head of the queue?"
        R7 minext: type Minext "What are short jobs compared with?"
        R8 gap_bound: type GapBound "How late may a gap start?"
        R9 gap_ties: type EgTies "Which of several equal gaps is taken?"
        R10 edf: type Edf "Where does a job without a gap go?"
        R11 tabu_choice: type TabuChoice "Which job does Tabu search move?"
        R12 tabu_iterations: u32 "How many iterations after each arrival?" { 10, 1, 30, 100, 300 }
        R12 tabu_length: usize "How long is the tabu list?" { 10, 5, 20 }
        R12 tabu_memory: type TabuMemory "Is the tabu list kept from call to call?"
        R13 usage: type UsageOver "What is the system usage averaged over?"
        R14 easy_cost: enum EasyCost "Which implementation of EASY is its cost counted for?" {
            /// Implementation that tests every waiting job on every machine.
            Naive,
            /// Implementation with an index. Both give the same schedule.
            Indexed,
        }
    }
}

/// R1: the speed of the machine that run times refer to.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a speed, \"per-job\" or \"ignored\"")]
enum Benchmark {
    Speed(f64),
    Word(BenchmarkWord),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BenchmarkWord {
    /// Speed of a machine drawn for each job from the same distribution as the grid's machines.
    PerJob,
    /// A job takes its run time on every machine.
    Ignored,
}

impl Default for Benchmark {
    fn default() -> Self {
        Self::Speed(200.0)
    }
}

named! {
    enum Policy {
        Fcfs = "FCFS",
        Easy = "EASY",
        Flex = "Flex",
        EgEdf = "EG-EDF",
        Tabu = "Tabu",
        /// EASY in its other implementation (R14). Both give the same schedule, and no figure shows it.
        EasyIndexed = "EASY, indexed",
    }
}

impl Policy {
    const ALL: [Self; 5] = [Self::Fcfs, Self::Easy, Self::Flex, Self::EgEdf, Self::Tabu];

    /// Returns true if jobs may pass the head of its queue (R6).
    const fn backfills(self) -> bool {
        matches!(self, Self::Easy | Self::Flex | Self::EasyIndexed)
    }

    /// Returns true if its schedule depends on a field of the readings. Other fields do not change its runs, which are simulated once for
    /// all their answers.
    fn asks(self, field: &str) -> bool {
        match field {
            "placement" | "backfill" => self.backfills(),
            "minext" => self == Self::Flex,
            "gap_bound" | "gap_ties" | "edf" => matches!(self, Self::EgEdf | Self::Tabu),
            "tabu_choice" | "tabu_iterations" | "tabu_length" | "tabu_memory" => self == Self::Tabu,
            "easy_cost" => self == Self::Easy,
            _ => true,
        }
    }

    /// Returns true if it promises a start to the longest-waiting job. Flex has another order; a plan promises a start to every job.
    const fn promises_the_first(self) -> bool {
        matches!(self, Self::Fcfs | Self::Easy | Self::EasyIndexed)
    }
}

lab::cell! {
    pub(crate) struct Cell of Metric {
        policy: Policy,
        /// Position in `workload.interarrival`.
        load: usize,
        /// True for R6 = strict regardless of the scenario, in the second version of figure 1.
        strict: bool,
    }
}

impl EgEdfPaper {
    /// Returns the positions of the loads, shortest time between jobs first.
    fn loads(&self) -> Vec<usize> {
        crate::ascending(self.workload.interarrival.iter().copied())
    }

    fn interarrival(&self, load: usize) -> f64 {
        self.workload.interarrival[load]
    }

    fn mix(&self, load: usize) -> DeadlineMix {
        let Self { grid, workload, readings, .. } = self;
        DeadlineMix {
            machines: grid.machines,
            machine_processors: grid.machine_processors,
            machine_speed: grid.machine_speed,
            jobs: workload.jobs,
            job_processors: workload.job_processors,
            runtime: workload.runtime,
            interarrival: workload.interarrival[load],
            deadline_share: workload.deadline_share,
            benchmark_speed: match readings.benchmark {
                Benchmark::Word(BenchmarkWord::PerJob) => Some(grid.machine_speed),
                Benchmark::Speed(_) | Benchmark::Word(BenchmarkWord::Ignored) => None,
            },
            margin: readings.deadline,
        }
    }

    fn machines(&self, cell: &Cell, streams: &Streams) -> Vec<Machine> {
        let of_all = Streams::new(streams.seed, 0);
        let streams = match self.readings.machines {
            MachineDraws::Fixed => &of_all,
            MachineDraws::Redrawn => streams,
        };
        let speed = |speed: f64| match self.readings.benchmark {
            Benchmark::Speed(benchmark) => speed / benchmark,
            Benchmark::Word(BenchmarkWord::PerJob) => speed / self.grid.machine_speed[1],
            Benchmark::Word(BenchmarkWord::Ignored) => 1.0,
        };
        let drawn = self.mix(cell.load).machines(streams).into_iter();
        drawn.map(|(processors, score)| Machine { processors, speed: speed(score) }).collect()
    }

    fn backfill(&self, cell: &Cell) -> BackfillReadings {
        let readings = &self.readings;
        let rule = if cell.strict { BackfillRule::Strict } else { readings.backfill };
        BackfillReadings { placement: readings.placement, rule }
    }

    /// Returns the planner of EG-EDF, or of Tabu search, which improves its plans.
    fn planner(&self, searches: bool) -> Planner {
        let readings = &self.readings;
        let mut rule = EgEdf::default();
        (rule.bound, rule.ties, rule.edf) = (readings.gap_bound, readings.gap_ties, readings.edf);
        let mut search = Tabu::default();
        (search.bound, search.choice, search.memory) = (readings.gap_bound, readings.tabu_choice, readings.tabu_memory);
        (search.iterations, search.length) = (readings.tabu_iterations, readings.tabu_length);
        Planner::new(rule, searches.then_some(search))
    }

    /// Runs `policy` to the end, counting the operations of a program that scans.
    fn scan<P: gap_schedule::Policy>(&self, cell: &Cell, streams: &Streams, policy: P, scan: Scan) -> Values<Metric> {
        self.play(cell, streams, Scanned::new(policy, scan), |it| (it.operations, NONE))
    }

    /// Runs `policy` to the end; `tally` reads its operations and the numbers of Tabu moves tried and accepted.
    fn play<S: gap_schedule::Policy>(
        &self,
        cell: &Cell,
        streams: &Streams,
        policy: S,
        tally: impl Fn(&S) -> (u64, (u64, u64)),
    ) -> Values<Metric> {
        let jobs = self.mix(cell.load).jobs(streams);
        let machines = self.machines(cell, streams);
        let processors = machines.iter().map(|machine| machine.processors).sum();
        let readings = &self.readings;
        let promises = cell.policy.promises_the_first().then(|| Promises::new(&machines));
        let world = MultiCluster::new(machines, policy, jobs);
        let (world, measure) = Sim::new(world, Measure::new(processors, promises)).run();
        let (operations, moves) = tally(world.policy());
        measure.results(readings.usage, readings.late_percent_of, operations, moves).into()
    }
}

impl Paper for EgEdfPaper {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "eg-edf",
        title: "Comparison of Multi-Criteria Scheduling Techniques",
        citation: "D. Klusáček, H. Rudová, R. Baraglia, M. Pasquali and G. Capannini, in Grid Computing: Achievements and \
                   Prospects, Springer 2008, 173–184",
        package: "gap-schedule",
        subject: "FCFS, EASY, Flexible backfilling, EG-EDF and Tabu search on machines of different size and speed",
    };
    const SCENARIO: &'static str = include_str!("../workloads/eg-edf.toml");
    const PAGE: &'static str = include_str!("../pages/eg-edf.md");
    const MODELS: &'static str = crate::MODELS;

    const READINGS: &'static [Reading] = Readings::LIST;
    const NOTES: &'static [&'static str] = &[
        "Scheduling cost is counted in elementary operations, which are the same on every computer, and not in seconds. \
         EASY and Flexible backfilling are counted as the paper's programs work: every waiting job against every machine \
         at each event (R14).",
        "The paper is silent on how far deadlines lie behind run times (R2) and on the speed that run times refer to (R1). \
         Both move the number of late jobs; their defaults make inter-arrival 5 the uncontended case that §4 describes.",
    ];

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let mut paper: Self = scenario.typed()?;
        if effort == Effort::Quick {
            paper.workload.jobs = paper.run.quick_jobs;
        }
        crate::within(
            scenario,
            &[
                ("workload.interarrival", 0.0, 1e8),
                ("workload.jobs", 1.0, 1e6),
                ("run.quick_jobs", 1.0, 1e6),
                ("flexible", 0.0, 1e9),
                ("readings.benchmark", 1e-9, 1e9),
                ("readings.tabu_length", 1.0, f64::INFINITY),
            ],
        )?;
        (0..paper.workload.interarrival.len())
            .try_for_each(|load| paper.mix(load).validate())
            .context("[grid] and [workload]")?;
        Ok(paper)
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        figures::exhibits(self)
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        claims::ClaimBuilder { paper: self, strict: false }.table()
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        vec![
            ("policy", cell.policy.name().to_owned()),
            ("interarrival", self.interarrival(cell.load).to_string()),
            ("strict", cell.strict.to_string()),
            ("jobs", self.workload.jobs.to_string()),
        ]
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let Self { grid, workload, flexible, readings, .. } = self;
        serde_json::json!({
            "grid": grid,
            "workload": workload,
            "flexible": flexible,
            "readings": crate::answers(readings, |field| cell.policy.asks(field)),
            "cell": cell,
        })
    }

    fn cost(&self, cell: &Cell) -> u64 {
        // The scanning policies take longest, and longer for a shorter time between jobs.
        let weight = match cell.policy {
            Policy::Fcfs => 1,
            Policy::EgEdf | Policy::Tabu => 10,
            Policy::Easy | Policy::Flex | Policy::EasyIndexed => 30,
        };
        weight * u64::from(self.workload.jobs)
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let readings = self.backfill(cell);
        let BackfillReadings { placement, .. } = readings;
        let easy = || OrderedBackfill::easy(readings);
        match (cell.policy, self.readings.easy_cost) {
            (Policy::Fcfs, _) => self.scan(cell, streams, Fcfs::default(), Scan::Fcfs),
            (Policy::Easy, EasyCost::Naive) => self.scan(cell, streams, easy(), Scan::Easy(placement)),
            (Policy::Easy, EasyCost::Indexed) | (Policy::EasyIndexed, _) => {
                self.play(cell, streams, easy(), |it| (it.operations(), NONE))
            }
            (Policy::Flex, _) => {
                let config = FlexibleConfig { minext: self.readings.minext, ..self.flexible };
                let policy = FlexibleBackfill::new(config, readings);
                self.scan(cell, streams, policy, Scan::Flexible(placement, config))
            }
            (Policy::EgEdf | Policy::Tabu, _) => {
                self.play(cell, streams, self.planner(cell.policy == Policy::Tabu), |it| {
                    (it.operations(), it.tabu_counts().map_or(NONE, |counts| (counts.tried, counts.accepted)))
                })
            }
        }
    }
}

/// Tabu moves of other policies.
const NONE: (u64, u64) = (0, 0);
