//! The discrete-event core that every model of Gridproof stands on.
//!
//! A model is a struct that owns its whole state and a closed enum of the events that can happen to it.
//! [`Sim`] keeps the clock and the calendar, hands the model one event at a time in a total order, and lets
//! probes observe the facts that the model emits. Nothing here knows a scheduling policy, reads a file or
//! computes a mean.
//!
//! | module | question it answers |
//! |---|---|
//! | [`time`] | when? [`Time`] is an instant, [`Span`] a length, both integer nanoseconds |
//! | [`event`] | what comes first at one instant? [`EventPriority`] |
//! | [`calendar`] | what is next? [`Calendar`] |
//! | [`sim`] | how does a model run? [`Model`], [`Context`], [`Sim`] |
//! | [`stream`] | where do random numbers come from? [`Streams`], one portable generator per purpose |
//! | [`job`] | what is submitted? [`Job`], and [`Request`], the part of it that a policy may see |
//! | [`sites`] | which of all sites? [`SiteSet`] |
//! | [`outage`] | when does a site not work? [`Outage`] |
//! | [`fact`] | what happened? [`Fact`], [`Probe`] |
//! | [`record`] | what became of a job? [`JobLog`] turns facts into [`JobRecord`]s |
//! | [`gauge`] | how much of it, on average over time? [`Gauge`] |
//! | [`pool`] | can `n` processors be seized now? [`Pool`] |
//! | [`profile`] | when are `n` processors next free for so long? [`AvailabilityProfile`] |
//!
//! # A whole model
//!
//! One processor, one queue, jobs in order of arrival:
//!
//! ```
//! use sim_core::{Context, Fact, Job, JobId, JobLog, Model, EventPriority, Prioritized, Sim, SiteId, Span, Time};
//! use std::collections::VecDeque;
//!
//! enum Event {
//!     Arrive(Job),
//!     Finish(JobId),
//! }
//!
//! impl Prioritized for Event {
//!     fn priority(&self) -> EventPriority {
//!         match self {
//!             Event::Finish(_) => EventPriority::RELEASE, // the processor is free before the next job asks for it
//!             Event::Arrive(_) => EventPriority::ARRIVE,
//!         }
//!     }
//! }
//!
//! struct Server {
//!     arrivals: std::vec::IntoIter<Job>,
//!     queue: VecDeque<Job>,
//!     busy: bool,
//! }
//!
//! impl Model for Server {
//!     type Event = Event;
//!
//!     fn start(&mut self, cx: &mut impl Context<Event>) {
//!         for job in self.arrivals.by_ref() {
//!             cx.post_at(job.submit, Event::Arrive(job));
//!         }
//!     }
//!
//!     fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
//!         match event {
//!             Event::Arrive(job) => {
//!                 cx.emit(Fact::Submitted(job));
//!                 self.queue.push_back(job);
//!             }
//!             Event::Finish(job) => {
//!                 cx.emit(Fact::Finished { job });
//!                 self.busy = false;
//!             }
//!         }
//!         if !self.busy && let Some(job) = self.queue.pop_front() {
//!             self.busy = true;
//!             cx.emit(Fact::Started { job: job.id, site: SiteId(0), processors: 1 });
//!             cx.post_in(job.runtime, Event::Finish(job.id));
//!         }
//!     }
//! }
//!
//! let jobs = vec![
//!     Job::new(JobId(0), Time::from_secs(0), 1, Span::from_secs(10)),
//!     Job::new(JobId(1), Time::from_secs(3), 1, Span::from_secs(5)),
//! ];
//! let server = Server { arrivals: jobs.into_iter(), queue: VecDeque::new(), busy: false };
//! let (_, log) = Sim::new(server, JobLog::collecting()).run();
//! let records = log.into_sink();
//! assert_eq!(records[1].start, Time::from_secs(10)); // it waited for the first
//! assert_eq!(records[1].response(), Span::from_secs(12));
//! ```

pub mod calendar;
pub mod event;
pub mod fact;
pub mod gauge;
pub mod id;
pub mod job;
pub mod outage;
pub mod pool;
pub mod profile;
pub mod readings;
pub mod record;
pub mod sim;
pub mod sites;
pub mod stream;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod time;

pub use calendar::{Calendar, EventKey};
pub use event::{EventPriority, Prioritized};
pub use fact::{Fact, Probe, Rejection};
pub use gauge::Gauge;
pub use id::{JobId, ProcId, SiteId};
pub use job::{Job, Request};
pub use outage::Outage;
pub use pool::Pool;
pub use profile::AvailabilityProfile;
pub use readings::Reading;
pub use record::{JobLog, JobRecord, Sink};
pub use sim::{Context, Model, Sim};
pub use sites::SiteSet;
pub use stream::{Purpose, Stream, Streams};
pub use time::{Span, Time};
