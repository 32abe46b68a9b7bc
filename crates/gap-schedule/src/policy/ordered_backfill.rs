//! Backfilling with the queue in any order, and those who pass it in another.

use crate::machine::site;
use crate::min_demand::MinDemand;
use crate::order::{Order, Priority};
use crate::policy::Policy;
use crate::policy::backfill::Depth;
use crate::policy::easy_rule::EasyRule;
use crate::policy::free_processor_tree::FreeProcessorTree;
use crate::policy::line::Line;
use crate::policy::machine_profiles::{MachineProfiles, Slot};
use crate::policy::ordered_queue::{Except, OrderedQueue};
use crate::policy::readings::{BackfillReadings, BackfillRule, Placement};
use crate::policy::telling::Telling;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::running::RunningJob;
use crate::view::{Starts, View};
use sim_core::{JobId, SiteId, SiteSet, Span, Time};

/// Which backfilling an [`OrderedBackfill`] does: in the names of policies,
/// `easy+order=ORDER+backfill=ORDER+reserve=N+threshold=SPAN`. The default is EASY.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Backfilling {
    /// Who has his turn, or a reservation, before whom.
    pub order: Order,
    /// Who of those without a turn and without a reservation may go before whom.
    pub backfill: Order,
    /// How many jobs, of those that cannot start in their turn, hold a reservation.
    pub reserve: Depth,
    /// Who has waited so long, since submission, goes first in both orders, by arrival.
    pub threshold: Option<Span>,
    /// Which of several machines is preferred.
    pub placement: Placement,
}

/// Backfilling in any [`Order`], with any number of reservations.
///
/// At each pass, jobs have their turns in the [`order`](Backfilling::order) of the queue. Who can start now, touching neither
/// what runs, by the expected ends, nor a reservation, starts, on the fastest machine where he can (R5). Who cannot is given a
/// reservation at the earliest instant there is, until as many are held as [`reserve`](Backfilling::reserve) says. With that,
/// the turns are over, and all others may start now if they do no harm, in the order of [`backfill`](Backfilling::backfill).
/// All reservations are given anew at the next pass. Where nobody at all holds one, the turns are over with the first who cannot
/// start.
///
/// With both orders those of arrival and one reservation this is [`Easy`](crate::Easy); with another number,
/// [`Backfill`](crate::Backfill). With [`Order::Spf`] behind the head it is EASY-SJBF, the backfilling of EASY++. An order that
/// is not that of arrival may starve jobs; a [`threshold`](Backfilling::threshold) ends that as long as somebody holds a
/// reservation.
///
/// A pass in which no job is narrow enough for what is free costs log n. Any other costs, with one reservation and in orders
/// that time does not change, what [`Easy`](crate::Easy) costs, and log n and some short moves for each job that comes or goes; in
/// one that it does ([`Order::changes_with_time`]), sorting the queue, n log n. With more than one reservation, it costs a
/// copy of what is expected of each machine and one search for each reservation, until nobody is left who could start.
///
/// [`reference::OrderedBackfill`](crate::reference::OrderedBackfill) is the same in forty lines.
#[derive(Clone, Debug, Default)]
pub struct OrderedBackfill {
    rule: Backfilling,
    /// Who waits, in the order of turns.
    queue: OrderedQueue,
    /// The same in the order of backfilling, if that is another.
    behind: Option<OrderedQueue>,
    reserving: Reserving,
    /// Who holds a reservation in this pass.
    holders: Vec<JobId>,
}

/// How reservations are made.
#[derive(Clone, Debug)]
enum Reserving {
    /// One, as EASY makes it.
    One(EasyRule),
    /// Any other number.
    Many(Book),
}

/// What is expected of each machine, where more than one job has a reservation there.
#[derive(Clone, Debug, Default)]
struct Book {
    profiles: MachineProfiles,
    free_tree: FreeProcessorTree,
    /// The reservations of this pass, where somebody listens.
    promised: Vec<(QueuedJob, Slot)>,
}

impl Default for Backfilling {
    fn default() -> Self {
        Self {
            order: Order::Fcfs,
            backfill: Order::Fcfs,
            reserve: Depth::Jobs(1),
            threshold: None,
            placement: Placement::Fastest,
        }
    }
}

impl Default for Reserving {
    fn default() -> Self {
        Self::Many(Book::default())
    }
}

