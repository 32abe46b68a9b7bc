//! Discrete-event core of every model of Gridproof.
//!
//! A model is a struct that owns its whole state, and a closed enum of its events. [`Sim`] keeps the clock and the
//! calendar, passes one event at a time to the model in a total order, and lets probes observe the facts that the model
//! emits. Nothing here knows a scheduling policy, reads a file or computes a mean.
//!
//! | item | content |
//! |---|---|
//! | [`Time`], [`Span`] | an instant and a length, in integer nanoseconds |
//! | [`Model`], [`Sim`], [`Context`] | a model, its execution, and what it does in an event |
//! | [`EventPriority`], [`Calendar`] | order of the events of one instant; pending events |
//! | [`Streams`] | random numbers: one portable generator per purpose |
//! | [`Job`], [`Request`] | a submitted job, and the part of it that a policy may see |
//! | [`SiteSet`] | sets of sites |
//! | [`Fact`], [`Probe`], [`JobLog`] | what a model emits, its observer, and the observer that makes [`JobRecord`]s of it |
//! | [`AvailabilityProfile`], [`Gauge`] | free processors over time; time-weighted means |
//! | [`ConfigError`] | errors of a model's parameters |
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
//!             Event::Finish(_) => EventPriority::RELEASE, // the processor is free before the next job arrives
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
//! assert_eq!(records[1].start, Time::from_secs(10)); // waits for the first job
//! assert_eq!(records[1].response(), Span::from_secs(12));
//! ```

pub mod calendar;
mod config;
mod fact;
mod gauge;
pub mod id;
mod job;
mod profile;
pub mod readings;
pub mod record;
mod sim;
pub mod stream;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod time;

pub use calendar::{Calendar, EventKey, EventPriority, Prioritized};
pub use config::ConfigError;
pub use fact::{Fact, Probe, Rejection};
pub use gauge::Gauge;
pub use id::{JobId, ProcId, SiteId, SiteSet};
pub use job::{Job, Request};
pub use profile::AvailabilityProfile;
pub use readings::Reading;
pub use record::{JobLog, JobRecord, Sink};
pub use sim::{Context, Model, Sim};
pub use stream::{Purpose, Stream, Streams};
pub use time::{Span, Time};
