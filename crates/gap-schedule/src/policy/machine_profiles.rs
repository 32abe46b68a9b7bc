//! Availability of each machine: the expected ends of running jobs, and reservations.

use crate::min_demand::MinDemand;
use crate::policy::readings::Placement;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReservedStart};
use crate::view::{Machine, RunningJob, View, site};
use sim_core::{AvailabilityProfile, Request, SiteSet, Span, Time};

/// Expected end of a running job without an estimate: the last instant of time. A job that has yet to start takes that
/// instant too, so it conflicts with a reservation for it and gets only the processors that the reservation leaves, as
/// under [`Easy`](crate::Easy).
pub(super) const END: Time = Time::from_nanos(u64::MAX - 1);

/// Minimum duration: a job that is expected to take no time still needs its processors at its start.
pub(super) const SHORTEST: Span = Span::from_nanos(1);

/// Machines in order of preference. All items below identify a machine by its place in that order, its rank.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineProfiles {
    by_rank: Vec<MachineProfile>,
    /// Rank of each machine, by its index.
    ranks: Vec<usize>,
}

/// Planned start and machine of a job. The smaller the better: the earlier, and of equal starts the preferred machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReservedSlot {
    pub(super) start: Time,
    pub(super) rank: usize,
}

/// Availability of one machine over time.
#[derive(Clone, Debug)]
struct MachineProfile {
    index: usize,
    machine: Machine,
    /// Running jobs, and the reservations of waiting jobs.
    plan: AvailabilityProfile,
}

impl MachineProfiles {
    /// Returns the profiles of idle machines.
    pub(super) fn new(machines: &[Machine], placement: Placement) -> Self {
        let profile = |index: usize| {
            let machine = machines[index];
            MachineProfile { index, machine, plan: AvailabilityProfile::new(machine.processors) }
        };
        let (order, ranks) = placement.order(machines);
        Self { by_rank: order.into_iter().map(profile).collect(), ranks }
    }

    /// Index of the machine.
    pub(super) fn index(&self, rank: usize) -> usize {
        self.by_rank[rank].index
    }

    /// Rank of the machine with this index.
    pub(super) fn rank(&self, index: usize) -> usize {
        self.ranks[index]
    }

    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        0..self.by_rank.len()
    }

    /// Returns the best of these machines for the job, from `now` on. Stops at the first rank with a start at `now`.
    ///
    /// A job that has `held` a slot gets an earlier start only, or `None`, in which case it keeps the slot. Its own slot
    /// does not block it, because an earlier start would vacate it.
    pub(super) fn best(
        &self,
        ranks: impl IntoIterator<Item = usize>,
        request: &Request,
        now: Time,
        held: Option<ReservedSlot>,
    ) -> Option<ReservedSlot> {
        let mut best: Option<ReservedSlot> = None;
        for rank in ranks {
            let profile = &self.by_rank[rank];
            if !profile.suits(request) {
                continue;
            }
            let before = best.or(held).map_or(Time::MAX, |slot| slot.start);
            let until = held.filter(|held| held.rank == rank).map_or(Time::MAX, |held| held.start);
            let span = profile.takes(request);
            if let Some(start) = profile.plan.earliest_before(now, before, span, request.processors, until) {
                best = Some(ReservedSlot { start, rank });
                if start == now {
                    break;
                }
            }
        }
        best
    }

    /// Drops the steps before `now`.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.by_rank.iter_mut().for_each(|profile| profile.plan.forget_before(now));
    }

    /// Returns true if a job that may run at these `sites` can start right now.
    pub(super) fn fits(&self, rank: usize, least: MinDemand, sites: SiteSet, now: Time) -> bool {
        let profile = &self.by_rank[rank];
        let MinDemand { processors, estimate } = least;
        sites.contains(site(profile.index))
            && profile.plan.fits(now, profile.machine.takes(estimate).max(SHORTEST), processors)
    }

    /// Reason that reports the slot, or that there is none.
    pub(super) fn promise(&self, slot: Option<ReservedSlot>) -> Reason {
        let reserved = |ReservedSlot { start, rank }| Reason::Reserved { machine: site(self.index(rank)), start };
        slot.map_or(Reason::Hopeless, reserved)
    }

    /// Returns the obstacle that keeps a job without an entry in the plan from starting now; `None` if it fits. It is that of the
    /// preferred machine with room at this instant, or else of the machine with most room. `promised` are the reservations in the plan.
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
                // The one of lowest index, if several have as many.
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

    /// Cancels a reservation.
    pub(super) fn cancel(&mut self, slot: ReservedSlot, request: &Request) {
        let profile = &mut self.by_rank[slot.rank];
        profile.plan.cancel(slot.start, profile.takes(request), request.processors);
    }

    /// Moves a reservation to an earlier start.
    pub(super) fn advance(&mut self, from: ReservedSlot, to: ReservedSlot, request: &Request) {
        let profile = &mut self.by_rank[from.rank];
        let span = profile.takes(request);
        let (end, new_end) = (from.start.saturating_add(span), to.start.saturating_add(span));
        if from.rank == to.rank && new_end > from.start {
            // Most of the processor time stays the same.
            profile.plan.reserve(to.start, from.start.since(to.start), request.processors);
            profile.plan.cancel(new_end, end.since(new_end), request.processors);
        } else {
            profile.plan.cancel(from.start, span, request.processors);
            self.reserve(to, request);
        }
    }

    /// Starts the job now, without a reservation. If it `passes` others, it also takes the last instant of time. Then
    /// only one of several jobs without an estimate gets the processors that are left over.
    pub(super) fn start(&mut self, slot: ReservedSlot, request: &Request, passes: bool) {
        let profile = &mut self.by_rank[slot.rank];
        let span = profile.takes(request);
        let span = if passes { span } else { until_end(slot.start, span) };
        profile.plan.reserve(slot.start, span, request.processors);
    }

    /// Frees the rest of the expected time of a job that has ended early on that machine. Not for jobs without an
    /// estimate.
    pub(super) fn give_back(&mut self, rank: usize, job: &RunningJob, now: Time) {
        self.by_rank[rank].plan.cancel(now, job.expected_end.since(now), job.processors);
    }

    /// Resets the profile of a machine to its running jobs. Jobs that outlive their estimates are expected to end at any moment.
    pub(super) fn clear(&mut self, rank: usize, view: &View<'_>) {
        let profile = &mut self.by_rank[rank];
        let soonest = view.now.saturating_add(SHORTEST);
        let ends = view.running[profile.index].iter().map(|job| (job.expected_end.clamp(soonest, END), job.processors));
        profile.plan = AvailabilityProfile::held_until(profile.machine.processors, view.now, ends);
    }

    /// Returns true if a running job of the machine has outlived its estimate.
    pub(super) fn is_overdue(&self, rank: usize, view: &View<'_>) -> bool {
        view.running[self.by_rank[rank].index].iter().next().is_some_and(|job| job.expected_end <= view.now)
    }

    /// Returns true if the job is expected to take no time there.
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

/// Time for which a job that starts at `start` and takes `span` holds its processors.
fn until_end(start: Time, span: Span) -> Span {
    span.min(END.since(start))
}
