//! Tests of the crate against recordings of a running slurmctld, and of its parts.

mod fair_share;
mod limits;
mod priorities;
mod readers;
mod recordings;
mod simulation;

use crate::workload::{Request, SubmittedJob};

/// Reads jobs of a workload `id,submit,run,limit,args`, where `run` may be `600+900`, with the options `-N`, `-A`, `-p`, `-w` and `--exclusive`.
fn read_csv(text: &str) -> Vec<SubmittedJob> {
    let number = |text: &str| text.parse::<i64>().unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let rows = (1..).zip(text.lines()).filter(|(_, row)| !row.is_empty() && !row.starts_with(['i', '#']));
    let jobs = rows.map(|(line, row)| {
        let columns: Vec<&str> = row.splitn(5, ',').collect();
        let mut request = Request { exclusive: columns[4].contains("--exclusive"), ..Request::default() };
        let mut words = columns[4].trim_matches('"').split_whitespace();
        while let Some(word) = words.next() {
            let mut value = || if word.len() > 2 { &word[2..] } else { words.next().expect("a value") };
            match &word[..2] {
                "-N" => request.nodes = Some(value().parse().expect("nodes")),
                "-A" => request.account = Some(value().to_owned()),
                "-p" => request.partitions = value().split(',').map(str::to_owned).collect(),
                "-w" => request.required = crate::hostlist::expand(value()).expect("nodes"),
                _ => assert_eq!(word, "--exclusive"),
            }
        }
        let limit = Some(60 * number(columns[3]));
        let id = u32::try_from(number(columns[0])).expect("an id");
        let mut earlier_runs: Vec<i64> = columns[2].split('+').map(number).collect();
        let run = earlier_runs.pop().expect("a run");
        SubmittedJob { id, line, submit: number(columns[1]), earlier_runs, run, limit, request }
    });
    let mut jobs: Vec<SubmittedJob> = jobs.collect();
    jobs.sort_by_key(|job| (job.submit, job.id));
    jobs
}
