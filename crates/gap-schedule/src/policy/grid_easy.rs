use crate::grid::{GridView, Scheduler};
use crate::policy::easy_rule::EasyRule;
use crate::policy::readings::BackfillReadings;
use crate::queue::{Queue, Waiting};
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Time};

/// EASY backfilling on several machines.
///
/// Jobs start in order of arrival as long as some machine has room, on the fastest such machine (R5). The first that finds
/// none, the head, is promised a start on the machine where it can start earliest, by the expected ends of the running
/// jobs; of several, on the fastest. Every later job, in order of arrival, starts now on the fastest machine that has room
/// and where it does no harm (R6): any machine but the reserved one; that one if the job is expected to end there by the
/// promised start, or takes only processors that the head will leave over.
///
/// Where the head can start earliest is looked up at each pass. Where estimates are upper bounds, it is never later than
/// before. With one machine this is [`EasyBackfill`](crate::EasyBackfill).
///
/// A pass takes about log n steps of a queue of n, and log m of m machines, for each job that it starts; one look at each
/// machine where there is a reservation to be made, and at those of its running jobs that end before the best start found
/// so far. An operation is one such step or look. [`GridEasyScan`](crate::GridEasyScan) finds the same schedule
/// by looking at everything.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §3.1 and §4, which name EASY and
/// leave its extension to several machines to the reader.
#[derive(Clone, Debug, Default)]
pub struct GridEasy {
    queue: Queue,
    rule: EasyRule,
}

impl GridEasy {
    /// The policy, with nobody waiting.
    pub fn new(readings: BackfillReadings) -> Self {
        Self { queue: Queue::new(), rule: EasyRule::new(readings) }
    }
}

impl Scheduler for GridEasy {
    fn begin(&mut self, view: &GridView<'_>) {
        self.rule.begin(view);
    }

    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.queue.push(job.job, job.request);
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.rule.pass(&mut self.queue.iter(), view, starts);
        for (job, _) in starts {
            self.queue.remove(*job);
        }
    }

    fn operations(&self) -> u64 {
        self.rule.operations()
    }
}
