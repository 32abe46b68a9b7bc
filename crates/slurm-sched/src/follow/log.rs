//! Events of a slurmctld.log recorded with `DebugFlags=Backfill`, and with `Priority` where priorities decay.

use crate::cluster::nodes::NodeSet;
use crate::cluster::queue::Start;
use crate::controller::{By, Change};
use crate::error::FollowError;
use crate::site::Site;
use crate::site::conf::usable;
use crate::site::hostlist;
use crate::site::text::second_of;
use crate::site::version::{UnknownVersion, Version};
use crate::site::workload::{array_of, task};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

/// Event recorded in one line of the log. Jobs, partitions and nodes have the numbers of the trace and of slurm.conf.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    Started,
    /// A batch job was submitted, with its first priority.
    Submit(u32, u32),
    /// The script of a job that ends did not exit with 0.
    Failure(u32),
    /// A job ended, by the end of its script.
    Done(u32),
    /// The controller stops a job.
    Stop(u32),
    /// A main pass begins; true for one without a depth limit.
    MainPass(bool),
    BackfillPass,
    BackfillEnd,
    /// The backfill pass tests a job of that priority in a partition.
    Test(u32, u32, usize),
    /// A pass starts or plans a job; the main pass also stands for a request that may start a job itself.
    Decision(By, Start),
    Update(u32, Change),
    /// `scontrol` set a node to `IDLE`: it is used once it responds.
    NodeResumes(usize),
    /// `scontrol` set another state of a node, or one that was down may be used again; true if jobs may start on it.
    NodeState(usize, bool),
    NodeResponds(usize),
    /// A job loses a node that fails, and is about to be requeued.
    NodeFails(u32, usize),
    Requeue(u32),
    /// The decay thread computes usage, fair share and priorities.
    Decay,
    Other,
}

/// Event with its line, counted from 1, and its second, as if the log's clock were UTC.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    pub line: u64,
    pub time: i64,
    pub event: Event,
}

/// Returns the time and the message of a line of the log.
fn stamped(text: &str) -> Option<(&str, &str)> {
    text.trim_end().strip_prefix('[')?.split_once("] ")
}

/// Returns the version of a log, from the controller's own line or from the form of its plans. `None` if it has neither.
///
/// # Errors
///
/// If the log cannot be read up to that line, or has no event.
pub fn version_of<R: BufRead>(log: R) -> Result<Option<Result<Version, UnknownVersion>>, FollowError> {
    let mut has_event = false;
    for (line, text) in (1..).zip(log.split(b'\n')) {
        let text = text.map_err(|source| FollowError::Read(line, source))?;
        let text = String::from_utf8_lossy(&text);
        let Some((_, message)) = stamped(&text) else { continue };
        if let Some((_, version)) = message.split_once(VERSION) {
            return Ok(Some(version.split_whitespace().next().unwrap_or_default().parse()));
        } else if let Some((_, plan)) = message.split_once(PLAN) {
            let is_new_form = plan.starts_with("BACKFILL: ");
            return Ok(Some(Ok(if is_new_form { Version::V24_11 } else { Version::V22_05 })));
        }
        has_event |= form_of(message).is_some();
    }
    if has_event { Ok(None) } else { Err(FollowError::Empty) }
}

struct Names<'a> {
    site: &'a Site,
    nodes: BTreeMap<&'a str, usize>,
    /// Arrays whose tasks have the numbers of the trace.
    arrays: BTreeSet<u32>,
}

/// Iterates over the events of a log; lines without a decision are skipped.
pub(crate) fn events<R: BufRead>(
    mut log: R,
    site: &Site,
    arrays: BTreeSet<u32>,
) -> impl Iterator<Item = Result<Entry, FollowError>> {
    let nodes = site.conf.nodes.iter().map(|node| node.name.as_str()).zip(0..).collect();
    let names = Names { site, nodes, arrays };
    let (mut buffer, mut line) = (Vec::new(), 0);
    std::iter::from_fn(move || {
        loop {
            buffer.clear();
            line += 1;
            if let Err(source) = log.read_until(b'\n', &mut buffer) {
                return Some(Err(FollowError::Read(line, source)));
            }
            // A last line without an end may be truncated in a number.
            if !buffer.ends_with(b"\n") {
                return None;
            }
            if let Some(entry) = names.entry(line, &String::from_utf8_lossy(&buffer)).transpose() {
                return Some(entry);
            }
        }
    })
}

