//! The way of a channel up to its parent: when a request for computation (RFC) goes up, and when it is answered.

use crate::message::Payload;
use crate::world::Bag;

/// The request of one channel, of an LGS or of a scheduler above. At most one is out; should more classes be wanted, it is sent
/// again under its number.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uplink {
    /// Whether the parent has bound the channel: RFCs may go up.
    pub(crate) port: bool,
    /// The RFC that is out, by number; 0 if none is.
    ticket: u32,
    asked: Bag,
}

impl Uplink {
    /// The RFC to be sent for these classes; `None` without a port, or if the one that is out asks for all of them.
    pub(crate) fn ask(&mut self, bag: Bag, wants: Bag, tickets: &mut u32) -> Option<Payload> {
        if !self.port || wants.without(self.asked).is_empty() {
            return None;
        }
        if self.ticket == 0 {
            *tickets += 1;
            self.ticket = *tickets;
        }
        self.asked = self.asked.with(wants);
        Some(Payload::Rfc { bag, wants: self.asked, ticket: self.ticket })
    }

    /// A block has arrived. One that answers an older RFC, from before the channel was broken, leaves this one open.
    pub(crate) fn answered(&mut self, ticket: u32) {
        if self.ticket == ticket {
            (self.ticket, self.asked) = (0, Bag::EMPTY);
        }
    }

    pub(crate) const fn is_asking(&self) -> bool {
        self.ticket != 0
    }
}
