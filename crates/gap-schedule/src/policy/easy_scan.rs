//! EASY, with the operations of a program that looks at every job and every machine.

use crate::policy::easy_rule::EasyRule;
use crate::policy::readings::BackfillReadings;
use crate::policy::telling::Telling;
use crate::policy::{Policy, scan_cost};
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};

/// The schedule of [`Easy`](crate::Easy) at the cost of finding it as the paper's simulator must have: at each
/// event, every waiting job looks at every machine.
///
/// It is there for its operations, by which the paper judges scheduling cost (its figure 2, left). An operation is the
/// examination of one machine for one job, whether it is wide enough, has room or is in time, or, while a reservation is
/// sought, of one running job. The operations are counted without being done: the count is the paper's, the time is not.
#[derive(Clone, Debug, Default)]
pub struct EasyScan {
    rule: EasyRule,
    operations: u64,
}

impl EasyScan {
    /// The policy, under these readings of what is left open on several machines.
    pub fn new(readings: BackfillReadings) -> Self {
        Self { rule: EasyRule::new(readings), operations: 0 }
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        let head = self.rule.pass(&mut view.queue.iter(), view, starts, &mut Telling::new(probe));
        self.operations += scan_cost::operations(view.queue.len(), head.as_ref(), &self.rule, view, starts);
    }
}

impl Policy for EasyScan {
    fn begin(&mut self, view: &View<'_>) {
        self.rule.begin(view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
    }
}

impl EasyScan {
    /// Elementary operations so far, as described above.
    pub fn operations(&self) -> u64 {
        self.operations
    }
}
