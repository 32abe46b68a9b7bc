//! A sequence diagram: who tells whom what, one message below the other.

use super::{Sketch, SketchBox, Stroke, Words};
use sim_core::Time;
use std::collections::BTreeMap;

/// More messages than this make no picture that anyone would read.
const DRAWN: usize = 300;

/// More nodes than this do not stand side by side.
const ABREAST: usize = 16;

/// From one message to the next, in CSS pixels.
const ROW: f64 = 17.0;

/// Where the first message is.
const TOP: f64 = 108.0;

/// Where lifelines begin, right of the times.
const LEFT: f64 = 74.0;

/// As wide as a report shows pictures.
const WIDTH: f64 = 890.0;

/// One message from one node to another.
#[derive(Clone, Debug)]
pub struct Arrow<N> {
    /// When it is sent.
    pub sent: Time,
    /// The sender.
    pub from: N,
    /// The receiver.
    pub to: N,
    /// What it says, in a few words.
    pub text: String,
    /// Its colour, as that of the series of a chart.
    pub slot: usize,
}

/// Lifelines of the nodes that speak, in their order, arrows from sender to receiver in the order of their sending, time at
/// the left. `None` if there are too many messages or nodes, or none at all.
pub fn sequence<N: Copy + Ord>(
    id: String,
    title: String,
    messages: &[Arrow<N>],
    name: impl Fn(N) -> String,
) -> Option<Sketch> {
    let mut places: BTreeMap<N, f64> = BTreeMap::new();
    for message in messages {
        places.insert(message.from, 0.0);
        places.insert(message.to, 0.0);
    }
    if messages.is_empty() || messages.len() > DRAWN || places.len() > ABREAST {
        return None;
    }
    let step = ((WIDTH - LEFT) / rows(places.len())).min(150.0);
    for (place, k) in places.values_mut().zip(0_u32..) {
        *place = LEFT + step * (f64::from(k) + 0.5);
    }
    let bottom = TOP + ROW * rows(messages.len());
    let mut sketch = Sketch {
        id,
        title,
        about: format!("{} messages between {} nodes, in the order of their sending", messages.len(), places.len()),
        size: Some((WIDTH, bottom + 12.0)),
        ..Sketch::default()
    };
    for (&node, &x) in &places {
        let points = vec![(x, TOP - 34.0), (x, bottom)];
        sketch.strokes.push(Stroke { points, slot: None, width: 0.8, dashed: true });
        let lines = name(node).splitn(2, ' ').map(str::to_owned).collect();
        let size = (step.min(96.0) - 6.0, 34.0);
        sketch.boxes.push(SketchBox { centre: (x, TOP - 51.0), size, lines, slot: None });
    }
    // Forwards are put together before they leave: a witness sees them early.
    let mut in_order: Vec<&Arrow<N>> = messages.iter().collect();
    in_order.sort_by_key(|message| message.sent);
    let mut told = None;
    for (message, row) in in_order.into_iter().zip(0_u32..) {
        let y = TOP + ROW * (f64::from(row) + 0.6);
        let [from, to] = [message.from, message.to].map(|node| places[&node]);
        let (what, slot) = (message.text.clone(), message.slot);
        let ahead = if to < from { -1.0 } else { 1.0 };
        let arrow = vec![(from, y), (to, y)];
        sketch.strokes.push(Stroke { points: arrow, slot: Some(slot), width: 1.2, dashed: false });
        let head = vec![(to - 6.0 * ahead, y - 3.0), (to, y), (to - 6.0 * ahead, y + 3.0)];
        sketch.strokes.push(Stroke { points: head, slot: Some(slot), width: 1.2, dashed: false });
        sketch.words.push(Words { at: (from.min(to) + 7.0, y - 3.0), text: what, size: 9.5, slot: Some(slot) });
        if told != Some(message.sent) {
            told = Some(message.sent);
            sketch.words.push(Words { at: (8.0, y + 3.0), text: clock(message.sent), size: 9.5, slot: None });
        }
    }
    Some(sketch)
}

/// Milliseconds at first, then seconds.
fn clock(at: Time) -> String {
    let seconds = at.as_secs_f64();
    if seconds < 10.0 { format!("{:.1} ms", 1e3 * seconds) } else { format!("{seconds:.4} s") }
}

fn rows(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a few hundred"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: u8, to: u8, text: &str) -> Arrow<u8> {
        Arrow { sent: Time::from_secs(1), from, to, text: text.to_owned(), slot: 0 }
    }

    #[test]
    fn each_node_that_speaks_has_a_lifeline_and_each_message_an_arrow_with_its_words() {
        let messages = [message(0, 1, "request 1"), message(2, 0, "offer 1")];
        let name = |node| format!("node {node}");
        let sketch = sequence("m".to_owned(), "Messages".to_owned(), &messages, name).expect("few enough");
        assert_eq!(sketch.boxes.len(), 3);
        assert_eq!(sketch.strokes.len(), 3 + 2 * 2);
        let words: Vec<&str> = sketch.words.iter().map(|words| words.text.as_str()).collect();
        assert_eq!(words, ["request 1", "1000.0 ms", "offer 1"]);
    }

    #[test]
    fn too_many_messages_and_none_are_not_drawn() {
        for (count, is_drawn) in [(0, false), (DRAWN, true), (DRAWN + 1, false)] {
            let messages = vec![message(0, 1, "answer 1"); count];
            let sketch = sequence(String::new(), String::new(), &messages, |_| String::new());
            assert_eq!(sketch.is_some(), is_drawn, "{count}");
        }
    }
}
