//! First come first served, without backfilling.

use crate::policy::Policy;
use crate::policy::telling::{Telling, no_room};
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};
use sim_core::SiteId;

/// First come first served on several machines: the head of the queue starts on the first machine, by index, that has
/// room for it and that it may use; where none has, it blocks all behind it.
///
/// An operation is the examination of one machine for one job.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §4, where it is not spelled out.
#[derive(Clone, Debug, Default)]
pub struct Fcfs {
    /// Free processors of each machine, kept for its memory only.
    free: Vec<u32>,
    operations: u64,
}

impl Fcfs {
    /// The policy. It remembers nothing from one pass to the next but its operations.
    pub const fn new() -> Self {
        Self { free: Vec::new(), operations: 0 }
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        self.free.clear();
        self.free.extend(view.free);
        let mut telling = Telling::new(probe);
        let mut queue = view.queue.iter();
        while let Some(head) = telling.next(&mut queue, starts) {
            let need = head.request.processors;
            let found = (0..).zip(&mut self.free).find(|(machine, free)| {
                self.operations += 1;
                **free >= need && head.request.sites.contains(SiteId(*machine))
            });
            let Some((machine, free)) = found else {
                telling.waits(&head, starts, || no_room(&head, view, |machine| self.free[machine]));
                telling.refuse_all(&mut queue, starts, |_| Reason::Behind { head: head.job });
                break;
            };
            *free -= need;
            telling.starts(&head, SiteId(machine), Right::InTurn, starts);
            starts.push((head.job, SiteId(machine)));
        }
    }
}

impl Policy for Fcfs {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
    }
}

impl Fcfs {
    /// Elementary operations so far, as described above.
    pub fn operations(&self) -> u64 {
        self.operations
    }
}
