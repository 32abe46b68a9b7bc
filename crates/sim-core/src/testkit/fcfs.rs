use crate::calendar::{EventPriority, Prioritized};
use crate::fact::Fact;
use crate::id::{JobId, SiteId};
use crate::job::Job;
use crate::sim::{Context, Model};
use std::collections::VecDeque;

/// Reference model: one machine, one queue, strict first come first served. With jobs of one processor it is the queue
/// G/G/c, whose results theory gives.
#[derive(Clone, Debug)]
pub struct Fcfs<J> {
    free: u32,
    queue: VecDeque<Job>,
    arrivals: J,
}

/// Event of [`Fcfs`].
#[derive(Clone, Debug)]
pub enum FcfsEvent {
    /// A job arrives.
    Arrive(Job),
    /// A job ends and releases its processors.
    Finish(JobId, u32),
}

impl Prioritized for FcfsEvent {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Finish(..) => EventPriority::RELEASE,
            Self::Arrive(_) => EventPriority::ARRIVE,
        }
    }
}

impl<J: Iterator<Item = Job>> Fcfs<J> {
    /// Returns a model that serves jobs from `arrivals`, in order of submission, by a number of processors.
    pub const fn new(processors: u32, arrivals: J) -> Self {
        Self { free: processors, queue: VecDeque::new(), arrivals }
    }

    fn post_next_arrival(&mut self, cx: &mut impl Context<FcfsEvent>) {
        if let Some(job) = self.arrivals.next() {
            cx.post_at(job.submit, FcfsEvent::Arrive(job));
        }
    }
}

impl<J: Iterator<Item = Job>> Model for Fcfs<J> {
    type Event = FcfsEvent;

    fn start(&mut self, cx: &mut impl Context<FcfsEvent>) {
        self.post_next_arrival(cx);
    }

    fn handle(&mut self, event: FcfsEvent, cx: &mut impl Context<FcfsEvent>) {
        match event {
            FcfsEvent::Arrive(job) => {
                cx.emit(Fact::Submitted(job));
                self.queue.push_back(job);
                self.post_next_arrival(cx);
            }
            FcfsEvent::Finish(job, processors) => {
                self.free += processors;
                cx.emit(Fact::Finished { job });
            }
        }
        // Strict FCFS: a wide job at the head blocks narrower ones behind it.
        while let Some(job) = self.queue.pop_front_if(|job| job.request.processors <= self.free) {
            self.free -= job.request.processors;
            cx.emit(Fact::Started { job: job.id, site: SiteId(0), processors: job.request.processors });
            cx.post_in(job.runtime, FcfsEvent::Finish(job.id, job.request.processors));
        }
    }
}
