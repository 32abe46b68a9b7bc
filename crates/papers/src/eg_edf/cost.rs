//! Scheduling cost of programs that test every machine for every job, as the paper's simulator must do (its figure 2, left).

use gap_schedule::{FlexibleConfig, Machine, Placement, Policy, QueuedJob, RunningJob, Starts, View};
use sim_core::{JobId, SiteId, Span};
use std::cmp::Reverse;

/// A policy of gap-schedule, and the elementary operations of a scanning program with the same schedule. They follow from the jobs that the
/// policy starts, so the count is that of the scan and the time is not.
///
/// An operation is the examination of one machine for one job, for its width, its room or its time. A search for a reservation also counts
/// each running job. Flexible backfilling also counts each priority, and n ⌈log₂ n⌉ comparisons for sorting n jobs.
#[derive(Clone, Debug)]
pub(super) struct Scanned<P> {
    policy: P,
    scan: Scan,
    /// The job that holds the reservation, as of the last pass.
    head: Option<JobId>,
    pub(super) operations: u64,
}

#[derive(Copy, Clone, Debug)]
pub(super) enum Scan {
    /// The head of the queue tests the machines in order, up to the one that it starts on.
    Fcfs,
    /// Every job tests the machines, in order of arrival.
    Easy(Placement),
    /// Every job tests the machines, in order of priority.
    Flexible(Placement, FlexibleConfig),
}

impl<P> Scanned<P> {
    pub(super) const fn new(policy: P, scan: Scan) -> Self {
        Self { policy, scan, head: None, operations: 0 }
    }

    /// Returns the operations of the pass that returned `starts`.
    fn pass(&mut self, view: &View<'_>, starts: &Starts) -> u64 {
        let has_started = |job: JobId| starts.iter().any(|(start, _)| *start == job);
        let (jobs, machines) = (view.queue.len(), view.machines.len());
        let beyond = |machine: &SiteId| machines - 1 - machine.index();
        let placement = match self.scan {
            Scan::Fcfs => {
                let looks: usize = starts.iter().map(|(_, machine)| machines - beyond(machine)).sum();
                return (looks + if starts.len() < jobs { machines } else { 0 }) as u64;
            }
            Scan::Easy(placement) | Scan::Flexible(placement, _) => placement,
        };
        let mut operations = jobs * machines;
        if matches!(self.scan, Scan::Flexible(..)) {
            let levels = jobs.next_power_of_two().trailing_zeros() as usize; // ⌈log₂ n⌉
            operations += jobs + jobs * levels;
        }
        if placement == Placement::FirstFit {
            // A job tests no machine behind the one that it starts on.
            operations -= starts.iter().map(|(_, machine)| beyond(machine)).sum::<usize>();
        }
        let suits = |machine: usize, job: &QueuedJob| view.suits(machine, &job.request);
        // A job keeps its reservation until it starts; then the first waiting job gets one.
        let former = self.head;
        if former.is_none_or(has_started) {
            let turn = self.scan.turns(view);
            let waiting = view.queue.iter().filter(|job| !has_started(job.job));
            let head = waiting.min_by_key(|job| turn(job));
            self.head = head.map(|head| head.job);
            // Jobs that started before the head's turn run beside the others. A head from an earlier pass came first.
            let queued = |job: JobId| view.queue.get(job).expect("a job that starts has waited");
            let before = |job: JobId, head: &QueuedJob| Some(job) == former || turn(queued(job)) < turn(head);
            let in_turn = |head: &QueuedJob| {
                starts.iter().filter(|(job, machine)| suits(machine.index(), head) && before(*job, head)).count()
            };
            operations += head.map_or(0, in_turn);
        }
        if let Some(head) = self.head.and_then(|head| view.queue.get(head)) {
            let suitable = view.running.iter().enumerate().filter(|(machine, _)| suits(*machine, head));
            operations += machines + suitable.map(|(_, running)| running.len()).sum::<usize>();
        }
        operations as u64
    }
}

impl Scan {
    /// Returns the turns of jobs: the highest priority comes first, and jobs are numbered in order of arrival.
    fn turns<'a>(self, view: &'a View<'a>) -> impl Fn(&QueuedJob) -> (Reverse<u64>, JobId) + 'a {
        let scale = if let Self::Flexible(_, config) = self {
            let fastest = |one: &&Machine, other: &&Machine| one.speed.total_cmp(&other.speed);
            let fastest = *view.machines.iter().max_by(fastest).expect("a job waits, so there is a machine");
            let shortest = view.queue.iter().filter_map(|job| job.request.estimate).min().unwrap_or(Span::ZERO);
            Some((config, fastest, shortest))
        } else {
            None
        };
        // Priorities are not negative, so their bits have their order.
        move |job| {
            let priority = scale.map_or(0.0, |(config, fastest, shortest)| {
                config.priority(view.now, job.submit, job, &fastest, shortest)
            });
            (Reverse(priority.to_bits()), job.job)
        }
    }
}

impl<P: Policy> Policy for Scanned<P> {
    fn begin(&mut self, view: &View<'_>) {
        self.policy.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.policy.on_submit(job, view);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.policy.on_completion(job, machine, view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.policy.schedule(view, starts);
        self.operations += self.pass(view, starts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gap_schedule::{Easy, Fcfs, FlexibleBackfill, MultiCluster};
    use sim_core::{Job, Sim, Time};

    #[test]
    fn operations_of_a_scan_can_be_counted_by_hand() {
        fn count(policy: impl Policy, scan: Scan) -> u64 {
            let jobs = [(0, 3, 100), (1, 4, 10), (2, 1, 50), (3, 1, 200)];
            let jobs = (0..).zip(jobs).map(|(id, (submit, processors, runtime))| {
                Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
            });
            let world = MultiCluster::new(vec![Machine::new(4)], Scanned::new(policy, scan), jobs);
            Sim::new(world, ()).run().0.policy().operations
        }
        // At 0, 1, 2 and 3 s the head tests the machine; at 100 and at 110 s, two jobs do.
        assert_eq!(count(Fcfs::default(), Scan::Fcfs), 8);
        // The pass at 3 s takes five: job 1 tests the machine, then seeks a reservation there, by the ends of jobs 0 and 2; job 3 tests the
        // machine. The passes at 0, 1, 2, 52, 100 and 110 s take 1, 3, 4, 4, 4 and 1.
        assert_eq!(count(Easy::default(), Scan::Easy(Placement::Fastest)), 22);
        // Three passes compute one priority, four compute two and sort two jobs with two comparisons.
        let flexible = Scan::Flexible(Placement::Fastest, FlexibleConfig::default());
        assert_eq!(count(FlexibleBackfill::default(), flexible), 22 + 3 + 4 * (2 + 2));
    }
}
