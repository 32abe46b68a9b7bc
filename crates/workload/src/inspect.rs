//! Summary of a log.

mod spread;

pub use spread::{Bin, Spread};

use crate::error::InputError;
use crate::format::repair::{Repair, Repairs};
use crate::format::swf::{Header, SwfReader, SwfRecord};
use crate::intake::validate::Validation;
use serde::Serialize;
use sim_core::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Summary of a log: number of jobs, users, time span, sizes, run times, accuracy of estimates, and anomalies.
///
/// Times are in seconds. Jobs are the records that a simulation would run; their run times are those of the log, not cut at
/// any limit. Memory follows the users, the sizes and the different estimates, not the length of the log.
///
/// ```
/// use workload::{Inspection, SwfReader};
///
/// let log = "\
/// ; MaxProcs: 8
/// 1   0  5 100 4 -1 -1 4 200 -1 1 7 1 -1 -1 -1 -1 -1
/// 2  60 -1  -1 8 -1 -1 8  90 -1 5 7 1 -1 -1 -1 -1 -1
/// 3 300  0 300 8 -1 -1 8 300 -1 1 9 1 -1 -1 -1 -1 -1
/// ";
/// let seen = Inspection::of(SwfReader::from_read("three.swf", log.as_bytes())?, None, None)?;
/// assert_eq!((seen.records, seen.jobs, seen.users), (3, 2, 2));
/// assert_eq!(seen.load, Some(2800.0 / (8.0 * 300.0)));
/// assert_eq!(seen.anomalies[0].rule.name(), "no-runtime");
/// # Ok::<(), workload::InputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// Number of records, skipped ones included.
    pub records: u64,
    /// Number of jobs.
    pub jobs: u64,
    /// Number of known users.
    pub users: u64,
    /// Number of known groups.
    pub groups: u64,
    /// Number of known applications.
    pub executables: u64,
    /// Number of jobs of each known queue.
    pub queues: BTreeMap<u32, u64>,
    /// Number of jobs of each known partition.
    pub partitions: BTreeMap<u32, u64>,
    /// Submission of the first job, by the log's own clock.
    pub first_submit: f64,
    /// Time from the first submission to the last.
    pub submission_span: f64,
    /// Time from the first submission to the last end by the waits and run times of the log; an unknown wait counts as zero.
    pub span: f64,
    /// Processors of the machine: as given, or else those of the header, whose `MaxNodes` replaces a missing `MaxProcs`
    /// only if no job is wider. `None` if unknown; the widest job does not imply it.
    pub capacity: Option<u32>,
    /// Processor-seconds of all jobs.
    pub work: f64,
    /// Offered load: `work` over the capacity of the machine in `submission_span`.
    pub load: Option<f64>,
    /// True if hours and weekdays are those of a calendar; otherwise the log is taken to begin at midnight on a Monday.
    pub is_calendar: bool,
    /// Seconds by which the local time of `by_hour` and `by_weekday` is ahead of UTC.
    pub utc_offset: i32,
    /// Jobs submitted in each hour of the day.
    pub by_hour: [u64; 24],
    /// Jobs submitted on each day of the week, Monday first.
    pub by_weekday: [u64; 7],
    /// Times between submissions.
    pub interarrival: Spread,
    /// Processors of a job.
    pub processors: Spread,
    /// Jobs of each size.
    pub sizes: BTreeMap<u32, u64>,
    /// Share of the jobs of one processor.
    pub serial: f64,
    /// Share of the jobs whose size is a power of two, above one.
    pub power_of_two: f64,
    /// Run times.
    pub runtimes: Spread,
    /// Waits, of the jobs for which they are known.
    pub waits: Spread,
    /// Requested times, of the jobs that have one.
    pub estimates: Spread,
    /// Number of jobs without a requested time.
    pub without_estimate: u64,
    /// Number of jobs of each requested time in whole seconds.
    pub estimate_values: BTreeMap<u64, u64>,
    /// Accuracy of the estimates.
    pub accuracy: Accuracy,
    /// Users with the most work, at most twenty, the busiest first.
    pub busiest_users: Vec<UserShare>,
    /// Anomalies by name, in the order of their first lines.
    pub anomalies: Vec<Repair>,
    /// Processor-seconds of the jobs submitted on each day, counted from the first submission; days without jobs are left out.
    pub work_by_day: BTreeMap<u64, f64>,
}

