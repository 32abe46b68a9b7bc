//! Events of a slurmctld.log recorded with `DebugFlags=Backfill`, and with `Priority` where priorities decay.

use crate::text::time;
use crate::version::{UnknownVersion, Version};
use crate::workload::{SubmittedJob, array_of, task};
use std::collections::BTreeSet;
use std::io::BufRead;

/// Event recorded in one line of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The controller logs its version.
    Version(String),
    /// A batch job was submitted.
    Submit {
        /// Number of the job.
        job: u32,
        /// First priority of the job.
        priority: u32,
    },
    /// The script of a job that ends did not exit with 0.
    Failure {
        /// Number of the job.
        job: u32,
    },
    /// A job ended, by the end of its script or by the controller.
    End {
        /// Number of the job.
        job: u32,
        /// True if its script ended.
        is_done: bool,
    },
    /// A main pass begins.
    MainPass {
        /// True for a pass without a depth limit.
        is_full: bool,
    },
    /// The main pass, or a request that may start a job itself, starts a job.
    MainStart(Placed),
    /// A backfill pass begins.
    BackfillPass,
    /// The backfill pass has ended.
    BackfillEnd,
    /// The backfill pass tests a job.
    Test {
        /// Number of the job.
        job: u32,
        /// Priority of the job at the time.
        priority: u32,
        /// Name of the partition.
        partition: String,
    },
    /// The backfill pass plans a job.
    Plan {
        /// Job, nodes and partition.
        placed: Placed,
        /// Planned start.
        start: i64,
        /// Planned end, rounded as in the table.
        end: i64,
        /// True for a line in the format of 24.11.
        is_new_form: bool,
    },
    /// The backfill pass starts a job.
    BackfillStart(Placed),
    /// A pending or running job was changed by `scontrol`.
    Update {
        /// Number of the job.
        job: u32,
        /// Change.
        change: Change,
    },
    /// The state of a node was set by `scontrol`.
    NodeState {
        /// Name of the node.
        node: String,
        /// State, such as `DRAINING`.
        state: String,
    },
    /// A node responds again.
    NodeResponds(String),
    /// A node that was down may be used again.
    NodeReturns(String),
    /// A node fails, and its job is about to be requeued.
    NodeFails {
        /// Number of the job.
        job: u32,
        /// Name of the node.
        node: String,
    },
    /// A job that ran is pending again.
    Requeue {
        /// Number of the job.
        job: u32,
    },
    /// The decay thread computes usage, fair share and priorities.
    Decay,
    /// The fair tree is computed, without a recorded decay in this line.
    FairTree,
}

/// Change of a job by `scontrol`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// Time limit, in seconds.
    Limit(i64),
    /// Nice value and the priority that follows.
    Nice(i64, u32),
    /// Number of nodes of a pending job.
    Nodes(u32),
    /// Priority, which is fixed from then on; 0 holds the job.
    Priority(u32),
    /// The job is no longer held.
    Release,
}

/// Job on nodes of a partition, with the names of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placed {
    /// Number of the job.
    pub job: u32,
    /// Nodes, as a list with ranges.
    pub nodes: String,
    /// Name of the partition.
    pub partition: String,
}

/// Event with its place in the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Line, counted from 1.
    pub line: u64,
    /// Second, as if the log's clock were UTC.
    pub time: i64,
    /// Event.
    pub event: Event,
}

/// Error of a log, or of a relevant line whose form cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The log cannot be read.
    #[error("line {line}: the log cannot be read on; copy the file again")]
    Read {
        /// Line, counted from 1.
        line: u64,
        /// Reason.
        source: std::io::Error,
    },
    /// The form of a line is unknown.
    #[error("line {line}: expected {expected}, found {found:?}")]
    Form {
        /// Line, counted from 1.
        line: u64,
        /// Expected content of the line.
        expected: &'static str,
        /// Text of the line.
        found: String,
    },
}

/// Iterator over the events of a log; lines without a decision are skipped.
#[derive(Debug)]
pub struct Events<R> {
    input: R,
    buffer: Vec<u8>,
    line: u64,
    arrays: BTreeSet<u32>,
}

