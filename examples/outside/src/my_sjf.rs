//! A policy: shortest job first.

use gap_schedule::{GridView, RunningJob, Scheduler, Waiting};
use sim_core::{JobId, SiteId, Span, Time};

/// Shortest job first, by estimate: at each pass, every waiting job that fits starts, the shortest before the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct MySjf {
    /// By length; of equal length, in the order of their numbers.
    queue: Vec<Waiting>,
    operations: u64,
}

impl Scheduler for MySjf {
    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        let key = |waiting: &Waiting| (waiting.request.estimate.unwrap_or(Span::MAX), waiting.job);
        let place = self.queue.partition_point(|other| key(other) < key(job));
        self.queue.insert(place, *job);
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        let mut free = view.free.to_vec();
        self.queue.retain(|waiting| {
            self.operations += 1;
            let need = waiting.request.processors;
            let mut machines = (0..).zip(&mut free);
            let room =
                machines.find(|(machine, free)| **free >= need && view.suits(*machine as usize, &waiting.request));
            let Some((machine, free)) = room else { return true };
            *free -= need;
            starts.push((waiting.job, SiteId(machine)));
            false
        });
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}