/// Run time over requested time, of the jobs that have one: 1 is exact, less is an overestimate.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// Mean, each job counted as 1 at most.
    pub mean: f64,
    /// Numbers of jobs from 0 to 0.1, from 0.1 to 0.2, … to 1: lower ends included, and 1 in the last.
    pub tenths: [u64; 10],
    /// Number of jobs that ran beyond their requested time.
    pub beyond: u64,
}

/// Share of one user in a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserShare {
    /// User.
    pub user: u32,
    /// Number of jobs.
    pub jobs: u64,
    /// Share of all processor-seconds.
    pub work: f64,
}

impl Inspection {
    /// Inspects a log. `capacity` replaces the number of processors in the header. `utc_offset` is the number of
    /// seconds by which the machine's local time was ahead of UTC, used if the header does not state it (`TimeZone`).
    ///
    /// Lines that cannot be read are anomalies; the other lines are inspected.
    ///
    /// # Errors
    ///
    /// If the log cannot be read to its end.
    pub fn of(records: SwfReader, capacity: Option<u32>, utc_offset: Option<i32>) -> Result<Self, InputError> {
        let header = records.header();
        let stated = capacity.or(header.max_procs);
        let nodes = header.max_nodes;
        let capacity = stated.or(nodes);
        let clock = LogClock::new(header, utc_offset);
        let mut validation = Validation::new(records, capacity);
        let (mut seen, mut anomalies) = (Gathered::default(), Repairs::default());
        seen.of.utc_offset = clock.utc_offset;
        while let Some(item) = validation.read_on() {
            for finding in validation.found.drain(..) {
                anomalies.note(finding.rule, Some(finding.line));
                if let Some(error) = finding.error.filter(|_| validation.intake.reader().lines.is_done) {
                    return Err(error);
                }
            }
            seen.of.records += 1;
            if let Some((record, Some(processors))) = item {
                seen.take_in(&record, processors, &clock);
            }
        }
        seen.of.anomalies = anomalies.iter().collect();
        seen.of.anomalies.sort_by_key(|anomaly| anomaly.first_line);
        // If a job is wider than the number of nodes, each node has several processors, an unknown number.
        let widest = seen.of.sizes.keys().last().copied();
        Ok(seen.finish(stated.or(nodes.filter(|nodes| widest <= Some(*nodes)))))
    }
}

/// Seconds by which the machine's local time is ahead of UTC: `TimeZone: -28800`, as the Parallel Workloads Archive writes it.
pub fn zone(header: &Header) -> Option<i32> {
    header.get("TimeZone")?.split_whitespace().next()?.parse().ok().filter(|offset: &i32| offset.abs() <= 86_400)
}

/// Conversion of the log's own seconds into hours and weekdays.
pub(crate) struct LogClock {
    utc_offset: i32,
    unix_start: Option<u64>,
}

/// Submit times above this count from 1970 and not from the beginning of the log, unless it has lasted ten years.
const UNIX: Span = Span::from_secs(315_532_800);

impl LogClock {
    pub(crate) fn new(header: &Header, utc_offset: Option<i32>) -> Self {
        let utc_offset = utc_offset.or_else(|| zone(header)).unwrap_or_default();
        Self { utc_offset, unix_start: header.unix_start_time.filter(|start| *start > 0) }
    }

    /// Returns the hour of the week, from Monday midnight; for a log without a calendar from its beginning, and false.
    pub(crate) fn hour_of_week(&self, submit: Span) -> (usize, bool) {
        let start = self.unix_start.or_else(|| (submit >= UNIX).then_some(0));
        // The first of January 1970 was a Thursday, 72 hours after Monday; one more week keeps the sum above zero.
        let hours_before = 72 + 168;
        let local = start.and_then(|start| {
            (start + seconds(submit) + 3_600 * hours_before).checked_add_signed(self.utc_offset.into())
        });
        let hour = local.unwrap_or(seconds(submit)) / 3_600 % 168;
        (usize::try_from(hour).expect("below 168"), local.is_some())
    }
}

const fn seconds(span: Span) -> u64 {
    span.as_nanos() / 1_000_000_000
}

#[derive(Default)]
struct Gathered {
    /// Counts, and sums in the place of means.
    of: Inspection,
    is_off_calendar: bool,
    /// Submit times of the first job and of the latest.
    first_and_last: Option<(Span, Span)>,
    last_end: Span,
    /// Number of jobs and work.
    users: BTreeMap<u32, (u64, f64)>,
    groups: BTreeSet<u32>,
    executables: BTreeSet<u32>,
}

