//! Ten jobs on eight processors, scheduled twice.
//!
//! A small machine, a wide job early in the queue, and short narrow ones behind it. Shows:
//!
//! - running a [`MultiCluster`] of one machine under a policy and reading the records of the jobs from a [`JobLog`];
//! - the benefit of backfilling: under EASY, jobs 4, 6 and 8 use the hole in front of job 3, which needs the whole
//!   machine, and the mean wait falls from 636 s to 361 s;
//! - the value of its reservation: by the estimates, job 3 would start at 910 s, and it starts at 800 s. FCFS would
//!   have started it at 710 s, because jobs ended earlier than estimated.
//!
//! `cargo run -p gap-schedule --example ten_jobs`

use gap_schedule::{Easy, Fcfs, Machine, MultiCluster, Policy};
use sim_core::{Job, JobId, JobLog, JobRecord, Sim, Span, Time};
use std::fmt::Write;

/// Submission, processors, runtime, estimate; times in seconds.
const JOBS: [(u64, u32, u64, u64); 10] = [
    (0, 4, 600, 900),
    (10, 3, 300, 300),
    (20, 2, 400, 600),
    (30, 8, 200, 300),
    (40, 1, 250, 260),
    (50, 4, 100, 120),
    (60, 1, 60, 100),
    (70, 2, 500, 500),
    (80, 1, 200, 600),
    (90, 6, 100, 100),
];

fn jobs() -> impl Iterator<Item = Job> {
    (0..).zip(JOBS).map(|(id, (submit, processors, runtime, estimate))| {
        let mut job = Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime));
        job.request.estimate = Some(Span::from_secs(estimate)); // the policy sees this, not the runtime
        job
    })
}

/// Runs the jobs under a policy and returns their records, by number.
fn schedule(policy: impl Policy) -> Vec<JobRecord> {
    let world = MultiCluster::new(vec![Machine::new(8)], policy, jobs());
    let (_, log) = Sim::new(world, JobLog::collecting()).run();
    let mut records = log.into_sink();
    records.sort_by_key(|record| record.job.id);
    records
}

fn mean_wait(records: &[JobRecord]) -> f64 {
    let waits: f64 = records.iter().map(|record| record.wait().as_secs_f64()).sum();
    waits / records.len() as f64
}

/// Page that this example prints.
pub(crate) fn page() -> String {
    let (fcfs, easy) = (schedule(Fcfs::default()), schedule(Easy::default()));
    let mut page = String::from("job  procs  submit   FCFS   EASY\n");
    for (fcfs, easy) in fcfs.iter().zip(&easy) {
        let Job { id, submit, .. } = fcfs.job;
        // Padding needs a string: times print with as many decimals as they have.
        let [submit, first, second] = [submit, fcfs.start, easy.start].map(|time| time.to_string());
        writeln!(page, "{:>3} {:>6} {submit:>7} {first:>6} {second:>6}", id.0, fcfs.processors).expect("a string");
    }
    writeln!(page, "mean wait {:>15.1} {:>6.1}", mean_wait(&fcfs), mean_wait(&easy)).expect("a string");
    page
}

fn main() {
    print!("{}", page());
}
