//! A metascheduler that predicts by simulation, over time-shared clusters that have local users.
//!
//! The model of J. Ll. Lérida, F. Solsona, F. Giné, M. Hanzich, P. Hernández and E. Luque, "MetaLoRaS: A Predictable
//! MetaScheduler for Non-dedicated Multiclusters". Sections below are the paper's. The paper measured a real testbed and
//! prints few numbers, so everything below the policies' formulas is a model of ours. The specification in
//! `docs/papers/metaloras.md` marks these parts. Each question that the paper leaves open is a named field of [`Readings`] (R1 … R12).
//!
//! **Clusters** (§2.1). A job has one task on each of a number of nodes of one cluster. Nodes are shared: a node runs up to
//! MPL parallel tasks, fewer beside local users, as far as its memory allows. CPU is shared max-min fairly among tasks and
//! users, each further task costs some more, and a job advances at the rate of its slowest task. In each cluster LoRaS keeps
//! a queue, first come first served, and gives a job the nodes with the least CPU demand.
//!
//! **Metascheduler** (§2.2, §2.3, [`policy`]). Jobs join an input queue, first in first out; a policy sends each to a cluster.
//!
//! | policy | sends a job to |
//! |---|---|
//! | [`Ffit`] | the first cluster where it can start now |
//! | [`Rr`] | each cluster in turn |
//! | [`Tat`] | the cluster with the smallest predicted turnaround, TR |
//! | [`Ptt`] | the cluster with the smallest `TR (W TR / MaxTR + (1 − W) LT / MaxLT)`, where LT counts nodes with local users |
//!
//! **Prediction** (§2.1). LoRaS predicts by simulating its cluster from its own knowledge: running jobs with their progress, waiting
//! jobs, and the run time of each application in isolation. The prediction uses the code of the real cluster, driven by profiles
//! instead of true run times, which it cannot access: see [`policy`].
//!
//! **Local users** (§3.1). Their slowdown is 1 + the CPU that parallel tasks use on their nodes, averaged over these nodes
//! and a window of time: [`MetaLoras::disturbance`].
//!
//! Terms: *turnaround* is the paper's word for response time, finish − submit. A *profile* is the run time of an application in isolation;
//! it is the estimate in a job's request.
//!
//! # Example
//!
//! Two clusters of two nodes, users in the first. The second job can start beside the users or beside the first job.
//!
//! ```
//! use metasched::{Cluster, Config, Demand, MetaLoras, Outcome, Ptt, SelectCluster, Submission, Tat, Weights};
//! use sim_core::{Job, JobId, Sim, Span, Streams, Time};
//!
//! let clusters = vec![Cluster { nodes: 2, speed: 1.0, memory: 1024 * 1024 }; 2];
//! let config = Config { clusters, ..Config::of_the_paper(1) };
//! let job = |id, submit| Submission {
//!     job: Job::new(JobId(id), Time::from_secs(submit), 2, Span::from_secs(100)),
//!     demand: Some(Demand::new(0.9, 100 * 1024)),
//! };
//!
//! let run = |policy: Box<dyn SelectCluster>| {
//!     let jobs = [job(0, 0), job(1, 10)].into_iter();
//!     let world = MetaLoras::new(config.clone(), policy, jobs, Vec::new(), &Streams::new(1, 0)).expect("valid");
//!     let (world, ()) = Sim::new(world, ()).run();
//!     let mut outcomes: Vec<Outcome> = world.outcomes().clone();
//!     outcomes.sort_by_key(|outcome| outcome.job);
//!     (outcomes[0].cluster.0, outcomes[1].cluster.0, outcomes[1].predicted.expect("a forecast").as_secs_f64().round())
//! };
//!
//! // The user takes 15 % of a CPU, the first job half of it, and more for sharing.
//! assert_eq!(run(Box::new(Tat::new(&config.readings))), (1, 0, 106.0));
//! assert_eq!(run(Box::new(Ptt::new(&config.readings, Weights::Same(0.0)))), (1, 1, 180.0));
//! ```
//!
//! # Beyond the paper
//!
//! Extensions that the paper leaves for the future (§4): [`Intrusiveness::Occupancy`] (PTT-occ) distinguishes evenly loaded clusters;
//! clusters differ in size and speed; any [`sim_core::Job`] is a [`Submission`]; and up to ten thousand clusters are possible.
//!
//! | item | holds |
//! |---|---|
//! | [`config`] | parameters and readings, each with its section |
//! | [`Submission`], [`Application`] | submissions, and the knowledge of a job before it has run |
//! | [`Loras`] | a cluster as its scheduler knows it |
//! | [`policy`] | selection of a cluster for a job |
//! | [`MetaLoras`], [`Event`] | events and their order |
//! | [`Outcome`] | outcome of a job, and of its prediction |

mod application;
pub mod config;
mod loras;
pub mod policy;
mod world;

pub use application::{Application, Demand, Submission};
pub use config::{Cluster, Config, LocalUsers, Readings};
pub use loras::Loras;
pub use loras::predictor::Prediction;
pub use policy::{Choice, Ffit, Intrusiveness, Ptt, Rr, SelectCluster, Tat, View, Weights};
pub use sim_core::ConfigError;
pub use world::{Event, MetaLoras, Outcome};
