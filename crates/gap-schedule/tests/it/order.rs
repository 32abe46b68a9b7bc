//! Each order of a queue against its formula.

use gap_schedule::{Key, Order, QueuedJob};
use sim_core::{Job, JobId, Span, Time};

fn job(submit: u64, processors: u32, requested: Option<u64>) -> QueuedJob {
    let mut job = Job::new(JobId(0), Time::from_secs(submit), processors, Span::ZERO);
    job.request.estimate = requested.map(Span::from_secs);
    QueuedJob::of(&job)
}

/// Writes the jobs at 1000 s, as their letters, in the order of their keys; an equals sign joins equal keys.
fn order(order: Order, jobs: &[(&str, QueuedJob)]) -> String {
    let mut keys: Vec<(Key, &str)> =
        jobs.iter().map(|(name, job)| (order.key(job, Time::from_secs(1_000)), *name)).collect();
    keys.sort_unstable();
    let names = |equal: &[(Key, &str)]| equal.iter().map(|(_, name)| *name).collect::<Vec<_>>().join("=");
    keys.chunk_by(|one, next| one.0 == next.0).map(names).collect::<Vec<_>>().join("<")
}

/// In each table, a job is its letter, with its submission, processors and estimate in seconds.
#[test]
fn each_order_is_its_formula() {
    // a has waited 900 s, b 100 s, c 500 s.
    let usual = [("a", job(100, 4, Some(100))), ("b", job(900, 16, Some(300))), ("c", job(500, 1, Some(400)))];
    // Submitted after 1 s and 10 s: one more power of ten costs 870, 25 600, 6 860 000 and 530 000.
    let learnt = |y: (u32, u64), z: (u32, u64)| {
        [("l", job(10, 1, Some(1))), ("y", job(1, y.0, Some(y.1))), ("z", job(1, z.0, Some(z.1)))]
    };
    let unknown = [("e", job(0, 1, None)), ("x", job(0, 1, Some(1_000_000)))];
    // z takes no time, and n has not waited: 0 / 0 is 0.
    let zero = [("z", job(0, 2, Some(0))), ("n", job(1_000, 2, Some(0))), ("x", job(999, 2, Some(1)))];
    let serial = [("a", job(0, 1, Some(5))), ("b", job(999, 1, Some(5))), ("n", job(1_000, 1, Some(5)))];
    for (orders, jobs, expected) in [
        ("fcfs", &usual[..], "a=b=c"),
        ("sjf spf", &usual, "a<b<c"),
        ("ljf", &usual, "c<b<a"),
        ("saf", &usual, "a=c<b"), // 400, 4800, 400
        ("laf", &usual, "b<a=c"),
        ("narrow", &usual, "c<a<b"),
        ("wide", &usual, "b<a<c"),
        ("lxf", &usual, "a<c<b"),    // 10, 1.33, 2.25
        ("wfp3", &usual, "a<c<b"),   // 729 · 4, 1/27 · 16, 1.95
        ("unicef", &usual, "c<a<b"), // 900 / 200, 100 / 1200, infinite
        ("f1", &learnt((869, 10), (871, 10)), "y<l<z"),
        ("f2", &learnt((256, 9_900), (256, 10_100)), "y<l<z"),
        ("f3", &learnt((686, 9_999), (686, 10_001)), "y<l<z"),
        ("f4", &learnt((100, 52_999), (100, 53_001)), "y<l<z"),
        ("sjf saf lxf wfp3 f1 f2 f3 f4", &unknown, "x<e"),
        ("ljf laf", &unknown, "e<x"),
        ("lxf wfp3 unicef", &zero, "z<x<n"),
        ("unicef", &serial, "a=b<n"),
    ] {
        for name in orders.split(' ') {
            assert_eq!(order(Order::named(name).expect(name), jobs), expected, "{name}");
        }
    }
}
