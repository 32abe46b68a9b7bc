//! Invariants of every workload, comparisons with a slow twin and with theory, and cases small enough to check by hand.

mod cases;
mod chance;
mod common;
mod generator;
mod invariants;
mod scale;
mod theory;
mod twin;
