//! Grid trees, peers and hybrids as message-passing systems.

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
pub use message::{Address, Kind, Message, Payload, Replay, Witness};
pub use tally::Tally;
pub use tree::{SchedulerId, Shape};
pub use world::{Bag, Places, ServerId, StationId, World};
