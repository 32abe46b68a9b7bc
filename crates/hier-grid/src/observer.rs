//! Listening to messages.

use crate::message::Message;

/// Sees every message as it is sent. It cannot answer: watching changes nothing.
pub trait MessageObserver {
    /// Whether it looks at all. If not, messages are not even put together.
    const ENABLED: bool = true;

    /// A message leaves.
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
