//! Grid trees, peers and hybrids as message-passing systems: who tells whom what, and which job runs where.
//!
//! The model of S. Al-Zoubi and G. Wainer's work on hierarchical scheduling schemes for grid systems: self-discovery,
//! adaptive hierarchical scheduling (AHS), and the rescheduling algorithms butterfly, fallback and load-balance, compared
//! with peers that flood requests. Headings below are the paper's.
//!
//! **World** ("Communication Model", "Computational Resources"; [`world`], `network`). Sites of 15 nodes lie in nets, nets in
//! backbones. Some nodes are servers, parallel machines that run one job at a time on all of their CPUs; the others are
//! work stations, which submit jobs and hold their data. Messages cost latency; data flows share links.
//!
//! **Trees** ("Hierarchal Scheduling in Grid Systems"; [`tree`]). Each site has a leaf scheduler (LGS), every level above it
//! schedulers (GS), the whole a root (GSS). A hybrid is several trees whose roots (PGSS) are peers.
//!
//! **Discovery** ("Resource Discovery Stage"; `grid::discovery`). New jobs are *raw* and stay at the root. When servers
//! below run out of work they ask for matching (RFJM). The root passes the raw jobs down; each LGS puts those that its servers can
//! run into *bags* and passes them up. Each different bag becomes a *channel* of the scheduler that gets it, with a *branch*
//! to every child that has that bag, and the CPUs behind it as its power.
//!
//! **Selection** ("Resource Selection Stage"; `grid::selection`). An LGS with an idle server sends a request for
//! computation (RFC) up its channel. A scheduler marks the branch. If it can find jobs it pushes the branch's share,
//! `⌈B_power / Σ C_power × N⌉` (formulas 1 and 2), as one block; if not, it asks its own parent. Jobs are collected in this
//! order: butterfly, unassigned jobs, load-balance.
//!
//! **Rescheduling.** *Butterfly* takes queued jobs back from siblings for a child that is nearer to their work stations.
//! *Load-balance* takes them from the sibling with most queued jobs per CPU. *Fallback* (`grid::fallback`) returns jobs whose
//! resources have gone.
//!
//! **P2P** ("P2P System"; `grid::peers`). Every server is a peer with a queue. A request floods the overlay, and
//! the nearest peer that can meet the deadline takes the job.
//!
//! Nodes act on what they were told, not on what is true: [`message`] lists every kind of message, who sends it, when, and what the
//! receiver does. A run can be recorded by a [`Witness`] and replayed ([`Replay`]). What the paper leaves open is a named
//! field of [`Readings`] (R1 … R16 of the specification in `docs/papers/hierarchical.md`). With [`Faults`] messages get lost
//! and schedulers crash.
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
//!     assert_eq!(grid.tally().messages(Kind::Answer), 1000);
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
//! | [`world`] | sites, servers, work stations; classes of jobs, and bags of them |
//! | [`tree`] | schedulers and their children; how a tree is cut into several |
//! | [`message`] | every message; witnesses, transcripts, replays |
//! | `network`, `overlay` | latencies, flows and links; neighbours, and how far a flood gets |
//! | `queue`, `books`, `desk` | jobs in order; where a scheduler has pushed them; what else it knows, and the arithmetic of its decisions |
//! | `jobs` | jobs on their way, and the work stations that submit them |
//! | [`grid`] | events, and what happens: discovery, selection, fallback, leaves, peers, execution, faults |
//! | [`faults`] | a transport over a network that loses messages |
//! | [`tally`] | what is counted |

mod books;
pub mod config;
mod desk;
pub mod faults;
pub mod grid;
mod jobs;
pub mod message;
mod network;
mod overlay;
mod post;
mod queue;
pub mod tally;
pub mod tree;
pub mod world;

pub use config::{Algorithms, Config, ConfigError, Experiment, Readings, System};
pub use faults::Faults;
pub use grid::{Event, Grid};
pub use jobs::Submission;
pub use message::{Address, Family, Kind, Message, Payload, Replay, Witness};
pub use tally::Tally;
pub use tree::{SchedulerId, Shape};
pub use world::{Bag, Places, ServerId, StationId, World};
