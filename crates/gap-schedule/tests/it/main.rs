//! What holds for every workload, what theory and other simulators say, and cases small enough to check by hand.

mod alea31_common;
mod alea31_obvious;
mod alea31_oracles;
mod alea31_twin;
mod cases;
mod common;
mod example;
mod grid_cases;
mod grid_common;
mod grid_invariants;
mod invariants;
mod obvious;
mod oracles;
mod plan;
mod plan_common;
mod plan_tabu;
mod plan_twin;
mod planner;
mod theory;
mod twin;
