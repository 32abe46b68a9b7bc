//! docs/conformance: small workloads, and their schedules by two implementations each.

use crate::simulate::policy::{self, Search};
use gap_schedule::reference::{Conservative, Easy, Fcfs, OrderedBackfill};
use gap_schedule::{Backfilling, CompressOrder, Depth, Machine, MultiCluster, Order, Placement, Policy, Priority};
use sim_core::{JobLog, Sim};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use workload::{Estimates, Intake, LogJob, Options, SwfReader};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance")
}

/// The workloads, by name, with the processors of their machine.
fn workloads() -> Vec<(String, u32, Vec<LogJob>)> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("docs/conformance")
        .filter_map(|entry| entry.expect("an entry").file_name().to_str()?.strip_suffix(".swf").map(str::to_owned))
        .collect();
    names.sort();
    let read = |name: String| {
        let log = SwfReader::open(&folder().join(format!("{name}.swf"))).expect("a log");
        let processors = log.header().max_procs.expect("MaxProcs");
        let jobs = Intake::new(log, Options { estimates: Estimates::User, ..Options::default() })
            .collect::<Result<_, _>>()
            .expect("jobs");
        (name, processors, jobs)
    };
    names.into_iter().map(read).collect()
}

/// A policy of this program under the usual options.
fn named(name: &str) -> Box<dyn Policy> {
    policy::Policy::find(name, &[]).expect("it is ours").at_work(&Search::default(), 1)
}

/// Every policy by its name, with its twin.
fn policies() -> Vec<(String, Box<dyn Policy>)> {
    let priority = |order| Priority { order, threshold: None };
    let mut all: Vec<(String, Box<dyn Policy>)> = vec![
        ("fcfs".to_owned(), Box::new(Fcfs(priority(Order::Fcfs)))),
        ("easy".to_owned(), Box::new(Easy)),
        ("cons".to_owned(), Box::new(Conservative::new(CompressOrder::Arrival))),
    ];
    for order in Order::ALL.into_iter().filter(|order| *order != Order::Fcfs) {
        let (reserve, placement) = (Depth::Jobs(1), Placement::Fastest);
        let rule = Backfilling { order, backfill: order, reserve, threshold: None, placement };
        all.push((format!("easy+order={}", order.name()), Box::new(OrderedBackfill(rule))));
    }
    all
}

/// The schedule as a table, by number.
fn schedule(processors: u32, policy: Box<dyn Policy>, jobs: &[LogJob]) -> String {
    let arrivals: Vec<_> = jobs.iter().map(|job| job.job).collect();
    let world = MultiCluster::new(vec![Machine::new(processors)], policy, arrivals.into_iter());
    let (_, log) = Sim::new(world, JobLog::collecting()).run();
    let mut records: Vec<_> =
        log.sink().iter().map(|record| (jobs[record.job.id.index()].record.number, record)).collect();
    records.sort_by_key(|(number, _)| *number);
    let mut text = "job,submit,start,finish,processors\n".to_owned();
    for (number, record) in records {
        let line =
            writeln!(text, "{number},{},{},{},{}", record.job.submit, record.start, record.finish, record.processors);
        line.expect("into memory");
    }
    text
}

/// With `GRIDPROOF_CONFORMANCE=write` the test writes the schedules, after a workload or an order was added.
#[test]
fn the_schedules_of_the_conformance_folder_are_those_of_both_implementations() {
    let writes = std::env::var_os("GRIDPROOF_CONFORMANCE").is_some_and(|value| value == "write");
    let workloads = workloads();
    assert!(workloads.len() >= 6, "{} workloads", workloads.len());
    for (workload, processors, jobs) in workloads {
        for (name, reference) in policies() {
            let fast = schedule(processors, named(&name), &jobs);
            let slow = schedule(processors, reference, &jobs);
            assert_eq!(fast, slow, "{name} on {workload}");
            let path = folder().join(&workload).join(format!("{name}.csv"));
            if writes {
                std::fs::create_dir_all(folder().join(&workload)).expect("a folder");
                std::fs::write(&path, &fast).expect("written");
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(fast, kept, "{name} on {workload}");
        }
    }
}

#[test]
fn the_policies_differ_on_the_workloads() {
    let (workloads, policies) = (workloads(), policies());
    let all: Vec<String> = policies
        .iter()
        .map(|(name, _)| {
            let schedules = workloads.iter().map(|(_, processors, jobs)| schedule(*processors, named(name), jobs));
            schedules.collect()
        })
        .collect();
    for (k, (name, _)) in policies.iter().enumerate() {
        for (other, _) in policies.iter().enumerate().take(k) {
            // Two names of one order without predictions.
            let is_twin = [name.as_str(), policies[other].0.as_str()] == ["easy+order=spf", "easy+order=sjf"];
            assert_eq!(all[k] == all[other], is_twin, "{name} and {}", policies[other].0);
        }
    }
}
