//! What all clusters are planned to do: [`Plan`].

use super::floor::Floor;
use super::lane::Lane;
use sim_core::{Span, Time};

/// A lane for each cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) lanes: Vec<Lane>,
    /// Of jobs that were sent, by their place in the floor.
    sent: Vec<Option<Sent>>,
}

/// What the plan said of a job when it was sent.
#[derive(Copy, Clone, Debug)]
struct Sent {
    end: Time,
    updates: u64,
}

impl Plan {
    /// Makes room for every cluster.
    pub(super) fn open(&mut self, floor: &Floor) {
        self.lanes.resize_with(floor.clusters().len(), Lane::default);
        self.sent.resize(floor.jobs().len(), None);
    }

    /// Brings every lane up to date.
    pub(super) fn update(&mut self, now: Time, floor: &Floor) {
        for (cluster, lane) in self.lanes.iter_mut().enumerate() {
            lane.update(cluster, now, floor);
        }
    }

    /// Takes out the job to send next: the first of the first lane whose first has room.
    pub(super) fn select(&mut self, floor: &Floor) -> Option<(usize, usize)> {
        let has_room = |(cluster, lane): &(usize, &Lane)| {
            let first = lane.jobs().first();
            first.is_some_and(|job| floor.job(*job).processors() <= floor.clusters()[*cluster].free())
        };
        let (cluster, lane) = self.lanes.iter().enumerate().find(has_room)?;
        let start = lane.first_start().expect("a lane that holds a job was brought up to date");
        let updates = lane.updates();
        let job = self.lanes[cluster].remove(0);
        self.sent[job] = Some(Sent { end: start + floor.job(job).planned_time(), updates });
        Some((job, cluster))
    }

    /// How much earlier than expected a job has ended that started at `start`. What is expected was last written down when
    /// its lane was brought up to date: before it was sent, or while it ran.
    pub(super) fn early(&mut self, job: usize, cluster: usize, start: Time, now: Time, floor: &Floor) -> Span {
        let sent = self.sent[job].take().expect("a job that ends was sent");
        let is_newer = self.lanes[cluster].updates() > sent.updates;
        let expected = if is_newer { start + floor.job(job).limit() } else { sent.end };
        expected.saturating_since(now)
    }

    /// Says that what runs on `cluster` has changed.
    pub(super) fn spoil(&mut self, cluster: usize) {
        if let Some(lane) = self.lanes.get_mut(cluster) {
            lane.spoil();
        }
    }
}
