//! The order of events at one instant.

/// Priority of an event among those of the same instant: the smallest goes first; among equals, the one posted earlier.
///
/// The priority belongs to the event's type ([`Prioritized`]), so a rule such as "processors are released before new jobs
/// arrive, and decisions come last" is written once per model and can be argued about. Priorities lie between 0 and 15;
/// the four named ones leave room for a model's own in between.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPriority(u8);

impl EventPriority {
    /// A job, a task or a reservation ends and its processors become free.
    pub const RELEASE: Self = Self(2);
    /// A job or a message comes in.
    pub const ARRIVE: Self = Self(6);
    /// A policy that wants to see the whole instant decides.
    pub const DECIDE: Self = Self(10);
    /// An observer looks, after all has been decided.
    pub const SAMPLE: Self = Self(14);

    /// A priority of the model's own, 0 (first) to 15 (last).
    ///
    /// # Panics
    ///
    /// If `priority` is above 15.
    pub const fn new(priority: u8) -> Self {
        assert!(priority < 16, "a priority lies between 0 and 15");
        Self(priority)
    }

    pub(crate) const fn as_u128(self) -> u128 {
        self.0 as u128
    }
}

/// An event with a priority among simultaneous ones: what every event type implements.
pub trait Prioritized {
    /// The priority of this event.
    fn priority(&self) -> EventPriority;
}
