//! Random numbers: one portable generator per purpose.
//!
//! A stream is addressed by its purpose. Each sampler owns its stream, so adding a draw in one place moves no number
//! elsewhere. Compared policies see the same workload, since the policy is no part of the address.

use rand::SeedableRng;
use rand_pcg::Pcg64Dxsm;
use sha2::{Digest, Sha256};

/// Generator behind every sampler: PCG-64 DXSM, the same bits on every machine.
pub type Stream = Pcg64Dxsm;

/// Purpose of a stream, in words: `Purpose("gang sizes")`. Different words give independent streams.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Purpose(pub &'static str);

/// Streams of one replication.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    /// Seed that identifies the experiment.
    pub seed: u64,
    /// Number of the replication.
    pub replication: u32,
}

impl Streams {
    /// Returns the streams of replication number `replication` of the experiment that `seed` identifies.
    pub const fn new(seed: u64, replication: u32) -> Self {
        Self { seed, replication }
    }

    /// Returns the stream for `purpose`, the `index`-th of its kind (a site, a machine, a user; 0 if there is one).
    ///
    /// The generator is seeded from a hash of the whole address, because PCG streams that differ in few bits of their
    /// state correlate.
    pub fn stream(&self, purpose: Purpose, index: u32) -> Stream {
        let address = Sha256::new()
            .chain_update(self.seed.to_le_bytes())
            .chain_update(self.replication.to_le_bytes())
            .chain_update(index.to_le_bytes())
            .chain_update(purpose.0.as_bytes())
            .finalize();
        Stream::from_seed(address.into())
    }
}
