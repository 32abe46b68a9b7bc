//! A run as a sequence of messages: written, read, replayed.

use crate::common::small;
use hier_grid::{Message, Replay};
use proptest::prelude::*;

fn lines(messages: &[Message]) -> String {
    messages.iter().map(|message| serde_json::to_string(message).expect("plain data") + "\n").collect()
}

fn read(text: &str) -> impl Iterator<Item = Message> {
    text.lines().map(|line| serde_json::from_str(line).expect("what was written"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_transcript_can_be_written_read_and_replayed(small in small()) {
        let (grid, _) = small.finish(Vec::new(), ());
        let text = lines(grid.observer());
        let (replayed, _) = small.finish(Replay::new(read(&text)), ());
        let seen = replayed.into_observer().finish();
        prop_assert_eq!(seen, Ok(grid.observer().len() as u64));
    }

    #[test]
    fn a_replay_names_the_first_message_that_differs(small in small(), at in any::<prop::sample::Index>()) {
        let (grid, _) = small.finish(Vec::new(), ());
        let mut messages = grid.observer().clone();
        let at = at.index(messages.len());
        messages.remove(at);
        let (replayed, _) = small.finish(Replay::new(messages.iter().cloned()), ());
        let divergence = replayed.into_observer().finish().expect_err("a message is missing");
        // Equal neighbours would hide where one of them was taken out.
        let same = (at..messages.len()).take_while(|i| messages[*i] == grid.observer()[*i]).count();
        prop_assert_eq!(divergence.number, (at + same + 1) as u64);
    }
}

#[test]
fn a_message_is_one_line_that_a_person_can_read() {
    let message = r#"{"sent":5,"arrives":7,"from":{"scheduler":3},"to":{"scheduler":1},"kind":"rfc","bag":2,"wants":2,"ticket":4}"#;
    let read: Message = serde_json::from_str(message).expect("a message");
    assert_eq!(serde_json::to_string(&read).expect("plain data"), message);
}
