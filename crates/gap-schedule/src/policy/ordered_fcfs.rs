use crate::order::Priority;
use crate::policy::easy_rule::Line;
use crate::policy::ordered_queue::OrderedQueue;
use crate::policy::{Policy, Starts, View};
use crate::queue::QueuedJob;
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
}

impl Policy for OrderedFcfs {
    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.queue.push(job);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let most = view.free.iter().copied().max().unwrap_or(0);
        if view.queue.iter().next_where(|least| least.processors <= most).is_none() {
            return;
        }
        self.free.clear();
        self.free.extend(view.free);
        if view.queue.len() == 1 {
            // Nobody is before anybody.
            start_in_turn(&mut view.queue.iter(), &mut self.free, starts);
        } else {
            self.queue.refresh(view, &[]);
            start_in_turn(&mut self.queue.walk(), &mut self.free, starts);
        }
        for (job, _) in starts.iter() {
            self.queue.remove(view.queue.get(*job).expect("who is started has waited"));
        }
    }
}

/// Starts jobs of `line` until one fits nowhere.
fn start_in_turn(line: &mut impl Line, free: &mut [u32], starts: &mut Starts) {
    while let Some(head) = line.next() {
        let need = head.request.processors;
        let mut machines = (0..).zip(free.iter_mut());
        let found = machines.find(|(machine, free)| **free >= need && head.request.sites.contains(SiteId(*machine)));
        let Some((machine, free)) = found else { break };
        *free -= need;
        starts.push((head.job, SiteId(machine)));
    }
}
