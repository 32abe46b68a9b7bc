//! Tests of the core: against slow twins, against theory, and on every sample path.

mod calendar;
mod facts;
mod gauge;
mod profile;
mod sim;
mod sites;
mod stream;
mod theory;
mod time;
