use crate::grid::{GridView, Scheduler};
use crate::policy::readings::BackfillReadings;
use crate::policy::scan::Scan;
use crate::queue::{Queue, Waiting};
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Time};

/// The schedule of [`GridEasy`](crate::GridEasy), found as the paper's simulator must have found it: at each event, every
/// waiting job looks at every machine.
///
/// It is there for its operations, by which the paper judges scheduling cost (its figure 2, left), and as a twin for tests.
/// An operation is the examination of one machine for one job, whether it is wide enough, has room or is in time, or,
/// while a reservation is sought, of one running job. A job that no machine has room for counts as examined on all of
/// them without being so: the count is the paper's, the time is not.
#[derive(Clone, Debug, Default)]
pub struct GridEasyScan {
    readings: BackfillReadings,
    queue: Queue,
    scan: Scan,
}

impl GridEasyScan {
    /// The policy, with nobody waiting.
    pub fn new(readings: BackfillReadings) -> Self {
        Self { readings, ..Self::default() }
    }
}

impl Scheduler for GridEasyScan {
    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.queue.push(job.job, job.request);
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.scan.pass(&self.queue, self.readings, view, starts);
        for (job, _) in starts {
            self.queue.remove(*job);
        }
    }

    fn operations(&self) -> u64 {
        self.scan.operations
    }
}
