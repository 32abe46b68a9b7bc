//! `cargo xtask explain`: explains why a job of a log started when it did under a policy.
//!
//! The log is replayed as by `simulate`, with a listener: a line comes from the policy's own decision ([`gap_schedule::Reason`]), or
//! from the view of the policy.

use crate::options::{LogOptions, WorldOptions, start_of};
use crate::reasons::history::Explanation;
use crate::simulate::{Own, worlds};
use anyhow::{Result, bail, ensure};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use workload::{Intake, Options, Repairs, SwfReader, SwfRecord};

/// Options of `explain`.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  cargo xtask explain --trace KTH-SP2.swf.gz --policy easy --job 1204
      why job 1204 started when it did under EASY: its place in the queue, the
      jobs that held the processors it lacked and their expected ends, the
      reservation that blocked it, the jobs that it overtook
  cargo xtask explain log.swf --policy easy,cons --job 7,9
      two jobs under two policies
  cargo xtask explain log.swf --policy easy+order=wfp3 --job 7 --all
      every change of its state, however many there are
  cargo xtask explain log.swf --machines site.machines --policy flex --job 7 --json
      the same for programs: times in seconds from the first submission

Options are those of `simulate` on space-shared machines, and so is the run: the same log, options and
seed give the schedule that `simulate` writes. Reasons come from the policy's
own decisions, pass by pass. fcfs, easy, cons and flex, with all their settings,
report reasons; plans (best-gap, bgt, sg, eg-edf), programs (exec) and policies
of your own report none unless they implement Policy::schedule_with_reasons. For
those, the history has what the state shows: the queue, the jobs that held the
processors, and the start.

Exit codes: 0 explained; 2 bad usage or input, such as a job that the log does
not have; 3 reading failed.")]
pub struct Explain {
    /// The log and its reading options.
    #[command(flatten)]
    log: LogOptions,
    /// The world and its policies.
    #[command(flatten)]
    world: WorldOptions,
    /// Numbers of the jobs, as in the first column of the log, or their names (12345_7), separated by commas.
    #[arg(long = "job", value_name = "N,…", value_delimiter = ',', required = true)]
    wanted: Vec<String>,
    /// Every change, instead of the history in a few lines.
    #[arg(long)]
    all: bool,
}

/// Explains jobs. `own` are policies that the program adds.
///
/// # Errors
///
/// Bad options or input, a job that the log does not have, or a file that cannot be read.
pub fn explain(options: &Explain, own: &[Arc<Own>]) -> Result<Explanations> {
    options.log.ensure_can_be_read_again()?;
    let world = worlds::open(&options.log, &options.world, own)?;
    let (numbers, repairs) = numbers_of(&options.log, &options.wanted)?;
    Ok(Explanations {
        trace: options.log.trace().display().to_string(),
        start: start_of(options.log.trace()),
        shows_all: options.all,
        explanations: world.explain_all(&numbers)?,
        without_effect: world.idle_options(),
        notes: world.sites.ignored(&repairs),
    })
}

/// Explanations of jobs, policy by policy.
pub struct Explanations {
    trace: String,
    /// First submission in local time, in seconds since 1970, if the log says when it began.
    start: Option<i64>,
    shows_all: bool,
    explanations: Vec<Explanation>,
    /// Sentences about options without effect.
    pub without_effect: Vec<String>,
    /// Parts of the log and the machine file that no world uses.
    pub notes: Vec<String>,
}

impl Explanations {
    /// The explanations for programs: every change.
    pub fn as_json(&self) -> serde_json::Value {
        serde_json::json!({ "trace": self.trace, "explanations": self.explanations, "notes": self.notes })
    }

    /// The explanations in words.
    pub fn in_words(&self) -> String {
        let all = self.explanations.iter().map(|one| one.in_words(&self.trace, self.start, self.shows_all));
        all.collect::<Vec<_>>().join("\n")
    }
}

/// Numbers of jobs given by number or name, all of the log. Reads the whole log, so that repairs and ignored content are counted.
fn numbers_of(options: &LogOptions, wanted: &[String]) -> Result<(Vec<u64>, Repairs)> {
    let (trace, max_jobs) = (options.trace(), options.max_jobs);
    let (mut numbers, mut named) = (BTreeSet::new(), BTreeMap::new());
    let mut intake = Intake::new(SwfReader::open(trace)?, Options { max_jobs, ..Options::default() });
    for job in intake.by_ref() {
        let SwfRecord { number, name, .. } = job?.record;
        numbers.insert(number);
        if let Some(name) = name.filter(|name| wanted.iter().any(|wanted| **wanted == **name)) {
            named.entry(name).or_insert(number);
        }
    }
    let (log, first_last) = (trace.display(), numbers.first().zip(numbers.last()));
    let find = |job: &String| {
        let number = named.get(job.as_str()).copied().or_else(|| job.parse().ok());
        if let Some(number) = number.filter(|number| numbers.contains(number)) {
            return Ok(number);
        }
        let most = max_jobs.map_or(usize::MAX, |most| most.try_into().unwrap_or(usize::MAX));
        for record in SwfReader::open(trace)?.take(most) {
            let record = record?;
            ensure!(
                Some(record.number) != number && record.name.as_deref() != Some(job),
                "{log}: record {job} is no job: it has no submit time, no run time above zero, or no processors; `workload \
                 inspect` counts such records"
            );
        }
        let among = max_jobs.map_or_else(String::new, |most| format!(" among its first {most} records (--max-jobs)"));
        let Some((first, last)) = first_last else { bail!("{log}: there is no job at all{among}") };
        bail!(
            "{log}: there is no job {job}{among}; its jobs have the numbers from {first} to {last}, in the first column"
        )
    };
    Ok((wanted.iter().map(find).collect::<Result<_>>()?, intake.repairs().clone()))
}
