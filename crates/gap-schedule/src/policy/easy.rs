//! EASY: the head of the queue has a reservation, and no other job.

use crate::policy::Policy;
use crate::policy::pass::{JobLine, QueuePass};
use crate::policy::readings::BackfillReadings;
use crate::policy::reserving::{Depth, Reserving};
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};

/// EASY backfilling on several machines.
///
/// Jobs start in order of arrival as long as some machine has room, on the fastest such machine (R5). The first that
/// finds none, the head, gets a reservation on the machine where it can start earliest, by the expected ends of the
/// running jobs; of several, on the fastest. Every later job, in order of arrival, starts now on the fastest machine
/// that has room and where it does no harm (R6): any machine but the reserved one; that one if the job is expected to
/// end there by the reservation, or takes only processors that the head will leave over.
///
/// The earliest start of the head is recomputed at each pass. Where estimates are upper bounds, it is never later than
/// before. With one machine this is EASY; [`reference::Easy`](crate::reference::Easy) has that in thirty lines.
///
/// An operation is one step in the tree of the queue or of the machines, or one visit of a machine or a running job.
///
/// Sources: D. A. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; A. W. Mu'alem and D. G. Feitelson, "Utilization,
/// predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6),
/// 2001, figure 1. For several machines: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §3.1 and §4, which name EASY and
/// leave its extension to several machines to the reader.
#[derive(Clone, Debug)]
pub struct Easy {
    reserving: Reserving,
}

impl Default for Easy {
    fn default() -> Self {
        Self::new(BackfillReadings::default())
    }
}

impl Easy {
    /// Returns the policy under these readings for several machines.
    pub fn new(readings: BackfillReadings) -> Self {
        Self { reserving: Reserving::new(Depth::Jobs(1), readings) }
    }

    /// Number of elementary operations so far, as described above.
    pub const fn operations(&self) -> u64 {
        self.reserving.operations()
    }

    fn pass(&mut self, mut pass: QueuePass<'_, impl ReasonProbe + ?Sized>) {
        let mut line = JobLine::by_arrival(pass.view, &[]);
        if self.reserving.take_turns(&mut line, &mut pass) {
            self.reserving.backfill(&mut line, &mut pass);
        }
    }
}

impl Policy for Easy {
    fn begin(&mut self, view: &View<'_>) {
        self.reserving.begin(view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(QueuePass::new(view, starts, &mut ()));
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(QueuePass::new(view, starts, probe));
    }

    fn is_pure(&self) -> bool {
        true
    }
}
