//! Conservative backfilling of the simulator pyss, written as plainly as possible, applied to logs with users' estimates.

use crate::program::{Workdir, number};
use sim_core::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use workload::{SwfReader, SwfRecord};

/// Job with times in any one unit.
struct Job {
    number: u64,
    submit: u64,
    processors: i64,
    run: u64,
    estimate: u64,
}

/// Events, in their order at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submit,
    End,
    Start,
}

/// Free processors over time: each entry holds from its instant up to the next entry.
struct Plan(BTreeMap<u64, i64>);

impl Plan {
    fn cut(&mut self, at: u64) {
        let free = *self.0.range(..=at).next_back().expect("the plan begins with time").1;
        self.0.insert(at, free);
    }

    fn add(&mut self, from: u64, to: u64, processors: i64) {
        if from < to {
            self.cut(from);
            self.cut(to);
            self.0.range_mut(from..to).for_each(|(_, free)| *free += processors);
        }
    }

    fn earliest(&self, now: u64, job: &Job) -> u64 {
        let mut start = now;
        let first = *self.0.range(..=now).next_back().expect("the plan begins with time").0;
        let mut steps = self.0.range(first..).peekable();
        while let Some((_, free)) = steps.next() {
            let end = steps.peek().map_or(u64::MAX, |(end, _)| **end);
            if *free < job.processors {
                start = end;
            } else if end - start >= job.estimate {
                break;
            }
        }
        start
    }

    fn forget_before(&mut self, now: u64) {
        self.cut(now);
        self.0 = self.0.split_off(&now);
        // Remove steps without a change.
        let mut last = None;
        self.0.retain(|_, free| last.replace(*free) != Some(*free));
    }
}

/// Returns the starts of all jobs, which are in order of submission.
///
/// A job gets the earliest start on its submission. At every end, the rest of that job's estimate is released, and each waiting job, in
/// order of submission, is removed and gets the earliest start from now on.
fn pyss(jobs: &[Job], processors: i64) -> Vec<u64> {
    let mut plan = Plan([(0, processors)].into());
    let mut starts = vec![u64::MAX; jobs.len()];
    let mut waiting: BTreeSet<usize> = BTreeSet::new();
    // The number orders events of one kind at one instant: the order in which they were created.
    let mut events: BTreeSet<(u64, Event, u64, usize)> =
        jobs.iter().enumerate().map(|(id, job)| (job.submit, Event::Submit, id as u64, id)).collect();
    let mut made = jobs.len() as u64;
    while let Some((now, event, _, id)) = events.pop_first() {
        let job = &jobs[id];
        let mut changed = Vec::new();
        match event {
            Event::Submit => {
                plan.forget_before(now);
                starts[id] = plan.earliest(now, job);
                plan.add(starts[id], starts[id] + job.estimate, -job.processors);
                waiting.insert(id);
                changed.push((starts[id], Event::Start, id));
            }
            // A job that was moved ahead has already started.
            Event::Start if starts[id] != now || !waiting.remove(&id) => {}
            Event::Start => changed.push((now + job.run, Event::End, id)),
            Event::End => {
                plan.forget_before(now);
                plan.add(now, starts[id] + job.estimate, job.processors);
                for other in waiting.iter().copied().filter(|other| starts[*other] > now).collect::<Vec<_>>() {
                    let (job, former) = (&jobs[other], starts[other]);
                    plan.add(former, former + job.estimate, job.processors);
                    starts[other] = plan.earliest(now, job);
                    plan.add(starts[other], starts[other] + job.estimate, -job.processors);
                    assert!(starts[other] <= former, "nobody is put off");
                    if starts[other] < former {
                        changed.push((starts[other], Event::Start, other));
                    }
                }
            }
        }
        for (at, event, id) in changed {
            events.insert((at, event, made, id));
            made += 1;
        }
    }
    starts
}

