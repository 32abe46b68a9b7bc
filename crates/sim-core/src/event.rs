//! The order of events at one instant.

/// Which of several simultaneous events happens first: the smaller rank; among equals, the one posted earlier.
///
/// The rank belongs to the event's type ([`Ranked`]), so a rule such as "processors are released before new jobs
/// arrive, and decisions come last" is written once per model and can be argued about. Ranks lie between 0 and 15;
/// the four named ones leave room for a model's own in between.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u8);

impl Rank {
    /// A job, a task or a reservation ends and its processors become free.
    pub const RELEASE: Self = Self(2);
    /// A job or a message comes in.
    pub const ARRIVE: Self = Self(6);
    /// A policy that wants to see the whole instant decides.
    pub const DECIDE: Self = Self(10);
    /// An observer looks, after all has been decided.
    pub const SAMPLE: Self = Self(14);

    /// A rank of the model's own, 0 (first) to 15 (last).
    ///
    /// # Panics
    ///
    /// If `rank` is above 15.
    pub const fn new(rank: u8) -> Self {
        assert!(rank < 16, "a rank lies between 0 and 15");
        Self(rank)
    }

    pub(crate) const fn as_u128(self) -> u128 {
        self.0 as u128
    }
}

/// Implemented by every event type: its place among simultaneous events.
pub trait Ranked {
    /// The rank of this event.
    fn rank(&self) -> Rank;
}
