//! Work that waits for processors over a run, and its growth while jobs arrive: [`Backlog`].

use crate::mean::as_f64;
use crate::timeline::Timeline;
use rustc_hash::FxHashMap;
use sim_core::{Fact, Job, JobId, Probe, Span, Time};

/// Work of the waiting jobs over a run: a probe whose memory is proportional to the jobs in the system.
///
/// The work of a job is its processors × its run time at reference speed, independent of its estimate.
///
/// ```
/// use metrics::backlog::Backlog;
/// use sim_core::testkit::Fcfs;
/// use sim_core::{Job, JobId, Sim, Span, Time};
///
/// // A job of 30 s every 20 s on one processor: half as much again as can be done.
/// let jobs = (0..1_000).map(|k| Job::new(JobId(k), Time::from_secs(20 * u64::from(k)), 1, Span::from_secs(30)));
/// let (_, backlog) = Sim::new(Fcfs::new(1, jobs), Backlog::default()).run();
/// let trend = backlog.trend();
/// assert!(trend.is_saturated());
/// assert!((trend.drain - 10_020.0).abs() < 1e-9); // the last job comes at 19 980 s, and all are done at 30 000 s
/// ```
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    /// Work of the waiting jobs.
    level: Timeline,
    /// Work of each job in the system. Never iterated.
    present: FxHashMap<JobId, u64>,
    jobs: u64,
    work: u64,
    longest: Span,
    first_submit: Option<Time>,
    last_submit: Time,
    at_last_submit: u64,
    last_finish: Time,
}

/// Trend of the waiting work over a run. Times are in seconds; work is given as the time that it takes at the mean rate at which
/// the run did work.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Trend {
    /// Jobs that ran.
    pub jobs: u64,
    /// Last submission less the first.
    pub span: f64,
    /// Run time of the longest job.
    pub longest_job: f64,
    /// Largest waiting work before the last submission, as a mean over at least a thousandth of the run.
    pub largest: f64,
    /// Waiting work at the last submission.
    pub at_end: f64,
    /// Longest time up to the last submission during which the waiting work was above a tenth of [`largest`](Self::largest).
    pub stretch: f64,
    /// End of the last job less the last submission.
    pub drain: f64,
}

/// Unit of work: a tenth of a processor-second.
const UNIT: u64 = 100_000_000;

/// Largest work that one job counts for, so that sums stay within 64 bits: 3,000 years of a processor.
const MOST: u64 = 1 << 40;

impl Backlog {
    fn submit(&mut self, now: Time, job: &Job) {
        let nanos = u128::from(job.runtime.as_nanos()) * u128::from(job.request.processors);
        let work = u64::try_from(nanos.div_ceil(u128::from(UNIT))).map_or(MOST, |work| work.min(MOST));
        self.present.insert(job.id, work);
        self.jobs += 1;
        self.work = self.work.saturating_add(work);
        self.longest = self.longest.max(job.runtime);
        self.first_submit.get_or_insert(now);
        self.level.raise(now, work);
        self.last_submit = now;
        self.at_last_submit = self.level.level();
    }

    /// Trend of the run, after its end.
    pub fn trend(self) -> Trend {
        let first = self.first_submit.unwrap_or(Time::ZERO);
        let end = self.last_finish.max(self.last_submit);
        let takes = end.since(first).as_secs_f64();
        let rate = if takes > 0.0 { as_f64(self.work) / takes } else { f64::INFINITY };
        let mut slices = self.level.means(end);
        slices.retain(|(begin, _)| *begin < self.last_submit);
        let largest = slices.iter().map(|(_, level)| *level).fold(0.0, f64::max);
        // The slice of the last submission ends there.
        let ends = slices.iter().skip(1).map(|(begin, _)| *begin).chain([self.last_submit]);
        let (mut stretch, mut current) = (0.0_f64, 0.0);
        for ((begin, level), end) in slices.iter().zip(ends) {
            current = if *level > largest / 10.0 { current + end.since(*begin).as_secs_f64() } else { 0.0 };
            stretch = stretch.max(current);
        }
        Trend {
            jobs: self.jobs,
            span: self.last_submit.since(first).as_secs_f64(),
            longest_job: self.longest.as_secs_f64(),
            largest: largest / rate,
            at_end: as_f64(self.at_last_submit) / rate,
            stretch,
            drain: end.since(self.last_submit).as_secs_f64(),
        }
    }
}

impl Probe for Backlog {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(job) => self.submit(now, job),
            Fact::Started { job, .. } => {
                let work = self.present.remove(job).expect("a job that starts was submitted");
                self.level.lower(now, work);
            }
            Fact::Rejected { job, .. } => {
                if let Some(work) = self.present.remove(job) {
                    self.level.lower(now, work);
                    // A rejected job does not count.
                    self.at_last_submit = self.at_last_submit.min(self.level.level());
                    self.jobs -= 1;
                    self.work -= work;
                }
            }
            Fact::Finished { .. } => self.last_finish = now,
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}

impl Trend {
    /// Returns true if the policy cannot do the work as fast as it arrives, so that waits grow with the length of the log.
    ///
    /// Two conditions must hold, in units of the time from the first to the last submission. *Large*: the largest waiting work
    /// takes at least 2 % of it, and at least 5 / √jobs, which is five standard deviations of the work that as many exponential
    /// jobs bring. *Lasting*: work above a tenth of the largest waits without a break for a quarter of it; or at the last
    /// submission half of the largest waits, and both this work and the time of the run after the last submission are large.
    /// A log of fewer than 100 jobs, or shorter than four of its longest jobs, has no trend: it is not saturated.
    pub fn is_saturated(&self) -> bool {
        const LARGE: f64 = 0.02;
        const LONG: f64 = 0.25;
        const FEWEST: u64 = 100;
        let Self { jobs, span, longest_job, largest, at_end, stretch, drain } = *self;
        if jobs < FEWEST || span < 4.0 * longest_job {
            return false;
        }
        let large = span * LARGE.max(5.0 / as_f64(jobs).sqrt());
        let lasts = stretch >= LONG * span || (at_end >= largest / 2.0 && at_end.min(drain) >= large);
        largest >= large && lasts
    }
}
