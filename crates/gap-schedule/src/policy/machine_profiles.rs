//! Availability of machines: the expected ends of running jobs, and reservations.

use crate::min_demand::MinDemand;
use crate::policy::readings::Placement;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReservedStart};
use crate::view::{Machine, View, site};
use sim_core::{AvailabilityProfile, Request, SiteId, SiteSet, Span, Time};
use std::cmp::Reverse;

/// Expected end of a running job without an estimate: the last instant of time. A job that has yet to start takes that
/// instant too, so it conflicts with a reservation for it and gets only the processors that the reservation leaves, as
/// under [`Easy`](crate::Easy).
pub(super) const END: Time = Time::from_nanos(u64::MAX - 1);

/// Minimum duration: a job that is expected to take no time still needs its processors at its start.
pub(super) const SHORTEST: Span = Span::from_nanos(1);

#[derive(Clone, Debug, Default)]
pub(super) struct MachineProfiles {
    machines: Vec<Machine>,
    pub(super) plans: Vec<AvailabilityProfile>,
    /// Machines, the preferred one first.
    pub(super) order: Vec<usize>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct ReservedSlot {
    pub(super) start: Time,
    pub(super) machine: usize,
}

impl ReservedSlot {
    pub(super) fn site(self) -> SiteId {
        site(self.machine)
    }
}

impl MachineProfiles {
    /// Returns the profiles of idle machines.
    pub(super) fn new(machines: &[Machine], placement: Placement) -> Self {
        let plans = machines.iter().map(|machine| AvailabilityProfile::new(machine.processors)).collect();
        Self { machines: machines.to_vec(), plans, order: placement.order(machines) }
    }

    /// Returns the earliest start for the job from `now` on, on the most preferred machine. Stops at the first with a
    /// start at `now`.
    ///
    /// A job that has `held` a slot gets an earlier start only, or `None`, in which case it keeps the slot. Its own slot
    /// does not block it, because an earlier start would vacate it.
    pub(super) fn earliest(&self, request: &Request, now: Time, held: Option<ReservedSlot>) -> Option<ReservedSlot> {
        let mut best: Option<ReservedSlot> = None;
        for &machine in &self.order {
            if !self.suits(machine, request) {
                continue;
            }
            let before = best.or(held).map_or(Time::MAX, |slot| slot.start);
            let until = held.filter(|held| held.machine == machine).map_or(Time::MAX, |held| held.start);
            let (plan, span) = (&self.plans[machine], self.takes(machine, request));
            if let Some(start) = plan.earliest_before(now, before, span, request.processors, until) {
                best = Some(ReservedSlot { start, machine });
                if start == now {
                    break;
                }
            }
        }
        best
    }

    pub(super) fn earliest_on(&self, machine: usize, request: &Request, now: Time) -> Option<ReservedSlot> {
        let earliest = || self.plans[machine].earliest(now, self.takes(machine, request), request.processors);
        self.suits(machine, request).then(earliest)?.map(|start| ReservedSlot { start, machine })
    }

    pub(super) fn fits(&self, machine: usize, least: MinDemand, sites: SiteSet, now: Time) -> bool {
        let MinDemand { processors, estimate } = least;
        sites.contains(site(machine))
            && self.plans[machine].fits(now, self.machines[machine].takes(estimate).max(SHORTEST), processors)
    }

    /// Returns the obstacle that keeps a job without an entry in the plan from starting now; `None` if it fits. It is that of the
    /// preferred machine with room at this instant, or else of the machine with most room. `promised` are the reservations in the plan.
    pub(super) fn obstacle(
        &self,
        job: &QueuedJob,
        now: Time,
        promised: &[(QueuedJob, ReservedSlot)],
    ) -> Option<Reason> {
        let request = &job.request;
        let mut most = None;
        let mut barred = None;
        for &machine in self.order.iter().filter(|machine| self.suits(**machine, request)) {
            let (at, left) = self.plans[machine].shortfall(now, self.takes(machine, request), request.processors)?;
            if at == now {
                // The one of lowest index, if several have as many.
                most = most.max(Some((left, Reverse(machine))));
                continue;
            }
            let is_in_the_way = |(other, slot): &&(QueuedJob, ReservedSlot)| {
                let end = slot.start.saturating_add(self.takes(machine, &other.request));
                slot.machine == machine && slot.start <= at && at < end
            };
            let by = promised.iter().filter(is_in_the_way).map(|(other, slot)| ReservedStart {
                job: other.job,
                start: slot.start,
                processors: other.request.processors,
            });
            barred.get_or_insert_with(|| Reason::Barred { machine: site(machine), at, left, by: by.collect() });
        }
        barred.or_else(|| most.map(|(free, Reverse(index))| Reason::NoRoom { machine: site(index), free }))
    }

    pub(super) fn reserve(&mut self, slot: ReservedSlot, request: &Request) {
        let span = self.takes(slot.machine, request);
        self.plans[slot.machine].reserve(slot.start, span, request.processors);
    }

    pub(super) fn cancel(&mut self, slot: ReservedSlot, request: &Request) {
        let span = self.takes(slot.machine, request);
        self.plans[slot.machine].cancel(slot.start, span, request.processors);
    }

    /// Moves a reservation to an earlier start.
    pub(super) fn advance(&mut self, from: ReservedSlot, to: ReservedSlot, request: &Request) {
        let span = self.takes(from.machine, request);
        let (end, new_end) = (from.start.saturating_add(span), to.start.saturating_add(span));
        if from.machine == to.machine && new_end > from.start {
            // Most of the processor time stays the same.
            let plan = &mut self.plans[from.machine];
            plan.reserve(to.start, from.start.since(to.start), request.processors);
            plan.cancel(new_end, end.since(new_end), request.processors);
        } else {
            self.cancel(from, request);
            self.reserve(to, request);
        }
    }

    /// Starts the job now, without a reservation. If it `passes` others, it also takes the last instant of time. Then
    /// only one of several jobs without an estimate gets the processors that are left over.
    pub(super) fn start(&mut self, slot: ReservedSlot, request: &Request, passes: bool) {
        let most = if passes { Span::MAX } else { END.since(slot.start) };
        let span = self.takes(slot.machine, request).min(most);
        self.plans[slot.machine].reserve(slot.start, span, request.processors);
    }

    /// Resets the profiles to the running jobs. Jobs that outlive their estimates are expected to end at any moment.
    pub(super) fn clear(&mut self, view: &View<'_>) {
        let soonest = view.now.saturating_add(SHORTEST);
        for (plan, (machine, running)) in self.plans.iter_mut().zip(self.machines.iter().zip(view.running)) {
            let ends = running.iter().map(|job| (job.expected_end.clamp(soonest, END), job.processors));
            *plan = AvailabilityProfile::held_until(machine.processors, view.now, ends);
        }
    }

    fn suits(&self, machine: usize, request: &Request) -> bool {
        self.machines[machine].suits(request) && request.sites.contains(site(machine))
    }

    fn takes(&self, machine: usize, request: &Request) -> Span {
        self.machines[machine].expects(request).max(SHORTEST)
    }
}

pub(super) fn promise(slot: Option<ReservedSlot>) -> Reason {
    slot.map_or(Reason::Hopeless, |slot| Reason::Reserved { machine: slot.site(), start: slot.start })
}
