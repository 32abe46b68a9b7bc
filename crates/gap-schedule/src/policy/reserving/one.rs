//! Single reservation, for the head of the queue: EASY's rule on several machines, for any order of the queue.

use super::Reserving;
use crate::min_demand::MinDemand;
use crate::policy::pass::{JobLine, QueuePass, no_room};
use crate::policy::readings::BackfillRule;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReservedStart, Right};
use crate::view::{RunningJob, View, site};
use sim_core::{Request, Span, Time};
use std::cell::Cell;

impl Reserving {
    /// Starts jobs of `line` in their turn as long as they fit. The first that does not is the head, and holds the reservation.
    pub(super) fn find_head(&mut self, line: &mut JobLine<'_>, pass: &mut QueuePass<'_>) {
        let view = pass.view;
        self.in_turn.clear();
        while let Some(next) = pass.next(line) {
            let Some(machine) = self.free_tree.first(&next.request, &self.operations) else {
                pass.refuse(&next, || no_room(&next, view, |machine| self.free_tree.free(machine)));
                self.holders.push(next);
                return;
            };
            pass.start(&next, machine, Right::InTurn);
            self.free_tree.seize(machine, next.request.processors);
            self.in_turn.push((machine, view.machines[machine].running(next.job, &next.request, view.now)));
        }
    }

    /// Returns the suitable machine with the earliest start for the job, by the expected ends of its running jobs; of
    /// several, the one that R5 prefers. Also returns that start, and the processors that the job leaves over then.
    fn reserve_one(&mut self, job: &Request, view: &View<'_>) -> (usize, Time, u32) {
        let need = job.processors;
        self.in_turn.sort_unstable();
        let soonest = view.now.saturating_add(Span::from_nanos(1));
        let mut best: Option<(Time, usize)> = None;
        let mut operations = 0;
        for &machine in &self.free_tree.order {
            operations += 1;
            if !view.suits(machine, job) {
                continue;
            }
            let mut free = self.free_tree.free(machine);
            let (mut running, mut beside) =
                (view.running[machine].iter().peekable(), self.started_on(machine).peekable());
            // In the order of their expected ends.
            let in_order = std::iter::from_fn(|| match (running.peek(), beside.peek()) {
                (Some(job), Some(other)) if other < job => beside.next(),
                (None, _) => beside.next(),
                _ => running.next(),
            });
            for job in in_order {
                operations += 1;
                let end = job.expected_end.max(soonest);
                if best.is_some_and(|(at, _)| at <= end) {
                    break;
                }
                free += job.processors;
                if free >= need {
                    best = Some((end, machine));
                    break;
                }
            }
        }
        self.operations.update(|steps| steps + operations);
        let (at, machine) = best.expect("admission rejects jobs that no machine suits");
        // All releases of that instant count.
        let here = view.running[machine].iter().chain(self.started_on(machine));
        let released: u32 = here.filter(|job| job.expected_end <= at).map(|job| job.processors).sum();
        (machine, at, self.free_tree.free(machine) + released - need)
    }

    /// Returns the jobs that this pass has started on the machine before the head was found, once `in_turn` is sorted.
    fn started_on(&self, machine: usize) -> impl Iterator<Item = &RunningJob> {
        let from = self.in_turn.partition_point(|(place, _)| *place < machine);
        let to = self.in_turn.partition_point(|(place, _)| *place <= machine);
        self.in_turn[from..to].iter().map(|(_, job)| job)
    }

    /// Makes a reservation for the head, and starts the jobs behind it that do not delay it, in their order.
    ///
    /// By the strict rule, those must end by the reservation on any machine. Otherwise the reserved machine has a rule
    /// of its own, and is meanwhile taken out of the tree of the others.
    pub(super) fn backfill_behind_one(&mut self, behind: &mut JobLine<'_>, pass: &mut QueuePass<'_>) {
        let view = pass.view;
        let head = self.holders[0];
        let (reserved, at, extra) = self.reserve_one(&head.request, view);
        pass.report(&head, || Reason::Reserved { machine: site(reserved), start: at });
        let by = ReservedStart { job: head.job, start: at, processors: head.request.processors };
        // Behind a job that is never expected to end, one nanosecond less than for ever.
        let window = at.since(view.now).min(Span::from_nanos(u64::MAX - 1));
        let is_strict = self.readings.rule == BackfillRule::Strict;
        let Self { free_tree, operations, .. } = self;
        // On the reserved machine: processors free now, and processors that the head leaves over.
        let (mut left, mut extra) = if is_strict { (0, 0) } else { (free_tree.free(reserved), extra) };
        free_tree.seize(reserved, left);
        let ends_in_time = |machine: usize, job: &Request| view.machines[machine].expects(job) <= window;
        let (fastest, place) = (view.fastest(), view.machines[reserved]);
        loop {
            let most = free_tree.most();
            // For a single job, `MinDemand` is the job itself, so the job found may start if it may run there.
            let on_reserved = |least: MinDemand| {
                least.processors <= left && (least.processors <= extra || place.takes(least.estimate) <= window)
            };
            let worth = |least: MinDemand| {
                operations.update(|steps| steps + 1);
                let elsewhere = least.processors <= most && (!is_strict || fastest.takes(least.estimate) <= window);
                elsewhere || on_reserved(least)
            };
            let may_use_reserved = |job: &QueuedJob| job.request.sites.contains(site(reserved));
            // A job that fits is blocked by the window and by the processors left over then.
            let refusal = |job: &QueuedJob| {
                let fits_on_reserved = job.request.processors <= left && may_use_reserved(job);
                let strictly = || free_tree.first(&job.request, &Cell::default()).filter(|_| is_strict);
                match fits_on_reserved.then_some(reserved).or_else(strictly) {
                    Some(machine) => Reason::Barred { machine: site(machine), at, left: extra, by: vec![by] },
                    None => no_room(job, view, |machine| {
                        free_tree.free(machine) + if machine == reserved { left } else { 0 }
                    }),
                }
            };
            let Some(next) = pass.next_where(behind, worth, refusal) else { break };
            let Request { processors: need, sites, .. } = next.request;
            let may_use =
                |machine| sites.contains(site(machine)) && (!is_strict || ends_in_time(machine, &next.request));
            let elsewhere = free_tree.find(need, operations, may_use);
            let is_preferred = elsewhere.is_some_and(|other| free_tree.ranks[other] < free_tree.ranks[reserved]);
            let takes_reserved = !is_preferred && may_use_reserved(&next) && on_reserved(MinDemand::of(&next.request));
            let Some(machine) = (if takes_reserved { Some(reserved) } else { elsewhere }) else {
                pass.refuse(&next, || refusal(&next));
                continue;
            };
            pass.start(&next, machine, Right::Backfilled);
            if takes_reserved {
                left -= need;
                extra -= if ends_in_time(reserved, &next.request) { 0 } else { need };
            } else {
                free_tree.seize(machine, need);
            }
        }
        free_tree.set(reserved, free_tree.free(reserved) + left);
    }
}