/// Reads the log by the rules of pyss: without jobs that did not run, cut at their requests. In seconds.
fn read(path: &Path) -> Vec<Job> {
    let seconds = |span: Span| span.as_nanos() / 1_000_000_000;
    let job = |record: SwfRecord| {
        let run = seconds(record.runtime?);
        let estimate = record.requested_time.map(seconds).filter(|estimate| *estimate > 0).unwrap_or(run);
        let processors = record.allocated_processors.filter(|processors| *processors > 0)?;
        let submit = seconds(record.submit?);
        let job =
            Job { number: record.number, submit, processors: processors.into(), run: run.min(estimate), estimate };
        (run > 0).then_some(job)
    };
    let mut jobs: Vec<Job> =
        SwfReader::open(path).expect("a log").filter_map(|record| job(record.expect("a record"))).collect();
    jobs.sort_by_key(|job| job.submit);
    jobs
}

/// Converts the jobs to milliseconds, with submissions, run times and estimates a little longer, so that (almost) no two events coincide,
/// except for estimates that were exact before.
fn apart(jobs: &mut [Job]) {
    for (place, job) in (0..).zip(jobs) {
        let is_exact = job.run == job.estimate;
        job.submit = 1_000 * job.submit + place * 7 % 997;
        job.run = 1_000 * job.run + place * 131 % 499;
        job.estimate = if is_exact { job.run } else { 1_000 * job.estimate + 499 + place * 61 % 503 };
    }
}

fn mean_wait(jobs: &[Job], starts: &[u64]) -> f64 {
    let waits: u64 = jobs.iter().zip(starts).map(|(job, start)| start - job.submit).sum();
    waits as f64 / jobs.len() as f64
}

/// Checks that every start under `cons` is that of pyss, on the log with its events separated; the mean wait of pyss on the original log,
/// in seconds, is `wait`.
fn check(log: &str, processors: u32, jobs: usize, wait: &str) {
    let Some(traces) = test_data::traces() else { return };
    let mut log = read(&traces.join(format!("{log}-cln.swf.gz")));
    assert_eq!(log.len(), jobs);
    assert_eq!(format!("{:.1}", mean_wait(&log, &pyss(&log, processors.into()))), wait, "pyss on the log as it stands");

    apart(&mut log);
    log.sort_by_key(|job| job.submit);
    let line = |Job { number, submit, processors, run, estimate }: &Job| {
        let seconds = |millis: u64| format!("{}.{:03}", millis / 1_000, millis % 1_000);
        let [submit, run, estimate] = [*submit, *run, *estimate].map(seconds);
        format!("{number} {submit} -1 {run} {processors} -1 -1 {processors} {estimate} -1 1 -1 -1 -1 -1 -1 -1 -1\n")
    };
    let dir = Workdir::with("apart.swf", log.iter().map(line).collect::<String>());
    dir.run(&format!("simulate apart.swf --policy cons --quiet --procs {processors} --out out"), 0);
    let rows = dir.rows("out/cons/jobs.csv");
    assert_eq!(rows.len(), jobs);
    let ours: BTreeMap<&str, f64> = rows.iter().map(|row| (row["job"].as_str(), number(&row["start"]))).collect();
    let origin = log[0].submit;
    let differ = (log.iter().zip(pyss(&log, processors.into())))
        .filter(|(job, start)| {
            let theirs = (start - origin) as f64 / 1_000.0;
            (ours[job.number.to_string().as_str()] - theirs).abs() > 1e-6
        })
        .count();
    assert_eq!(differ, 0, "starts of {jobs} that differ");
}

#[test]
fn conservative_backfilling_agrees_with_pyss_on_every_start_of_kth_sp2() {
    check("KTH-SP2-1996-2.1", 100, 28_467, "7343.8");
}

/// 21 921.0 s is the mean wait that pyss itself reports, so the program above is equivalent to pyss. It processes submissions before ends,
/// and compresses after each end; if logs have ties, `cons` processes ends before submissions, and compresses once.
#[test]
fn conservative_backfilling_agrees_with_pyss_on_every_start_of_sdsc_sp2() {
    check("SDSC-SP2-1998-4.2", 128, 54_034, "21921.0");
}
