//! Backfilling with the queue in any order, and the backfilled jobs in another; EASY is the default.

use crate::order::{Order, Priority};
use crate::policy::Policy;
use crate::policy::pass::{JobLine, QueuePass};
use crate::policy::readings::{BackfillReadings, BackfillRule, Placement};
use crate::policy::reserving::{Depth, Reserving};
use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};
use sim_core::{JobId, Request, Span};

/// Settings of an [`OrderedBackfill`]: in the names of policies,
/// `easy+order=ORDER+backfill=ORDER+reserve=N+threshold=SPAN`. The default is EASY.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Backfilling {
    /// Order of turns, and of reservations.
    pub order: Order,
    /// Order of the jobs that have had no turn and hold no reservation.
    pub backfill: Order,
    /// Number of reservations for jobs that cannot start in their turn.
    pub reserve: Depth,
    /// Wait since submission after which a job goes first in both orders, by arrival.
    pub threshold: Option<Span>,
    /// Choice among several machines.
    pub placement: Placement,
}

/// Backfilling in any [`Order`], with any number of reservations.
///
/// At each pass, jobs have their turns in the [`order`](Backfilling::order) of the queue. A job that can start now,
/// without delaying running jobs, by their expected ends, or a reservation, starts on the fastest machine where it can
/// (R5). A job that cannot gets the earliest possible reservation, until [`reserve`](Backfilling::reserve) are held.
/// With that, the turns are over, and all other jobs may start now if they delay none of these, in the order of
/// [`backfill`](Backfilling::backfill). All reservations are recomputed at the next pass. If no job may hold one, the
/// turns are over with the first job that cannot start.
///
/// With both orders those of arrival and one reservation this is [`Easy`]. With a reservation for each job it is
/// conservative backfilling that compresses its whole plan at each pass, where [`Conservative`](crate::Conservative)
/// keeps reservations; as long as no job ends early, the schedules are the same. With [`Order::Spf`] behind the head it is EASY-SJBF, the
/// backfilling of EASY++. An order other than that of arrival may starve jobs; a [`threshold`](Backfilling::threshold)
/// prevents it as long as some job holds a reservation.
///
/// A job without an estimate is expected to run for ever: no reservation can rest on its end. A job that by
/// expectations can never start has its turn all the same, and counts as a holder of a reservation.
///
/// With more than one reservation, a pass costs a copy of the profile of each machine and one search for each reservation, until no
/// job is left that could start; in an order other than that of arrival, also a key for each waiting job.
///
/// [`reference::OrderedBackfill`](crate::reference::OrderedBackfill) is the same rule in forty lines.
///
/// Sources: A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
/// scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001; Klusáček et al., "Comparison of multi-criteria scheduling
/// techniques" (2008), §5 (several machines, reservation depth).
#[derive(Clone, Debug, Default)]
pub struct OrderedBackfill {
    turns: Priority,
    /// Order of backfilling, if that is another.
    behind: Option<Priority>,
    reserving: Reserving,
    /// True if operations are counted in every pass, also if no job can start.
    counts: bool,
    /// True for [`if_newcomer_fits`](Self::if_newcomer_fits), and the job submitted since the last pass.
    only_if_newcomer_fits: bool,
    newcomer: Option<Request>,
}

/// EASY backfilling on several machines: [`OrderedBackfill`] with its default settings.
///
/// Jobs start in order of arrival as long as some machine has room, on the fastest such machine (R5). The first that
/// finds none, the head, gets a reservation on the machine where it can start earliest, by the expected ends of the
/// running jobs; of several, on the fastest. Every later job, in order of arrival, starts now on the fastest machine
/// that has room and where it does no harm (R6): any machine but the reserved one; that one if the job is expected to
/// end there by the reservation, or takes only processors that the head will leave over.
///
/// The earliest start of the head is recomputed at each pass. Where estimates are upper bounds, it is never later than
/// before. With one machine this is EASY.
///
/// Sources: D. A. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem & Feitelson (2001), figure 1. Klusáček et
/// al. (2008), §3.1 and §4, name EASY and leave its extension to several machines to the reader.
pub type Easy = OrderedBackfill;

impl OrderedBackfill {
    /// Returns the policy with an empty queue.
    pub fn new(rule: Backfilling) -> Self {
        let Backfilling { order, backfill, reserve, threshold, placement } = rule;
        let priority = |order| Priority { order, threshold };
        let readings = BackfillReadings { placement, rule: BackfillRule::MachineAware };
        let behind = (backfill != order).then(|| priority(backfill));
        let mut reserving = Reserving::new(reserve, readings);
        reserving.resorts = behind.is_some();
        Self { turns: priority(order), behind, reserving, counts: false, only_if_newcomer_fits: false, newcomer: None }
    }

    /// Returns [`Easy`] under these readings for several machines, which counts its [operations](Self::operations).
    pub fn easy(readings: BackfillReadings) -> Self {
        Self { reserving: Reserving::new(Depth::default(), readings), counts: true, ..Self::default() }
    }

    /// Makes the pass after a submission only if the submitted job fits the free processors of some machine: a rule of the
    /// simulator pyss, and of the published results of SC'15.
    ///
    /// For EASY this is nearly a shortcut, because a job that does not fit cannot start and blocks the others. But a skipped
    /// pass might have started others, because time has passed or a prediction has expired since the last pass. There, every
    /// submission has a pass of its own: [`Passes::Pyss`](crate::Passes::Pyss). (With one pass per instant, only the last
    /// newcomer of the instant would decide.)
    #[must_use]
    pub fn if_newcomer_fits(self) -> Self {
        Self { only_if_newcomer_fits: true, ..self }
    }

    /// Number of elementary operations of [`easy`](Self::easy) so far. An operation is one step in the tree of the queue
    /// or of the machines, or one visit of a machine or a running job.
    pub const fn operations(&self) -> u64 {
        self.reserving.operations.get()
    }
}

impl Policy for OrderedBackfill {
    fn begin(&mut self, view: &View<'_>) {
        self.reserving.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.newcomer = self.only_if_newcomer_fits.then_some(job.request);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.schedule_with_reasons(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        let mut pass = QueuePass::new(view, starts, probe);
        let fits = |request: Request| {
            let mut machines = 0..view.machines.len();
            machines.any(|machine| view.suits(machine, &request) && request.processors <= view.free[machine])
        };
        if !self.newcomer.take().is_none_or(fits) {
            return;
        }
        let Self { turns, behind, reserving, counts, .. } = self;
        // Only the queue is kept from pass to pass, so a pass in which no job can start is skipped.
        if !*counts && !pass.listens && !view.some_job_is_narrow_enough() {
            return;
        }
        let mut line = JobLine::by(*turns, view, &[]);
        if reserving.take_turns(&mut line, &mut pass) {
            if let Some(behind) = behind {
                pass.report_places(&mut line);
                let started = pass.starts.iter().map(|(job, _)| *job);
                let mut gone: Vec<JobId> = reserving.holders.iter().map(|holder| holder.job).chain(started).collect();
                gone.sort_unstable();
                reserving.backfill(&mut JobLine::by(*behind, view, &gone), &mut pass);
            } else {
                reserving.backfill(&mut line, &mut pass);
            }
        }
    }

    fn is_pure(&self) -> bool {
        self.behind.is_none() && !self.only_if_newcomer_fits && self.turns.is_arrival()
    }
}
