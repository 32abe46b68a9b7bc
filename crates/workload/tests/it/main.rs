//! Integration tests of the crate `workload`.

mod alea31;
mod data;
mod deadline_mix;
mod errors;
mod example;
mod gang_mix;
mod gzip;
mod intake;
mod machines;
mod reading;
mod real_logs;
mod round_trip;
