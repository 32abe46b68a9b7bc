//! Invariants of every workload, results of theory and of other simulators, and cases worked by hand.

mod backfill;
mod cases;
mod common;
mod conservative;
mod example;
mod flexible;
mod flexible_twin;
mod gap_filling;
mod grid_cases;
mod grid_common;
mod grid_invariants;
mod grid_usage;
mod oracles;
mod order;
mod ordered;
mod plan_twin;
mod planner;
mod predicted;
mod predictions;
mod published;
mod reasons;
mod theory;
