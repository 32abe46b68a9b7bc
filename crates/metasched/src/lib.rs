//! A metascheduler that predicts by simulation.

pub mod application;
pub mod config;
mod fate;
mod floor;
pub mod loras;
pub mod outcome;
pub mod policy;
mod predictor;
mod share;
mod users;
pub mod world;

pub use application::{Application, Demand, Submission};
pub use config::{Cluster, Config, ConfigError, LocalUsers, OnOff, Readings};
pub use floor::{Bound, LocalLoad};
pub use loras::Loras;
pub use outcome::{Ledger, Outcome};
pub use policy::{Choice, Ffit, Intrusiveness, Outlook, Ptt, Rr, SelectCluster, Tat, View, Weights};
pub use predictor::Prediction;
pub use world::{Event, MetaLoras};