impl OrderedBackfill {
    /// The policy, with nobody waiting.
    pub fn new(rule: Backfilling) -> Self {
        let Backfilling { order, backfill, reserve, threshold, placement } = rule;
        let queue = |order| OrderedQueue::new(Priority { order, threshold });
        let reserving = match reserve {
            Depth::Jobs(1) => {
                Reserving::One(EasyRule::new(BackfillReadings { placement, rule: BackfillRule::MachineAware }))
            }
            _ => Reserving::Many(Book::default()),
        };
        let behind = (backfill != order).then(|| queue(backfill));
        Self { rule, queue: queue(order), behind, reserving, ..Self::default() }
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        let mut telling = Telling::new(probe);
        // Nothing but who waits is kept from pass to pass, so one in which nobody can start need not be made.
        if !telling.listens() && !view.some_job_is_narrow_enough() {
            return;
        }
        self.holders.clear();
        match &mut self.reserving {
            Reserving::One(rule) if view.queue.len() == 1 => {
                // Nobody is before anybody.
                rule.pass(&mut view.queue.iter(), view, starts, &mut telling);
            }
            Reserving::One(_) => self.pass_with_one(view, starts, &mut telling),
            Reserving::Many(_) => self.pass_with_many(view, starts, &mut telling),
        }
        for (job, _) in starts.iter() {
            let queued = view.queue.get(*job).expect("who is started has waited");
            self.queue.remove(queued);
            if let Some(behind) = &mut self.behind {
                behind.remove(queued);
            }
        }
    }

    /// EASY, with its one reservation.
    fn pass_with_one(
        &mut self,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let Self { queue, behind, reserving: Reserving::One(rule), holders, .. } = self else { return };
        queue.refresh(view, &[]);
        let mut line = queue.walk();
        let Some(behind) = behind else {
            rule.pass(&mut line, view, starts, telling);
            return;
        };
        let Some(head) = rule.take_turns(&mut line, view, starts, telling) else { return };
        // Whoever is left in the line is all that is left, in whatever order.
        if telling.listens() || rule.leaves_room(&line) {
            telling.tell_places(&mut line, starts);
            holders.push(head.job);
            let gone = refresh_behind(behind, holders, view, starts);
            rule.pass_by(&head, &mut Except { walk: behind.walk(), jobs: &gone }, view, starts, telling);
        }
    }

    /// Any other number of reservations.
    fn pass_with_many(
        &mut self,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let Self { rule, queue, behind, reserving: Reserving::Many(book), holders, .. } = self else { return };
        book.begin_pass(view);
        queue.refresh(view, &[]);
        let mut line = queue.walk();
        while let Some(next) = telling.next(&mut line, starts) {
            let best = book.profiles.best(book.profiles.ranks(), &next.request, view.now);
            if let Some(slot) = best.filter(|slot| slot.start == view.now) {
                book.start(&next, slot, !holders.is_empty(), starts, telling);
                continue;
            }
            let holds = rule.reserve.allows_beside(holders.len());
            if holds || behind.is_none() {
                // Else it is looked at again, in the order of those behind.
                telling.waits(&next, starts, || book.refusal(&next, view.now));
            }
            if !holds {
                break; // There is no reservation at all.
            }
            if let Some(slot) = best {
                book.profiles.reserve(slot, &next.request);
                if telling.listens() {
                    book.promised.push((next, slot));
                }
            }
            telling.tells(&next, starts, || book.profiles.promise(best));
            holders.push(next.job);
            // Further reservations would be in nobody's way.
            let most = book.free_tree.most();
            if !rule.reserve.allows_beside(holders.len())
                || !telling.listens() && !line.has_where(|least| least.processors <= most)
            {
                break;
            }
        }
        let (most, in_turn) = (book.free_tree.most(), holders.is_empty());
        if !telling.listens() && !line.has_where(|least| least.processors <= most) {
            return;
        }
        match behind {
            None => book.backfill(&mut line, view.now, in_turn, starts, telling),
            Some(behind) => {
                telling.tell_places(&mut line, starts);
                let gone = refresh_behind(behind, holders, view, starts);
                book.backfill(&mut Except { walk: behind.walk(), jobs: &gone }, view.now, in_turn, starts, telling);
            }
        }
    }
}

