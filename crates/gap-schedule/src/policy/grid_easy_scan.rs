use crate::grid::{GridView, Scheduler};
use crate::policy::easy_rule::EasyRule;
use crate::policy::readings::BackfillReadings;
use crate::policy::scan;
use crate::queue::{Queue, Waiting};
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Time};

/// The schedule of [`GridEasy`](crate::GridEasy) at the cost of finding it as the paper's simulator must have: at each
/// event, every waiting job looks at every machine.
///
/// It is there for its operations, by which the paper judges scheduling cost (its figure 2, left). An operation is the
/// examination of one machine for one job, whether it is wide enough, has room or is in time, or, while a reservation is
/// sought, of one running job. The operations are counted without being done: the count is the paper's, the time is not.
#[derive(Clone, Debug, Default)]
pub struct GridEasyScan {
    queue: Queue,
    rule: EasyRule,
    operations: u64,
}

impl GridEasyScan {
    /// The policy, with nobody waiting.
    pub fn new(readings: BackfillReadings) -> Self {
        Self { queue: Queue::new(), rule: EasyRule::new(readings), operations: 0 }
    }
}

impl Scheduler for GridEasyScan {
    fn begin(&mut self, view: &GridView<'_>) {
        self.rule.begin(view);
    }

    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.queue.push(job.job, job.request);
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        let head = self.rule.pass(&mut self.queue.iter(), view, starts);
        self.operations += scan::operations(self.queue.len(), head.as_ref(), &self.rule, view, starts);
        for (job, _) in starts {
            self.queue.remove(*job);
        }
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}
