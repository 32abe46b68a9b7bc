//! The checks of the specification, the paper's own examples, and what holds for every small world.

mod common;
mod examples;
mod invariants;
mod paper;
mod twin;
