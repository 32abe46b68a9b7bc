//! Batch scheduling of rigid parallel jobs: who starts now, and where?
//!
//! A rigid job asks for a number of processors, all at once, and keeps them until it ends; nobody is preempted. What is
//! left to decide is the order, and what this crate holds are policies that decide it, and the world that obeys them.
//!
//! | policy | rule | source |
//! |---|---|---|
//! | [`Fcfs`] | first come first served; the head of the queue blocks everybody behind it | |
//! | [`EasyBackfill`] | the head is promised a start; others may go first if that does not delay it | Lifka 1995; Mu'alem & Feitelson 2001 |
//!
//! # A policy in a simulation
//!
//! [`Cluster`] is a [`sim_core::Model`]: give it processors, a policy and jobs. Four processors and four jobs, of which
//! the second wants the whole machine while the first still runs:
//!
//! ```
//! use gap_schedule::{Cluster, Dispatch, EasyBackfill, Fcfs};
//! use sim_core::{Job, JobId, JobLog, Sim, Span, Time};
//!
//! fn starts(policy: impl Dispatch) -> Vec<Time> {
//!     let job = |id, submit, processors, runtime| {
//!         Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
//!     };
//!     let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 50), job(3, 3, 1, 200)];
//!     let cluster = Cluster::new(4, policy, jobs.into_iter());
//!     let (_, log) = Sim::new(cluster, JobLog::collecting()).run();
//!     let mut records = log.into_sink(); // in the order in which they finished
//!     records.sort_by_key(|record| record.job.id);
//!     records.iter().map(|record| record.start).collect()
//! }
//!
//! assert_eq!(starts(Fcfs), [0, 100, 110, 110].map(Time::from_secs));
//! // The third job ends before the second can start, so it need not wait. The fourth would not.
//! assert_eq!(starts(EasyBackfill::new()), [0, 100, 2, 110].map(Time::from_secs));
//! ```
//!
//! # Several machines
//!
//! [`Grid`] is the model of Klusáček, Rudová, Baraglia, Pasquali & Capannini, "Comparison of multi-criteria scheduling
//! techniques" (2008): machines of different size and speed behind one [`Scheduler`], each job on one of
//! them, of those that it may use ([`sim_core::Request::sites`]). The probes
//! [`Usage`] and [`Contention`] measure what that paper reports beside waits and deadlines.
//!
//! | scheduler | rule |
//! |---|---|
//! | [`GridFcfs`] | the head starts on the first machine with room, and blocks |
//! | [`GridEasy`] | the head is promised a start on the machine where it can start first; others go to the fastest with room |
//! | [`GridEasyScan`] | the same schedule at the cost that the paper measured |
//! | [`Backfill`] | as many jobs as its [`Depth`] says are promised a start: none, some, or all |
//! | [`Conservative`] | all jobs are promised a start, and none is put off: conservative backfilling, in both [orders of compression](CompressOrder) |
//! | [`GapFilling`] | Best Gap, BGT, Swift Gap: each job gets the best of the earliest gaps, and a search may move it |
//! | [`FlexibleBackfill`] | EASY over a queue sorted by age, deadline and length at each event |
//! | [`DeepFlexibleBackfill`] | the same with as many reservations as its [`Depth`] says |
//! | [`Planner`] with [`EgEdf`] | each job is planned on its arrival: in the earliest gap, else by its deadline |
//! | [`Planner`] with [`EgEdf`] and [`Tabu`] | the same, and late jobs are then moved into earlier gaps |
//!
//! ```
//! use gap_schedule::{Grid, GridEasy, Machine};
//! use sim_core::{Fact, Job, JobId, Sim, SiteId, Span, Time};
//!
//! let machines = vec![Machine { processors: 8, speed: 1.0 }, Machine { processors: 2, speed: 2.5 }];
//! let job = |id, processors| Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(100));
//! let jobs = [job(0, 2), job(1, 2)].into_iter();
//! let (_, told) = Sim::new(Grid::new(machines, GridEasy::default(), jobs), Vec::new()).run();
//!
//! assert_eq!(told[2].1, Fact::Started { job: JobId(0), site: SiteId(1), processors: 2 }); // the fast one
//! assert_eq!(told[3].1, Fact::Started { job: JobId(1), site: SiteId(0), processors: 2 });
//! assert_eq!(told[4], (Time::from_secs(40), Fact::Finished { job: JobId(0) }));
//! ```
//!
//! # Machines that fail
//!
//! [`Grid::with_outages`] takes failures and repairs as a stream, from a log or a distribution. Jobs that run on a machine
//! that fails lose their work, wait again behind all others, and start from the beginning. No scheduler knows when a
//! machine will be back: to all of them, something holds its processors that is expected to let go after the time that
//! repairs are said to take, and like a job may do so earlier, later, or, where nothing is said, at no known time.
//!
//! ```
//! use gap_schedule::{Grid, GridEasy, Machine};
//! use sim_core::{Job, JobId, JobLog, Outage, Sim, SiteId, Span, Time};
//!
//! // Every hour, for all time, the machine fails for a minute.
//! let hours = (1..).map(|hour| Time::from_secs(3_600 * hour));
//! let outages = hours.map(|down| Outage { site: SiteId(0), down, up: down + Span::from_secs(60) });
//! let job = Job::new(JobId(0), Time::from_secs(3_000), 8, Span::from_secs(1_800));
//! let grid = Grid::new(vec![Machine::new(8)], GridEasy::default(), [job].into_iter())
//!     .with_outages(outages)
//!     .with_repair_expected(Span::from_secs(60));
//! let (_, log) = Sim::new(grid, JobLog::collecting()).run();
//!
//! assert_eq!(log.counts().interrupted, 1); // after 600 s, which are lost
//! assert_eq!(log.sink()[0].start, Time::from_secs(3_660));
//! ```
//!
//! # A policy in your own simulator or scheduler
//!
//! A policy knows no clock and no events: it is shown a [`View`] and answers with the jobs to start. Keep a [`Queue`] and
//! a [`Running`] up to date as jobs come, start and go, and ask whenever something has changed:
//!
//! ```
//! use gap_schedule::{Dispatch, EasyBackfill, Queue, Running, RunningJob, View};
//! use sim_core::{JobId, Request, SiteSet, Span, Time};
//!
//! let request = |processors, estimate| Request {
//!     processors,
//!     estimate: Some(Span::from_secs(estimate)),
//!     deadline: None,
//!     sites: SiteSet::ALL,
//!     user: None,
//! };
//! let now = Time::from_secs(1_000);
//!
//! let mut running = Running::new();
//! running.insert(RunningJob::new(JobId(7), &request(6, 3_600), Time::from_secs(400)));
//!
//! let mut queue = Queue::new();
//! queue.push(JobId(8), request(8, 600)); // must wait for job 7, until 4000 s at the latest
//! queue.push(JobId(9), request(2, 3_000)); // ends just in time
//!
//! let view = View { now, free: 2, capacity: 8, queue: &queue, running: &running };
//! let mut starts = Vec::new();
//! EasyBackfill::new().dispatch(&view, &mut starts);
//! assert_eq!(starts, [JobId(9)]);
//!
//! // Now start it, and write down that it runs.
//! for job in starts {
//!     let waiting = queue.remove(job).expect("a policy starts waiting jobs");
//!     running.insert(RunningJob::new(job, &waiting.request, now));
//! }
//! # assert_eq!((queue.len(), running.len()), (1, 2));
//! ```
//!
//! Your own policy is an implementation of [`Dispatch`]; [`Cluster`] runs it like those above.
//!
//! # Estimates
//!
//! Policies see a job's [`sim_core::Request`], never its runtime. Three things may be wrong with an estimate, and
//! none stops a run:
//!
//! - *Too long*, as users' estimates are: the job ends early, and the next pass makes use of it.
//! - *Too short*: a job that outlives its estimate is expected to end at any moment, see [`Running::shadow`]. The head's
//!   promised start may then move, which is the price of an estimate that is no bound. Whoever wants jobs killed at
//!   their limit hands in jobs with `runtime = min(runtime, estimate)`.
//! - *Missing*: the job is admitted, and expected to run for ever. It starts in its turn, or on processors that the head
//!   of the queue will not need; no promise can rest on its end.
//!
//! A job wider than the pool, or than all machines that it may use, could never run: it is rejected on arrival, as [`sim_core::Rejection::TooWide`].

