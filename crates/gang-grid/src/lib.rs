//! Gangs and local jobs on a grid of sites.
//!
//! The model of S. K. Dimitriadou and H. D. Karatza, "Multi-Site Allocation Policies on a Grid and Local Level",
//! Electronic Notes in Theoretical Computer Science 261 (2010) 163–179. Sections below are the paper's.
//!
//! **World** (§2). Each site has processors, each processor a queue of its own. *Locals* need one processor and arrive at
//! a site. *Gangs* need several processors at once and arrive at the grid scheduler (GS), which either routes all
//! tasks of a gang to processors or keeps the gang in its own queue. A gang begins when all of its processors are free.
//! Each task frees its processor at its own end, and the gang ends with its last task.
//!
//! **Grid level** (§3.1, module `policy::grid`). Approach 1 routes a gang to one site: to idle processors, otherwise to
//! processors with empty queues. Approach 2 may also use idle processors of several sites together, approach 3 also
//! empty queues of several sites together; a gang that spans sites pays an overhead on its service time.
//! The GS scans its queue, the largest gang that fits first, when a job leaves and an empty queue remains.
//!
//! **Local level** (§3.2, module `policy::local`). A local joins a processor that can start it at once, otherwise the shortest
//! queue. On a processor that is kept idle for a waiting gang it may start if
//! `ServiceTime ≤ ElapsedTime + T` (1): if it ends before the gang can begin, within the threshold T.
//!
//! Each question that the paper leaves open is a named field of [`Readings`] (R1 … R18 of the specification in
//! `docs/papers/multi-site.md`). The paper's *elapsed time* is the time that remains until the gang can begin.
//!
//! # Example
//!
//! One site of four processors; a gang of four waits for a local to finish.
//!
//! ```
//! use gang_grid::{Approach, Config, Grid, Submission};
//! use sim_core::{Job, JobId, JobLog, Sim, SiteId, Span, Streams, Time};
//!
//! let config = Config::uniform(1, 4, Approach::One);
//! let local = Submission::local(JobId(0), Time::ZERO, SiteId(0), Span::from_secs(3));
//! let gang = Submission::gang(JobId(1), Time::from_secs(1), [2, 5, 4, 1].map(Span::from_secs));
//!
//! let grid = Grid::new(config, [local, gang].into_iter(), &Streams::new(1, 0)).expect("a valid configuration");
//! let (grid, log) = Sim::new(grid, JobLog::collecting()).run();
//!
//! let gang = log.sink().iter().find(|record| record.job.id == JobId(1)).expect("it ran");
//! assert_eq!(gang.start, Time::from_secs(3)); // with all four tasks, when the local has left
//! assert_eq!(gang.finish, Time::from_secs(8)); // with its longest task
//! assert_eq!(grid.counts().gangs_completed, 1);
//! ```

pub mod config;
mod gang;
mod policy;
pub mod processors;
mod world;

pub use config::{Approach, Config, Readings, Site};
pub use gang::Submission;
pub use sim_core::ConfigError;
pub use world::{Event, GangCounts, Grid};
