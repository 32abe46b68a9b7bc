use super::*;
use gap_schedule::Order;
use sim_core::{JobId, Sim, Time};
use std::collections::BTreeSet;

/// The rows of the first table under a heading of docs/policies.md that begin with a name.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let page = include_str!("../../../policies.md");
    let (_, section) = page.split_once(&format!("\n{heading}\n")).expect(heading);
    let lines = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect();
    lines.skip(2).map(cells).collect()
}

#[test]
fn the_page_about_policies_has_those_that_there_are_and_defines_every_order() {
    let names = BASES.iter().map(|base| format!("`{}`", base.form())).chain(["`exec+PROGRAM`".to_owned()]);
    let table = rows("## Space-shared machines");
    assert!(table.iter().all(|row| row.len() == 8 && row.iter().all(|cell| !cell.is_empty())));
    let listed: BTreeSet<String> = table.iter().map(|row| row[0].to_owned()).collect();
    assert_eq!((listed, table.len()), (names.collect(), BASES.len() + 1));
    let expected =
        Order::ALL.map(|order| vec![format!("`{}`", order.name()), order.definition().into(), order.source().into()]);
    assert_eq!(rows("### Orders"), expected);
}

#[test]
fn every_setting_on_the_page_is_one() {
    for row in rows("### Settings of queues") {
        let (key, value) = row[0].trim_matches('`').split_once('=').expect("KEY=VALUE");
        let value = match value {
            "ORDER" => "sjf",
            "K" => "3",
            "SPAN" => "2d",
            word => &word.replacen("HOW", "tsafrir", 1).replace("HOW", "doubling"),
        };
        for base in row[1].split(", ").map(|base| base.trim_matches('`')) {
            let name = format!("{base}+{key}={value}");
            assert_eq!(Policy::find(&name, &[]).expect(&name).name(), name);
        }
    }
}

#[test]
fn a_run_under_any_name_is_forked_with_its_policy_and_goes_on_in_another_thread() {
    let predicting = ["easy+predict=tsafrir+correct=tsafrir+backfill=spf", "cons+predict=mean-of-user=2"];
    let jobs = (0..200).map(|id: u32| {
        let (draw, seconds) = (u64::from(id * id % 97), Span::from_secs);
        let mut job = Job::new(JobId(id), Time::from_secs(u64::from(id) * 9), 1 + id * 7 % 11, seconds(5 + draw));
        (job.request.estimate, job.request.user) = (Some(seconds(2 * draw + 60)), Some(id % 5));
        job.request.deadline = Some(job.submit + seconds(4 * draw));
        job
    });
    let nodes = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    std::fs::write(nodes.path(), "[[nodes]]\ncount = 12\ncpus = 1\n").expect("written");
    let slurm = format!("slurm+conf={}", nodes.path().display());
    let names = BASES.iter().map(|base| base.name).chain(predicting).chain(ALIASES.map(|(alias, _)| alias));
    for name in names.map(|name| if name == "slurm" { &*slurm } else { name }) {
        let both = vec![Machine::new(12), Machine::new(11)];
        let machines = if name == slurm { vec![Machine::new(12)] } else { both };
        let world = machines_under(name, machines, jobs.clone()).expect(name);
        let mut sim = Sim::new(world, Vec::new());
        sim.run_until(Time::from_secs(900));
        let (past, fork) = (sim.probe().len(), sim.fork(Vec::new()));
        let (_, forked) = std::thread::spawn(move || fork.run()).join().expect(name);
        let (_, whole) = sim.run();
        // Each job is submitted, starts and ends.
        assert!(past > 120 && whole.len() == 600, "{name}: {past} of {}", whole.len());
        assert_eq!(forked, whole[past..], "{name}");
    }
}
