//! Availability of each machine: the expected ends of what runs, and reservations.

use crate::machine::{Machine, site};
use crate::min_demand::MinDemand;
use crate::policy::readings::Placement;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReservedStart};
use crate::running::RunningJob;
use crate::view::View;
use sim_core::{AvailabilityProfile, Request, SiteSet, Span, Time};

/// A job that runs and has no estimate is expected to end at this instant, the last one there is. One that has yet to start
/// takes even that, so a reservation for then stands in its way: it may only take what that leaves over, as under
/// [`Easy`](crate::Easy).
pub(super) const END: Time = Time::from_nanos(u64::MAX - 1);

/// Even a job that is expected to take no time needs its processors at its start.
pub(super) const SHORTEST: Span = Span::from_nanos(1);

/// The machines, in order of preference: all that follows calls a machine by its place in that order, its rank.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineProfiles {
    by_rank: Vec<MachineProfile>,
    /// The rank of each machine, by its number.
    ranks: Vec<usize>,
}

/// When a job is to start, and where. The smaller the better: the earlier, and of equal ones the preferred machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReservedSlot {
    pub(super) start: Time,
    pub(super) rank: usize,
}

/// One machine's availability over time.
#[derive(Clone, Debug)]
struct MachineProfile {
    index: usize,
    machine: Machine,
    /// The jobs that run, and the reservations of jobs that wait.
    plan: AvailabilityProfile,
}

impl MachineProfiles {
    /// Of idle machines.
    pub(super) fn new(machines: &[Machine], placement: Placement) -> Self {
        let profile = |index: usize| {
            let machine = machines[index];
            MachineProfile { index, machine, plan: AvailabilityProfile::new(machine.processors) }
        };
        let (order, ranks) = placement.order(machines);
        Self { by_rank: order.into_iter().map(profile).collect(), ranks }
    }

    /// The machine's number.
    pub(super) fn index(&self, rank: usize) -> usize {
        self.by_rank[rank].index
    }

