//! `exec+PROGRAM`: a policy that is a program in any language, which reads and writes lines of JSON.
//!
//! The program reads a line and answers with a line, strictly in step, so that a run stays a function of its input. It
//! receives requests and never run times. docs/protocol.md defines the lines.

mod conversation;
#[cfg(test)]
mod tests;

use anyhow::{Result, anyhow, bail};
use conversation::Conversation;
use gap_schedule::{Machine, Policy, PolicyError, QueuedJob, RunningJob, Starts, View};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sim_core::{JobId, Request, SiteId, Span, Time};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the protocol in the greeting. A program may choose the next one.
const PROTOCOL: u32 = 1;

/// Version in which every event has its time, and `every` is known.
const TIMED: u32 = 2;

const READY: &str =
    r#"{"type":"ready","protocol":1}, or {"type":"ready","protocol":2,"every":"event"} (without "every" as well)"#;

/// Files of a program, given by the words of its command: its executable, as the system finds it, and every argument that is a file or
/// names one after `=`. Files that these import or start are not included.
pub(super) fn files(command: &[String]) -> Vec<PathBuf> {
    let (program, arguments) = command.split_first().expect("a command has at least one word");
    let arguments = arguments.iter().flat_map(|word| [Some(word.as_str()), word.split_once('=').map(|(_, file)| file)]);
    let arguments = arguments.flatten().map(PathBuf::from).filter(|path| path.is_file());
    found(program).into_iter().chain(arguments).collect()
}

/// The file of a program: a path, or a name that a folder of `PATH` holds; `None` if there is none.
fn found(program: &str) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| may_be_executed(path))
}

fn may_be_executed(path: &Path) -> bool {
    #[cfg(unix)]
    let is_allowed = |file: Metadata| std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let is_allowed = |_: Metadata| true;
    path.is_file() && path.metadata().is_ok_and(is_allowed)
}

/// The events since the last pass. Times in seconds from the first submit.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "pass")]
struct Pass {
    now: f64,
    /// Jobs that wait from now on.
    submitted: Vec<Value>,
    finished: Vec<Value>,
    /// Free processors by machine, less those of the starts of this pass.
    free: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    #[serde(rename = "type")]
    kind: String,
    protocol: u32,
    /// `event` requests passes also while no job waits.
    every: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    start: Vec<StartOrder>,
    wake: Option<f64>,
}

/// Job to start: on the first machine that has room for it, or on the named one.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum StartOrder {
    Anywhere(u64),
    Placed { job: u64, machine: u32 },
}

/// Number of a job in its log.
pub(super) type Numbers = Box<dyn Fn(JobId) -> Option<u64>>;

pub(super) struct Exec {
    conversation: Conversation,
    numbers: Numbers,
    error: Option<PolicyError>,
    is_timed: bool,
    wants_every_event: bool,
    pass: Pass,
    present: BTreeMap<JobId, Present>,
    /// The same by the log's numbers, which the program uses.
    by_number: BTreeMap<u64, JobId>,
    wake: Option<Time>,
}

struct Present {
    number: u64,
    request: Request,
    runs: bool,
}

impl Exec {
    /// Starts the program and sends the greeting, which it must answer within `patience`.
    pub(super) fn start(
        command: &[String],
        machines: &[Machine],
        numbers: Numbers,
        patience: Duration,
    ) -> Result<Self> {
        let mut conversation = Conversation::start(command, patience)?;
        let sizes = (0_u32..).zip(machines).map(|(machine, Machine { processors, speed })| {
            json!({ "machine": machine, "processors": processors, "speed": speed })
        });
        let machines: Vec<Value> = sizes.collect();
        conversation.send(&json!({ "type": "hello", "protocol": PROTOCOL, "machines": machines }))?;
        let Ready { kind, protocol, every } = conversation.answer(READY)?;
        let is_timed = protocol == TIMED;
        let is_known = every.as_ref().map_or(is_timed || protocol == PROTOCOL, |every| is_timed && every == "event");
        if kind != "ready" || !is_known {
            bail!(conversation.wrong(&format!("expected {READY}")));
        }
        Ok(Self {
            conversation,
            numbers,
            error: None,
            is_timed,
            wants_every_event: every.is_some(),
            pass: Pass::default(),
            present: BTreeMap::new(),
            by_number: BTreeMap::new(),
            wake: None,
        })
    }

