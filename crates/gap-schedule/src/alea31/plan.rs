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

    /// How many jobs wait.
    pub(super) fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    /// The cluster and the place of a job that waits.
    pub(super) fn find(&self, job: usize) -> (usize, usize) {
        let place = |lane: &Lane| lane.jobs().position(|other| other == job);
        let mut lanes = self.lanes.iter().enumerate();
        lanes.find_map(|(cluster, lane)| Some((cluster, place(lane)?))).expect("the job waits")
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
            let first = lane.jobs().next();
            first.is_some_and(|job| floor.job(job).processors() <= floor.clusters()[*cluster].free())
        };
        let (cluster, lane) = self.lanes.iter().enumerate().find(has_room)?;
        let (job, start) = lane.planned().next().expect("a job that has room");
        let updates = lane.updates();
        self.lanes[cluster].remove(0);
        self.spoil(cluster);
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
        self.lanes[cluster].spoil();
    }
}

/// A plan, perhaps with other lanes in the place of some: what it would be.
#[derive(Copy, Clone, Debug)]
pub(super) struct View<'a> {
    lanes: &'a [Lane],
    instead: [Option<(usize, &'a Lane)>; 2],
}

impl<'a> View<'a> {
    pub(super) fn of(plan: &'a Plan) -> Self {
        Self { lanes: &plan.lanes, instead: [None; 2] }
    }

    /// The same with `lane` in the place of that of `cluster`; of at most two, and the first that is named counts.
    pub(super) fn with(mut self, cluster: usize, lane: &'a Lane) -> Self {
        let place = self.instead.iter_mut().find(|place| place.is_none()).expect("a move changes two lanes at most");
        *place = Some((cluster, lane));
        self
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = &'a Lane> {
        self.lanes.iter().enumerate().map(|(cluster, lane)| {
            let instead = self.instead.iter().flatten().find(|(other, _)| *other == cluster);
            instead.map_or(lane, |(_, lane)| lane)
        })
    }
}
