//! Order of events at one instant.

/// Priority of an event among those of the same instant: the smallest goes first; among equals, the one posted earlier.
///
/// The priority belongs to the event's type ([`Prioritized`]), so a rule such as "processors are released before new
/// jobs arrive, and decisions come last" is written once per model. Priorities lie between 0 and 15; the four named
/// ones leave room for a model's own in between.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPriority(pub(crate) u8);

impl EventPriority {
    /// A job, a task or a reservation ends and its processors become free.
    pub const RELEASE: Self = Self(2);
    /// A job or a message arrives.
    pub const ARRIVE: Self = Self(6);
    /// A policy decides, once it has seen the whole instant.
    pub const DECIDE: Self = Self(10);

    /// Returns a priority of the model's own, 0 (first) to 15 (last).
    ///
    /// # Panics
    ///
    /// If `priority` is above 15.
    pub const fn new(priority: u8) -> Self {
        assert!(priority < 16, "a priority lies between 0 and 15");
        Self(priority)
    }
}

/// Event with a priority among simultaneous ones. Every event type implements it.
pub trait Prioritized {
    /// Priority of this event.
    fn priority(&self) -> EventPriority;
}
