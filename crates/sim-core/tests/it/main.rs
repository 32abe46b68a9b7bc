//! Tests of the core: against slow twins, against theory, and on every sample path.

mod calendar;
mod facts;
mod profile;
mod sim;
mod theory;
mod time;
