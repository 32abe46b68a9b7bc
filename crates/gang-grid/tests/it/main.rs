//! What holds for every workload, what a slow twin and theory say, and cases small enough to check by hand.

mod cases;
mod chance;
mod common;
mod generator;
mod invariants;
mod scale;
mod theory;
mod twin;