    /// The place of the machine of that number.
    pub(super) fn rank(&self, index: usize) -> usize {
        self.ranks[index]
    }

    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        0..self.by_rank.len()
    }

    /// The best of these machines for the job, from `now` on. A start right now is not to be beaten by ranks that follow.
    pub(super) fn best(
        &self,
        ranks: impl IntoIterator<Item = usize>,
        request: &Request,
        now: Time,
    ) -> Option<ReservedSlot> {
        let mut best: Option<ReservedSlot> = None;
        for rank in ranks {
            let profile = &self.by_rank[rank];
            if !profile.suits(request) {
                continue;
            }
            let start = profile.plan.earliest(now, profile.takes(request), request.processors);
            if let Some(start) = start.filter(|start| best.is_none_or(|best| *start < best.start)) {
                best = Some(ReservedSlot { start, rank });
                if start == now {
                    break;
                }
            }
        }
        best
    }

    /// The best of all machines for a job that holds `slot` and keeps it otherwise: it must start earlier, on any machine. Its own
    /// slot is not in its way, for while it is ahead of that it leaves it behind.
    ///
    /// Only where `window` says so is looked: given a machine, how long the job takes there, the instant before which it must start
    /// and one from which on all is free, it returns between which instants a start may be possible.
    #[inline]
    pub(super) fn best_before(
        &self,
        slot: ReservedSlot,
        request: &Request,
        now: Time,
        window: impl Fn(usize, Span, (Time, Time)) -> Option<(Time, Time)>,
    ) -> Option<ReservedSlot> {
        let mut best: Option<ReservedSlot> = None;
        for rank in self.ranks() {
            let profile = &self.by_rank[rank];
            let span = profile.takes(request);
            let before = best.map_or(slot.start, |best| best.start);
            let until = if rank == slot.rank { slot.start } else { Time::MAX };
            let window = window(rank, span, (before, until)).filter(|_| profile.suits(request));
            let start = window.and_then(|(from, to)| {
                let (from, before) = (from.max(now), before.min(to));
                let start = || profile.plan.earliest_before(from, before, span, request.processors, until);
                if from < before { start() } else { None }
            });
            if let Some(start) = start {
                best = Some(ReservedSlot { start, rank });
                if start == now {
                    break;
                }
            }
        }
        best
    }

    /// Forgets what was planned before `now`.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.by_rank.iter_mut().for_each(|profile| profile.plan.forget_before(now));
    }

    /// Whether a job that may run at these `sites` can start right now.
    pub(super) fn fits(&self, rank: usize, least: MinDemand, sites: SiteSet, now: Time) -> bool {
        let profile = &self.by_rank[rank];
        let MinDemand { processors, estimate } = least;
        sites.contains(site(profile.index))
            && profile.plan.fits(now, profile.machine.takes(estimate).max(SHORTEST), processors)
    }

    /// The reason that reports the slot, if there is one.
    pub(super) fn promise(&self, slot: Option<ReservedSlot>) -> Reason {
        let reserved = |ReservedSlot { start, rank }| Reason::Reserved { machine: site(self.index(rank)), start };
        slot.map_or(Reason::Hopeless, reserved)
    }

    /// The obstacle that keeps the job from starting now, where the plan holds nothing for it: on the preferred machine, of those with room
    /// at this instant, or else on that with most. `promised` are the starts that the plan holds. `None` if nothing does.
    pub(super) fn obstacle<'a>(
        &self,
        job: &QueuedJob,
        now: Time,
        promised: impl Iterator<Item = (&'a QueuedJob, ReservedSlot)> + Clone,
    ) -> Option<Reason> {
        let request = &job.request;
        let mut most: Option<(u32, usize)> = None;
        let mut barred = None;
        for (rank, profile) in self.by_rank.iter().enumerate().filter(|(_, profile)| profile.suits(request)) {
            let (at, left) = profile.plan.shortfall(now, profile.takes(request), request.processors)?;
            if at == now {
                // Of several, that of lowest index.
                if most.is_none_or(|(free, index)| left > free || left == free && profile.index < index) {
                    most = Some((left, profile.index));
                }
                continue;
            }
            let is_in_the_way = |(other, slot): &(&QueuedJob, ReservedSlot)| {
                slot.rank == rank && slot.start <= at && at < slot.start.saturating_add(profile.takes(&other.request))
            };
            let by = promised.clone().filter(is_in_the_way).map(|(other, slot)| ReservedStart {
                job: other.job,
                start: slot.start,
                processors: other.request.processors,
            });
            barred.get_or_insert_with(|| Reason::Barred { machine: site(profile.index), at, left, by: by.collect() });
        }
        barred.or_else(|| most.map(|(free, index)| Reason::NoRoom { machine: site(index), free }))
    }

    /// Reserves processors for the job from that start on.
    pub(super) fn reserve(&mut self, slot: ReservedSlot, request: &Request) {
        let profile = &mut self.by_rank[slot.rank];
        profile.plan.reserve(slot.start, profile.takes(request), request.processors);
    }

    /// Takes a reservation back.
    pub(super) fn cancel(&mut self, slot: ReservedSlot, request: &Request) {
        let profile = &mut self.by_rank[slot.rank];
        profile.plan.cancel(slot.start, profile.takes(request), request.processors);
    }

    /// Moves a reservation to an earlier start. What that leaves behind: on the machine of `from`, from when until when.
    pub(super) fn advance(&mut self, from: ReservedSlot, to: ReservedSlot, request: &Request) -> (Time, Time) {
        let profile = &mut self.by_rank[from.rank];
        let span = profile.takes(request);
        let (end, new_end) = (from.start.saturating_add(span), to.start.saturating_add(span));
        if from.rank == to.rank && new_end > from.start {
            // Most of the processor time stays the same.
            profile.plan.reserve(to.start, from.start.since(to.start), request.processors);
            profile.plan.cancel(new_end, end.since(new_end), request.processors);
            return (new_end, end);
        }
        profile.plan.cancel(from.start, span, request.processors);
        self.reserve(to, request);
        (from.start, end)
    }

    /// The job starts now, without a reservation. If it `passes` others, it takes all the time it asks for, so that of several jobs
    /// without an estimate only one takes what is left over.
    pub(super) fn start(&mut self, slot: ReservedSlot, request: &Request, passes: bool) {
        let profile = &mut self.by_rank[slot.rank];
        let span = profile.takes(request);
        let span = if passes { span } else { until_end(slot.start, span) };
        profile.plan.reserve(slot.start, span, request.processors);
    }

    /// Lets reservations have what is left over by a job that ends on that machine earlier than had been expected. Not of a job
    /// without an estimate.
    pub(super) fn give_back(&mut self, rank: usize, job: &RunningJob, now: Time) {
        self.by_rank[rank].plan.cancel(now, job.expected_end.since(now), job.processors);
    }

    /// Forgets the reservations on a machine. Jobs that outlive their estimates are expected to end at any moment.
    pub(super) fn clear(&mut self, rank: usize, view: &View<'_>) {
        let profile = &mut self.by_rank[rank];
        let soonest = view.now.saturating_add(SHORTEST);
        let ends = view.running[profile.index].iter().map(|job| (job.expected_end.clamp(soonest, END), job.processors));
        profile.plan = AvailabilityProfile::held_until(profile.machine.processors, view.now, ends);
    }

    /// Whether a job that runs on the machine has outlived its estimate.
    pub(super) fn is_overdue(&self, rank: usize, view: &View<'_>) -> bool {
        view.running[self.by_rank[rank].index].iter().next().is_some_and(|job| job.expected_end <= view.now)
    }

    /// Whether the job is expected to take no time there.
    pub(super) fn takes_no_time(&self, rank: usize, request: &Request) -> bool {
        self.by_rank[rank].machine.expects(request).is_zero()
    }
}

impl MachineProfile {
    fn suits(&self, request: &Request) -> bool {
        self.machine.suits(request) && request.sites.contains(site(self.index))
    }

    fn takes(&self, request: &Request) -> Span {
        self.machine.expects(request).max(SHORTEST)
    }
}

/// The time for which a job holds its processors that runs from `start` on and takes `span`.
fn until_end(start: Time, span: Span) -> Span {
    span.min(END.since(start))
}
