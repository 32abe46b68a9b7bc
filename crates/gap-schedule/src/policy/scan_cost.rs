//! What a pass costs a program that looks at everything.

use crate::policy::easy_rule::EasyRule;
use crate::policy::readings::Placement;
use crate::queue::QueuedJob;
use crate::view::View;
use sim_core::{JobId, SiteId};

/// The operations of a pass over `jobs` waiting jobs in which every job looks at every machine, and the `head`, if there is
/// one, at every running job of those that are wide enough. They follow from what `rule` has just started, so that
/// nothing has to be looked at in earnest.
pub(super) fn operations(
    jobs: usize,
    head: Option<&QueuedJob>,
    rule: &EasyRule,
    view: &View<'_>,
    starts: &[(JobId, SiteId)],
) -> u64 {
    let machines = view.machines.len();
    let mut operations = jobs * machines;
    if rule.readings().placement == Placement::FirstFit {
        // A job looks no further than the machine that it starts on.
        operations -= starts.iter().map(|(_, machine)| machines - 1 - machine.index()).sum::<usize>();
    }
    if let Some(head) = head {
        let suits = |machine: usize| view.suits(machine, &head.request);
        let running: usize =
            (0..machines).filter(|machine| suits(*machine)).map(|machine| view.running[machine].len()).sum();
        let in_turn = rule.in_turn().iter().filter(|(machine, _)| suits(*machine)).count();
        operations += machines + running + in_turn;
    }
    operations as u64
}
