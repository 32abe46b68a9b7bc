//! Batch scheduling of rigid parallel jobs.
//!
//! A rigid job requests a number of processors, all at once, and keeps them until it ends, without preemption. The remaining
//! decision is the order. This crate contains policies that decide it, and the world that executes their decisions.
//!
//! # A policy in a simulation
//!
//! [`MultiCluster`] is a [`sim_core::Model`]; it takes machines, a [`Policy`] and jobs. In this example one machine has
//! four processors, and the second of four jobs needs the whole machine while the first still runs:
//!
//! ```
//! use gap_schedule::{Easy, Fcfs, Machine, MultiCluster, Policy};
//! use sim_core::{Job, JobId, JobLog, Sim, Span, Time};
//!
//! fn starts(policy: impl Policy) -> Vec<Time> {
//!     let job = |id, submit, processors, runtime| {
//!         Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
//!     };
//!     let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 50), job(3, 3, 1, 200)];
//!     let world = MultiCluster::new(vec![Machine::new(4)], policy, jobs.into_iter());
//!     let (_, log) = Sim::new(world, JobLog::collecting()).run();
//!     let mut records = log.into_sink(); // in the order in which they finished
//!     records.sort_by_key(|record| record.job.id);
//!     records.iter().map(|record| record.start).collect()
//! }
//!
//! assert_eq!(starts(Fcfs::default()), [0, 100, 110, 110].map(Time::from_secs));
//! // The third job ends before the second can start, so it starts at once. The fourth would delay the second.
//! assert_eq!(starts(Easy::default()), [0, 100, 2, 110].map(Time::from_secs));
//! ```
//!
//! Your own policy is an implementation of [`Policy`]; its page shows an example. The world runs it like these:
//!
//! | policy | rule |
//! |---|---|
//! | [`Fcfs`] | first come first served, or in any [`Order`]: the head starts on the first machine with room, and blocks all jobs behind it |
//! | [`Easy`] | the head has a reservation where it can start first; other jobs may overtake it if that does not delay it |
//! | [`Conservative`] | conservative backfilling: all jobs have reservations, and none is delayed, in both [orders of compression](CompressOrder) |
//! | [`OrderedBackfill`] | backfilling with the queue and the backfilled jobs in any [`Order`], your own included ([`Keyed`]), a number of reservations ([`Depth`]: none, some or all), and a guard against starvation |
//! | [`GapFilling`] | Best Gap, BGT, Swift Gap: each job gets the best of the earliest gaps, and a search may move it |
//! | [`FlexibleBackfill`] | EASY, or backfilling with another number of reservations, over a queue sorted by age, deadline and length at each event |
//! | [`Planner`] with [`EgEdf`] | each job is planned on its arrival: in the earliest gap, else by its deadline |
//! | [`Planner`] with [`EgEdf`] and [`Tabu`] | the same, then late jobs are moved into earlier gaps |
//!
//! [`mod@reference`] has EASY, conservative backfilling and backfilling in any order as plain code, written to be read.
//!
//! [`mod@episode`] passes each decision to a learning agent.
//!
//! # Several machines
//!
//! With several machines of different size and speed, [`MultiCluster`] is the model of Klusáček, Rudová, Baraglia,
//! Pasquali & Capannini, "Comparison of multi-criteria scheduling techniques" (2008): each job runs on one of the
//! machines that it may use ([`sim_core::Request::sites`]). The probe [`Usage`] measures what that paper reports
//! beside waits and deadlines.
//!
//! ```
//! use gap_schedule::{Easy, Machine, MultiCluster};
//! use sim_core::{Fact, Job, JobId, Sim, SiteId, Span, Time};
//!
//! let machines = vec![Machine { processors: 8, speed: 1.0 }, Machine { processors: 2, speed: 2.5 }];
//! let job = |id, processors| Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(100));
//! let jobs = [job(0, 2), job(1, 2)].into_iter();
//! let (_, facts) = Sim::new(MultiCluster::new(machines, Easy::default(), jobs), Vec::new()).run();
//!
//! assert_eq!(facts[2].1, Fact::Started { job: JobId(0), site: SiteId(1), processors: 2 }); // the fast one
//! assert_eq!(facts[3].1, Fact::Started { job: JobId(1), site: SiteId(0), processors: 2 });
//! assert_eq!(facts[4], (Time::from_secs(40), Fact::Finished { job: JobId(0) }));
//! ```
//!
//! # A policy in your own simulator or scheduler
//!
//! A policy knows no clock and no events: it reads a [`View`] and returns the jobs to start. Keep a [`Queue`] and a
//! [`Running`] for each machine up to date as jobs arrive, start and end, and call the policy after every change:
//!
//! ```
//! use gap_schedule::{Easy, Machine, Policy, QueuedJob, Queue, Running, View};
//! use sim_core::{JobId, Request, SiteId, SiteSet, Span, Time};
//!
//! let request = |processors, estimate| Request {
//!     processors,
//!     estimate: Some(Span::from_secs(estimate)),
//!     deadline: None,
//!     sites: SiteSet::ALL,
//!     user: None,
//! };
//! let now = Time::from_secs(1_000);
//! let machines = [Machine::new(8)];
//!
//! let mut running = [Running::default()];
//! running[0].insert(machines[0].running(JobId(7), &request(6, 3_600), Time::from_secs(400)));
//!
//! let mut queue = Queue::default();
//! // Job 8 must wait for job 7, until 4000 s at the latest; job 9 ends just in time.
//! queue.push(QueuedJob { job: JobId(8), request: request(8, 600), submit: Time::from_secs(900) });
//! queue.push(QueuedJob { job: JobId(9), request: request(2, 3_000), submit: now });
//!
//! let view = View { now, machines: &machines, free: &[2], running: &running, queue: &queue };
//! let mut policy = Easy::default();
//! policy.begin(&view); // once
//! let mut starts = Vec::new();
//! policy.schedule(&view, &mut starts);
//! assert_eq!(starts, [(JobId(9), SiteId(0))]);
//!
//! // Now start it, and record that it runs.
//! for (job, machine) in starts {
//!     let queued = queue.remove(job).expect("a policy starts waiting jobs");
//!     running[machine.index()].insert(machines[machine.index()].running(job, &queued.request, now));
//! }
//! # assert_eq!((queue.len(), running[0].len()), (1, 2));
//! ```
//!
//! A policy that keeps more state than a view holds has methods for events, see [`Policy`].
//!
//! # Estimates
//!
//! Policies see a job's [`sim_core::Request`], never its runtime. An estimate may be wrong in three ways, and none
//! stops a run:
//!
//! - *Too long*, as users' estimates are: the job ends early, and the next pass uses the freed processors.
//! - *Too short*: a job that outlives its estimate is expected to end at any moment. The reservation of the head may
//!   then move. To kill jobs at their limit, set `runtime = min(runtime, estimate)`.
//! - *Missing*: the job is admitted, and expected to run for ever. It starts in its turn, or on processors that the
//!   head of the queue will not need; no reservation can rest on its end.
//!
//! A job wider than all machines that it may use is rejected on arrival, as [`sim_core::Rejection::TooWide`].

pub mod episode;
mod min_demand;
mod multi_cluster;
mod order;
mod plan;
mod policy;
mod predict;
mod queue;
mod reason;
pub mod reference;
#[cfg(feature = "testkit")]
pub mod testkit;
mod view;

pub use multi_cluster::{Event, MultiCluster, Passes, Usage, UsageOver};
pub use order::{Key, Keyed, Order, Priority};
pub use plan::{Edf, EgEdf, EgTies, GapBound, Planner, Tabu, TabuChoice, TabuCounts, TabuMemory};
pub use policy::{
    BackfillReadings, BackfillRule, Backfilling, CompressOrder, Conservative, Depth, Easy, Explained, Fcfs,
    FlexibleBackfill, FlexibleConfig, ForkablePolicy, GapFilling, Minext, OrderedBackfill, Placement, Policy,
    PolicyError,
};
pub use predict::{Corrector, Expired, MeanOfUser, PredictionCounts, Predictions, Predictor, TimesRequested};
pub use queue::{Queue, QueuedJob, WaitingJobs};
pub use reason::{Reason, ReasonProbe, ReservedStart, Right};
pub use view::{Machine, Running, RunningJob, Starts, View};
