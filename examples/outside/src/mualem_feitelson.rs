//! Mu'alem & Feitelson 2001: FCFS, EASY and conservative backfilling on two logs, and the effect of users' estimates.

use gap_schedule::{Conservative, Easy, Fcfs, Machine, MultiCluster, Policy};
use lab::paper::*;
use metrics::job::bounded_slowdown;
use serde::Deserialize;
use sim_core::{JobLog, JobRecord, Sim, Span, Streams};
use workload::Estimates;

const LOGS: [&str; 2] = ["KTH-SP2", "SDSC-SP2"];
const POLICIES: [&str; 3] = ["FCFS", "EASY", "conservative"];

lab::readings! {
    struct Readings {
        R1 substantial: u32 "Which f is a substantial overestimate?" { 3, 1, 10 }
    }
}

lab::metrics! {
    /// Metrics of one replication.
    pub(crate) struct Measured of Metric {
        /// Mean over all jobs of max(1, response / max(run time, 10 s)).
        slowdown: "mean bounded slowdown" smaller,
        /// Mean over all jobs, from submission to end.
        response: "mean response" ("s") smaller,
    }
}

lab::cell! {
    /// A log under a policy, with estimates drawn between the run time and f + 1 times it, or else those of the users.
    pub(crate) struct Cell of Metric { log: &'static str, policy: &'static str, f: Option<u32> }
}

#[derive(Deserialize)]
pub(crate) struct MualemFeitelson {
    readings: Readings,
    #[serde(skip)]
    logs: Logs,
}

impl Paper for MualemFeitelson {
    type Cell = Cell;
    const ABOUT: About = About {
        slug: "mualem-feitelson",
        title: "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with Backfilling",
        citation: "A. W. Mu'alem and D. G. Feitelson, IEEE TPDS 12(6), 2001, 529–543",
        package: "my-lab",
        subject: "FCFS, EASY and conservative backfilling under users' estimates and overestimates",
    };
    const SCENARIO: &'static str = include_str!("../mualem-feitelson.toml");
    const PAGE: &'static str = include_str!("../mualem-feitelson.md");
    const READINGS: &'static [Reading] = Readings::LIST;
    lab::logs! {
        "KTH-SP2-1996-2.1-cln.swf.gz" = "fba36494c4e4257f72182e8b629ebb0bcb054b3b82851ef957445bd627adcc87",
        "SDSC-SP2-1998-4.2-cln.swf.gz" = "2bb635f4b5793f52bd49ccb8fd913d95f9c5be6346925162cadcaf0117e28cf2",
    }

    fn new(scenario: &Scenario, _: Effort) -> Result<Self> {
        scenario.typed()
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        let at = |log, policy, f| Cell { log, policy, f };
        let users = |log| Series::at_positions(log, POLICIES.map(|policy| at(log, policy, None).get(Metric::response)));
        let over = |policy: &'static str, log| {
            Series::over(format!("{policy}, {log}"), [0, 1, 3, 10], |f| at(log, policy, Some(f)).get(Metric::slowdown))
        };
        let over = ["EASY", "conservative"].map(|policy| LOGS.map(|log| over(policy, log)));
        vec![
            Figure::of("fig1", "Users' estimates", "policy", Metric::response, LOGS.map(users)).over(&POLICIES).into(),
            Figure::of("fig2", "Overestimates", "f", Metric::slowdown, over.into_iter().flatten()).into(),
        ]
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        let change = |metric, from: (&'static str, _), to: (&'static str, _), rule| {
            let at = |log, (policy, f)| Cell { log, policy, f }.get(metric);
            LOGS.map(|log| Check::new(log, at(log, to) - at(log, from), rule))
        };
        lab::claims! {
            M1 "abstract" "Backfilling helps where FCFS fragments the machine" in "fig1" => change(Metric::response, ("FCFS", None), ("EASY", None), Rule::NEGATIVE);
            M2 "abstract" "On SP2 systems EASY is better than conservative" in "fig1" => change(Metric::response, ("EASY", None), ("conservative", None), Rule::POSITIVE);
            M3 "abstract" "EASY works better when run times are overestimated" in "fig2" => change(Metric::slowdown, ("EASY", Some(0)), ("EASY", Some(self.readings.substantial)), Rule::NEGATIVE);
            M4 "abstract" "So does conservative backfilling" in "fig2" => change(Metric::slowdown, ("conservative", Some(0)), ("conservative", Some(self.readings.substantial)), Rule::NEGATIVE);
        }
    }

    fn draws(&self, cell: &Cell) -> bool {
        cell.f.is_some_and(|f| f > 0)
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let policy: Box<dyn Policy> = match cell.policy {
            "FCFS" => Box::new(Fcfs::default()),
            "EASY" => Box::new(Easy::default()),
            _ => Box::new(Conservative::default()),
        };
        let log = self.logs.of(cell.log);
        let estimates = cell.f.map_or(Estimates::User, |f| Estimates::FModel(f.into()));
        let world = MultiCluster::new(vec![Machine::new(log.processors)], policy, log.jobs(estimates, streams));
        let records = Sim::new(world, JobLog::<Vec<JobRecord>>::collecting()).run().1.into_sink();
        let mean = |of: fn(&JobRecord) -> f64| records.iter().map(of).sum::<f64>() / records.len() as f64;
        let slowdown = mean(|record| bounded_slowdown(record, Span::from_secs(10)));
        Measured { slowdown, response: mean(|record| record.response().as_secs_f64()) }.into()
    }
}
