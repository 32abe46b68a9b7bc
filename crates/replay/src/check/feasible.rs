//! Feasibility of a schedule.

use super::finding::{FindingKind, FindingList};
use super::schedule::{JobNumbers, ScheduleRow};
use crate::options::LogOptions;
use crate::simulate::sites::Sites;
use anyhow::{Result, bail};
use gap_schedule::Machine;
use rustc_hash::FxHashMap;
use sim_core::{Outage, Request, Span, Time};
use std::collections::VecDeque;
use workload::{Intake, LogJob, SwfReader};

/// Number of records with the same number that are compared with a row.
const NAMESAKES: usize = 64;

/// Record of the log: the job that it yields, if any, and its submit time.
type Numbered = (Option<usize>, Option<Span>);

/// Jobs of the log, and its other records.
pub(super) struct LoggedJobs {
    /// Jobs in order of submission: job `n` has the id `n`.
    pub(super) jobs: Vec<LogJob>,
    /// Records by number, in the order of the log: the job, if the record yields one, and the log's own submit time.
    numbers: FxHashMap<u64, Vec<Numbered>>, // never iterated
    origin: Span,
    /// Numbers of jobs that have names.
    pub(super) names: JobNumbers,
    /// Parts of the log and the machine file that are not checked.
    pub(super) notes: Vec<String>,
}

impl LoggedJobs {
    /// Reads the log twice: once for its jobs, and once for the records that yield no job.
    pub(super) fn read(options: &LogOptions, places: &Sites) -> Result<Self> {
        let trace = options.trace();
        let mut intake = Intake::new(SwfReader::open(trace)?, options.intake(places.widest()));
        let jobs: Vec<LogJob> = intake.by_ref().collect::<Result<_, _>>()?;
        let mut numbers: FxHashMap<u64, Vec<Numbered>> = FxHashMap::default();
        let (mut log, mut next, mut names) = (SwfReader::open(trace)?, 0, JobNumbers::default());
        while let Some(record) = log.next() {
            let record = record?;
            let is_job = jobs.get(next).is_some_and(|job| job.line == log.line());
            numbers.entry(record.number).or_default().push((is_job.then_some(next), record.submit));
            next += usize::from(is_job);
            names.extend(record.name.map(|name| (name, record.number)));
        }
        let notes = places.ignored(intake.repairs());
        Ok(Self { jobs, numbers, origin: intake.origin().unwrap_or_default(), names, notes })
    }
}

/// One start of a schedule: job, machine, times, and line of the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedStart {
    pub(super) job: usize,
    pub(super) machine: usize,
    pub(super) start: Time,
    pub(super) finish: Time,
    pub(super) line: u64,
}

pub(super) struct Checked {
    /// Starts by time, then in the order of the schedule.
    pub(super) starts: Vec<PlannedStart>,
    pub(super) findings: FindingList,
    /// Rows of records that are no jobs.
    pub(super) no_jobs: u64,
    /// Jobs that did not start because no place could hold them.
    pub(super) rejected: u64,
}

/// Checks each row, and then all of them over time.
pub(super) fn check(jobs: &LoggedJobs, rows: &[ScheduleRow], places: &Sites) -> Result<Checked> {
    let look = Look { jobs, machines: places.machines(), names: places.names(), offset: offset(jobs, rows) };
    let mut found = Checked { starts: Vec::new(), findings: FindingList::default(), no_jobs: 0, rejected: 0 };
    let mut seen: Vec<Option<u64>> = vec![None; jobs.jobs.len()];
    let mut left: FxHashMap<u64, VecDeque<usize>> = FxHashMap::default(); // records of a number without a row; never iterated
    let mut allocated = Vec::new();
    for row in rows {
        let ScheduleRow { line, number, .. } = *row;
        let Some(records) = jobs.numbers.get(&number) else {
            found
                .findings
                .add(FindingKind::UnknownJob, number, None, line, || format!("job {number} is not in the log"));
            continue;
        };
        let left = left.entry(number).or_insert_with(|| (0..records.len()).collect());
        let Some((job, logged)) = look.next_record(row, records, left) else {
            let first = records[0]
                .0
                .and_then(|job| seen[job])
                .map_or_else(String::new, |line| format!("; first on line {line}"));
            found
                .findings
                .add(FindingKind::JobTwice, number, None, line, || format!("job {number} is there again{first}"));
            continue;
        };
        let Some(job) = job else {
            found.no_jobs += 1;
            continue;
        };
        seen[job] = Some(line);
        let Some(start) = look.at(row, job, logged, &mut found)? else { continue };
        if let Some(blocks) = &row.allocated {
            let processors = jobs.jobs[job].job.request.processors;
            allocated.push((start.start, start.finish, number, line, blocks, processors, start.machine));
        }
        found.starts.push(start);
    }
    for (job, _) in jobs.jobs.iter().zip(&seen).filter(|(_, line)| line.is_none()) {
        if look.some_place_suits(&job.job.request) {
            found.findings.add(FindingKind::MissingJob, job.record.number, Some(job.job.submit), job.line, || {
                format!("job {} (line {} of the log) is not there", job.record.number, job.line)
            });
        } else {
            found.rejected += 1;
        }
    }
    found.starts.sort_by_key(|start| (start.start, start.line));
    fill(jobs, &look.machines, &mut found);
    let firsts: Vec<u32> = places.first_processors().map(|(first, _)| first).collect();
    seat(allocated, &look.machines, &firsts, &mut found.findings);
    Ok(found)
}

