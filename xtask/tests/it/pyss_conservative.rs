//! Conservative backfilling of the simulator pyss, as plainly as it can be written, and logs with users' estimates under it.

use crate::program::{file, folder, table, xtask};
use sim_core::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use workload::{SwfReader, SwfRecord, SwfWriter};

/// Times are in one unit, whichever.
struct Job {
    number: u64,
    submit: u64,
    processors: i64,
    run: u64,
    estimate: u64,
}

/// What can happen, in the order of one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submit,
    End,
    Start,
}

/// Free processors over time: at each instant from `.0` on, up to the next entry.
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
        // Where nothing changes there is no step.
        let mut last = None;
        self.0.retain(|_, free| last.replace(*free) != Some(*free));
    }
}

/// The starts of all jobs, which are in order of submission.
///
/// A job is given the earliest start on its submission. At every end, what is left of that job's estimate is given back, and
/// each job that does not run, in order of submission, is taken out and given the earliest start from now on.
fn pyss(jobs: &[Job], processors: i64) -> Vec<u64> {
    let mut plan = Plan([(0, processors)].into());
    let mut starts = vec![u64::MAX; jobs.len()];
    let mut waiting: BTreeSet<usize> = BTreeSet::new();
    // The number makes an order of those of one kind at one instant: the order in which they were made.
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
            // One that has been moved ahead since has started.
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

/// The log as pyss reads it: without jobs that did not run, cut at their requests. In seconds.
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

/// The same jobs in milliseconds, with submissions, run times and estimates a little longer, so that (almost) no two events
/// coincide, and what does is an estimate that was exact before.
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

/// Every start under `cons` is that of pyss, on the log with its events pulled apart; the mean wait of pyss on the log as it
/// stands, in seconds, is `wait`.
fn check(log: &str, processors: u32, jobs: usize, wait: &str) {
    let Some(traces) = test_data::traces() else { return };
    let mut log = read(&traces.join(format!("{log}-cln.swf.gz")));
    assert_eq!(log.len(), jobs);
    assert_eq!(format!("{:.1}", mean_wait(&log, &pyss(&log, processors.into()))), wait, "pyss on the log as it stands");

    apart(&mut log);
    log.sort_by_key(|job| job.submit);
    let mut text = SwfWriter::new(Vec::new());
    let millis = |count: u64| Some(Span::from_nanos(1_000_000 * count));
    for job in &log {
        let record = SwfRecord {
            submit: millis(job.submit),
            runtime: millis(job.run),
            allocated_processors: u32::try_from(job.processors).ok(),
            requested_time: millis(job.estimate),
            ..SwfRecord::numbered(job.number)
        };
        text.record(&record).expect("into memory");
    }
    let folder = folder();
    let (trace, out) = (file(&folder, "apart.swf", text.into_inner()), folder.path().join("out"));
    let run = ["simulate", "--policy", "cons", "--quiet", "--procs", &processors.to_string(), "--trace"];
    xtask().args(run).arg(trace).arg("--out").arg(&out).assert().code(0);
    let (_, rows) = table(&out.join("cons/jobs.csv"));
    assert_eq!(rows.len(), jobs);
    let ours: BTreeMap<&str, f64> =
        rows.iter().map(|row| (row["job"].as_str(), row["start"].parse().expect("a number"))).collect();
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

/// 21 921.0 s is the mean wait that pyss itself reports, so the program above is pyss. It takes submissions before ends, and
/// compresses after each end; where logs have ties, `cons` takes ends before submissions, and compresses once.
#[test]
fn conservative_backfilling_agrees_with_pyss_on_every_start_of_sdsc_sp2() {
    check("SDSC-SP2-1998-4.2", 128, 54_034, "21921.0");
}