impl Names<'_> {
    /// Reads a line; `None` without an event.
    fn entry(&self, line: u64, text: &str) -> Result<Option<Entry>, FollowError> {
        let Some((stamp, message)) = stamped(text) else { return Ok(None) };
        let Some((_, expected, read)) = form_of(message) else { return Ok(None) };
        let bad = |expected: &str| {
            let found: String = text.trim_end().chars().take(200).collect();
            FollowError::Wrong(line, format!("expected {expected}, found {found:?}"))
        };
        let event = read(&Message { text: message, names: self })
            .map_err(|unknown| unknown.map_or_else(|| bad(expected), |words| FollowError::Wrong(line, words)))?;
        if event == Event::Other {
            return Ok(None);
        }
        let time =
            second_of(stamp).ok_or_else(|| bad("a time like 2024-05-31T12:30:45.000 (LogTimeFormat=iso8601_ms)"))?;
        Ok(Some(Entry { line, time, event }))
    }
}

/// Line of the log without its time.
struct Message<'a> {
    text: &'a str,
    names: &'a Names<'a>,
}

/// Result of reading a part of a line. The fault of a name that slurm.conf lacks has words; that of a line without the parts of its
/// form has none.
type Read<T> = Result<T, Option<String>>;

/// Returns the fault of a name that slurm.conf lacks, shortened if it is long.
fn unknown(name: &str) -> Option<String> {
    let name: String = name.chars().take(80).collect();
    Some(format!("{name:?} is not in slurm.conf; use the slurm.conf of the time of the log"))
}

impl<'a> Message<'a> {
    fn after(&self, key: &str) -> Read<&'a str> {
        Ok(self.text.split_once(key).ok_or(None)?.1)
    }

    /// Returns the number after `key`, up to the first character that is no digit.
    fn number(&self, key: &str) -> Read<u32> {
        let rest = self.after(key)?;
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().map_err(|_| None)
    }

    fn word(&self, key: &str) -> Read<&'a str> {
        self.after(key)?.split_whitespace().next().ok_or(None)
    }

    /// Returns the number of the job: for a task of one of the arrays that of the trace, else the JobId in parentheses.
    fn job(&self) -> Read<u32> {
        let Some((name, inner)) = self.word("JobId=")?.split_once('(') else { return self.number("JobId=") };
        let (array, index) = name.split_once('_').ok_or(None)?;
        match array.parse().ok().filter(|array| self.names.arrays.contains(array)) {
            Some(array) => index.parse().ok().and_then(|index| task(array, index)),
            None => inner.strip_suffix(')').and_then(|job| job.parse().ok()),
        }
        .ok_or(None)
    }

    fn node(&self, name: &str) -> Read<usize> {
        self.names.nodes.get(name).copied().ok_or_else(|| unknown(name))
    }

    fn partition(&self, name: &str) -> Read<usize> {
        self.names.site.conf.partition(name).ok_or_else(|| unknown(name))
    }

    /// Returns the job on the nodes and in the partition after these keys.
    fn start(&self, nodes: &str, partition: &str) -> Read<Start> {
        let (job, list, partition) = (self.job()?, self.word(nodes)?, self.word(partition)?);
        let partition = self.partition(partition)?;
        let nodes = hostlist::expand(list).map_err(|_| unknown(list))?;
        let nodes = nodes.iter().map(|name| self.node(name)).collect::<Read<Vec<usize>>>()?;
        Ok(Start { job, partition, nodes: NodeSet::of(self.names.nodes.len(), nodes), planned: None })
    }

    fn update(&self, change: Change) -> Read<Event> {
        Ok(Event::Update(self.job()?, change))
    }
}

const VERSION: &str = "slurmctld version ";
const PLAN: &str = "_dump_job_sched: ";
const MINUTES: &str = "_update_job: setting time_limit to ";
const PRIORITY: &str = "_update_job: set priority to ";
const PLACED: &str = "a job, its nodes and its partition";
const CHANGE: &str = "a job and its new time limit or priority";

