//! Grid trees, peers and hybrids as message-passing systems.
//!
//! The model of S. Al-Zoubi and G. Wainer's work on hierarchical scheduling schemes for grid systems: self-discovery,
//! adaptive hierarchical scheduling (AHS), and the rescheduling algorithms butterfly, fallback and load-balance, compared
//! with peers that flood requests. Headings below are the paper's.
//!
//! **World** ("Communication Model", "Computational Resources"; [`world`], `network`). Sites of 15 nodes lie in nets, nets in
//! backbones. Some nodes are servers, parallel machines that run one job at a time on all of their CPUs. The others are
//! work stations, which submit jobs and hold their data. Messages take a latency; data flows share links.
//!
//! **Trees** ("Hierarchal Scheduling in Grid Systems"; [`tree`](world::tree)). Each site has a leaf scheduler (LGS), each level above it
//! has schedulers (GS), and the tree has a root (GSS). A hybrid consists of several trees whose roots (PGSS) are peers.
//!
//! **Discovery** ("Resource Discovery Stage"; `trees::discovery`). New jobs are *raw* and stay at the root. Servers without
//! work request matching (RFJM). The root passes the raw jobs down. Each LGS puts those that its servers can
//! run into *bags* and passes the bags up. Each distinct bag becomes a *channel* of the scheduler that receives it, with a *branch*
//! to every child that has that bag. The power of a channel is the number of CPUs behind it.
//!
//! **Selection** ("Resource Selection Stage"; `trees::selection`). An LGS with an idle server sends a request for
//! computation (RFC) up its channel. A scheduler marks the branch. If it can find jobs, it pushes the branch's share,
//! `⌈B_power / Σ C_power × N⌉` (formulas 1 and 2), as one block; otherwise it sends an RFC to its own parent. Jobs are collected in this
//! order: butterfly, unassigned jobs, load-balance.
//!
//! **Rescheduling.** *Butterfly* takes queued jobs back from siblings for a child that is nearer to their work stations.
//! *Load-balance* takes them from the sibling with the most queued jobs per CPU. *Fallback* (`trees::fallback`) returns jobs whose
//! resources are gone.
//!
//! **P2P** ("P2P System"; `peers`). Every server is a peer with a queue. A request floods the overlay, and
//! the nearest peer that can meet the deadline takes the job.
//!
//! Nodes act on the messages that they have received, which may be out of date. [`message`] lists every kind of message with its
//! sender, occasion and effect. A [`MessageObserver`] receives all of them. Each question that
//! the paper leaves open is a field of [`Readings`] (R1 … R16 of the specification in `docs/papers/hierarchical.md`).
//!
//! # Example
//!
//! One thousand jobs of 1 GB in the paper's world, under the hierarchical system and among peers:
//!
//! ```
//! use hier_grid::{Config, Grid, Kind, System};
//! use sim_core::{JobLog, JobRecord, Sim, Streams};
//!
//! fn mean_wait(system: System) -> f64 {
//!     let grid = Grid::new(Config::of_the_paper(system, 1000, 1.0), &Streams::new(2006, 0), ()).expect("valid");
//!     let (grid, log) = Sim::new(grid, JobLog::collecting()).run();
//!     assert_eq!(grid.is_at_rest(), Ok(()));
//!     assert_eq!(grid.counts().messages(Kind::Answer), 1000);
//!     let waits = log.sink().iter().map(|record| record.wait().as_secs_f64());
//!     waits.sum::<f64>() / 1000.0
//! }
//!
//! assert!(mean_wait(System::Trees(1)) < 0.5 * mean_wait(System::P2p));
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | parameters and readings, each with its source |
//! | [`world`] | sites, servers, work stations; classes of jobs, and bags of them; [schedulers](world::tree) and their children; latencies, flows and links; neighbours and the reach of a flood |
//! | [`message`] | every message; observers; events, and counters of a run |
//! | `fabric` | common to trees and peers: jobs, delivery, and a job's execution from the offer to the output |
//! | `trees`, `peers` | actions of schedulers and peers on each message; their knowledge, and the arithmetic of their decisions |
//! | [`grid`] | the model: sources of jobs, and their submission |

pub mod config;
mod fabric;
pub mod grid;
pub mod message;
mod peers;
mod trees;
pub mod world;

pub use config::{Algorithms, Config, Experiment, Readings, System};
pub use fabric::jobs::Submission;
pub use grid::Grid;
pub use message::{Address, Event, GridCounts, Kind, Message, MessageObserver, Payload};
pub use sim_core::ConfigError;
pub use world::shape::Shape;
pub use world::{Bag, Places, SchedulerId, ServerId, StationId, World};
