//! What a scheduler of several machines is told, shown and asked.

use crate::grid::Machine;
use crate::queue::Waiting;
use crate::running::{Running, RunningJob};
use sim_core::{JobId, Request, SiteId, Time};

/// Decides which waiting jobs start now, and on which machine.
///
/// A scheduler keeps the jobs that wait in whatever suits it, a queue or a plan: it is told of each job that comes and of
/// each that ends, and is then asked, once all of that instant has been told, what starts. One that plans ahead says
/// when it wants to be asked next even if nothing happens until then ([`wake`](Self::wake)).
///
/// The order of calls at one instant is: [`finish`](Self::finish) for each job that ends, [`up`](Self::up) for each machine
/// that has been repaired, [`down`](Self::down) for each that fails, with `arrive` for each job that ran there,
/// [`arrive`](Self::arrive) for each job that comes, one [`pass`](Self::pass), one `wake`.
pub trait Scheduler {
    /// Told once, before anything happens.
    fn begin(&mut self, view: &GridView<'_>) {
        let _ = view;
    }

    /// A job has come, or has lost its processors to a failure, and waits from now on. Some machine suits it.
    fn arrive(&mut self, job: &Waiting, submit: Time, view: &GridView<'_>);

    /// A job has ended on `machine`. The view no longer has it; `job.expected_end` lies after `view.now` if it ended
    /// before its time.
    fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &GridView<'_>);

    /// The machine has failed: it has no processors until it is [`up`](Self::up) again. The view no longer has the jobs in
    /// `lost`, which ran there, by id: each of them arrives anew, next. In their stead it has one entry, of all processors,
    /// with the id [`RunningJob::OUTAGE`] and the expected repair as its expected end.
    fn down(&mut self, machine: SiteId, lost: &[RunningJob], view: &GridView<'_>) {
        let _ = (machine, lost, view);
    }

    /// The machine has been repaired, and is idle.
    fn up(&mut self, machine: SiteId, view: &GridView<'_>) {
        let _ = (machine, view);
    }

    /// Appends to `starts` the jobs to start at `view.now` and their machines, in starting order. They fit together into
    /// what is free. Asked only while jobs wait.
    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>);

    /// The next instant, after the present one, at which it wants to be asked even if nothing happens. It is asked for
    /// this after each pass, and the latest answer holds.
    fn wake(&self) -> Option<Time> {
        None
    }

    /// Elementary operations so far: a measure of the cost of scheduling that is the same on every computer. Each
    /// scheduler says what it counts.
    fn operations(&self) -> u64;
}

/// What a scheduler is shown of a grid: everything but the runtimes.
///
/// All slices have one entry per machine, by the machine's index, which is its [`SiteId`].
#[derive(Copy, Clone, Debug)]
pub struct GridView<'a> {
    /// The present instant.
    pub now: Time,
    /// The machines.
    pub machines: &'a [Machine],
    /// Processors that are free now.
    pub free: &'a [u32],
    /// The jobs that run, by their expected ends: start plus estimate at the machine's speed. Of a machine that is down, its
    /// outage ([`RunningJob::OUTAGE`]) until the expected repair.
    pub running: &'a [Running],
}

impl GridView<'_> {
    /// Whether the job may run on this machine, by its index, and the machine is wide enough.
    #[inline]
    pub fn suits(&self, machine: usize, request: &Request) -> bool {
        self.machines[machine].suits(request) && request.sites.contains(site(machine))
    }
}

/// The machine's number as others know it.
#[inline]
pub(crate) fn site(machine: usize) -> SiteId {
    SiteId(u32::try_from(machine).expect("fewer than 2^32 machines"))
}

/// Pointers to a scheduler are schedulers.
macro_rules! forward {
    ($pointer:ty) => {
        impl<S: Scheduler + ?Sized> Scheduler for $pointer {
            fn begin(&mut self, view: &GridView<'_>) {
                (**self).begin(view);
            }

            fn arrive(&mut self, job: &Waiting, submit: Time, view: &GridView<'_>) {
                (**self).arrive(job, submit, view);
            }

            fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &GridView<'_>) {
                (**self).finish(job, machine, view);
            }

            fn down(&mut self, machine: SiteId, lost: &[RunningJob], view: &GridView<'_>) {
                (**self).down(machine, lost, view);
            }

            fn up(&mut self, machine: SiteId, view: &GridView<'_>) {
                (**self).up(machine, view);
            }

            fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
                (**self).pass(view, starts);
            }

            fn wake(&self) -> Option<Time> {
                (**self).wake()
            }

            fn operations(&self) -> u64 {
                (**self).operations()
            }
        }
    };
}

forward!(Box<S>);
forward!(&mut S);
