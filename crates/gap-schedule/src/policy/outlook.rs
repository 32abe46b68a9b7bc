//! What is expected of each machine: who runs until when, and what has been promised.

use crate::grid::Machine;
use crate::policy::readings::Placement;
use crate::policy::{View, site};
use crate::queue::MinDemand;
use crate::running::RunningJob;
use sim_core::{AvailabilityProfile, Request, SiteSet, Span, Time};

/// A job that runs and has no estimate is expected to end at this instant, the last one there is. One that has yet to start
/// takes even that, so a start that is promised for then stands in its way: it may only take what that leaves over, as under
/// [`Easy`](crate::Easy).
pub(super) const END: Time = Time::from_nanos(u64::MAX - 1);

/// Even a job that is expected to take no time needs its processors at its start.
pub(super) const SHORTEST: Span = Span::from_nanos(1);

/// The machines, in order of preference: all that follows calls a machine by its place in that order, its rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlook {
    lanes: Vec<Lane>,
    /// The rank of each machine, by its number.
    ranks: Vec<usize>,
    /// The rank and the processors of jobs that have started in this pass and are expected to take no time.
    brief: Vec<(usize, u32)>,
    /// Searches for the earliest start of one job on one machine, so far.
    pub(super) searches: u64,
}

/// When a job is to start, and where. The smaller the better: the earlier, and of equal ones the preferred machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) start: Time,
    pub(super) rank: usize,
}

/// One machine.
#[derive(Clone, Debug)]
struct Lane {
    index: usize,
    machine: Machine,
    /// The jobs that run.
    running: AvailabilityProfile,
    /// The same, and what has been promised to jobs that wait.
    plan: AvailabilityProfile,
}

impl Outlook {
    /// Of idle machines.
    pub(super) fn new(machines: &[Machine], placement: Placement) -> Self {
        let lane = |index: usize| {
            let machine = machines[index];
            let idle = AvailabilityProfile::new(machine.processors);
            Lane { index, machine, running: idle.clone(), plan: idle }
        };
        let order = placement.order(machines);
        let mut ranks = vec![0; order.len()];
        for (rank, index) in order.iter().enumerate() {
            ranks[*index] = rank;
        }
        Self { lanes: order.into_iter().map(lane).collect(), ranks, ..Self::default() }
    }

    /// A pass begins.
    pub(super) fn begin_pass(&mut self) {
        self.brief.clear();
    }

    /// The machine's number.
    pub(super) fn index(&self, rank: usize) -> usize {
        self.lanes[rank].index
    }