struct Look<'a> {
    jobs: &'a LoggedJobs,
    machines: Vec<Machine>,
    names: Vec<String>,
    /// Offset of the schedule's times from those since the first submission.
    offset: Span,
}

impl Look<'_> {
    fn some_place_suits(&self, request: &Request) -> bool {
        self.machines.iter().any(|machine| machine.suits(request))
    }

    fn since_first(&self, time: Span) -> Time {
        Time::ZERO + time.saturating_sub(self.offset)
    }

    /// Returns the record, among those of this number that are `left`, that agrees best with the row, otherwise the first. Each
    /// record stands for one row, and a schedule may be in another order.
    fn next_record(&self, row: &ScheduleRow, records: &[Numbered], left: &mut VecDeque<usize>) -> Option<Numbered> {
        let length = |row: &ScheduleRow| Some(row.finish?.saturating_sub(row.start?));
        let agrees = |(job, logged): Numbered| {
            let job = job.map(|job| &self.jobs.jobs[job].job);
            let submit = row.submit.is_none_or(|submit| {
                logged == Some(submit) || job.is_some_and(|job| self.since_first(submit) == job.submit)
            });
            let width = row.processors.is_none_or(|width| job.is_some_and(|job| job.request.processors == width));
            let takes =
                |length| job.is_some_and(|job| self.machines.iter().any(|one| one.takes(job.runtime) == length));
            (submit, job.is_some(), width, length(row).is_none_or(takes))
        };
        // Only the first records of such a queue are compared: a log may give all of its jobs the same number.
        let close = left.iter().take(NAMESAKES).copied().enumerate();
        let (place, _) = close.rev().max_by_key(|(_, record)| agrees(records[*record]))?;
        left.remove(place).map(|record| records[record])
    }

    /// Checks one row of this job, whose submit time in the log is `logged`. Returns its start, if it has one.
    fn at(
        &self,
        row: &ScheduleRow,
        job: usize,
        logged: Option<Span>,
        found: &mut Checked,
    ) -> Result<Option<PlannedStart>> {
        let ScheduleRow { line, number, .. } = *row;
        let of_log = &self.jobs.jobs[job].job;
        let Request { processors: asked, .. } = of_log.request;
        if let Some(submit) = row.submit
            && self.since_first(submit) != of_log.submit
            && logged != Some(submit)
        {
            found.findings.add(FindingKind::SubmitDiffers, number, Some(of_log.submit), line, || {
                format!("job {number} was submitted at {} s, and not at {} s", of_log.submit, self.since_first(submit))
            });
        }
        let Some(start) = row.start.map(|start| self.since_first(start)) else {
            if self.some_place_suits(&of_log.request) {
                found
                    .findings
                    .add(FindingKind::MissingJob, number, None, line, || format!("job {number} never starts"));
            } else {
                found.rejected += 1;
            }
            return Ok(None);
        };
        let Some(machine) = self.place_of(row, start, found)? else { return Ok(None) };
        if let Some(processors) = row.processors.filter(|processors| *processors != asked) {
            found.findings.add(FindingKind::WidthDiffers, number, Some(start), line, || {
                format!("job {number} holds {processors} processors, and requested {asked}")
            });
        }
        // If the file's times count from the log's own beginning, a difference cut at zero would hide this.
        if start < of_log.submit || row.start.is_some_and(|start| start < self.offset) {
            found.findings.add(FindingKind::StartBeforeSubmit, number, Some(start), line, || {
                format!("job {number} starts at {start} s, before it is submitted at {} s", of_log.submit)
            });
        }
        let finish = start + self.machines[machine].takes(of_log.runtime);
        if let Some(stated) = row.finish.map(|stated| self.since_first(stated)).filter(|stated| *stated != finish) {
            found.findings.add(FindingKind::RunTimeDiffers, number, Some(start), line, || {
                format!("job {number} starts at {start} s and takes {} s, but ends at {stated} s", finish.since(start))
            });
        }
        Ok(Some(PlannedStart { job, machine, start, finish, line }))
    }

    /// The place of a row; `None` if there is no such place.
    fn place_of(&self, row: &ScheduleRow, start: Time, found: &mut Checked) -> Result<Option<usize>> {
        if self.machines.len() == 1 {
            return Ok(Some(0));
        }
        let Some(site) = &row.site else {
            bail!("the schedule does not say where jobs run: there are several places, and no column site")
        };
        let machine = self.names.iter().position(|name| name == site);
        if machine.is_none() {
            found.findings.add(FindingKind::UnknownSite, row.number, Some(start), row.line, || {
                format!("job {} starts on {site}, which is not in the machine file", row.number)
            });
        }
        Ok(machine)
    }
}

