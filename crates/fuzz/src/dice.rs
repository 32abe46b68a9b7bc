//! Choices drawn from bytes: the same bytes, the same input.

use arbitrary::Unstructured;
use rand::{Rng, RngExt};
use sim_core::{Purpose, Streams};

/// Draws choices from bytes; where they have run out, every choice is the first one, so that shorter bytes make smaller
/// inputs.
pub(crate) struct Dice<'a>(Unstructured<'a>);

impl<'a> Dice<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// A number below `end`, which is at least 1.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.int_in_range(0..=end - 1).unwrap_or(0)
    }

    /// Whether something happens that does once in `many` times; never, once the bytes have run out.
    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Any byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }
}

/// Replaces `bytes` by those of a case: few or many, at random.
pub(crate) fn fill(bytes: &mut Vec<u8>, target: &'static str, seed: u64, case: u64) {
    let part = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("masked");
    let (high, low) = (part(case >> 32), part(case));
    let mut stream = Streams::new(seed, high).stream(Purpose(target), low);
    // Each length from 16 bytes to 4 KiB as likely as its double: small inputs are quick, and find most.
    let most = 16_usize << stream.random_range(0..=8_u32);
    bytes.resize(stream.random_range(most / 2..=most), 0);
    stream.fill_bytes(bytes);
}
