//! What holds for every workload, what theory and other simulators say, and cases small enough to check by hand.

mod cases;
mod common;
mod example;
mod invariants;
mod obvious;
mod oracles;
mod theory;
mod twin;
