//! Reservations of one pass, laid out again at the next, and the jobs that start around them.

use crate::machine::site;
use crate::min_demand::MinDemand;
use crate::policy::easy_rule::EasyRule;
use crate::policy::free_processor_tree::FreeProcessorTree;
use crate::policy::line::Line;
use crate::policy::machine_profiles::{MachineProfiles, Slot};
use crate::policy::readings::{BackfillReadings, Placement};
use crate::policy::telling::Telling;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};
use serde::{Deserialize, Serialize};
use sim_core::{SiteSet, Time};

/// How many jobs that wait hold a reservation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// At most this number. With 0, every job that fits starts.
    Jobs(u32),
    /// All of them.
    #[default]
    All,
}

impl Depth {
    /// Whether one more job may hold a reservation, beside those that do.
    pub const fn allows_beside(self, holders: usize) -> bool {
        match self {
            Self::Jobs(jobs) => holders < jobs as usize,
            Self::All => true,
        }
    }
}

/// The engine of backfilling: jobs have their turns in the order of a [`Line`], those that cannot start are given reservations,
/// and the others may start if they delay no reservation.
#[derive(Clone, Debug)]
pub(super) enum Reserving {
    /// One reservation, found in the sorted ends of what runs, without a profile: EASY.
    One(EasyRule),
    /// Any other number.
    Many(Book),
}

/// The expected availability of each machine, and the reservations of this pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    reserve: Depth,
    placement: Placement,
    profiles: MachineProfiles,
    free_tree: FreeProcessorTree,
    /// The reservations of this pass, if a probe listens.
    promised: Vec<(QueuedJob, Slot)>,
}

impl Default for Reserving {
    fn default() -> Self {
        Self::One(EasyRule::default())
    }
}

impl Reserving {
    /// With more than one reservation or none, [`BackfillReadings::rule`] has no meaning.
    pub(super) fn new(reserve: Depth, readings: BackfillReadings) -> Self {
        match reserve {
            Depth::Jobs(1) => Self::One(EasyRule::new(readings)),
            _ => Self::Many(Book { reserve, placement: readings.placement, ..Book::default() }),
        }
    }

    pub(super) fn begin(&mut self, view: &View<'_>) {
        match self {
            Self::One(rule) => rule.begin(view),
            Self::Many(book) => {
                book.profiles = MachineProfiles::new(view.machines, book.placement);
                book.free_tree = FreeProcessorTree::new(view.machines, view.free, book.placement);
            }
        }
    }

    /// Starts the jobs of `line` in their turns and gives reservations to those that cannot start, the `holders`, until there are
    /// as many as there may be. Returns whether a job that is left may start.
    ///
    /// If the holders are `kept` for the next pass, no reservation is left out because it would delay no job of this pass. If
    /// those behind are `resorted`, a job without a reservation is reported when it comes up again, in [`backfill`](Self::backfill).
    pub(super) fn take_turns(
        &mut self,
        line: &mut impl Line,
        (kept, resorted): (bool, bool),
        holders: &mut Vec<QueuedJob>,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) -> bool {
        match self {
            Self::One(rule) => {
                let head = rule.take_turns(line, view, starts, telling);
                holders.extend(head);
                // Most passes end here: no job behind the head would profit from the search for its reservation.
                head.is_some() && (telling.listens() || rule.leaves_room(line))
            }
            Self::Many(book) => {
                book.take_turns(line, (kept, resorted), holders, view, starts, telling);
                telling.listens() || book.leaves_room(line)
            }
        }
    }

    /// Starts the jobs of `line` that delay none of the `holders`, in order.
    pub(super) fn backfill(
        &mut self,
        holders: &[QueuedJob],
        line: &mut impl Line,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        match self {
            Self::One(rule) => rule.pass_by(&holders[0], line, view, starts, telling),
            Self::Many(book) => book.backfill(line, view.now, !holders.is_empty(), starts, telling),
        }
    }
}

impl Book {
    fn take_turns(
        &mut self,
        line: &mut impl Line,
        (kept, resorted): (bool, bool),
        holders: &mut Vec<QueuedJob>,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        self.profiles.ranks().for_each(|rank| self.profiles.clear(rank, view));
        self.free_tree.update(view.free);
        self.promised.clear();
        while let Some(next) = telling.next(line, starts) {
            let best = self.profiles.best(self.profiles.ranks(), &next.request, view.now);
            if let Some(slot) = best.filter(|slot| slot.start == view.now) {
                self.start(&next, slot, !holders.is_empty(), starts, telling);
                continue;
            }
            let holds = self.reserve.allows_beside(holders.len());
            if holds || !resorted {
                telling.waits(&next, starts, || self.refusal(&next, view.now));
            }
            if !holds {
                return; // There is no reservation at all.
            }
            if let Some(slot) = best {
                self.profiles.reserve(slot, &next.request);
                if telling.listens() {
                    self.promised.push((next, slot));
                }
            }
            telling.tells(&next, starts, || self.profiles.promise(best));
            holders.push(next);
            if !self.reserve.allows_beside(holders.len()) || !kept && !telling.listens() && !self.leaves_room(line) {
                return;
            }
        }
    }

    /// Whether a job ahead is narrow enough for what is left.
    fn leaves_room(&self, line: &impl Line) -> bool {
        let most = self.free_tree.most();
        line.has_where(|least| least.processors <= most)
    }

    /// The obstacle to a start of the job now.
    fn refusal(&self, job: &QueuedJob, now: Time) -> Reason {
        let promised = self.promised.iter().map(|(other, slot)| (other, *slot));
        self.profiles.obstacle(job, now, promised).unwrap_or(Reason::Kept)
    }

    /// Starts the job, which may pass others that hold reservations.
    fn start(
        &mut self,
        job: &QueuedJob,
        slot: Slot,
        passes: bool,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let machine = self.profiles.index(slot.rank);
        let right = if passes { Right::Backfilled } else { Right::InTurn };
        telling.starts(job, site(machine), right, starts);
        self.profiles.start(slot, &job.request, passes);
        self.free_tree.set(machine, self.free_tree.free(machine) - job.request.processors);
        starts.push((job.job, site(machine)));
    }

    fn backfill(
        &mut self,
        line: &mut impl Line,
        now: Time,
        passes: bool,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        loop {
            let worth = |least| self.room(least, SiteSet::ALL, now).is_some();
            let next = telling.next_where(line, worth, starts, |job| self.refusal(job, now));
            let Some(next) = next else { break };
            // There is room, but the job may not be allowed there.
            if let Some(slot) = self.room(MinDemand::of(&next.request), next.request.sites, now) {
                self.start(&next, slot, passes, starts, telling);
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
}
