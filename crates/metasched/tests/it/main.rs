//! The checks of the specification, what holds for every world, what a slow twin says, and cases small enough to check by
//! hand.

mod beyond;
mod cases;
mod chance;
mod checks;
mod common;
mod generator;
mod invariants;
mod obvious;
mod twin;
