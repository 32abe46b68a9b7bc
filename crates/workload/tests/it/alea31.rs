//! Intake rules of the profile `alea31`.

use crate::data::reader;
use sim_core::{Span, Time};
use workload::{Alea31Intake, LogJob, Machines, Rule, SwfReader};

const MACHINES: &str = "1\tzegox\t48\t12\t1\t0\n0\tzewura\t20\t80\t1\t0\n";

/// Returns a line of MetaCentrum, in which only the fields that the profile reads vary.
fn line(number: u32, submit: &str, runtime: &str, allocated: u32, time: &str, spec: &str) -> String {
    format!(
        "{number} {submit} 0 {runtime} {allocated} -1 -1 {allocated} {time} -1 1 7 1 -1 1 1 -1 -1 {{1}} q_1d {spec}\n"
    )
}

fn intake(log: String, max_records: Option<u64>) -> Alea31Intake {
    let machines = Machines::from_read("a.machines", MACHINES.as_bytes()).expect("two clusters");
    Alea31Intake::new(reader(log).expect("a log"), &machines, max_records)
}

/// Returns the clusters that the job may use, by their places.
fn sites(job: &LogJob) -> Vec<u32> {
    Vec::from(job.job.request.sites).into_iter().map(|site| site.0).collect()
}

fn jobs(log: String) -> Vec<LogJob> {
    intake(log, None).collect::<Result<_, _>>().expect("a log")
}

#[test]
fn a_plain_record_becomes_a_job_with_limit_and_due_date() {
    let [_, job] = &jobs(line(4, "100", "9", 1, "9", "1:ppn=1") + &line(7, "150", "60", 24, "90", "2:ppn=12"))[..]
    else {
        panic!("two jobs")
    };
    assert_eq!((job.record.number, job.line, job.record.user, job.job.id.0), (7, 2, Some(7), 1));
    let (limit, due) = (Some(Span::from_secs(90)), Some(Time::from_secs(170)));
    assert_eq!((job.job.submit, job.job.runtime), (Time::from_secs(50), Span::from_secs(60)));
    assert_eq!((job.job.request.processors, sites(job)), (24, vec![0, 1]));
    assert_eq!((job.job.request.estimate, job.record.requested_time, job.job.request.deadline), (limit, limit, due));
}

#[test]
fn processors_are_a_multiple_of_those_per_node() {
    for (allocated, spec, processors) in [
        (16, "1:ppn=16", 16),
        (4, "1:ppn=8", 8),                     // at least one node
        (30, "2:ppn=12", 24),                  // whole nodes
        (7, "1:ppn=1+3:ppn=2", 7),             // not understood
        (7, "2:ppn=8:x86_64+1:ppn=4#excl", 4), // the last
        (7, "1:ppn=2.5:brno", 6),
        (7, "1:ppn=2cl_zewura", 6),
        (7, "1:zegox17.cerit-sc.cz", 7),
        (5_000, "1:brno", 1_600), // the largest cluster
    ] {
        let job = &jobs(line(1, "0", "60", allocated, "90", spec))[0];
        assert_eq!(job.job.request.processors, processors, "{allocated} {spec}");
    }
}

#[test]
fn nodes_must_be_large_enough_and_demands_are_met() {
    for (spec, clusters) in [
        ("1:ppn=12", &[0, 1][..]),
        ("1:ppn=13", &[0]),
        ("1:ppn=8:cl_zegox#excl", &[1]),
        ("1:ppn=8:x86_64:cl_zewura", &[0]),
        ("1:ppn=1:^cl_zewura", &[1]),
        ("1:ppn=1:cl_hermes", &[]),
        ("1:ppn=1:^zewura12.cerit-sc.cz", &[0, 1]), // a node is no cluster
    ] {
        let job = &jobs(line(1, "0", "60", 8, "90", spec))[0];
        assert_eq!(sites(job), clusters, "{spec}");
    }
}

