//! The first draws of a stream.

use rand::RngExt;
use sim_core::{Purpose, Streams};

/// The first draws are part of every published result: if this test fails, all numbers move. No part of the address is zero.
#[test]
fn value_stability() {
    let mut stream = Streams::new(42, 3).stream(Purpose("arrivals"), 5);
    let first: [u64; 3] = std::array::from_fn(|_| stream.random());
    assert_eq!(first, [13_213_038_792_397_472_590, 3_584_132_374_455_189_842, 9_037_029_718_299_005_527]);
}
