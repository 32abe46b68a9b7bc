//! `cargo xtask explain`: why a job of a log started when it did, under a policy.
//!
//! The log is replayed as `simulate` does it, and somebody listens: what a line says has been told by the policy's own decision
//! ([`gap_schedule::Reason`]), or is what the policy was shown.

use crate::asked::Asked;
use crate::explanation::Explanation;
use crate::simulate::worlds::{Chosen, Worlds};
use crate::simulate::{Own, ensure_can_be_read_again};
use anyhow::{Result, bail};
use clap::Args;
use lab::cli::{Common, Ending, print};
use lab::terminal::tell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use workload::{Intake, Options, Repairs, SwfReader};

/// Options of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask explain --trace KTH-SP2.swf.gz --policy easy --job 1204
      why job 1204 started when it did under EASY: its place in the queue, the jobs that held the processors it lacked and \
      their expected ends, the reservation that blocked it, the jobs that it overtook
  cargo xtask explain --trace log.swf --policy easy,cons --job 7,9
      two jobs under two policies
  cargo xtask explain --trace log.swf --policy easy+order=wfp3 --job 7 --all
      every change of its state, however many there are
  cargo xtask explain --trace log.swf --machines site.machines --policy flex --job 7 --json
      the same for programs: times in seconds from the first submission

  cargo xtask explain --model metasched --trace log.swf --clusters clusters.toml --policy ptt+w=0.5 --job 7
      what each cluster predicted for the job when it was first in the input queue, and where it was sent
  cargo xtask explain --model hier-grid --trace log.swf --tree universities --policy hierarchical --job 7
      the messages that moved it

Options are those of `simulate`, and so is the run: the same log, options and seed give the schedule that `simulate` writes. Reasons \
come from the policy's own decisions, pass by pass. fcfs, easy, cons and flex, with all their settings, report reasons; \
plans (best-gap, bgt, sg, eg-edf), programs (exec) and policies of your own report none unless they implement \
Policy::schedule_with_reasons. For those, the history has what the state shows: the queue, the jobs that held the processors, and \
the start.

Exit codes: 0 explained; 2 bad usage or input, such as a job that the log does not have; 3 reading failed.")]
pub struct Explain {
    /// The log, and how it is read.
    #[command(flatten)]
    asked: Asked,
    /// The world, and its policies.
    #[command(flatten)]
    chosen: Chosen,
    /// Numbers of the jobs, as in the first column of the log, or their names (12345_7), separated by commas.
    #[arg(long = "job", value_name = "N,…", value_delimiter = ',', required = true)]
    wanted: Vec<String>,
    /// Every change, instead of the history in a few lines.
    #[arg(long)]
    all: bool,
    /// What one world alone is asked.
    #[command(flatten)]
    worlds: Worlds,
}

/// Explains jobs. `own` are policies that the program adds.
///
/// # Errors
///
/// Bad options or input, a job that the log does not have, or a file that cannot be read.
pub fn explain(options: &Explain, own: &[&'static Own], common: &Common) -> Result<Ending> {
    ensure_can_be_read_again(&options.asked)?;
    let world = options.worlds.open(&options.asked, &options.chosen, own)?;
    let (numbers, repairs) = numbers_of(&options.asked, &options.wanted)?;
    let notes = world.sites().ignored(&repairs);
    notes.iter().for_each(|note| tell(note));
    let told = world.explain_all(&numbers)?;
    let log = options.asked.trace.display().to_string();
    if common.json {
        let told: Vec<_> = told.iter().map(Explanation::as_json).collect();
        print(&format!("{:#}\n", serde_json::json!({ "trace": log, "explanations": told, "notes": notes })));
        return Ok(Ending::Done);
    }
    let mut text = String::new();
    for (number, explanation) in told.iter().enumerate() {
        let _ = write!(text, "{}{}", if number > 0 { "\n" } else { "" }, explanation.in_words(&log, options.all));
    }
    print(&text);
    Ok(Ending::Done)
}

/// Numbers of jobs that are given by number or by name; refuses those that the log does not have. Reads all of it: the
/// repairs, and with them what no world uses, are counted.
fn numbers_of(asked: &Asked, wanted: &[String]) -> Result<(Vec<u64>, Repairs)> {
    let Asked { trace, max_jobs, .. } = asked;
    let options = Options { max_jobs: *max_jobs, ..Options::default() };
    // By number: whether it is a job.
    let mut found: BTreeMap<u64, bool> = BTreeMap::new();
    let mut named: BTreeMap<Arc<str>, u64> = BTreeMap::new();
    let mut enter = |number: u64, name: Option<Arc<str>>| {
        if let Some(name) = name.filter(|name| wanted.iter().any(|wanted| **wanted == **name)) {
            named.entry(name).or_insert(number);
        }
    };
    let mut intake = Intake::new(SwfReader::open(trace)?, options);
    for job in intake.by_ref() {
        let job = job?;
        found.insert(job.number, true);
        enter(job.number, job.name);
    }
    let (first, last) = (found.keys().next().copied(), found.keys().next_back().copied());
    let records =
        SwfReader::open(trace)?.take(max_jobs.map_or(usize::MAX, |most| most.try_into().unwrap_or(usize::MAX)));
    for record in records {
        let record = record?;
        found.entry(record.number).or_insert(false);
        enter(record.number, record.name);
    }
    let log = trace.display();
    let among = max_jobs.map_or_else(String::new, |most| format!(" among its first {most} records (--max-jobs)"));
    let number = |job: &String| {
        let number = named.get(job.as_str()).copied().or_else(|| job.parse().ok());
        match (number, number.and_then(|number| found.get(&number)), first.zip(last)) {
            (Some(number), Some(true), _) => Ok(number),
            (_, Some(false), _) => bail!(
                "{log}: record {job} is no job: it has no submit time, no run time above zero, or no processors; `workload \
                 inspect` counts such records"
            ),
            (_, _, Some((first, last))) => bail!(
                "{log}: there is no job {job}{among}; its jobs have the numbers from {first} to {last}, in the first column"
            ),
            (_, _, None) => bail!("{log}: there is no job at all{among}"),
        }
    };
    Ok((wanted.iter().map(number).collect::<Result<_>>()?, intake.repairs().clone()))
}
