//! The profile `clean`: the same jobs and clusters without the peculiarities of the simulator. Whole seconds, no start-up; every policy
//! knows the clusters that a job may use; conservative backfilling keeps its reservations.

use super::Policy;
use alea31::{limit, work};
use gap_schedule::{CompressOrder, Conservative, Easy, GapFilling, Machine, MultiCluster, Placement, Priority};
use sim_core::{Job, JobLog, JobRecord, Purpose, Sim, Streams};

/// Returns the policy in its initial state. Swift Gap follows its text, whatever the readings of the scenario.
pub(super) fn scheduler(policy: Policy, streams: &Streams) -> Box<dyn gap_schedule::Policy> {
    let placement = Placement::Fastest;
    let stream = || streams.stream(Purpose("tabu search"), 0);
    match policy {
        Policy::Easy => Box::new(Easy::default()),
        // The order of compression of BGT, Swift Gap and Alea, so that their gain over it has another cause.
        Policy::Cons => Box::new(Conservative::new(placement, CompressOrder::Reserved, Priority::default())),
        Policy::BestGap => Box::new(GapFilling::best_gap(placement)),
        Policy::Bgt => Box::new(GapFilling::bgt(placement, stream())),
        Policy::SwiftGap | Policy::Nearest => Box::new(GapFilling::swift_gap(placement, stream())),
    }
}

/// Runs `jobs` on `clusters`, given by their numbers of processors. Jobs are cut at their limits. Records are in order of ids.
pub(super) fn run(clusters: &[u32], scheduler: Box<dyn gap_schedule::Policy>, jobs: &[Job]) -> Vec<JobRecord> {
    let machines = clusters.iter().map(|processors| Machine::new(*processors)).collect();
    let plain = |job: &Job| {
        let mut plain = Job { runtime: work(job), ..*job };
        plain.request.estimate = Some(limit(job));
        plain
    };
    let jobs: Vec<Job> = jobs.iter().map(plain).collect();
    let (_, log) = Sim::new(MultiCluster::new(machines, scheduler, jobs.into_iter()), JobLog::collecting()).run();
    let mut records = log.into_sink();
    records.sort_by_key(|record| record.job.id);
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{JobId, Span, Time};

    #[test]
    fn jobs_are_cut_at_their_limits() {
        let mut job = Job::new(JobId(0), Time::ZERO, 2, Span::from_secs(100));
        job.request.estimate = Some(Span::from_secs(40));
        let easy = scheduler(Policy::Easy, &Streams::new(1, 0));
        assert_eq!(run(&[4, 2], easy, &[job])[0].finish, Time::from_secs(40));
    }
}
