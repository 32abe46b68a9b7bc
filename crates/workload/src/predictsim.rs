//! The intake rules of the experiments on predicted run times: a log as the simulator predictsim of SC'15 reads it.
//!
//! [`Intake`](crate::Intake) repairs what it can and takes the processors that a job held. These experiments ask what a
//! scheduler would have known: they take what was *requested*, and leave out jobs without it. In this order:
//!
//! 1. a job with more allocated or more requested processors than the machine has is left out;
//! 2. where only one of requested and allocated processors is positive it stands for both, and where neither is, the job is
//!    left out; it then takes its requested processors (field 8);
//! 3. a job without a run time above zero is left out;
//! 4. a job without a requested time above zero is left out;
//! 5. a run time above the requested time is cut there;
//! 6. a job without a submit time is left out.
//!
//! Submit times are the log's own. From the cleaned logs of the Parallel Workloads Archive this makes the jobs of the
//! published results for CTC-SP2 (77 199) and CEA-Curie (295 540).
//!
//! Source: the results published with É. Gaussier, D. Glesser, V. Reis, D. Trystram, "Improving Backfilling by using Machine
//! Learning to predict Running Times", SC'15.

use crate::error::InputError;
use crate::swf::{SwfReader, SwfRecord};
use sim_core::{Job, JobId, Request, SiteSet, Time};

/// Reads a log as the jobs of these experiments, numbered 0, 1, 2 … as they are delivered, in the order of the log.
///
/// ```
/// use workload::{PredictsimIntake, SwfReader};
/// use sim_core::Span;
///
/// let log = "\
/// 1 0 -1 90 4 -1 -1 8 60 -1 1 7 1 -1 -1 -1 -1 -1
/// 2 5 -1 10 4 -1 -1 -1 60 -1 1 7 1 -1 -1 -1 -1 -1
/// 3 6 -1 10 4 -1 -1 4 -1 -1 1 7 1 -1 -1 -1 -1 -1
/// ";
/// let intake = PredictsimIntake::new(SwfReader::from_read("three.swf", log.as_bytes())?, 16);
/// let jobs = intake.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(jobs[0].job.request.processors, 8); // as requested
/// assert_eq!(jobs[0].job.runtime, Span::from_secs(60)); // cut
/// assert_eq!(jobs[1].job.request.processors, 4); // as allocated, since nothing is said of what was requested
/// assert_eq!(jobs.len(), 2); // the third has no requested time
/// # Ok::<(), workload::InputError>(())
/// ```
#[derive(Debug)]
pub struct PredictsimIntake {
    records: SwfReader,
    processors: u32,
    delivered: u32,
}

/// A job, and its number in the log.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PredictsimJob {
    /// The job: its run time, cut at its estimate, which is the requested time.
    pub job: Job,
    /// Its number in the log.
    pub number: u64,
}

impl PredictsimIntake {
    /// Takes in what `records` reads, for a machine of `processors` processors. (The published results use 80 640 for CEA-Curie,
    /// and not the 93 312 of the log's header.)
    pub fn new(records: SwfReader, processors: u32) -> Self {
        Self { records, processors, delivered: 0 }
    }

    fn job_of(&mut self, record: &SwfRecord) -> Option<PredictsimJob> {
        let some = |processors: Option<u32>| processors.filter(|processors| *processors > 0);
        let (allocated, requested) = (some(record.allocated_processors), some(record.requested_processors));
        if allocated.max(requested) > Some(self.processors) {
            return None;
        }
        let processors = requested.or(allocated)?;
        let logged = record.runtime.filter(|runtime| !runtime.is_zero())?;
        let limit = record.requested_time.filter(|limit| !limit.is_zero())?;
        let submit = record.submit?;
        let id = JobId(self.delivered);
        self.delivered = self.delivered.checked_add(1).expect("a run has fewer than 4 billion jobs");
        let request =
            Request { processors, estimate: Some(limit), deadline: None, sites: SiteSet::ALL, user: record.user };
        let job = Job { id, submit: Time::ZERO + submit, origin: None, request, runtime: logged.min(limit) };
        Some(PredictsimJob { job, number: record.number })
    }
}

impl Iterator for PredictsimIntake {
    type Item = Result<PredictsimJob, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let job = self.records.next()?.map(|record| self.job_of(&record)).transpose();
            if job.is_some() {
                return job;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One record of a log: run, allocated, requested, requested time.
    fn taken(fields: [i64; 4]) -> Option<(u32, u64)> {
        let [run, allocated, requested, limit] = fields;
        let line = format!("7 3 -1 {run} {allocated} -1 -1 {requested} {limit} -1 1 9 1 -1 -1 -1 -1 -1\n");
        let records = SwfReader::from_read("one.swf", std::io::Cursor::new(line)).expect("a log");
        let job = PredictsimIntake::new(records, 100).next()?.expect("a good line").job;
        Some((job.request.processors, job.runtime.as_nanos() / 1_000_000_000))
    }

    #[test]
    fn what_is_requested_is_taken_and_what_is_not_told_is_left_out() {
        for (fields, job) in [
            ([50, 4, 8, 60], Some((8, 50))),
            ([50, 4, 0, 60], Some((4, 50))),
            ([50, -1, 8, 60], Some((8, 50))),
            ([70, 4, 8, 60], Some((8, 60))),
            ([50, 100, 100, 60], Some((100, 50))),
            ([50, 101, 8, 60], None),
            ([50, 4, 101, 60], None),
            ([50, -1, 0, 60], None),
            ([0, 4, 8, 60], None),
            ([-1, 4, 8, 60], None),
            ([50, 4, 8, 0], None),
            ([50, 4, 8, -1], None),
        ] {
            assert_eq!(taken(fields), job, "{fields:?}");
        }
    }
}
