//! Integration tests of the crate `workload`.

mod alea31;
mod convert;
mod data;
mod deadline_mix;
mod deadlines;
mod errors;
mod estimates;
mod example;
mod gzip;
mod inspect;
mod intake;
mod machines;
mod model;
mod reading;
mod real_logs;
mod resample;
mod round_trip;
mod sacct;
mod validate;