/// Offset of a schedule's times from those since the first submission: zero, or the beginning of the log. Its first submit
/// time decides.
fn offset(jobs: &LoggedJobs, rows: &[ScheduleRow]) -> Span {
    let told = rows.iter().find_map(|row| {
        let (job, logged) = jobs.numbers.get(&row.number)?.first().copied()?;
        Some((jobs.jobs[job?].job.submit, logged?, row.submit?))
    });
    match told {
        Some((since_first, logged, submit)) if Time::ZERO + submit != since_first && submit == logged => jobs.origin,
        _ => Span::ZERO,
    }
}

/// Reports places with more processors in use than they have.
fn fill(jobs: &LoggedJobs, machines: &[Machine], found: &mut Checked) {
    let mut ends: Vec<&PlannedStart> = found.starts.iter().collect();
    ends.sort_by_key(|start| start.finish);
    let mut ends = ends.into_iter().peekable();
    let mut used = vec![0_u64; machines.len()];
    let width = |start: &PlannedStart| u64::from(jobs.jobs[start.job].job.request.processors);
    for start in &found.starts {
        while let Some(ended) = ends.next_if(|ended| ended.finish <= start.start) {
            used[ended.machine] -= width(ended);
        }
        let (used, has) = (&mut used[start.machine], u64::from(machines[start.machine].processors));
        *used += width(start);
        if *used > has {
            let number = jobs.jobs[start.job].record.number;
            found.findings.add(FindingKind::TooManyProcessors, number, Some(start.start), start.line, || {
                format!(
                    "when job {number} starts at {} s, {used} processors are in use, and there are {has}",
                    start.start
                )
            });
        }
    }
}

/// Reports jobs that run on a machine that is down. The outages are in order of failure.
pub(super) fn ensure_up(jobs: &LoggedJobs, outages: &[Outage], names: &[String], found: &mut Checked) {
    // By machine, in order of failure: each outage with the latest repair up to it.
    let mut by_machine: Vec<Vec<(Outage, Time)>> = vec![Vec::new(); names.len()];
    for outage in outages {
        let before = &mut by_machine[outage.site.index()];
        let up = before.last().map_or(outage.up, |(_, up)| outage.up.max(*up));
        before.push((*outage, up));
    }
    for start in &found.starts {
        let outages = &by_machine[start.machine];
        let next = outages.partition_point(|(outage, _)| outage.down <= start.start);
        // A job that ends at the instant of a failure has ended.
        let hits = outages.get(next).filter(|(outage, _)| outage.down < start.finish);
        let holds = outages[..next].last().filter(|(_, up)| *up > start.start);
        let Some((outage, up)) = holds.or(hits) else { continue };
        let number = jobs.jobs[start.job].record.number;
        found.findings.add(FindingKind::MachineDown, number, Some(start.start), start.line, || {
            format!(
                "job {number} runs from {} s to {} s on {}, which is down from {} s to {up} s",
                start.start, start.finish, names[start.machine], outage.down
            )
        });
    }
}

/// Start, finish, number and line of a job, its processors, its width, and its machine.
type Seated<'a> = (Time, Time, u64, u64, &'a Vec<(u32, u32)>, u32, usize);

/// Reports processors that are in use twice, if the schedule names them.
fn seat(mut allocated: Vec<Seated<'_>>, machines: &[Machine], firsts: &[u32], findings: &mut FindingList) {
    allocated.sort_by_key(|seated| (seated.0, seated.3));
    let mut until: FxHashMap<u32, (Time, u64)> = FxHashMap::default(); // never iterated
    for (start, finish, number, line, blocks, width, machine) in allocated {
        let count: u64 = blocks.iter().map(|(_, count)| u64::from(*count)).sum();
        let range = firsts[machine]..firsts[machine].saturating_add(machines[machine].processors);
        let is_there = |(first, count): &(u32, u32)| range.contains(first) && range.end - first >= *count;
        if count != u64::from(width) || !blocks.iter().all(is_there) {
            findings.add(FindingKind::ProcessorTwice, number, Some(start), line, || {
                format!(
                    "job {number} is given {count} processors by name, of {} to {}, and requested {width}",
                    range.start,
                    range.end - 1
                )
            });
            continue;
        }
        for processor in blocks.iter().flat_map(|(first, count)| *first..first + count) {
            if let Some((_, other)) = until.insert(processor, (finish, number)).filter(|(until, _)| *until > start) {
                findings.add(FindingKind::ProcessorTwice, number, Some(start), line, || {
                    format!("job {number} is given processor {processor} at {start} s, while job {other} has it")
                });
            }
        }
    }
}
