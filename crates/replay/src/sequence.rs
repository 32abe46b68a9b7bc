//! A sequence diagram: who tells whom what, one message below the other.

use hier_grid::{Address, Message, Payload};
use lab::chart::{Sketch, SketchBox, Stroke, Words};
use sim_core::{JobId, Time};
use std::collections::BTreeMap;

/// More messages than this make no picture that anyone would read.
pub(crate) const DRAWN: usize = 300;

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

/// Lifelines of the nodes that speak, arrows from sender to receiver in the order of their sending, time at the left.
/// `None` if there are too many messages or nodes, or none at all.
pub(crate) fn diagram(
    id: String,
    title: String,
    messages: &[Message],
    name: impl Fn(Address) -> String,
) -> Option<Sketch> {
    let mut places: BTreeMap<Standing, f64> = BTreeMap::new();
    for message in messages {
        places.insert(Standing::of(message.from), 0.0);
        places.insert(Standing::of(message.to), 0.0);
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
    for (standing, &x) in &places {
        let points = vec![(x, TOP - 34.0), (x, bottom)];
        sketch.strokes.push(Stroke { points, slot: None, width: 0.8, dashed: true });
        let lines = name(standing.address()).splitn(2, ' ').map(str::to_owned).collect();
        let size = (step.min(96.0) - 6.0, 34.0);
        sketch.boxes.push(SketchBox { centre: (x, TOP - 51.0), size, lines, slot: None });
    }
    // Forwards are put together before they leave: an observer sees them early.
    let mut in_order: Vec<&Message> = messages.iter().collect();
    in_order.sort_by_key(|message| message.sent);
    let mut told = None;
    for (message, row) in in_order.into_iter().zip(0_u32..) {
        let y = TOP + ROW * (f64::from(row) + 0.6);
        let [from, to] = [message.from, message.to].map(|address| places[&Standing::of(address)]);
        let (what, slot) = (label(&message.payload), colour(&message.payload));
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

/// Where a node stands: work stations at the left, then schedulers from the root down, then servers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Standing(u8, u32);

impl Standing {
    const fn of(address: Address) -> Self {
        match address {
            Address::Station(station) => Self(0, station.0),
            Address::Scheduler(scheduler) => Self(1, scheduler.0),
            Address::Server(server) => Self(2, server.0),
        }
    }

    const fn address(self) -> Address {
        match self {
            Self(0, number) => Address::Station(hier_grid::StationId(number)),
            Self(1, number) => Address::Scheduler(hier_grid::SchedulerId(number)),
            Self(_, number) => Address::Server(hier_grid::ServerId(number)),
        }
    }
}

/// The kind of a message, and which jobs it is about.
fn label(payload: &Payload) -> String {
    let kind = kind(payload);
    match payload {
        Payload::Request { job, .. }
        | Payload::Forward { job, .. }
        | Payload::Started { job }
        | Payload::Offer { job }
        | Payload::Answer { job }
        | Payload::Accept { job }
        | Payload::Confirm { job }
        | Payload::Decline { job } => format!("{kind} {}", number(*job)),
        Payload::Block { jobs, .. }
        | Payload::Cancel { jobs, .. }
        | Payload::Cancelled { jobs, .. }
        | Payload::Returned { jobs } => format!("{kind} {}", numbers(jobs)),
        Payload::Discover { jobs, .. } => format!("{kind}: {jobs} raw"),
        Payload::Bags { bags, .. } => format!("{kind}: {}", bags.len()),
        Payload::Ports { bags } => format!("{kind}: {}", bags.len()),
        Payload::Rfjm { .. } | Payload::Rfc { .. } | Payload::Restarted => kind,
    }
}

/// As in a transcript.
fn kind(payload: &Payload) -> String {
    match payload {
        // The field's abbreviations, as in the paper.
        Payload::Rfjm { .. } => "RFJM".to_owned(),
        Payload::Rfc { .. } => "RFC".to_owned(),
        other => format!("{:?}", other.kind()).to_lowercase(),
    }
}

/// Asking, telling, pushing, taking back, running: one colour each.
const fn colour(payload: &Payload) -> usize {
    match payload {
        Payload::Request { .. } | Payload::Forward { .. } | Payload::Rfjm { .. } | Payload::Rfc { .. } => 0,
        Payload::Block { .. } | Payload::Confirm { .. } | Payload::Accept { .. } => 1,
        Payload::Discover { .. } | Payload::Bags { .. } | Payload::Ports { .. } => 2,
        Payload::Cancel { .. }
        | Payload::Cancelled { .. }
        | Payload::Returned { .. }
        | Payload::Decline { .. }
        | Payload::Restarted => 3,
        Payload::Started { .. } | Payload::Offer { .. } | Payload::Answer { .. } => 4,
    }
}

/// Jobs are counted from 1, as in the paper.
fn number(job: JobId) -> u32 {
    job.0 + 1
}

fn numbers(jobs: &[JobId]) -> String {
    match jobs {
        [] => "none".to_owned(),
        jobs if jobs.len() > 6 => format!("{} jobs", jobs.len()),
        jobs => jobs.iter().map(|job| number(*job).to_string()).collect::<Vec<_>>().join(" "),
    }
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
    use hier_grid::{SchedulerId, ServerId, StationId};

    fn message(from: Address, to: Address, payload: Payload) -> Message {
        Message { sent: Time::from_secs(1), arrives: Time::from_secs(2), from, to, payload }
    }

    #[test]
    fn each_node_that_speaks_has_a_lifeline_and_each_message_an_arrow_with_its_jobs() {
        let [station, root, server] =
            [Address::Station(StationId(4)), Address::Scheduler(SchedulerId(0)), Address::Server(ServerId(2))];
        let messages = [
            message(station, root, Payload::Request { job: JobId(0), hops: 3 }),
            message(server, station, Payload::Offer { job: JobId(0) }),
        ];
        let name = |address| format!("{address:?}");
        let sketch = diagram("m".to_owned(), "Messages".to_owned(), &messages, name).expect("few enough");
        assert_eq!(sketch.boxes.len(), 3);
        assert_eq!(sketch.strokes.len(), 3 + 2 * 2);
        let words: Vec<&str> = sketch.words.iter().map(|words| words.text.as_str()).collect();
        assert_eq!(words, ["request 1", "1000.0 ms", "offer 1"]);
    }

    #[test]
    fn what_nobody_could_read_is_not_drawn() {
        let one =
            message(Address::Station(StationId(0)), Address::Server(ServerId(0)), Payload::Answer { job: JobId(0) });
        let draw = |messages: &[Message]| diagram(String::new(), String::new(), messages, |_| String::new());
        assert!(draw(&[]).is_none());
        assert!(draw(&vec![one.clone(); DRAWN]).is_some());
        assert!(draw(&vec![one; DRAWN + 1]).is_none());
    }
}
