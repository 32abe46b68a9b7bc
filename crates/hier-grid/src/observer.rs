//! Listening to messages: observers, transcripts, and replays that compare a run with one.

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

/// A transcript.
impl MessageObserver for Vec<Message> {
    fn observe(&mut self, message: Message) {
        self.push(message);
    }
}

/// Two observers see the same.
impl<A: MessageObserver, B: MessageObserver> MessageObserver for (A, B) {
    const ENABLED: bool = A::ENABLED || B::ENABLED;

    fn observe(&mut self, message: Message) {
        self.0.observe(message.clone());
        self.1.observe(message);
    }
}

/// An observer that may be missing.
impl<W: MessageObserver> MessageObserver for Option<W> {
    const ENABLED: bool = W::ENABLED;

    fn observe(&mut self, message: Message) {
        if let Some(observer) = self {
            observer.observe(message);
        }
    }
}

/// Checks a run against the transcript of another: a replay.
///
/// Run the same model again with this as its observer. It compares message by message, so that the first one that differs
/// is known; a run that sends what the transcript holds, and nothing else, is the same run.
#[derive(Clone, Debug)]
pub struct Replay<I> {
    expected: I,
    seen: u64,
    divergence: Option<Box<Divergence>>,
}

/// Where a run departs from a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Which message, counted from 1.
    pub number: u64,
    /// What the transcript holds; `None` if it ends there.
    pub expected: Option<Message>,
    /// What the run sent; `None` if it ends there.
    pub found: Option<Message>,
}

impl<I: Iterator<Item = Message>> Replay<I> {
    /// Compares with these messages.
    pub fn new(expected: I) -> Self {
        Self { expected, seen: 0, divergence: None }
    }

    /// How many messages were the same, once the run is over.
    ///
    /// # Errors
    ///
    /// The first message that differs, or that one of the two lacks.
    pub fn finish(mut self) -> Result<u64, Box<Divergence>> {
        if self.divergence.is_none()
            && let Some(expected) = self.expected.next()
        {
            self.divergence =
                Some(Box::new(Divergence { number: self.seen + 1, expected: Some(expected), found: None }));
        }
        self.divergence.map_or(Ok(self.seen), Err)
    }
}

impl<I: Iterator<Item = Message>> MessageObserver for Replay<I> {
    fn observe(&mut self, message: Message) {
        if self.divergence.is_some() {
            return;
        }
        let expected = self.expected.next();
        self.seen += 1;
        if expected.as_ref() != Some(&message) {
            self.divergence = Some(Box::new(Divergence { number: self.seen, expected, found: Some(message) }));
        }
    }
}
