//! Link of a channel to its parent: sending and answering of a request for computation (RFC).

use crate::message::Payload;
use crate::world::Bag;

/// Request of one channel, of an LGS or of a scheduler above. At most one is open; if more classes are wanted, it is sent
/// again under its number.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uplink {
    /// True if the parent has bound the channel: RFCs may go up.
    pub(crate) port: bool,
    /// Number of the open RFC; 0 if none is open.
    ticket: u32,
    asked: Bag,
}

impl Uplink {
    /// The RFC to send for these classes; `None` without a port, or if the open one covers all of them.
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

    /// Handles the arrival of a block. One that answers an older RFC, from before the channel was broken, leaves this one open.
    pub(crate) fn answered(&mut self, ticket: u32) {
        if self.ticket == ticket {
            (self.ticket, self.asked) = (0, Bag::EMPTY);
        }
    }
}