mod cluster;
mod correct;
mod dispatch;
mod grid;
mod plan;
mod planner;
mod policy;
mod predict;
mod queue;
pub mod reference;
mod running;

pub use cluster::{Cluster, Event, Passes};
pub use correct::{Corrector, Doubling, Expired, Increments, ToRequested};
pub use dispatch::{Dispatch, View};
pub use grid::{Contention, Grid, GridEvent, GridView, Machine, Scheduler, Usage, UsageOver};
pub use plan::{Edf, EgEdf, EgTies, Found, Gap, GapBound, Placed, Plan, PlanJob, PlannedJob, Score};
pub use plan::{Tabu, TabuChoice, TabuCounts, TabuMemory};
pub use planner::{Halt, Planner};
pub use policy::{
    Backfill, BackfillReadings, BackfillRule, Completion, CompressOrder, Conservative, DeepFlexibleBackfill, Depth,
    EasyBackfill, Fcfs, FlexibleBackfill, FlexibleConfig, GapFilling, GridEasy, GridEasyScan, GridFcfs, Minext, Moves,
    Placement, Weight,
};
pub use predict::{MeanOfUser, Predictor, Requested, TimesRequested};
pub use queue::{Least, Queue, Waiting, WaitingJobs};
pub use running::{Running, RunningJob, Shadow};
