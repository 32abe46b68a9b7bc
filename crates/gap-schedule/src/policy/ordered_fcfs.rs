//! A queue in any order, without backfilling.

use crate::order::Priority;
use crate::policy::Policy;
use crate::policy::line::Line;
use crate::policy::ordered_queue::OrderedQueue;
use crate::policy::telling::{Telling, no_room};
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};
use sim_core::SiteId;

/// No backfilling, in any [`Order`](crate::Order): the job at the head of the queue starts on the first machine that has room
/// for it and that it may use; where none has, it blocks all behind it. `fcfs+order=ORDER+threshold=SPAN` in the names of
/// policies; in order of arrival it is [`Fcfs`](crate::Fcfs).
///
/// A pass costs one look at each machine for each job that starts, and one more; in an order that changes with time also
/// sorting the queue, unless nobody is narrow enough for what is free.
#[derive(Clone, Debug, Default)]
pub struct OrderedFcfs {
    queue: OrderedQueue,
    /// Free processors of each machine, kept for its memory only.
    free: Vec<u32>,
}

impl OrderedFcfs {
    /// The policy, with nobody waiting.
    pub fn new(priority: Priority) -> Self {
        Self { queue: OrderedQueue::new(priority), free: Vec::new() }
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        let mut telling = Telling::new(probe);
        if !telling.listens() && !view.some_job_is_narrow_enough() {
            return;
        }
        self.free.clear();
        self.free.extend(view.free);
        if view.queue.len() == 1 {
            // Nobody is before anybody.
            start_in_turn(&mut view.queue.iter(), &mut self.free, view, starts, &mut telling);
        } else {
            self.queue.refresh(view, &[]);
            start_in_turn(&mut self.queue.walk(), &mut self.free, view, starts, &mut telling);
        }
        for (job, _) in starts.iter() {
            self.queue.remove(view.queue.get(*job).expect("who is started has waited"));
        }
    }
}

impl Policy for OrderedFcfs {
    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.queue.push(job);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
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
