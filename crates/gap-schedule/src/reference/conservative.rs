//! Conservative backfilling, recomputed from lists at each look-up.

use super::{earliest, free_on, span};
use crate::order::Priority;
use crate::policy::{CompressOrder, Placement, Policy};
use crate::queue::QueuedJob;
use crate::view::{RunningJob, Starts, View, site};
use sim_core::{AvailabilityProfile, SiteId, Time};

/// Conservative backfilling: each job gets the earliest reservation on its arrival, and moves ahead when others end early.
///
/// [`crate::Conservative`] is the fast version; it documents the rule and the treatment of reservations after
/// unexpected events.
#[derive(Clone, Debug, Default)]
pub struct Conservative {
    order: CompressOrder,
    turns: Priority,
    /// Waiting jobs in order of arrival, each with its reserved start and machine; `None` if by expectations it can never start.
    promised: Vec<(QueuedJob, Option<(Time, usize)>)>,
    /// Events since the last pass: an end, an early end, an unexpected event.
    ended: bool,
    early: bool,
    astray: bool,
}

impl Conservative {
    /// Returns the policy that compresses in this order, with these turns.
    pub fn new(order: CompressOrder, turns: Priority) -> Self {
        Self { order, turns, ..Self::default() }
    }

    /// Returns the profile of the machine, with its running jobs and the reservations of all waiting jobs except `but`.
    fn profile(&self, machine: usize, but: usize, view: &View<'_>) -> AvailabilityProfile {
        let mut profile = free_on(machine, view);
        for (number, (job, slot)) in self.promised.iter().enumerate() {
            if let Some((start, _)) = slot.filter(|(_, place)| *place == machine && number != but) {
                profile.reserve(start, span(machine, job, view), job.request.processors);
            }
        }
        profile
    }

    /// Returns the earliest start; of equal ones, that on the fastest machine.
    fn best(&self, number: usize, view: &View<'_>) -> Option<(Time, usize)> {
        let plan = |machine| self.profile(machine, number, view);
        let plans: Vec<AvailabilityProfile> = (0..view.machines.len()).map(plan).collect();
        earliest(&plans, &self.promised[number].0, Placement::Fastest, view)
    }

    /// Sorts the jobs by reserved start or by turn; equals, by arrival.
    fn sorted(&self, order: CompressOrder, now: Time) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.promised.len()).collect();
        match order {
            CompressOrder::Reserved => {
                numbers.sort_by_key(|number| self.promised[*number].1.map_or(Time::MAX, |slot| slot.0))
            }
            CompressOrder::Arrival => numbers.sort_by_key(|number| self.turns.turn(&self.promised[*number].0, now)),
        }
        numbers
    }

    /// Keeps the reservations that can still be kept, and gives the other jobs new ones.
    fn mend(&mut self, view: &View<'_>) {
        let order = self.sorted(self.order, view.now);
        let former: Vec<_> = self.promised.iter_mut().map(|(_, slot)| slot.take()).collect();
        let mut lost = Vec::new();
        for number in order {
            let job = self.promised[number].0;
            let stands = former[number].filter(|(start, machine)| {
                let takes = span(*machine, &job, view);
                *start >= view.now && self.profile(*machine, number, view).fits(*start, takes, job.request.processors)
            });
            if stands.is_some() {
                self.promised[number].1 = stands;
            } else {
                lost.push(number);
            }
        }
        for number in lost {
            self.promised[number].1 = self.best(number, view);
        }
    }
}

impl Policy for Conservative {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let overdue = view.running.iter().any(|jobs| jobs.iter().any(|job| job.expected_end <= view.now));
        let astray = std::mem::replace(&mut self.astray, overdue) || overdue;
        if astray {
            self.mend(view);
        }
        let (early, ended) = (std::mem::take(&mut self.early), std::mem::take(&mut self.ended));
        let is_turn = if self.order == CompressOrder::Arrival { ended } else { early };
        if is_turn || astray {
            for number in self.sorted(self.order, view.now) {
                let best = self.best(number, view);
                let slot = &mut self.promised[number].1;
                if best.is_some_and(|best| slot.is_none_or(|slot| best.0 < slot.0)) {
                    *slot = best;
                }
            }
        }
        for job in view.queue {
            if self.promised.iter().all(|(known, _)| known.job != job.job) {
                self.promised.push((*job, None));
                let last = self.promised.len() - 1;
                self.promised[last].1 = self.best(last, view);
            }
        }
        for number in self.sorted(CompressOrder::Reserved, view.now) {
            let (job, slot) = self.promised[number];
            if let Some((start, machine)) = slot.filter(|(start, _)| *start <= view.now) {
                assert_eq!(start, view.now, "no start is missed");
                self.astray |= job.request.estimate.is_none_or(|estimate| estimate.is_zero());
                starts.push((job.job, site(machine)));
            }
        }
        self.promised.retain(|(job, _)| starts.iter().all(|(started, _)| *started != job.job));
    }

    fn on_completion(&mut self, job: &RunningJob, _: SiteId, view: &View<'_>) {
        self.ended = true;
        self.early |= job.expected_end > view.now;
        self.astray |= job.expected_end < view.now || job.expected_end == Time::MAX;
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, _: SiteId, _: &View<'_>) {
        self.astray = true;
    }
}
