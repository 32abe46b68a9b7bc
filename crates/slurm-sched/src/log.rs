//! Events of a slurmctld.log recorded with `DebugFlags=Backfill`, and with `Priority` where priorities decay.

use crate::error::FollowError;
use crate::text::time;
use crate::version::{UnknownVersion, Version};
use crate::workload::task;
use std::collections::BTreeSet;
use std::io::BufRead;

/// Event recorded in one line of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    Version(String),
    /// A batch job was submitted, with its first priority.
    Submit {
        job: u32,
        priority: u32,
    },
    /// The script of a job that ends did not exit with 0.
    Failure(u32),
    /// A job ended, by the end of its script or by the controller.
    End {
        job: u32,
        is_done: bool,
    },
    /// A main pass begins, without a depth limit if it is full.
    MainPass {
        is_full: bool,
    },
    /// The main pass, or a request that may start a job itself, starts a job.
    MainStart(Placed),
    BackfillPass,
    BackfillEnd,
    /// The backfill pass tests a job of that priority.
    Test {
        job: u32,
        priority: u32,
        partition: String,
    },
    /// The backfill pass plans a job; true for a line in the format of 24.11.
    Plan(Placed, bool),
    BackfillStart(Placed),
    /// `scontrol` changed a pending or running job.
    Update(u32, Change),
    /// `scontrol` set the state of a node, such as `DRAINING`.
    NodeState {
        node: String,
        state: String,
    },
    /// A node responds again.
    NodeResponds(String),
    /// A node that was down may be used again.
    NodeReturns(String),
    /// A node fails, and its job is about to be requeued.
    NodeFails {
        job: u32,
        node: String,
    },
    /// A job that ran is pending again.
    Requeue(u32),
    /// The decay thread computes usage, fair share and priorities.
    Decay,
    /// No event.
    Other,
}

/// Change of a job by `scontrol`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Change {
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
pub(crate) struct Placed {
    pub job: u32,
    /// Nodes, as a list with ranges.
    pub nodes: String,
    pub partition: String,
    /// Planned start and end.
    pub planned: Option<(i64, i64)>,
}

/// Event with its line, counted from 1, and its second, as if the log's clock were UTC.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    pub line: u64,
    pub time: i64,
    pub event: Event,
}

/// Iterator over the events of a log; lines without a decision are skipped.
pub(crate) struct Events<R> {
    input: R,
    buffer: Vec<u8>,
    line: u64,
    /// Arrays whose tasks have the numbers of the trace.
    arrays: BTreeSet<u32>,
}

impl<R: BufRead> Events<R> {
    pub(crate) fn new(input: R, arrays: BTreeSet<u32>) -> Self {
        Self { input, buffer: Vec::new(), line: 0, arrays }
    }

    fn next_event(&mut self) -> Result<Option<Entry>, FollowError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let line = self.line;
            let count =
                self.input.read_until(b'\n', &mut self.buffer).map_err(|source| FollowError::Read { line, source })?;
            let text = String::from_utf8_lossy(&self.buffer);
            let bad = |expected: &str| {
                let found: String = text.trim_end().chars().take(200).collect();
                FollowError::Wrong { line, words: format!("expected {expected}, found {found:?}") }
            };
            let Some((stamp, message)) = text.trim_end().strip_prefix('[').and_then(|rest| rest.split_once("] "))
            else {
                if count == 0 {
                    return Ok(None);
                }
                continue;
            };
            // A last line without an end may be truncated in a number.
            if !self.buffer.ends_with(b"\n") {
                return Ok(None);
            }
            let event = event(&Message { text: message, arrays: &self.arrays }).map_err(bad)?;
            if event != Event::Other {
                let time =
                    time(stamp).ok_or_else(|| bad("a time like 2024-05-31T12:30:45.000 (LogTimeFormat=iso8601_ms)"))?;
                return Ok(Some(Entry { line, time, event }));
            }
        }
    }
}

