//! A policy: shortest job first.

use gap_schedule::{Policy, QueuedJob, Starts, View};
use sim_core::{SiteId, Span};

/// Shortest job first, by estimate: at each pass, every waiting job that fits starts, the shortest before the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct MySjf {
    /// The waiting jobs, the shortest first; scratch buffer, reused across passes.
    queue: Vec<QueuedJob>,
}

impl Policy for MySjf {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.queue.clear();
        self.queue.extend(view.queue);
        self.queue.sort_by_key(|queued| queued.request.estimate.unwrap_or(Span::MAX));
        let mut free = view.free.to_vec();
        for queued in &self.queue {
            let need = queued.request.processors;
            let mut machines = (0..).zip(&mut free);
            let room =
                machines.find(|(machine, free)| **free >= need && view.suits(*machine as usize, &queued.request));
            if let Some((machine, free)) = room {
                *free -= need;
                starts.push((queued.job, SiteId(machine)));
            }
        }
    }

    fn is_pure(&self) -> bool {
        true
    }
}
