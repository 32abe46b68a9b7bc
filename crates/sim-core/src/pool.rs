//! Space-shared processors without identity.

/// `capacity` processors, of which some are free.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    capacity: u32,
    free: u32,
}

impl Pool {
    /// Returns a pool of `capacity` processors, all free.
    pub const fn new(capacity: u32) -> Self {
        Self { capacity, free: capacity }
    }

    /// Total number of processors.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Processors that are free now.
    pub const fn free(&self) -> u32 {
        self.free
    }

    /// Processors that are busy now.
    pub const fn busy(&self) -> u32 {
        self.capacity - self.free
    }

    /// Seizes `processors` if they are free; otherwise returns false and changes nothing.
    #[must_use = "false means that nothing was seized"]
    pub const fn try_seize(&mut self, processors: u32) -> bool {
        if processors > self.free {
            return false;
        }
        self.free -= processors;
        true
    }

    /// Releases `processors`.
    ///
    /// # Panics
    ///
    /// If more are released than were seized.
    pub const fn release(&mut self, processors: u32) {
        assert!(processors <= self.busy(), "more processors were released than were busy");
        self.free += processors;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "more processors were released")]
    fn no_more_is_released_than_was_seized() {
        Pool::new(4).release(1);
    }
}