/// A part of the lines of one form (at their begin after `^`), what they must hold, and the event.
type Form = (&'static str, &'static str, fn(&Message<'_>) -> Read<Event>);

/// Forms of lines, in the order in which they are tried.
const FORMS: [Form; 26] = [
    (PLAN, "a job with its planned start, end, nodes and partition", |line| {
        let line = Message { text: line.after(PLAN)?, ..*line };
        let start = second_of(line.word(" to start at ")?.trim_end_matches(',')).ok_or(None)?;
        let end = second_of(line.word(", end at ")?).ok_or(None)?;
        let plan = line.start(" on nodes ", " in partition ")?;
        // The plan of a last task is named by the task, others by the array.
        Ok(Event::Decision(By::Backfill, Start { job: array_of(plan.job).0, planned: Some((start, end)), ..plan }))
    }),
    ("BACKFILL: test for JobId=", "a job with its priority and partition", |line| {
        let (job, priority, partition) = (line.job()?, line.number("Prio=")?, line.word("Partition=")?);
        Ok(Event::Test(job, priority, line.partition(partition)?))
    }),
    ("_attempt_backfill: completed testing", "", |_| Ok(Event::BackfillEnd)),
    ("_attempt_backfill: no jobs to backfill", "", |_| Ok(Event::BackfillEnd)),
    ("_attempt_backfill: beginning", "", |_| Ok(Event::BackfillPass)),
    ("sched: Running job scheduler", "", |line| Ok(Event::MainPass(line.text.contains("full queue")))),
    ("sched: Allocate JobId=", PLACED, |line| Ok(Event::Decision(By::Main, line.start("NodeList=", "Partition=")?))),
    ("_start_job: Started JobId=", PLACED, |line| Ok(Event::Decision(By::Backfill, line.start(" on ", " in ")?))),
    ("_slurm_rpc_submit_batch_job: JobId=", "a job with its first priority", |line| {
        Ok(Event::Submit(line.job()?, line.number("InitPrio=")?))
    }),
    ("Time limit exhausted for JobId=", "a job", |line| Ok(Event::Stop(line.job()?))),
    ("REQUEST_KILL_JOB JobId=", "a job", |line| Ok(Event::Stop(line.job()?))),
    ("_job_complete: JobId=", "a job", |line| {
        let fails = line.text.contains(" WTERMSIG ") || line.number(" WEXITSTATUS ").is_ok_and(|status| status > 0);
        match line.text.ends_with(" done") {
            true => Ok(Event::Done(line.job()?)),
            false if fails => Ok(Event::Failure(line.job()?)),
            false => Ok(Event::Other),
        }
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
    ("^update_node: node ", "", |line| match line.after("update_node: node ")?.split_once(" state set to ") {
        Some((node, "IDLE")) => Ok(Event::NodeResumes(line.node(node)?)),
        Some((node, state)) => Ok(Event::NodeState(line.node(node)?, usable(state))),
        None => Ok(Event::Other),
    }),
    ("^Node ", "", |line| {
        let node = line.after("Node ")?.strip_suffix(" now responding").and_then(|node| line.node(node).ok());
        Ok(node.map_or(Event::Other, Event::NodeResponds))
    }),
    ("^node_did_resp: node ", "", |line| match line.after(": node ")?.strip_suffix(" returned to service") {
        Some(node) => Ok(Event::NodeState(line.node(node)?, true)),
        None => Ok(Event::Other),
    }),
    ("^requeue job JobId=", "a job and its node", |line| {
        let (job, node) = (line.job()?, line.word(" failure of node ")?);
        Ok(Event::NodeFails(job, line.node(node)?))
    }),
    ("^Requeuing JobId=", "a job", |line| Ok(Event::Requeue(line.job()?))),
    ("_decay_thread: PRIO: Decay factor over", "", |_| Ok(Event::Decay)),
    ("Fair Tree fairshare algorithm, starting at root", "", |_| Ok(Event::Decay)),
    (VERSION, "a version", |line| line.word(VERSION).map(|_| Event::Started)),
];

/// Returns the form of a message; `None` for one without an event.
fn form_of(message: &str) -> Option<&'static Form> {
    FORMS.iter().find(|(part, ..)| match part.strip_prefix('^') {
        Some(begin) => message.starts_with(begin),
        None => message.contains(part),
    })
}
