//! The profile `clean`: the same jobs and clusters without the simulator's habits. Whole seconds, no start-up; every policy
//! knows which clusters a job may use; conservative backfilling keeps its promises.

use super::Policy;
use gap_schedule::alea31::Job;
use gap_schedule::{Conservative, Grid, GridEasy, Machine, Scheduler};
use sim_core::{JobLog, JobRecord, Sim, SiteId, SiteSet};

/// The policies that this profile has.
pub(super) const POLICIES: [Policy; 2] = [Policy::Cons, Policy::Easy];

/// Runs `jobs` on clusters of so many processors. Jobs are cut at their limits. Records are in order of ids.
pub(super) fn run(clusters: &[u32], policy: Policy, jobs: &[Job]) -> Vec<JobRecord> {
    let scheduler: Box<dyn Scheduler> = match policy {
        Policy::Easy => Box::new(GridEasy::default()),
        Policy::Cons => Box::new(Conservative::default()),
        Policy::Bgt | Policy::SwiftGap => unreachable!("{} is not among the policies of this profile", policy.name()),
    };
    let machines = clusters.iter().map(|processors| Machine::new(*processors)).collect();
    let jobs: Vec<sim_core::Job> = jobs.iter().map(|job| without_habits(job, clusters.len())).collect();
    let (_, log) = Sim::new(Grid::new(machines, scheduler, jobs.into_iter()), JobLog::collecting()).run();
    let mut records = log.into_sink();
    records.sort_by_key(|record| record.job.id);
    records
}

/// The job for a grid of so many clusters: it runs for its work, and may use the clusters that it may.
fn without_habits(job: &Job, clusters: usize) -> sim_core::Job {
    let mut plain = job.job;
    plain.runtime = job.work();
    plain.request.estimate = Some(job.limit());
    let sites = (0..).map(SiteId).take(clusters).enumerate();
    let sites = sites.filter(|(cluster, _)| job.clusters.contains(*cluster)).map(|(_, site)| site);
    plain.request.sites = sites.fold(SiteSet::NONE, SiteSet::with);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use gap_schedule::alea31::Clusters;
    use sim_core::{JobId, Span, Time};

    fn job(id: u32, processors: u32, run: u64, limit: u64, clusters: Clusters) -> Job {
        let mut job = sim_core::Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(run));
        job.request.estimate = Some(Span::from_secs(limit));
        Job { job, clusters, user: 0 }
    }

    #[test]
    fn jobs_start_at_once_run_whole_seconds_and_are_cut_at_their_limits() {
        let jobs = [job(0, 2, 100, 100, Clusters::ALL), job(1, 2, 100, 40, Clusters::ALL)];
        for policy in POLICIES {
            let records = run(&[4, 2], policy, &jobs);
            let of = |record: &JobRecord| (record.start, record.finish);
            let at = Time::from_secs;
            assert_eq!(
                records.iter().map(of).collect::<Vec<_>>(),
                [(at(0), at(100)), (at(0), at(40))],
                "{}",
                policy.name()
            );
        }
    }

    /// The small cluster is free, and the job may not use it.
    #[test]
    fn a_job_waits_for_a_cluster_that_it_may_use() {
        let large = Clusters::NONE.with(0);
        let jobs = [job(0, 4, 50, 50, large), job(1, 2, 10, 10, large)];
        for policy in POLICIES {
            let records = run(&[4, 2], policy, &jobs);
            assert_eq!((records[1].site, records[1].start), (SiteId(0), Time::from_secs(50)), "{}", policy.name());
        }
    }
}