impl<R: BufRead> Events<R> {
    /// Reads events from a log.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), line: 0, arrays: BTreeSet::new() }
    }

    /// Names the tasks of arrays as `jobs` does.
    #[must_use]
    pub fn named_as(self, jobs: &[SubmittedJob]) -> Self {
        let arrays = jobs.iter().map(|job| (array_of(job.id).0, job.id)).filter(|(array, job)| array != job);
        Self { arrays: arrays.map(|(array, _)| array).collect(), ..self }
    }

    fn next_event(&mut self) -> Result<Option<Entry>, LogError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let line = self.line;
            let count =
                self.input.read_until(b'\n', &mut self.buffer).map_err(|source| LogError::Read { line, source })?;
            if count == 0 {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&self.buffer);
            let bad = |expected| LogError::Form { line, expected, found: text.trim_end().chars().take(200).collect() };
            let Some((stamp, message)) = text.trim_end().strip_prefix('[').and_then(|rest| rest.split_once("] "))
            else {
                continue;
            };
            // A last line without an end may be truncated in a number.
            if !self.buffer.ends_with(b"\n") {
                return Ok(None);
            }
            if let Some(event) = event(message, &self.arrays).map_err(bad)? {
                let time =
                    time(stamp).ok_or_else(|| bad("a time like 2024-05-31T12:30:45.000 (LogTimeFormat=iso8601_ms)"))?;
                return Ok(Some(Entry { line, time, event }));
            }
        }
    }
}

/// Returns the version of a log, from the controller's own line or from the form of its plans. `None` if it has neither.
///
/// # Errors
///
/// If the log cannot be read up to that line.
pub fn version_of<R: BufRead>(events: Events<R>) -> Result<Option<Result<Version, UnknownVersion>>, LogError> {
    for entry in events {
        match entry?.event {
            Event::Version(version) => return Ok(Some(version.parse())),
            Event::Plan { is_new_form, .. } => {
                return Ok(Some(Ok(if is_new_form { Version::V24_11 } else { Version::V22_05 })));
            }
            _ => {}
        }
    }
    Ok(None)
}

impl<R: BufRead> Iterator for Events<R> {
    type Item = Result<Entry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

/// Returns the number after `key`, up to the first character that is no digit.
fn number(text: &str, key: &str) -> Option<u32> {
    let rest = &text[text.find(key)? + key.len()..];
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

/// Returns the number of the job: for a task of one of `arrays` that of the trace, else the JobId in parentheses.
fn job(text: &str, arrays: &BTreeSet<u32>) -> Option<u32> {
    let rest = &text[text.find("JobId=")? + 6..];
    let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    match word.split_once('(') {
        Some((name, inner)) => {
            let (array, index) = name.split_once('_')?;
            match array.parse().ok().filter(|array| arrays.contains(array)) {
                Some(array) => task(array, index.parse().ok()?),
                None => inner.strip_suffix(')')?.parse().ok(),
            }
        }
        None => number(text, "JobId="),
    }
}

/// Returns the word after `key`.
fn word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text[text.find(key)? + key.len()..].split_whitespace().next()
}

fn event(message: &str, arrays: &BTreeSet<u32>) -> Result<Option<Event>, &'static str> {
    const PLACED: &str = "a job, its nodes and its partition";
    let placed = |nodes: &str, partition: &str| {
        Some(Placed {
            job: job(message, arrays)?,
            nodes: word(message, nodes)?.to_owned(),
            partition: word(message, partition)?.to_owned(),
        })
    };
    let event = if message.contains("_dump_job_sched: ") {
        plan(message, arrays).ok_or("a job with its planned start, end, nodes and partition")?
    } else if message.contains("BACKFILL: test for JobId=") {
        let test = || {
            Some(Event::Test {
                job: job(message, arrays)?,
                priority: number(message, "Prio=")?,
                partition: word(message, "Partition=")?.to_owned(),
            })
        };
        test().ok_or("a job with its priority and partition")?
    } else if message.contains("_attempt_backfill: completed testing")
        || message.contains("_attempt_backfill: no jobs to backfill")
    {
        Event::BackfillEnd
    } else if message.contains("_attempt_backfill: beginning") {
        Event::BackfillPass
    } else if message.contains("sched: Running job scheduler") {
        Event::MainPass { is_full: message.contains("full queue") }
    } else if message.contains("sched: Allocate JobId=") {
        Event::MainStart(placed("NodeList=", "Partition=").ok_or(PLACED)?)
    } else if message.contains("_start_job: Started JobId=") {
        Event::BackfillStart(placed(" on ", " in ").ok_or(PLACED)?)
    } else if message.contains("_slurm_rpc_submit_batch_job: JobId=") {
        let submit = || Some(Event::Submit { job: job(message, arrays)?, priority: number(message, "InitPrio=")? });
        submit().ok_or("a job with its first priority")?
    } else if let Some(is_done) = end(message) {
        Event::End { job: job(message, arrays).ok_or("a job")?, is_done }
    } else if message.contains("_job_complete: JobId=")
        && (message.contains(" WTERMSIG ") || number(message, " WEXITSTATUS ").is_some_and(|status| status > 0))
    {
        Event::Failure { job: job(message, arrays).ok_or("a job")? }
    } else if let Some(change) = change(message) {
        let updated = || Some(Event::Update { job: job(message, arrays)?, change: change? });
        updated().ok_or("a job and its new time limit or priority")?
    } else if let Some((node, state)) =
        message.strip_prefix("update_node: node ").and_then(|rest| rest.split_once(" state set to "))
    {
        Event::NodeState { node: node.to_owned(), state: state.to_owned() }
    } else if let Some(node) = message.strip_prefix("Node ").and_then(|rest| rest.strip_suffix(" now responding")) {
        Event::NodeResponds(node.to_owned())
    } else if let Some(node) =
        message.strip_prefix("node_did_resp: node ").and_then(|rest| rest.strip_suffix(" returned to service"))
    {
        Event::NodeReturns(node.to_owned())
    } else if message.starts_with("requeue job JobId=") {
        let fails = || {
            Some(Event::NodeFails { job: job(message, arrays)?, node: word(message, " failure of node ")?.to_owned() })
        };
        fails().ok_or("a job and its node")?
    } else if message.starts_with("Requeuing JobId=") {
        Event::Requeue { job: job(message, arrays).ok_or("a job")? }
    } else if message.contains("_decay_thread: PRIO: Decay factor over") {
        Event::Decay
    } else if message.contains("Fair Tree fairshare algorithm, starting at root") {
        Event::FairTree
    } else if let Some(version) = message.split_once("slurmctld version ") {
        Event::Version(version.1.split_whitespace().next().ok_or("a version")?.to_owned())
    } else {
        return Ok(None);
    };
    Ok(Some(event))
}