    /// Sends the events to the program, and checks its decision.
    fn decide(&mut self, view: &View<'_>, starts: &mut Starts) -> Result<()> {
        self.pass.now = view.now.as_secs_f64();
        self.pass.free = view.free.to_vec();
        self.conversation.send(&self.pass)?;
        self.pass = Pass { free: std::mem::take(&mut self.pass.free), ..Pass::default() };
        let Decision { start, wake } = self.conversation.answer(r#"{"start":[7]} or {"start":[],"wake":30.0}"#)?;
        for one in start {
            starts.push(self.begin(one).map_err(|what| self.conversation.wrong(&what))?);
        }
        if let Some(seconds) = wake {
            // A year is 3e7 seconds, the clock's end 1.8e10.
            let at = (0.0..1e10).contains(&seconds).then(|| Time::ZERO + Span::from_secs_f64(seconds));
            self.wake = at.filter(|at| *at > view.now);
            if self.wake.is_none() {
                bail!(self.conversation.wrong(&format!("wake: {seconds} is no instant after now")));
            }
        }
        Ok(())
    }

    /// Checks one start, and takes its processors.
    fn begin(&mut self, start: StartOrder) -> Result<(JobId, SiteId), String> {
        let (number, wanted) = match start {
            StartOrder::Anywhere(job) => (job, None),
            StartOrder::Placed { job, machine } => (job, Some(machine)),
        };
        let id = *self.by_number.get(&number).ok_or_else(|| format!("start: no job {number} waits"))?;
        let known = self.present.get_mut(&id).expect("both maps hold the same jobs");
        if known.runs {
            return Err(format!("start: job {number} runs already"));
        }
        let Request { processors, sites, .. } = known.request;
        let free = &mut self.pass.free;
        let mut machines = 0..u32::try_from(free.len()).expect("fewer than 2^32 machines");
        if let Some(machine) = wanted {
            if !machines.contains(&machine) {
                return Err(format!("start: there is no machine {machine}"));
            }
            if !sites.contains(SiteId(machine)) {
                return Err(format!("start: job {number} may not run on machine {machine}"));
            }
            machines = machine..machine + 1;
        }
        let has_room = |machine: &u32| sites.contains(SiteId(*machine)) && free[*machine as usize] >= processors;
        let Some(machine) = machines.find(has_room) else {
            return Err(format!("start: job {number} needs {processors} processors; free by machine are {free:?}"));
        };
        free[machine as usize] -= processors;
        known.runs = true;
        Ok((id, SiteId(machine)))
    }
}

/// The error with its causes, as a policy returns it.
pub(super) fn shared(error: anyhow::Error) -> PolicyError {
    Box::<dyn std::error::Error + Send + Sync>::from(error).into()
}

impl Drop for Exec {
    fn drop(&mut self) {
        if self.error.is_none() {
            // All decisions are made; the program may have ended already.
            let _ = self.conversation.send(&json!({ "type": "end" }));
        }
    }
}

impl Policy for Exec {
    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        let QueuedJob { job: id, request, submit } = *job;
        let number = (self.numbers)(id).unwrap_or_else(|| id.0.into());
        let mut told = json!({
            "job": number,
            "submit": submit.as_secs_f64(),
            "processors": request.processors,
            "requested": request.estimate.map(Span::as_secs_f64),
            "user": request.user,
        });
        if let Some(deadline) = request.deadline {
            told["deadline"] = deadline.as_secs_f64().into();
        }
        if !request.sites.is_all() {
            let allowed = (0..).zip(view.machines).map(|(machine, _)| machine);
            let allowed = allowed.filter(|machine| request.sites.contains(SiteId(*machine)));
            told["machines"] = allowed.collect();
        }
        self.pass.submitted.push(told);
        self.present.insert(id, Present { number, request, runs: false });
        if self.by_number.insert(number, id).is_some() {
            let name = &self.conversation.name;
            self.error.get_or_insert_with(|| {
                shared(anyhow!(
                    "{name}: the log calls two jobs {number} that are in the system at once, so that a policy cannot distinguish \
                     them; give each job a number of its own"
                ))
            });
        }
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let Present { number, .. } = self.present.remove(&job.job).expect("it arrived before it started");
        self.by_number.remove(&number);
        let mut end = json!({ "job": number, "machine": machine.0 });
        if self.is_timed {
            end["time"] = view.now.as_secs_f64().into();
        }
        self.pass.finished.push(end);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.wake = None;
        if self.error.is_none() {
            self.error = self.decide(view, starts).map_err(shared).err();
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.wake
    }

    fn wants_every_event(&self) -> bool {
        self.wants_every_event
    }

    fn error(&self) -> Option<PolicyError> {
        self.error.clone()
    }
}