/// Puts those behind into their order. Who is not to be looked at there: those who hold a reservation, and those who have been
/// started.
fn refresh_behind(behind: &mut OrderedQueue, holders: &[JobId], view: &View<'_>, starts: &Starts) -> Vec<JobId> {
    let mut gone: Vec<JobId> = holders.iter().copied().chain(starts.iter().map(|(job, _)| *job)).collect();
    gone.sort_unstable();
    behind.refresh(view, &gone);
    gone
}

impl Book {
    fn new(view: &View<'_>, placement: Placement) -> Self {
        Self {
            profiles: MachineProfiles::new(view.machines, placement),
            free_tree: FreeProcessorTree::new(view.machines, view.free, placement),
            promised: Vec::new(),
        }
    }

    /// Forgets all reservations.
    fn begin_pass(&mut self, view: &View<'_>) {
        self.profiles.begin_pass();
        self.profiles.ranks().for_each(|rank| self.profiles.clear(rank, view));
        self.free_tree.update(view.free);
        self.promised.clear();
    }

    /// Why the job cannot start now.
    fn refusal(&self, job: &QueuedJob, now: Time) -> Reason {
        let promised = self.promised.iter().map(|(other, slot)| (other, *slot));
        self.profiles.obstacle(job, now, promised).unwrap_or(Reason::Kept)
    }

    /// The job starts, and may pass others who hold reservations.
    fn start(
        &mut self,
        job: &QueuedJob,
        slot: Slot,
        passes: bool,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let right = if passes { Right::Backfilled } else { Right::InTurn };
        telling.starts(job, site(self.profiles.index(slot.rank)), right, starts);
        self.profiles.start(slot, &job.request, passes);
        let machine = self.profiles.index(slot.rank);
        self.free_tree.set(machine, self.free_tree.free(machine) - job.request.processors);
        starts.push((job.job, site(machine)));
    }

    /// Starts those of `line` who can start now.
    fn backfill(
        &mut self,
        line: &mut impl Line,
        now: Time,
        in_turn: bool,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        loop {
            let worth = |least| self.room(least, SiteSet::ALL, now).is_some();
            let next = telling.next_where(line, worth, starts, |job| self.refusal(job, now));
            let Some(next) = next else { break };
            // There is room, but the job may not be allowed there.
            if let Some(slot) = self.room(MinDemand::of(&next.request), next.request.sites, now) {
                self.start(&next, slot, !in_turn, starts, telling);
            } else {
                telling.waits(&next, starts, || self.refusal(&next, now));
            }
        }
    }

    /// The most preferred machine on which a job of such demands that may run at these `sites` could start now.
    fn room(&self, least: MinDemand, sites: SiteSet, now: Time) -> Option<Slot> {
        let mut from = 0;
        loop {
            let rank = self.free_tree.next(from, least.processors, &mut 0)?;
            if self.profiles.fits(rank, least, sites, now) {
                return Some(Slot { start: now, rank });
            }
            from = rank + 1;
        }
    }

    /// The machine has failed, or has been repaired, or a job that runs there is expected to end at another instant.
    fn look_again(&mut self, machine: SiteId, view: &View<'_>) {
        self.profiles.look_again(self.profiles.rank(machine.index()), view);
    }
}

impl Policy for OrderedBackfill {
    fn begin(&mut self, view: &View<'_>) {
        match &mut self.reserving {
            Reserving::One(rule) => rule.begin(view),
            Reserving::Many(book) => *book = Book::new(view, self.rule.placement),
        }
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.queue.push(job);
        if let Some(behind) = &mut self.behind {
            behind.push(job);
        }
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        if let Reserving::Many(book) = &mut self.reserving
            && job.expected_end > view.now
        {
            book.profiles.cut_short(book.profiles.rank(machine.index()), job, view.now);
        }
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, machine: SiteId, view: &View<'_>) {
        if let Reserving::Many(book) = &mut self.reserving {
            book.look_again(machine, view);
        }
    }

    fn on_failure(&mut self, machine: SiteId, _: &[RunningJob], view: &View<'_>) {
        if let Reserving::Many(book) = &mut self.reserving {
            book.look_again(machine, view);
        }
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        if let Reserving::Many(book) = &mut self.reserving {
            book.look_again(machine, view);
        }
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
    }
}