/// Returns true for the end of a job's script, false for the other lines that remove a job: its limit passed, or it was cancelled.
fn end(message: &str) -> Option<bool> {
    let is_done = message.contains("_job_complete: JobId=") && message.ends_with(" done");
    let is_cut = message.contains("Time limit exhausted for JobId=") || message.contains("REQUEST_KILL_JOB JobId=");
    (is_done || is_cut).then_some(is_done)
}

/// Returns the change of a job, or `None` within if its form is unknown.
fn change(message: &str) -> Option<Option<Change>> {
    const MINUTES: &str = "_update_job: setting time_limit to ";
    const NODES: &str = "_update_job: setting min_nodes from ";
    const NICE: &str = "_update_job: nice changed from ";
    const PRIORITY: &str = "_update_job: set priority to ";
    if message.contains(MINUTES) {
        Some(number(message, MINUTES).map(|minutes| Change::Limit(60 * i64::from(minutes))))
    } else if message.contains(NICE) {
        // slurmctld adds 2^31 to nice values.
        let nice = number(message, " to ").map(|nice| i64::from(nice) - (1 << 31));
        Some(nice.zip(number(message, "setting priority to ")).map(|(nice, priority)| Change::Nice(nice, priority)))
    } else if message.contains(NODES) {
        Some(number(message, " to ").map(Change::Nodes))
    } else if message.contains(PRIORITY) {
        Some(number(message, PRIORITY).map(Change::Priority))
    } else if message.contains("_job_requeue_op: Holding JobId=") {
        Some(Some(Change::Priority(0)))
    } else {
        message.contains("_release_job_rec: release hold on JobId=").then_some(Some(Change::Release))
    }
}

fn plan(message: &str, arrays: &BTreeSet<u32>) -> Option<Event> {
    let text = &message[message.find("_dump_job_sched: ")?..];
    let (start, end) = (word(text, " to start at ")?.trim_end_matches(','), word(text, ", end at ")?);
    Some(Event::Plan {
        placed: Placed {
            job: job(text, arrays)?,
            nodes: word(text, " on nodes ")?.to_owned(),
            partition: word(text, " in partition ")?.to_owned(),
        },
        start: time(start)?,
        end: time(end)?,
        is_new_form: text.contains(": BACKFILL: "),
    })
}
