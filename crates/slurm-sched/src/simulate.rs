//! Simulation of the controller alone: jobs are submitted, started by its passes, and end after their run time.

use crate::site::Site;
use crate::slurmctld::{EndState, Report, Slurmctld, Terms};
use crate::workload::SubmittedJob;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Runs the jobs, which are ordered by submission, and reports passes and ends. Jobs that never start are left out. With a number of a
/// job to watch the run lasts until that job ends, and reports also why each pass leaves it pending.
pub fn simulate(
    site: &Site,
    jobs: &[SubmittedJob],
    terms: Terms,
    watched: Option<u32>,
    mut report: impl FnMut(Report),
) {
    let mut slurmctld = Slurmctld::new(Arc::new(site.clone()), terms, watched);
    let mut submissions = jobs.iter().peekable();
    // Present jobs with the number of their runs begun, and ends of the running ones; a job that is stopped earlier keeps its entries.
    let (mut present, mut ends) = (BTreeMap::<u32, (&SubmittedJob, usize)>::new(), BTreeSet::new());
    let mut now = terms.start;
    let mut is_over = false;
    while !is_over {
        let submission = submissions.peek().map(|job| terms.zero + job.submit);
        if submission.is_none() && slurmctld.is_stuck(now) {
            break;
        }
        let end = ends.first().map(|(time, _)| *time);
        let next = [submission, end].into_iter().flatten().fold(slurmctld.next(now), i64::min);
        now = next.max(now);
        let mut ended = |one: Report| {
            is_over |=
                matches!(&one, Report::Ended(ended) if Some(ended.job) == watched && ended.state != EndState::Requeued);
            report(one);
        };
        let is_ending = |job| ends.range(..=(now, u32::MAX)).any(|(_, other)| *other == job);
        for job in slurmctld.step(now, &is_ending, &mut ended) {
            let (submitted, begun) = present.get_mut(&job).expect("a job that starts was submitted");
            ends.insert((now + submitted.earlier_runs.get(*begun).unwrap_or(&submitted.run), job));
            *begun += 1;
        }
        while let Some((_, job)) = ends.first().copied().filter(|(time, _)| *time <= now) {
            ends.pop_first();
            let is_again = present.get(&job).is_some_and(|(submitted, begun)| *begun <= submitted.earlier_runs.len());
            slurmctld.end(job, now, is_again).map(Report::Ended).into_iter().for_each(&mut ended);
            if !is_again {
                present.remove(&job);
            }
        }
        while let Some(job) = submissions.next_if(|job| terms.zero + job.submit <= now) {
            slurmctld.submit(job, now);
            present.insert(job.id, (job, 0));
        }
    }
}
