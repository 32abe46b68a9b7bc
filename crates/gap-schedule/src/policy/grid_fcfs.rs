use crate::grid::{GridView, Scheduler};
use crate::queue::Waiting;
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Time};
use std::collections::VecDeque;

/// First come first served on several machines: the head of the queue starts on the first machine, by index, that has
/// room for it and that it may use; where none has, it blocks all behind it.
///
/// An operation is the examination of one machine for one job.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §4, where it is not spelled out.
#[derive(Clone, Debug, Default)]
pub struct GridFcfs {
    queue: VecDeque<Waiting>,
    /// Free processors of each machine, kept for its memory only.
    free: Vec<u32>,
    operations: u64,
}

impl GridFcfs {
    /// The policy, with nobody waiting.
    pub const fn new() -> Self {
        Self { queue: VecDeque::new(), free: Vec::new(), operations: 0 }
    }
}

impl Scheduler for GridFcfs {
    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.queue.push_back(*job);
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.free.clear();
        self.free.extend(view.free);
        while let Some(head) = self.queue.front() {
            let need = head.request.processors;
            let found = (0..).zip(&mut self.free).find(|(machine, free)| {
                self.operations += 1;
                **free >= need && head.request.sites.contains(SiteId(*machine))
            });
            let Some((machine, free)) = found else { break };
            *free -= need;
            starts.push((head.job, SiteId(machine)));
            self.queue.pop_front();
        }
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}
