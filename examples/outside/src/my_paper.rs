//! A paper: "Shortest jobs first, and who pays for it". Two policies, three loads, one figure, two claims.

use crate::my_sjf::MySjf;
use anyhow::ensure;
use gap_schedule::{Fcfs, Machine, MultiCluster, Policy};
use lab::paper::*;
use serde::Deserialize;
use sim_core::{JobLog, JobRecord, Sim, Streams};
use workload::deadline_mix::{DeadlineMix, Margin};

/// The paper with the parameters of its scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MyPaper {
    workload: Workload,
    readings: Readings,
}

/// The scenario's table `workload`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    processors: u32,
    jobs: u32,
    job_processors: [u32; 2],
    runtime: [f64; 2],
    /// Loads in percent.
    loads: Vec<u32>,
}

lab::readings! {
    /// Questions that the paper leaves open: the scenario's table `readings`, for which `doubt my-paper` tries other answers.
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
    /// Metrics of one replication: the record, and the type that figures and claims name.
    pub(crate) struct Measured of Metric {
        /// Mean over all jobs, from submission to the instant that R1 names.
        wait_mean: "mean wait" ("s") smaller,
        /// The longest of these waits.
        wait_longest: "longest wait" ("s") smaller,
    }
}

lab::cell! {
    /// One point of its experiments.
    pub(crate) struct Cell of Metric { policy: &'static str, load: u32 }
}

impl MyPaper {
    /// Returns the jobs of one replication: the same for both policies.
    fn mix(&self, load: u32) -> DeadlineMix {
        let Workload { processors, jobs, job_processors, runtime, .. } = self.workload;
        let mean_processors = f64::from(job_processors[0] + job_processors[1]) / 2.0;
        let mean_runtime = (runtime[0] + runtime[1]) / 2.0;
        DeadlineMix {
            machines: 1,
            machine_processors: [processors; 2],
            machine_speed: [1.0; 2],
            jobs,
            job_processors,
            runtime,
            benchmark_speed: None,
            interarrival: mean_processors * mean_runtime / f64::from(processors) / (f64::from(load) / 100.0),
            deadline_share: 0.0,
            margin: Margin::default(),
        }
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

    fn new(scenario: &Scenario, _: Effort) -> Result<Self> {
        let paper: Self = scenario.typed()?;
        for load in &paper.workload.loads {
            ensure!((1..100).contains(load), "workload.loads holds {load}; a load is from 1 to 99 %");
            paper.mix(*load).validate()?;
        }
        Ok(paper)
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        let series = |policy| {
            let loads = self.workload.loads.iter().copied();
            Series::over(policy, loads, |load| Cell { policy, load }.get(Metric::wait_mean))
        };
        let figure =
            Figure::of("fig1", "Figure 1. Mean wait", "load (%)", Metric::wait_mean, ["FCFS", "SJF"].map(series));
        vec![figure.caption("Of all jobs of a replication.").into()]
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        let Some(&load) = self.workload.loads.iter().max() else { return Vec::new() };
        let check = |metric, rule| {
            let [fcfs, sjf] = ["FCFS", "SJF"].map(|policy| Cell { policy, load }.get(metric));
            [Check::new(format!("{metric}, SJF − FCFS at {load} %"), sjf - fcfs, rule)]
        };
        lab::claims! {
            S1 "§3, fig. 1" "Jobs wait less if the shortest go first" in "fig1" => check(Metric::wait_mean, Rule::NEGATIVE);
            S2 "§3" "The longest wait is longer then" in "fig1" => check(Metric::wait_longest, Rule::POSITIVE);
        }
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let policy: Box<dyn Policy> =
            if cell.policy == "SJF" { Box::new(MySjf::default()) } else { Box::new(Fcfs::default()) };
        let machine = Machine::new(self.workload.processors);
        let world = MultiCluster::new(vec![machine], policy, self.mix(cell.load).jobs(streams));
        let records = Sim::new(world, JobLog::<Vec<JobRecord>>::collecting()).run().1.into_sink();
        let wait = |record: &JobRecord| {
            let until = match self.readings.wait_until {
                Until::Start => record.start,
                Until::End => record.finish,
            };
            until.since(record.job.submit).as_secs_f64()
        };
        let waits: Vec<f64> = records.iter().map(wait).collect();
        Measured {
            wait_mean: waits.iter().sum::<f64>() / f64::from(self.workload.jobs),
            wait_longest: waits.iter().copied().fold(0.0, f64::max),
        }
        .into()
    }
}
