//! Exact model of the simulator Alea 3.1 of January 2016: jobs on clusters, EASY and conservative backfilling, Best
//! Gap, BGT and Swift Gap.
//!
//! Dakkak, Nor & Arif, "Scheduling Jobs through Gap Filling and Optimization Techniques in Computational Grid" (2017),
//! print that simulator's results for a public log. Reproducing the digits of their table requires its peculiarities: a
//! start-up of half a minute; jobs that start one after the other, 8 ms apart; run times with a second added; clusters
//! that notice an end at their next look; a reservation on a cluster that the job may not use. Comments name the origin
//! of each in Alea's source (repository aleasimulator/alea, folder Alea-3-1). The crate `gap-schedule` has these
//! policies without the peculiarities.
//!
//! In this crate a *cluster* is a pool of processors, and a *limit* is the requested time, at which a job is cut. Of a
//! [`sim_core::Job`], the estimate is the limit, the deadline the due date, and the sites are the clusters that it may
//! use: cluster 0 is the largest.
//!
//! | policy | rule |
//! |---|---|
//! | [`Easy`] | the head has a reservation on the cluster that frees enough processors first, suitable or not |
//! | [`Cons`] | each job is planned in the earliest gap of all clusters; early ends compress the plan of their cluster |
//! | [`GapFilling::best_gap`] | each cluster's earliest gap is tried, and the plans that result are compared |
//! | [`GapFilling::bgt`] | the same, and every 300 s random moves of jobs, kept if the plan is better |
//! | [`GapFilling::swift_gap`] | possible meanings of the paper's own policy, as [`Readings`] |
//!
//! A policy is an implementation of [`Policy`]: it sees the [`GridState`], with the requests of the jobs submitted so
//! far and the processors of the clusters. Only the world knows true run times.
//!
//! [`World`] is a [`sim_core::Model`], and [`World::run`] runs it:
//!
//! ```
//! use alea31::{Easy, Means, World};
//! use sim_core::{Job, JobId, Span, Time};
//!
//! let job = |id, submit, processors, runtime| {
//!     Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
//! };
//! let jobs = [job(0, 0, 4, 100), job(1, 200, 4, 50), job(2, 210, 4, 50)];
//! let records = World::new(&[4], Easy::default(), jobs).run();
//! assert_eq!(records[0].start, Time::from_nanos(29_249_600_000)); // the simulator starts up, and the job travels
//! assert_eq!(records[1].finish, Time::from_nanos(251_008_000_000)); // 50 s take 51
//! assert_eq!(records[2].start, Time::from_nanos(251_016_000_000));
//! assert_eq!(format!("{:.2}", Means::of(&records).wait), "23.42");
//! ```

mod cons;
mod easy;
mod gap_filling;
mod means;
mod plan;
mod readings;
mod state;
mod world;

pub use cons::Cons;
pub use easy::Easy;
pub use gap_filling::GapFilling;
pub use means::Means;
pub use readings::{Acceptance, Completion, Compression, Moves, Pick, Readings, Rounds, Suitability, Weight};
pub use state::{Clock, Cluster, GridState, JobIndex, JobRequest, executed_time, limit, work};
pub use world::{Event, Policy, World, start_up};