    /// The place of the machine of that number.
    pub(super) fn rank(&self, index: usize) -> usize {
        self.ranks[index]
    }

    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        0..self.lanes.len()
    }

    /// The best of these machines for the job, from `now` on. A start right now is not to be beaten by ranks that follow.
    pub(super) fn best(
        &mut self,
        ranks: impl IntoIterator<Item = usize>,
        request: &Request,
        now: Time,
    ) -> Option<Slot> {
        let mut best: Option<Slot> = None;
        for rank in ranks {
            let lane = &self.lanes[rank];
            if !lane.suits(request) {
                continue;
            }
            self.searches += 1;
            let start = lane.plan.earliest(now, lane.takes(request), request.processors);
            if let Some(start) = start.filter(|start| best.is_none_or(|best| *start < best.start)) {
                best = Some(Slot { start, rank });
                if start == now {
                    break;
                }
            }
        }
        best
    }

    /// Where the job could start, were there only the jobs that run: no promise lets it start earlier.
    pub(super) fn at_best(&self, rank: usize, request: &Request, now: Time) -> Option<Slot> {
        let lane = &self.lanes[rank];
        let start = lane.running.earliest(now, lane.takes(request), request.processors);
        start.filter(|_| lane.suits(request)).map(|start| Slot { start, rank })
    }

    /// Whether a job that may run at these `sites` can start right now.
    pub(super) fn fits(&self, rank: usize, least: MinDemand, sites: SiteSet, now: Time) -> bool {
        let lane = &self.lanes[rank];
        let MinDemand { processors, estimate } = least;
        sites.contains(site(lane.index)) && lane.plan.fits(now, lane.machine.takes(estimate).max(SHORTEST), processors)
    }

    /// Promises a start to the job.
    pub(super) fn promise(&mut self, slot: Slot, request: &Request) {
        let lane = &mut self.lanes[slot.rank];
        lane.plan.reserve(slot.start, lane.takes(request), request.processors);
    }

    /// Takes a promise back.
    pub(super) fn withdraw(&mut self, slot: Slot, request: &Request) {
        let lane = &mut self.lanes[slot.rank];
        lane.plan.cancel(slot.start, lane.takes(request), request.processors);
    }

    /// The job starts now, without having been promised to. If it `passes` others, it takes all the time it asks for,
    /// lest several jobs without an estimate take what is left over but once.
    pub(super) fn start(&mut self, slot: Slot, request: &Request, passes: bool) {
        let lane = &mut self.lanes[slot.rank];
        let span = lane.takes(request);
        let span = if passes { span } else { until_end(slot.start, span) };
        lane.plan.reserve(slot.start, span, request.processors);
        self.keep_promise(slot, request);
    }

    /// The job starts now, as it was promised.
    pub(super) fn keep_promise(&mut self, slot: Slot, request: &Request) {
        let lane = &mut self.lanes[slot.rank];
        let span = lane.machine.expects(request);
        if span.is_zero() {
            self.brief.push((slot.rank, request.processors));
        }
        lane.plan.forget_before(slot.start);
        lane.running.forget_before(slot.start);
        lane.running.reserve(slot.start, until_end(slot.start, span), request.processors);
    }

    /// The job ends on that machine, earlier than had been expected.
    pub(super) fn cut_short(&mut self, rank: usize, job: &RunningJob, now: Time) {
        let rest = until_end(now, job.expected_end.since(now));
        self.lanes[rank].running.cancel(now, rest, job.processors);
    }

    /// The same, and lets promises have what is left over. Not of a job without an estimate.
    pub(super) fn give_back(&mut self, rank: usize, job: &RunningJob, now: Time) {
        self.cut_short(rank, job, now);
        self.lanes[rank].plan.cancel(now, job.expected_end.since(now), job.processors);
    }

    /// Looks again at who runs on a machine until when: it has failed, or has been repaired.
    pub(super) fn look_again(&mut self, rank: usize, view: &View<'_>) {
        let lane = &mut self.lanes[rank];
        lane.running = AvailabilityProfile::new(lane.machine.processors);
        for job in view.running[lane.index].iter().filter(|job| job.expected_end > view.now) {
            lane.running.reserve(view.now, until_end(view.now, job.expected_end.since(view.now)), job.processors);
        }
    }

    /// Forgets what has been promised on a machine. Jobs that outlive their estimates are expected to end at any moment.
    pub(super) fn clear(&mut self, rank: usize, view: &View<'_>) {
        let lane = &mut self.lanes[rank];
        lane.running.forget_before(view.now);
        lane.plan.clone_from(&lane.running);
        let brief = self.brief.iter().filter(|(place, _)| *place == rank).map(|(_, processors)| *processors);
        for processors in overdue(lane.index, view).map(|job| job.processors).chain(brief) {
            lane.plan.reserve(view.now, SHORTEST, processors);
        }
    }

    /// Whether a job that runs on the machine has outlived its estimate.
    pub(super) fn is_overdue(&self, rank: usize, view: &View<'_>) -> bool {
        overdue(self.lanes[rank].index, view).next().is_some()
    }

    /// Whether the job is expected to take no time there.
    pub(super) fn takes_no_time(&self, rank: usize, request: &Request) -> bool {
        self.lanes[rank].machine.expects(request).is_zero()
    }
}

impl Lane {
    fn suits(&self, request: &Request) -> bool {
        self.machine.suits(request) && request.sites.contains(site(self.index))
    }

    fn takes(&self, request: &Request) -> Span {
        self.machine.expects(request).max(SHORTEST)
    }
}

fn overdue<'a>(machine: usize, view: &View<'a>) -> impl Iterator<Item = &'a RunningJob> {
    let now = view.now;
    view.running[machine].iter().take_while(move |job| job.expected_end <= now)
}

/// How long a job holds its processors that runs from `start` on and takes `span`.
fn until_end(start: Time, span: Span) -> Span {
    span.min(END.since(start))
}
