//! Decisions at the two levels of scheduling, which the `world` carries out.

pub(crate) mod grid;
pub(crate) mod local;

use crate::gang::Gang;
use crate::processors::{GangKey, Processors};
use rand::{Rng, RngExt};
use sim_core::Time;
use slab::Slab;

/// Information that the schedulers may use.
#[derive(Copy, Clone, Debug)]
pub(crate) struct GangView<'a> {
    pub(crate) now: Time,
    pub(crate) processors: &'a Processors,
    pub(crate) gangs: &'a Slab<Gang>,
}

impl<'a> GangView<'a> {
    pub(crate) fn gang(&self, key: GangKey) -> &'a Gang {
        &self.gangs[key.0 as usize]
    }
}

/// A random number below `bound`, the same on machines of any word size.
#[expect(clippy::cast_possible_truncation, reason = "below a bound that is a usize")]
fn below(bound: usize, rng: &mut impl Rng) -> usize {
    rng.random_range(0..bound as u64) as usize
}

/// Returns a random element; draws only if there is more than one.
fn pick<T: Copy>(from: &[T], rng: &mut impl Rng) -> Option<T> {
    match from {
        [] => None,
        [only] => Some(*only),
        _ => Some(from[below(from.len(), rng)]),
    }
}
