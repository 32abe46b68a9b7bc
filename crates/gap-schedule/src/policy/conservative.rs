//! Conservative backfilling: every job has a reservation, and keeps it or an earlier one.

use crate::order::Priority;
use crate::policy::Policy;
use crate::policy::readings::{CompressOrder, Placement};
use crate::policy::reservations::Reservations;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{RunningJob, Starts, View};
use sim_core::{JobId, SiteId};

/// Conservative backfilling in its classic form: every job gets a reservation when it arrives, and keeps it or moves to
/// an earlier one. Where estimates are upper bounds, no job starts later than its reservation.
///
/// A job gets the earliest start, over all machines that it may use, at which it fits between the running jobs, by
/// their expected ends, and all reservations; of several machines with the same start, the preferred one (R5). When a
/// job ends earlier than expected, the plan is compressed: each waiting job, in order of arrival, moves to the earliest
/// start possible now, if that is earlier than its own. [`CompressOrder::Reserved`]
/// selects the other rule known by this name: turns in order of reserved starts (of equal ones, in order of arrival).
///
/// A job that outlives its estimate may delay reservations. Then all reservations that are still possible are kept, the other jobs
/// get new ones, and the plan is compressed, all in the same order. A job without an estimate is expected to run for ever. A job that
/// by expectations can never start has no reservation until an unexpected event.
///
/// Sources: D. G. Feitelson and A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling",
/// IPPS/SPDP 1998; A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
/// scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, §2. Starts equal those of the simulator pyss on logs
/// without ties; if several jobs end at one instant, pyss compresses after each of them, and this policy once after all.
#[derive(Clone, Debug, Default)]
pub struct Conservative {
    plan: Reservations,
    /// Jobs that have arrived since the last pass.
    newcomers: Vec<QueuedJob>,
}

impl Conservative {
    /// Returns the policy with an empty queue. `turns` is the order of turns in a compression, by default arrival: the first job
    /// moves ahead first; it is ignored with [`CompressOrder::Reserved`]. Reservations are still made on arrival, and none moves to
    /// a later start, so no job starves. As long as no job ends early, the order makes no difference (Srinivasan et al., ICPP
    /// workshops 2002).
    pub fn new(placement: Placement, order: CompressOrder, turns: Priority) -> Self {
        Self { plan: Reservations::new(placement, order, turns), ..Self::default() }
    }
}

impl Policy for Conservative {
    fn begin(&mut self, view: &View<'_>) {
        self.plan.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.newcomers.push(*job);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.plan.finish(job, machine, view);
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, _: SiteId, _: &View<'_>) {
        self.plan.is_stale = true;
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.plan.update(true, view);
        for waiting in self.newcomers.drain(..) {
            let slot = self.plan.profiles.earliest(&waiting.request, view.now, None);
            self.plan.insert(waiting, slot);
        }
        self.plan.start_due(view.now, |waiting, slot| starts.push((waiting.job, slot.site())));
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        let due = self.plan.held.iter().filter(|held| held.start() <= view.now);
        let promised: Vec<JobId> = due.map(|held| held.waiting.job).collect();
        self.schedule(view, starts);
        for (number, (job, machine)) in starts.iter().enumerate() {
            if !probe.follows(*job) {
                continue;
            }
            // Turns are in order of arrival.
            let before = view.queue.iter().map(|other| other.job).take_while(|other| other != job);
            let passed: Vec<JobId> = before.filter(|other| !starts.iter().any(|(start, _)| start == other)).collect();
            let right = match (promised.contains(job), passed.is_empty()) {
                (true, _) => Right::Reserved,
                (false, true) => Right::InTurn,
                (false, false) => Right::Backfilled,
            };
            probe.observe(*job, Reason::Starts { machine: *machine, right, passed }, &starts[..number].to_vec());
        }
        for place in self.plan.by_start() {
            let job = self.plan.held[place].waiting.job;
            if probe.follows(job) {
                let (obstacle, promise) = self.plan.reasons(place, view.now);
                probe.observe(job, obstacle, starts);
                probe.observe(job, promise, starts);
            }
        }
    }
}
