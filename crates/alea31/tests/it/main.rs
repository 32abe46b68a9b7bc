//! Schedules of Alea 3.1 itself, and obvious twins of every policy.

mod common;
mod java;
mod obvious;
mod obvious_easy;
mod oracles;
mod twin;