#[test]
fn without_column_21_processors_may_lie_on_any_nodes() {
    for (allocated, processors) in [(1, 1), (13, 13), (600, 600), (5_000, 1_600)] {
        let log = format!("1 0 0 60 {allocated} -1 -1 {allocated} 90 -1 1 7 1 -1 1 1 -1 -1\n");
        let job = &jobs(log)[0];
        assert_eq!((job.job.request.processors, sites(job)), (processors, vec![0, 1]), "{allocated}");
    }
}

#[test]
fn only_minus_one_skips_a_record_and_other_negative_run_times_are_a_second() {
    let log = line(1, "0", "-1", 1, "90", "1:ppn=1")
        + &line(2, "-1", "60", 1, "90", "1:ppn=1")
        + &line(3, "1359980916", "-1359980917", 1, "0", "1:ppn=1")
        + &line(4, "1359980916", "60.00", 1, "-1", "1:ppn=1");
    let mut intake = intake(log, None);
    let jobs = intake.by_ref().collect::<Result<Vec<_>, _>>().expect("a log");
    assert_eq!((jobs.len(), intake.repairs().skipped()), (2, 2));
    let applied: Vec<_> =
        intake.repairs().iter().map(|repair| (repair.rule, repair.count, repair.first_line)).collect();
    let [submit, runtime, estimate] = [Rule::NoSubmit, Rule::NoRuntime, Rule::EstimateFromRuntime];
    assert_eq!(applied, [(submit, 1, Some(2)), (runtime, 1, Some(1)), (estimate, 1, Some(4))]);
    let second = Span::from_secs(1);
    assert_eq!((jobs[0].job.submit, jobs[0].job.runtime), (Time::ZERO, second));
    assert_eq!(jobs[0].job.request.estimate, Some(second));
    assert_eq!(jobs[0].job.request.deadline, Some(Time::from_secs(1_575_005_462)), "doubled in 32 bits");
    assert_eq!(jobs[1].job.request.estimate, Some(Span::from_secs(60)), "the run time stands in");
}

#[test]
fn no_job_comes_before_its_predecessor() {
    let log = line(1, "100", "60", 1, "90", "1:ppn=1")
        + &line(2, "130", "60", 1, "50", "1:ppn=1")
        + &line(3, "120", "60", 1, "90", "1:ppn=1");
    let mut intake = intake(log, None);
    let jobs = intake.by_ref().collect::<Result<Vec<_>, _>>().expect("a log");
    assert_eq!((jobs[2].job.submit, jobs[2].job.request.deadline), (Time::from_secs(30), Some(Time::from_secs(150))));
    let applied: Vec<_> = intake.repairs().iter().map(|repair| (repair.rule, repair.first_line)).collect();
    assert_eq!(applied, [(Rule::CutAtEstimate, Some(2)), (Rule::SubmitOutOfOrder, Some(3))]);
}

/// Skipped records count too.
#[test]
fn no_more_records_are_read_than_requested() {
    let log = line(1, "0", "-1", 1, "90", "1:ppn=1") + &line(2, "1", "60", 1, "90", "1:ppn=1").repeat(3);
    assert_eq!(intake(log, Some(3)).count(), 2);
}

/// The second log has no column 21: every job fits the cluster, which is the only condition.
#[test]
fn every_record_that_ran_is_a_job_that_some_cluster_can_run() {
    let Some(folder) = test_data::traces() else { return };
    for (name, processors, counts) in
        [("wagap-2013", &[1_600, 576][..], (17_900, 0)), ("hpc2n-excerpt", &[240], (3_145, 25))]
    {
        let machines = Machines::open(&folder.join(format!("{name}.swf.machines"))).expect("clusters");
        let records = SwfReader::open(&folder.join(format!("{name}.swf.gz"))).expect("a log");
        let mut intake = Alea31Intake::new(records, &machines, None);
        assert_eq!(intake.clusters.iter().map(|cluster| cluster.processors()).collect::<Vec<_>>(), processors);
        let jobs = intake.by_ref().collect::<Result<Vec<_>, _>>().expect("a log");
        assert_eq!((jobs.len(), intake.repairs().skipped()), counts);
        for job in jobs {
            let fits = |cluster: u32| job.job.request.processors <= processors[cluster as usize];
            assert!(sites(&job).into_iter().any(fits), "{job:?}");
        }
    }
}
