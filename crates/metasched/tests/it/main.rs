//! The checks of the specification, invariants of every world, comparisons with a slow twin, and cases small enough to check by
//! hand.

mod beyond;
mod cases;
mod checks;
mod common;
mod generator;
mod invariants;
mod obvious;
mod twin;
