//! A paper: "Shortest jobs first, and who pays for it". Two policies, three loads, one figure, two claims.

use crate::my_sjf::MySjf;
use anyhow::{Result, ensure};
use gap_schedule::{Fcfs, Machine, MultiCluster, Policy};
use lab::claim::{Check, Claim, Rule};
use lab::metric::Values;
use lab::paper::{About, Effort, Exhibit, Figure, Panel, Paper, Reading, Series};
use lab::quantity::{DesignPoint, Quantity};
use lab::scenario::Scenario;
use serde::{Deserialize, Serialize};
use sim_core::{JobLog, JobRecord, Sim, Streams};
use workload::deadline_mix::{DeadlineMix, Margin};

/// The scenario file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    machine: MachineTable,
    workload: WorkloadTable,
    run: RunTable,
    readings: Readings,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineTable {
    processors: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadTable {
    jobs: u32,
    job_processors: [u32; 2],
    runtime: [f64; 2],
    loads: Vec<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    quick_jobs: u32,
}

lab::readings! {
    /// What the paper leaves open: the scenario's table `readings`, and what `doubt my-paper` answers otherwise.
    #[serde(deny_unknown_fields)]
    struct Readings {
        R1 wait_until: enum Until "Until when does a job wait?" {
            /// Until it starts.
            Start,
            /// Until it ends.
            End,
        }
    }
}

lab::metrics! {
    /// What one replication yields: the record, and the type of what figures and claims name.
    pub(crate) struct Measured of Metric {
        /// Mean over all jobs, from submission to what R1 says.
        wait_mean: "mean wait" ("s") smaller,
        /// The longest of them.
        wait_longest: "longest wait" ("s") smaller,
    }
}

/// The paper, as its scenario has it.
pub(crate) struct MyPaper {
    file: File,
    jobs: u32,
}

/// One point of its experiments: whether the shortest are first, and the position of the load.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    shortest_first: bool,
    load: usize,
}

impl DesignPoint for Cell {
    type Metric = Metric;
}

impl Cell {
    const fn policy(self) -> &'static str {
        if self.shortest_first { "SJF" } else { "FCFS" }
    }
}

impl MyPaper {
    /// The jobs of one replication: the same for both policies.
    fn mix(&self, load: usize) -> DeadlineMix {
        let File { machine, workload, .. } = &self.file;
        let [mean_processors, mean_runtime] = [
            f64::from(workload.job_processors[0] + workload.job_processors[1]) / 2.0,
            (workload.runtime[0] + workload.runtime[1]) / 2.0,
        ];
        DeadlineMix {
            machines: 1,
            machine_processors: [machine.processors; 2],
            machine_speed: [1.0; 2],
            jobs: self.jobs,
            job_processors: workload.job_processors,
            runtime: workload.runtime,
            benchmark_speed: None,
            interarrival: mean_processors * mean_runtime / f64::from(machine.processors) / workload.loads[load],
            deadline_share: 0.0,
            margin: Margin::default(),
        }
    }

    /// SJF minus FCFS at one load.
    fn difference(&self, load: usize, metric: Metric) -> Quantity<Cell> {
        let [fcfs, sjf] = [false, true].map(|shortest_first| Cell { shortest_first, load }.get(metric));
        sjf - fcfs
    }
}

impl Paper for MyPaper {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "my-paper",
        title: "Shortest jobs first, and who pays for it",
        citation: "N. N., an example",
        package: "my-lab",
        subject: "Shortest job first against first come first served on one machine",
    };
    const SCENARIO: &'static str = include_str!("../my-paper.toml");
    const PAGE: &'static str = include_str!("../my-paper.md");
    const READINGS: &'static [Reading] = Readings::LIST;

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let file: File = scenario.typed()?;
        let jobs = if effort == Effort::Quick { file.run.quick_jobs } else { file.workload.jobs };
        let paper = Self { file, jobs };
        let loads = &paper.file.workload.loads;
        ensure!(
            loads.iter().all(|load| (0.01..1.0).contains(load)),
            "workload.loads is {loads:?}; a load is at least 0.01 and below 1"
        );
        for load in 0..loads.len() {
            paper.mix(load).validate()?;
        }
        Ok(paper)
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        let loads = &self.file.workload.loads;
        let series = |shortest_first: bool| Series {
            name: Cell { shortest_first, load: 0 }.policy().to_owned(),
            points: loads
                .iter()
                .enumerate()
                .map(|(load, x)| (*x, Cell { shortest_first, load }.get(Metric::wait_mean)))
                .collect(),
        };
        let panels = vec![Panel::of(Metric::wait_mean, [false, true].map(series).into())];
        let figure = Figure::new("fig1", "Figure 1. Mean wait", "load", panels);
        vec![Exhibit::Plot(figure.caption("Of all jobs of a replication."))]
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        let highest = self.file.workload.loads.len() - 1;
        let claim = |id, statement: &str, metric, rule| Claim {
            id,
            source: "§3, fig. 1",
            statement: statement.to_owned(),
            test: "SJF − FCFS at the highest load, paired".to_owned(),
            figures: &["fig1"],
            checks: vec![Check {
                label: format!("{metric}, SJF − FCFS"),
                quantity: self.difference(highest, metric),
                rule,
            }],
        };
        vec![
            claim(
                "S1",
                "Jobs wait less if the shortest go first",
                Metric::wait_mean,
                Rule::Below { bound: 0.0, tie: false },
            ),
            claim("S2", "The longest wait is longer if the shortest go first", Metric::wait_longest, Rule::POSITIVE),
        ]
    }

    fn notes(&self) -> Vec<String> {
        vec!["An example of a paper outside of Gridproof's own workspace; nobody has printed it.".to_owned()]
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        vec![
            ("policy", cell.policy().to_owned()),
            ("load", self.file.workload.loads[cell.load].to_string()),
            ("jobs", self.jobs.to_string()),
        ]
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let File { machine, workload, readings, .. } = &self.file;
        serde_json::json!({
            "machine": machine,
            "job_processors": workload.job_processors,
            "runtime": workload.runtime,
            "load": workload.loads[cell.load],
            "readings": readings,
            "policy": cell.policy(),
            "jobs": self.jobs,
        })
    }

    fn cost(&self, _: &Cell) -> u64 {
        u64::from(self.jobs)
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let policy: Box<dyn Policy> =
            if cell.shortest_first { Box::new(MySjf::default()) } else { Box::new(Fcfs::default()) };
        let machine = Machine::new(self.file.machine.processors);
        let jobs = self.mix(cell.load).jobs(streams);
        let (_, log) =
            Sim::new(MultiCluster::new(vec![machine], policy, jobs), JobLog::<Vec<JobRecord>>::collecting()).run();
        let wait = |record: &JobRecord| {
            let until = match self.file.readings.wait_until {
                Until::Start => record.start,
                Until::End => record.finish,
            };
            until.since(record.job.submit).as_secs_f64()
        };
        let waits: Vec<f64> = log.into_sink().iter().map(wait).collect();
        Measured {
            wait_mean: waits.iter().sum::<f64>() / f64::from(self.jobs),
            wait_longest: waits.iter().copied().fold(0.0, f64::max),
        }
        .into()
    }
}
