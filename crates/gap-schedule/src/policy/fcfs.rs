//! First come first served, or a queue in another order, without backfilling.

use crate::order::Priority;
use crate::policy::Policy;
use crate::policy::line::Line;
use crate::policy::ordered_queue::OrderedQueue;
use crate::policy::telling::{Telling, no_room};
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};
use sim_core::SiteId;

/// First come first served on several machines: the head of the queue starts on the first machine, by index, that has
/// room for it and that it may use; where none has, it blocks all behind it.
///
/// [`in_order`](Self::in_order) gives the queue another [`Order`](crate::Order): `fcfs+order=ORDER+threshold=SPAN` in the names of
/// policies. A pass costs one look at each machine for each job that starts, and one more; in an order that changes with time
/// also sorting the queue, unless no job is narrow enough for what is free.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §4, where it is not spelled out.
#[derive(Clone, Debug, Default)]
pub struct Fcfs {
    /// Unless the order is that of arrival, which is the view's.
    queue: Option<OrderedQueue>,
    /// Free processors of each machine; scratch buffer, reused across passes.
    free: Vec<u32>,
}

impl Fcfs {
    /// The policy, with turns in order of arrival.
    pub const fn new() -> Self {
        Self { queue: None, free: Vec::new() }
    }

    /// The policy, with turns in order of `priority`.
    pub fn in_order(priority: Priority) -> Self {
        let queue = (!priority.is_arrival()).then(|| OrderedQueue::new(priority));
        Self { queue, free: Vec::new() }
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        let mut telling = Telling::new(probe);
        self.free.clear();
        self.free.extend(view.free);
        let Some(queue) = &mut self.queue else {
            return start_in_turn(&mut view.queue.iter(), &mut self.free, view, starts, &mut telling);
        };
        if !telling.listens() && !view.some_job_is_narrow_enough() {
            return;
        }
        if view.queue.len() == 1 {
            // A single job stands in every order.
            start_in_turn(&mut view.queue.iter(), &mut self.free, view, starts, &mut telling);
        } else {
            queue.refresh(view);
            start_in_turn(&mut queue.walk(&[]), &mut self.free, view, starts, &mut telling);
        }
        for (job, _) in starts.iter() {
            queue.remove(view.queue.get(*job).expect("a job that is started has waited"));
        }
    }
}

impl Policy for Fcfs {
    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        if let Some(queue) = &mut self.queue {
            queue.push(job);
        }
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
    }

    fn is_pure(&self) -> bool {
        self.queue.is_none()
    }
}

/// Starts jobs of `line` until one fits nowhere.
fn start_in_turn(
    line: &mut impl Line,
    free: &mut [u32],
    view: &View<'_>,
    starts: &mut Starts,
    telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
) {
    while let Some(head) = telling.next(line, starts) {
        let need = head.request.processors;
        let mut machines = (0..).zip(free.iter_mut());
        let found = machines.find(|(machine, free)| **free >= need && head.request.sites.contains(SiteId(*machine)));
        let Some((machine, left)) = found else {
            telling.waits(&head, starts, || no_room(&head, view, |machine| free[machine]));
            telling.refuse_all(line, starts, |_| Reason::Behind { head: head.job });
            break;
        };
        *left -= need;
        telling.starts(&head, SiteId(machine), Right::InTurn, starts);
        starts.push((head.job, SiteId(machine)));
    }
}
