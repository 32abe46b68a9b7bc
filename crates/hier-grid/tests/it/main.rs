//! The checks of the specification, the paper's own examples, and invariants of every small world.

mod common;
mod examples;
mod invariants;
mod paper;
mod twin;
