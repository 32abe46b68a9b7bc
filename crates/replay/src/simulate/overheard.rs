//! The messages of a grid that name a job.

use crate::explain::history::SharedHeard;
use hier_grid::message::Reason;
use hier_grid::{Address, Message, MessageObserver, Payload};
use serde_json::json;
use sim_core::{Fact, JobId, Probe, ProcId, Time};

/// Observer that records the messages that name followed jobs, and the events of these jobs.
#[derive(Clone)]
pub(super) struct Overheard {
    pub(super) heard: SharedHeard,
    pub(super) names: Vec<String>,
}

impl MessageObserver for Overheard {
    fn observe(&mut self, message: Message) {
        for job in jobs(&message.payload) {
            self.heard.borrow_mut().push(
                *job,
                message.sent,
                kind(&message.payload),
                || self.words(&message),
                || json!({ "message": message }),
            );
        }
    }
}

/// The jobs that a message names.
fn jobs(payload: &Payload) -> &[JobId] {
    match payload {
        Payload::Request { job, .. }
        | Payload::Forward { job, .. }
        | Payload::Started { job }
        | Payload::Offer { job }
        | Payload::Answer { job }
        | Payload::Accept { job }
        | Payload::Confirm { job }
        | Payload::Decline { job } => std::slice::from_ref(job),
        Payload::Block { jobs, .. }
        | Payload::Cancel { jobs, .. }
        | Payload::Cancelled { jobs, .. }
        | Payload::Returned { jobs } => jobs,
        Payload::Rfjm { .. }
        | Payload::Discover { .. }
        | Payload::Bags { .. }
        | Payload::Ports { .. }
        | Payload::Rfc { .. } => &[],
    }
}

/// Kind of a message; copies of a request are many, and of one kind.
const fn kind(payload: &Payload) -> &'static str {
    if matches!(payload, Payload::Forward { .. }) { "forward" } else { "message" }
}

impl Overheard {
    fn name(&self, address: Address) -> String {
        match address {
            Address::Station(station) => format!("work station {station}"),
            Address::Scheduler(scheduler) => format!("scheduler {scheduler}"),
            Address::Server(server) => format!("server {server} ({})", self.names[server.index()]),
        }
    }

    fn words(&self, message: &Message) -> String {
        let (from, to) = (self.name(message.from), self.name(message.to));
        let why = |reason: &Reason| match reason {
            Reason::Butterfly => "for a child that is nearer to its work station",
            Reason::LoadBalance => "for a child that has less to do",
        };
        let words = match &message.payload {
            Payload::Request { .. } => format!("{from} submits it to {to}"),
            Payload::Forward { .. } => format!("{from} forwards a copy of its request to {to}"),
            Payload::Block { .. } => format!("{from} pushes it to {to}, which had requested jobs"),
            Payload::Cancel { reason, .. } => format!("{from} wants it back from {to}, {}", why(reason)),
            Payload::Cancelled { reason, .. } => format!("{from} gives it back to {to}, {}", why(reason)),
            Payload::Returned { .. } => format!("{from} returns it to {to}: nothing below can run it any more"),
            Payload::Started { .. } => format!("{from} informs {to} that a server has it"),
            Payload::Offer { .. } => format!("{from} is free for it, and offers so to {to}"),
            Payload::Answer { .. } => format!("{from} takes the offer of {to}: its input follows"),
            Payload::Accept { .. } => format!("{from} accepts it, and informs {to}"),
            Payload::Confirm { .. } => format!("{from} confirms that {to} was the first to accept it"),
            Payload::Decline { .. } => format!("{from} declines it after all, and informs {to}"),
            other => format!("{from} informs {to}: {:?}", other.kind()),
        };
        format!("{words} (this arrives at {} s)", message.arrives)
    }
}

impl Probe for Overheard {
    fn observe(&mut self, now: Time, fact: &Fact) {
        let mut heard = self.heard.borrow_mut();
        let mut plain =
            |job: JobId, event, words: &dyn Fn() -> String| heard.push(job, now, event, words, || json!({}));
        match fact {
            Fact::Seized { job, processor: ProcId(server) } => {
                let name = self.names.get(*server as usize).map_or("", String::as_str);
                plain(*job, "starts", &|| format!("holds server {server} ({name})"));
            }
            Fact::Released { job, .. } => {
                plain(*job, "ran", &|| "has run; its output is on the way home".to_owned());
            }
            Fact::Finished { job } => {
                plain(*job, "ends", &|| "its output is home".to_owned());
                heard.end(*job);
            }
            Fact::Rejected { job, .. } => {
                plain(*job, "rejected", &|| "is rejected: no server of its system can hold it".to_owned());
                heard.end(*job);
            }
            Fact::Submitted(_) | Fact::Started { .. } | Fact::Interrupted { .. } => {}
        }
    }
}
