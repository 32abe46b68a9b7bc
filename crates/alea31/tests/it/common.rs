//! Log behind the paper's table 3, and runs on it.
//!
//! The intake rules are repeated here as briefly as possible: the crate that reads logs is not allowed here, and two
//! implementations of one page check each other.

use alea31::{Means, Policy, World};
use sim_core::{Job, JobId, SiteId, Span, Time};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// Zewura, then zegox.
pub(crate) const WAGAP: [u32; 2] = [1600, 576];

/// Numbers of jobs in the paper.
pub(crate) const NUMBERS: [u64; 7] = [3_000, 5_000, 7_000, 9_000, 10_000, 15_000, 17_500];

/// Opens a log or a schedule, unpacked, if the test has found it.
pub(crate) fn open(path: Option<PathBuf>) -> Option<BufReader<flate2::read::GzDecoder<File>>> {
    let path = path?;
    let file = File::open(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    Some(BufReader::new(flate2::read::GzDecoder::new(file)))
}

/// Returns the jobs among the first `records` of the log wagap-2013, with the log's own numbers as ids.
pub(crate) fn wagap(records: usize) -> Option<Vec<Job>> {
    let mut origin = None;
    let lines = open(test_data::trace("wagap-2013.swf.gz"))?.lines();
    Some(lines.take(records).filter_map(|line| job(&line.expect("text"), &mut origin)).collect())
}

fn job(line: &str, origin: &mut Option<u64>) -> Option<Job> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if fields[1] == "-1" || fields[3] == "-1" || fields[4] == "-1" {
        return None;
    }
    let number = |field: usize| fields[field].parse::<i64>().expect("a whole number");
    let submit = u64::try_from(number(1)).expect("a submit time");
    let submit = submit - *origin.get_or_insert(submit);
    let run = i32::try_from(number(3)).expect("32 bits");
    let allocated = u32::try_from(number(4)).expect("processors").min(WAGAP[0]);
    let limit = if number(8) < 0 { i64::from(run) } else { number(8) };

    let parts: Vec<&str> = fields[20].split(':').collect();
    let plain = parts.iter().filter(|part| part.contains("ppn=")).take_while(|part| !part.contains('+'));
    let ppn = plain.last().map(|part| {
        let digits = part.trim_start_matches("ppn=").chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse::<u32>().expect("processors per node")
    });
    let ppn = ppn.unwrap_or(allocated);
    let processors = allocated.max(ppn) / ppn * ppn;

    let demands = |part: &&&str| part.contains("cl_");
    let suits = |name: &str| {
        parts.iter().filter(demands).all(|part| part.contains('^') != part.contains(name))
            && (name != "zegox" || ppn <= 12)
    };
    let clusters = ["zewur", "zegox"].iter().zip((0..).map(SiteId)).filter(|(name, _)| suits(name));
    let seconds = |seconds: i64| Span::from_secs(u64::try_from(seconds.max(1)).expect("positive"));
    let due = u64::from(run.wrapping_mul(2).unsigned_abs());
    let mut job =
        Job::new(JobId(fields[0].parse().expect("an id")), Time::from_secs(submit), processors, seconds(run.into()));
    job.request.estimate = Some(seconds(limit));
    job.request.deadline = Some(Time::from_secs(submit + due));
    job.request.sites = clusters.map(|(_, site)| site).collect();
    job.request.user = Some(fields[11].parse().expect("a user"));
    Some(job)
}

/// Returns the means over the first n records of the log, for the paper's seven n.
pub(crate) fn means(policy: impl Fn() -> Box<dyn Policy>) -> Option<Vec<Means>> {
    let means = |n: u64| {
        let jobs = wagap(usize::try_from(n).expect("few"))?;
        Some(Means::of(&World::new(&WAGAP, policy(), jobs).run()))
    };
    NUMBERS.into_iter().map(means).collect()
}
