//! What is kept of a job's time in the queue.

use crate::label::Label;
use gap_schedule::Right;
use sim_core::{Span, Time};
use workload::LogJob;

/// Something that happened to the job, or a time in which nothing changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Waits(Wait),
    Starts(Start),
    /// Its machine has failed: its work is lost.
    Loses {
        at: Time,
        machine: usize,
    },
    Ends {
        at: Time,
    },
    /// No machine that it may use is wide enough.
    Rejected {
        at: Time,
    },
}

/// Passes in which the job did not start, for the same reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wait {
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) passes: u64,
    /// Its place in the policy's order, in the first pass and the last; the first is 1.
    pub(crate) places: (usize, usize),
    /// What kept it; `None` if the policy does not tell.
    pub(crate) obstacle: Option<Obstacle>,
    /// What is free and who holds the rest, where it lacks processors; the fewest and the most that were free.
    pub(crate) room: Room,
    /// What it is promised, in the first pass and the last.
    pub(crate) promises: Option<(Promise, Promise)>,
}

/// What the policy says of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    NoRoom,
    Barred { at: Time, left: (u32, u32), by: Vec<By> },
    Behind { head: Label },
    Kept,
}

/// A reservation of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) job: Label,
    pub(crate) start: Time,
    pub(crate) processors: u32,
}

/// What everybody can see of the machine with most room, of those that it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) machine: usize,
    pub(crate) free: (u32, u32),
    /// Whose expected ends would give it the rest, in that order; empty if enough are free.
    pub(crate) held: Vec<Holder>,
}

/// Who holds processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// `None`: the machine is down.
    pub(crate) job: Option<Label>,
    pub(crate) processors: u32,
    /// [`Time::MAX`] if nobody knows.
    pub(crate) until: Time,
}

/// A promised start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    At {
        machine: usize,
        start: Time,
    },
    /// Behind a job that has outlived what was expected of it.
    AnyMoment {
        machine: usize,
    },
    /// By what is expected, never.
    Never,
}

/// The job starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) at: Time,
    pub(crate) machine: usize,
    /// By which right, if the policy tells.
    pub(crate) right: Option<Right>,
    /// How many processors were free there when the policy came to it, if it tells.
    pub(crate) free: Option<u32>,
    /// Whom it passed, in the policy's order.
    pub(crate) passed: Vec<Label>,
    /// Who had come before it, and waits on.
    pub(crate) overtaken: Vec<Label>,
}

impl Obstacle {
    /// Whether it is the same thing, whatever its numbers.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::NoRoom, Self::NoRoom) | (Self::Kept, Self::Kept) => true,
            (Self::Behind { head }, Self::Behind { head: other }) => head == other,
            (Self::Barred { by, .. }, Self::Barred { by: others, .. }) => {
                by.iter().map(|by| &by.job).eq(others.iter().map(|by| &by.job))
            }
            _ => false,
        }
    }
}

impl Wait {
    /// Whether nothing has changed but its place.
    fn is_same(&self, next: &Self) -> bool {
        (&self.obstacle, &self.room, &self.promises.map(|promises| promises.1))
            == (&next.obstacle, &next.room, &next.promises.map(|promises| promises.0))
    }

    fn is_like(&self, next: &Self) -> bool {
        self.room.machine == next.room.machine
            && self.promises.is_some() == next.promises.is_some()
            && match (&self.obstacle, &next.obstacle) {
                (Some(one), Some(other)) => one.is_like(other),
                (one, other) => {
                    one.is_none() && other.is_none() && self.room.held.is_empty() == next.room.held.is_empty()
                }
            }
    }

    fn append(&mut self, next: &Self) {
        self.until = next.until;
        self.passes += next.passes;
        self.places.1 = next.places.1;
        self.room.free = (self.room.free.0.min(next.room.free.0), self.room.free.1.max(next.room.free.1));
        if let (Some(Obstacle::Barred { left, .. }), Some(Obstacle::Barred { left: later, .. })) =
            (&mut self.obstacle, &next.obstacle)
        {
            *left = (left.0.min(later.0), left.1.max(later.1));
        }
        if let (Some(promises), Some(later)) = (&mut self.promises, next.promises) {
            promises.1 = later.1;
        }
    }
}

/// The steps with neighbours joined in which nothing has changed; or, if `brief`, no more than numbers.
pub(crate) fn joined(steps: &[Step], brief: bool) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::new();
    for step in steps {
        if let (Some(Step::Waits(last)), Step::Waits(next)) = (joined.last_mut(), step)
            && (if brief { last.is_like(next) } else { last.is_same(next) })
        {
            last.append(next);
        } else {
            joined.push(step.clone());
        }
    }
    joined
}

/// What is known of the job itself.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) label: Label,
    /// In the log's file.
    pub(crate) line: u64,
    pub(crate) user: Option<Label>,
    pub(crate) submit: Time,
    pub(crate) processors: u32,
    /// What its user asked for.
    pub(crate) requested: Option<Span>,
    /// What the policy expects, at reference speed.
    pub(crate) expected: Option<Span>,
    /// What it takes, at reference speed.
    pub(crate) run: Span,
    /// How many waited when it came to wait, itself among them, and who was before it.
    pub(crate) came_behind: Option<Vec<Label>>,
}

impl About {
    /// What the log knows.
    pub(crate) fn of(job: &LogJob) -> Self {
        Self {
            label: Label::of_job(job),
            line: job.line,
            user: Label::of_user(job),
            submit: job.job.submit,
            processors: job.job.request.processors,
            requested: job.requested_time,
            expected: job.job.request.estimate,
            run: job.job.runtime,
            came_behind: None,
        }
    }

    /// For programs, times in seconds.
    pub(crate) fn facts(&self) -> serde_json::Map<String, serde_json::Value> {
        let facts = serde_json::json!({
            "line": self.line,
            "user": self.user,
            "submit": self.submit.as_secs_f64(),
            "processors": self.processors,
            "requested": self.requested.map(Span::as_secs_f64),
            "expected": self.expected.map(Span::as_secs_f64),
            "run": self.run.as_secs_f64(),
        });
        let serde_json::Value::Object(facts) = facts else { unreachable!("facts are objects") };
        facts
    }
}
