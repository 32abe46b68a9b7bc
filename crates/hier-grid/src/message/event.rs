//! Events of a grid.

use crate::message::Envelope;
use crate::world::{SchedulerId, ServerId, StationId};
use sim_core::{EventPriority, Prioritized};

/// Event of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message arrives.
    Deliver(Envelope),
    /// A work station's think time is over.
    Due(StationId),
    /// The next job of a log is submitted.
    Submit,
    /// A data transfer has ended.
    Transferred(u32),
    /// A server has run its job.
    Ran(ServerId),
    /// The timeout of a server's offer has expired.
    OfferTimeout(ServerId),
    /// A server draws another operating system (experiment 4).
    Change(ServerId),
    /// End of a discovery from this root whose messages were counted without being simulated.
    Discovered(SchedulerId),
    /// A work station without an offer resubmits its request to its peer.
    Resubmit,
}

/// At one instant, servers and links become free first, then resources change, then messages arrive. A
/// scheduler that decides has therefore seen everything that the instant frees.
impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Transferred(_) | Self::Ran(_) | Self::OfferTimeout(_) => EventPriority::RELEASE,
            Self::Change(_) => EventPriority::new(4),
            Self::Deliver(_) | Self::Due(_) | Self::Submit | Self::Discovered(_) | Self::Resubmit => {
                EventPriority::ARRIVE
            }
        }
    }
}