impl Gathered {
    fn take_in(&mut self, record: &SwfRecord, processors: u32, clock: &LogClock) {
        let submit = record.submit.unwrap_or_default();
        let runtime = record.runtime.unwrap_or_default();
        let of = &mut self.of;
        of.jobs += 1;
        match self.first_and_last {
            None => self.first_and_last = Some((submit, submit)),
            Some((first, last)) => {
                of.interarrival.add(submit.saturating_sub(last).as_secs_f64());
                self.first_and_last = Some((first, submit.max(last)));
            }
        }
        self.last_end = self.last_end.max(submit + record.wait.unwrap_or_default() + runtime);
        let work = runtime.as_secs_f64() * f64::from(processors);
        of.work += work;
        let since_first = submit.saturating_sub(self.first_and_last.map_or(submit, |(first, _)| first));
        *of.work_by_day.entry(seconds(since_first) / 86_400).or_default() += work;
        let (hour_of_week, is_calendar) = clock.hour_of_week(submit);
        self.is_off_calendar |= !is_calendar;
        of.by_hour[hour_of_week % 24] += 1;
        of.by_weekday[hour_of_week / 24] += 1;
        *of.sizes.entry(processors).or_default() += 1;
        of.runtimes.add(runtime.as_secs_f64());
        if let Some(wait) = record.wait {
            of.waits.add(wait.as_secs_f64());
        }
        match record.requested_time.filter(|estimate| !estimate.is_zero()) {
            None => of.without_estimate += 1,
            Some(estimate) => {
                of.estimates.add(estimate.as_secs_f64());
                *of.estimate_values.entry(seconds(estimate)).or_default() += 1;
                of.accuracy.add(runtime, estimate);
            }
        }
        if let Some(user) = record.user {
            let (jobs, of_user) = self.users.entry(user).or_default();
            *jobs += 1;
            *of_user += work;
        }
        self.groups.extend(record.group);
        self.executables.extend(record.executable);
        for (counts, value) in [(&mut of.queues, record.queue), (&mut of.partitions, record.partition)] {
            if let Some(value) = value {
                *counts.entry(value).or_default() += 1;
            }
        }
    }

    fn finish(self, capacity: Option<u32>) -> Inspection {
        let mut of = self.of;
        let (first, last) = self.first_and_last.unwrap_or_default();
        of.users = self.users.len() as u64;
        of.groups = self.groups.len() as u64;
        of.executables = self.executables.len() as u64;
        of.first_submit = first.as_secs_f64();
        of.submission_span = last.saturating_sub(first).as_secs_f64();
        of.span = self.last_end.saturating_sub(first).as_secs_f64();
        of.capacity = capacity;
        let machine = capacity.filter(|_| of.submission_span > 0.0);
        of.load = machine.map(|capacity| of.work / (f64::from(capacity) * of.submission_span));
        of.is_calendar = !self.is_off_calendar && of.jobs > 0;
        let share = |is_meant: fn(u32) -> bool| {
            let jobs: u64 = of.sizes.iter().filter(|(size, _)| is_meant(**size)).map(|(_, jobs)| jobs).sum();
            if of.jobs == 0 { 0.0 } else { jobs as f64 / of.jobs as f64 }
        };
        (of.serial, of.power_of_two) = (share(|size| size == 1), share(|size| size > 1 && size.is_power_of_two()));
        let user = |(user, (jobs, work))| UserShare { user, jobs, work: work / of.work };
        of.busiest_users = self.users.into_iter().map(user).collect();
        of.busiest_users.sort_by(|a, b| b.work.total_cmp(&a.work).then(a.user.cmp(&b.user)));
        of.busiest_users.truncate(20);
        of.sizes.iter().for_each(|(size, jobs)| of.processors.add_many(f64::from(*size), *jobs));
        let estimated = of.jobs - of.without_estimate;
        of.accuracy.mean = if estimated > 0 { of.accuracy.mean / estimated as f64 } else { 0.0 };
        of
    }
}

impl Accuracy {
    /// Adds to the sum in the place of the mean.
    fn add(&mut self, runtime: Span, estimate: Span) {
        self.mean += (runtime.as_secs_f64() / estimate.as_secs_f64()).min(1.0);
        if runtime > estimate {
            self.beyond += 1;
            return;
        }
        // In integers, so that rounding cannot put 3 s of 10 s into the third tenth instead of the fourth.
        let tenth = u128::from(runtime.as_nanos()) * 10 / u128::from(estimate.as_nanos());
        self.tenths[usize::try_from(tenth).expect("10 at most").min(9)] += 1;
    }
}