impl<R: BufRead> Iterator for Events<R> {
    type Item = Result<Entry, FollowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

/// Returns the version of a log, from the controller's own line or from the form of its plans. `None` if it has neither.
///
/// # Errors
///
/// If the log cannot be read up to that line, or has no event.
pub fn version_of<R: BufRead>(log: R) -> Result<Option<Result<Version, UnknownVersion>>, FollowError> {
    let mut events = Events::new(log, BTreeSet::new()).peekable();
    if events.peek().is_none() {
        return Err(FollowError::Empty);
    }
    for entry in events {
        match entry?.event {
            Event::Version(version) => return Ok(Some(version.parse())),
            Event::Plan(_, is_new_form) => {
                return Ok(Some(Ok(if is_new_form { Version::V24_11 } else { Version::V22_05 })));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Line of the log without its time.
struct Message<'a> {
    text: &'a str,
    arrays: &'a BTreeSet<u32>,
}

impl Message<'_> {
    /// Returns the number after `key`, up to the first character that is no digit.
    fn number(&self, key: &str) -> Option<u32> {
        let rest = &self.text[self.text.find(key)? + key.len()..];
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
    }

    /// Returns the word after `key`.
    fn word(&self, key: &str) -> Option<String> {
        self.text[self.text.find(key)? + key.len()..].split_whitespace().next().map(str::to_owned)
    }

    /// Returns the number of the job: for a task of one of the arrays that of the trace, else the JobId in parentheses.
    fn job(&self) -> Option<u32> {
        match self.word("JobId=").as_deref().unwrap_or_default().split_once('(') {
            Some((name, inner)) => {
                let (array, index) = name.split_once('_')?;
                match array.parse().ok().filter(|array| self.arrays.contains(array)) {
                    Some(array) => task(array, index.parse().ok()?),
                    None => inner.strip_suffix(')')?.parse().ok(),
                }
            }
            None => self.number("JobId="),
        }
    }

    fn placed(&self, nodes: &str, partition: &str) -> Option<Placed> {
        Some(Placed { job: self.job()?, nodes: self.word(nodes)?, partition: self.word(partition)?, planned: None })
    }

    fn update(&self, change: Change) -> Option<Event> {
        Some(Event::Update(self.job()?, change))
    }
}

const MINUTES: &str = "_update_job: setting time_limit to ";
const PRIORITY: &str = "_update_job: set priority to ";
const PLACED: &str = "a job, its nodes and its partition";
const CHANGE: &str = "a job and its new time limit or priority";

/// A part of the lines of one form (at their begin after `^`), what they must hold, and the event.
type Form = (&'static str, &'static str, fn(&Message<'_>) -> Option<Event>);

/// Forms of lines, in the order in which they are tried.
const FORMS: [Form; 26] = [
    ("_dump_job_sched: ", "a job with its planned start, end, nodes and partition", |line| {
        let text = &line.text[line.text.find("_dump_job_sched: ")?..];
        let line = Message { text, ..*line };
        let (start, end) = (time(line.word(" to start at ")?.trim_end_matches(','))?, time(&line.word(", end at ")?)?);
        let placed = Placed { planned: Some((start, end)), ..line.placed(" on nodes ", " in partition ")? };
        Some(Event::Plan(placed, text.contains(": BACKFILL: ")))
    }),
    ("BACKFILL: test for JobId=", "a job with its priority and partition", |line| {
        Some(Event::Test { job: line.job()?, priority: line.number("Prio=")?, partition: line.word("Partition=")? })
    }),
    ("_attempt_backfill: completed testing", "", |_| Some(Event::BackfillEnd)),
    ("_attempt_backfill: no jobs to backfill", "", |_| Some(Event::BackfillEnd)),
    ("_attempt_backfill: beginning", "", |_| Some(Event::BackfillPass)),
    ("sched: Running job scheduler", "", |line| Some(Event::MainPass { is_full: line.text.contains("full queue") })),
    ("sched: Allocate JobId=", PLACED, |line| Some(Event::MainStart(line.placed("NodeList=", "Partition=")?))),
    ("_start_job: Started JobId=", PLACED, |line| Some(Event::BackfillStart(line.placed(" on ", " in ")?))),
    ("_slurm_rpc_submit_batch_job: JobId=", "a job with its first priority", |line| {
        Some(Event::Submit { job: line.job()?, priority: line.number("InitPrio=")? })
    }),
    ("Time limit exhausted for JobId=", "a job", |line| Some(Event::End { job: line.job()?, is_done: false })),
    ("REQUEST_KILL_JOB JobId=", "a job", |line| Some(Event::End { job: line.job()?, is_done: false })),
    ("_job_complete: JobId=", "a job", |line| {
        let fails = line.text.contains(" WTERMSIG ") || line.number(" WEXITSTATUS ").is_some_and(|status| status > 0);
        Some(match line.text.ends_with(" done") {
            true => Event::End { job: line.job()?, is_done: true },
            false if fails => Event::Failure(line.job()?),
            false => Event::Other,
        })
    }),
    (MINUTES, CHANGE, |line| line.update(Change::Limit(60 * i64::from(line.number(MINUTES)?)))),
    ("_update_job: nice changed from ", CHANGE, |line| {
        // slurmctld adds 2^31 to nice values.
        let nice = i64::from(line.number(" to ")?) - (1 << 31);
        line.update(Change::Nice(nice, line.number("setting priority to ")?))
    }),
    ("_update_job: setting min_nodes from ", CHANGE, |line| line.update(Change::Nodes(line.number(" to ")?))),
    (PRIORITY, CHANGE, |line| line.update(Change::Priority(line.number(PRIORITY)?))),
    ("_job_requeue_op: Holding JobId=", CHANGE, |line| line.update(Change::Priority(0))),
    ("_release_job_rec: release hold on JobId=", CHANGE, |line| line.update(Change::Release)),
    ("^update_node: node ", "", |line| {
        let state = line.text["update_node: node ".len()..].split_once(" state set to ");
        let (node, state) = state.map(|(node, state)| (node.to_owned(), state.to_owned())).unzip();
        Some(node.zip(state).map_or(Event::Other, |(node, state)| Event::NodeState { node, state }))
    }),
    ("^Node ", "", |line| {
        let node = line.text["Node ".len()..].strip_suffix(" now responding");
        Some(node.map_or(Event::Other, |node| Event::NodeResponds(node.to_owned())))
    }),
    ("^node_did_resp: node ", "", |line| {
        let node = line.text["node_did_resp: node ".len()..].strip_suffix(" returned to service");
        Some(node.map_or(Event::Other, |node| Event::NodeReturns(node.to_owned())))
    }),
    ("^requeue job JobId=", "a job and its node", |line| {
        Some(Event::NodeFails { job: line.job()?, node: line.word(" failure of node ")? })
    }),
    ("^Requeuing JobId=", "a job", |line| Some(Event::Requeue(line.job()?))),
    ("_decay_thread: PRIO: Decay factor over", "", |_| Some(Event::Decay)),
    ("Fair Tree fairshare algorithm, starting at root", "", |_| Some(Event::Decay)),
    ("slurmctld version ", "a version", |line| Some(Event::Version(line.word("slurmctld version ")?))),
];

/// Returns the event of a line, or what it must hold.
fn event(line: &Message<'_>) -> Result<Event, &'static str> {
    let is_there = |part: &str| match part.strip_prefix('^') {
        Some(begin) => line.text.starts_with(begin),
        None => line.text.contains(part),
    };
    let form = FORMS.iter().find(|(part, ..)| is_there(part));
    form.map_or(Ok(Event::Other), |(_, expected, read)| read(line).ok_or(*expected))
}
