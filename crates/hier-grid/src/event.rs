//! Everything that can happen in a grid.

use crate::ids::{ServerId, StationId};
use crate::message::Envelope;
use sim_core::{EventPriority, Prioritized};

/// Everything that can happen.
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
    /// A server has waited in vain for an answer to its offer.
    OfferTimeout(ServerId),
    /// A server draws another operating system (experiment 4).
    Change(ServerId),
    /// A discovery ends whose messages were counted and not played.
    Discovered(u32),
    /// A work station without an offer resubmits its request to its peer.
    Resubmit,
}

/// Of what happens at one instant, servers and links become free first, then resources change, then messages arrive: a
/// scheduler that decides has then seen all that the instant frees.
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
