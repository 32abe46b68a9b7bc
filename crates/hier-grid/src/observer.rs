//! Observation of messages.

use crate::message::Message;

/// Sees every message as it is sent. It cannot change the run.
pub trait MessageObserver {
    /// True if it looks at messages. Otherwise they are not built.
    const ENABLED: bool = true;

    /// Receives a message at the time it is sent.
    fn observe(&mut self, message: Message);
}

impl MessageObserver for () {
    const ENABLED: bool = false;

    fn observe(&mut self, _: Message) {}
}

impl MessageObserver for Vec<Message> {
    fn observe(&mut self, message: Message) {
        self.push(message);
    }
}
