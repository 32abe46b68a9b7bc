//! Feasibility of a schedule, and findings about it.

use super::schedule::{JobNumbers, ScheduleRow};
use crate::options::LogOptions;
use crate::simulate::sites::Sites;
use anyhow::{Result, bail};
use clap::ValueEnum;
use rustc_hash::FxHashMap;
use serde::Serialize;
use sim_core::{Request, Span, Time};
use std::collections::{BTreeMap, VecDeque};
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

#[derive(Default)]
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
    let mut look = Look { jobs, places, offset: offset(jobs, rows), found: Checked::default() };
    let mut seen: Vec<Option<u64>> = vec![None; jobs.jobs.len()];
    let mut left: FxHashMap<u64, VecDeque<usize>> = FxHashMap::default(); // records of a number without a row; never iterated
    let mut allocated = Vec::new();
    for row in rows {
        let number = row.number;
        let Some(records) = jobs.numbers.get(&number) else {
            look.find(FindingKind::UnknownJob, row, None, format!("job {number} is not in the log"));
            continue;
        };
        let left = left.entry(number).or_insert_with(|| (0..records.len()).collect());
        let Some((job, logged)) = look.next_record(row, records, left) else {
            let first = records[0].0.and_then(|job| seen[job]);
            let first = first.map_or_else(String::new, |line| format!("; first on line {line}"));
            look.find(FindingKind::JobTwice, row, None, format!("job {number} is there again{first}"));
            continue;
        };
        let Some(job) = job else {
            look.found.no_jobs += 1;
            continue;
        };
        seen[job] = Some(row.line);
        if let Some(start) = look.at(row, job, logged)? {
            allocated.extend(row.allocated.as_ref().map(|blocks| (start, blocks)));
            look.found.starts.push(start);
        }
    }
    for (job, _) in jobs.jobs.iter().zip(&seen).filter(|(_, line)| line.is_none()) {
        let (number, line) = (job.record.number, job.line);
        if look.some_place_suits(&job.job.request) {
            let words = format!("job {number} (line {line} of the log) is not there");
            look.found.findings.add(FindingKind::MissingJob, number, Some(job.job.submit), line, words);
        } else {
            look.found.rejected += 1;
        }
    }
    look.found.starts.sort_by_key(|start| (start.start, start.line));
    look.fill();
    look.seat(allocated, &places.first_processors().map(|(first, _)| first).collect::<Vec<_>>());
    Ok(look.found)
}

/// A check at work.
struct Look<'a> {
    jobs: &'a LoggedJobs,
    places: &'a Sites,
    /// Offset of the schedule's times from those since the first submission.
    offset: Span,
    found: Checked,
}

impl Look<'_> {
    fn find(&mut self, kind: FindingKind, row: &ScheduleRow, time: Option<Time>, words: String) {
        self.found.findings.add(kind, row.number, time, row.line, words);
    }

    /// Adds a finding about a start of the job with this number.
    fn find_at(&mut self, kind: FindingKind, number: u64, start: &PlannedStart, words: String) {
        self.found.findings.add(kind, number, Some(start.start), start.line, words);
    }

    fn some_place_suits(&self, request: &Request) -> bool {
        self.places.machines.iter().any(|machine| machine.suits(request))
    }

    fn since_first(&self, time: Span) -> Time {
        Time::ZERO + time.saturating_sub(self.offset)
    }

    /// Takes the record of `left` that agrees best with the row, otherwise the first. Each stands for one row, in any order.
    fn next_record(&self, row: &ScheduleRow, records: &[Numbered], left: &mut VecDeque<usize>) -> Option<Numbered> {
        let length = row.finish.zip(row.start).map(|(finish, start)| finish.saturating_sub(start));
        let agrees = |(job, logged): Numbered| {
            let job = job.map(|job| &self.jobs.jobs[job].job);
            let submit = row.submit.is_none_or(|submit| {
                logged == Some(submit) || job.is_some_and(|job| self.since_first(submit) == job.submit)
            });
            let width = row.processors.is_none_or(|width| job.is_some_and(|job| job.request.processors == width));
            let takes =
                |length| job.is_some_and(|job| self.places.machines.iter().any(|one| one.takes(job.runtime) == length));
            (submit, job.is_some(), width, length.is_none_or(takes))
        };
        // Only the first records of such a queue are compared: a log may give all of its jobs the same number.
        let close = left.iter().take(NAMESAKES).copied().enumerate();
        let (place, _) = close.rev().max_by_key(|(_, record)| agrees(records[*record]))?;
        left.remove(place).map(|record| records[record])
    }

    /// Checks one row of this job, whose submit time in the log is `logged`. Returns its start, if it has one.
    fn at(&mut self, row: &ScheduleRow, job: usize, logged: Option<Span>) -> Result<Option<PlannedStart>> {
        let ScheduleRow { line, number, .. } = *row;
        let of_log = &self.jobs.jobs[job].job;
        let (submit, asked) = (of_log.submit, of_log.request.processors);
        if let Some(other) = row.submit.filter(|other| logged != Some(*other)).map(|other| self.since_first(other))
            && other != submit
        {
            let words = format!("job {number} was submitted at {submit} s, and not at {other} s");
            self.find(FindingKind::SubmitDiffers, row, Some(submit), words);
        }
        let Some(start) = row.start.map(|start| self.since_first(start)) else {
            if self.some_place_suits(&of_log.request) {
                self.find(FindingKind::MissingJob, row, None, format!("job {number} never starts"));
            } else {
                self.found.rejected += 1;
            }
            return Ok(None);
        };
        let Some(machine) = self.place_of(row, start)? else { return Ok(None) };
        if let Some(processors) = row.processors.filter(|processors| *processors != asked) {
            let words = format!("job {number} holds {processors} processors, and requested {asked}");
            self.find(FindingKind::WidthDiffers, row, Some(start), words);
        }
        // If the file's times count from the log's own beginning, a difference cut at zero would hide this.
        if start < submit || row.start.is_some_and(|start| start < self.offset) {
            let words = format!("job {number} starts at {start} s, before it is submitted at {submit} s");
            self.find(FindingKind::StartBeforeSubmit, row, Some(start), words);
        }
        let takes = self.places.machines[machine].takes(of_log.runtime);
        let finish = start + takes;
        if let Some(stated) = row.finish.map(|stated| self.since_first(stated)).filter(|stated| *stated != finish) {
            let words = format!("job {number} starts at {start} s and takes {takes} s, but ends at {stated} s");
            self.find(FindingKind::RunTimeDiffers, row, Some(start), words);
        }
        Ok(Some(PlannedStart { job, machine, start, finish, line }))
    }

    /// The place of a row; `None` if there is no such place.
    fn place_of(&mut self, row: &ScheduleRow, start: Time) -> Result<Option<usize>> {
        if self.places.machines.len() == 1 {
            return Ok(Some(0));
        }
        let Some(site) = &row.site else {
            bail!("the schedule does not say where jobs run: there are several places, and no column site")
        };
        let machine = self.places.names.iter().position(|name| name == site);
        if machine.is_none() {
            let words = format!("job {} starts on {site}, which is not in the machine file", row.number);
            self.find(FindingKind::UnknownSite, row, Some(start), words);
        }
        Ok(machine)
    }

    /// Reports places with more processors in use than they have.
    fn fill(&mut self) {
        let starts = self.found.starts.clone();
        let mut ends: Vec<&PlannedStart> = starts.iter().collect();
        ends.sort_by_key(|start| start.finish);
        let mut ends = ends.into_iter().peekable();
        let mut used = vec![0_u64; self.places.machines.len()];
        let jobs = &self.jobs.jobs;
        let width = |start: &PlannedStart| u64::from(jobs[start.job].job.request.processors);
        for start in &starts {
            while let Some(ended) = ends.next_if(|ended| ended.finish <= start.start) {
                used[ended.machine] -= width(ended);
            }
            let (used, has) = (&mut used[start.machine], u64::from(self.places.machines[start.machine].processors));
            *used += width(start);
            if *used > has {
                let (number, at) = (jobs[start.job].record.number, start.start);
                let words =
                    format!("when job {number} starts at {at} s, {used} processors are in use, and there are {has}");
                self.find_at(FindingKind::TooManyProcessors, number, start, words);
            }
        }
    }

    /// Reports processors that are in use twice, if the schedule names them. `firsts` are the first processors of the machines.
    fn seat(&mut self, mut allocated: Vec<(PlannedStart, &Vec<(u32, u32)>)>, firsts: &[u32]) {
        allocated.sort_by_key(|(start, _)| (start.start, start.line));
        let mut until: FxHashMap<u32, (Time, u64)> = FxHashMap::default(); // never iterated
        for (start, blocks) in &allocated {
            let PlannedStart { job, machine, start: at, finish, .. } = *start;
            let (own, width) = (self.jobs.jobs[job].record.number, self.jobs.jobs[job].job.request.processors);
            let count: u64 = blocks.iter().map(|(_, count)| u64::from(*count)).sum();
            let range = firsts[machine]..firsts[machine].saturating_add(self.places.machines[machine].processors);
            let is_there = |(first, count): &(u32, u32)| range.contains(first) && range.end - first >= *count;
            if count != u64::from(width) || !blocks.iter().all(is_there) {
                let places = format!("of {} to {}", range.start, range.end - 1);
                let words = format!("job {own} is given {count} processors by name, {places}, and requested {width}");
                self.find_at(FindingKind::ProcessorTwice, own, start, words);
                continue;
            }
            for processor in blocks.iter().flat_map(|(first, count)| *first..first + count) {
                if let Some((_, other)) = until.insert(processor, (finish, own)).filter(|(until, _)| *until > at) {
                    let words = format!("job {own} is given processor {processor} at {at} s, while job {other} has it");
                    self.find_at(FindingKind::ProcessorTwice, own, start, words);
                }
            }
        }
    }
}

/// Offset of a schedule's times from those since the first submission: zero, or the log's beginning, as its first submit time says.
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

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FindingKind {
    UnknownJob,
    JobTwice,
    /// A job of the log has no row, or never starts.
    MissingJob,
    SubmitDiffers,
    WidthDiffers,
    StartBeforeSubmit,
    RunTimeDiffers,
    UnknownSite,
    TooManyProcessors,
    /// A processor is in use twice, or does not exist.
    ProcessorTwice,
    PolicyDiffers,
    /// The manifest beside the schedule names a program that has changed since.
    ProgramDiffers,
}

/// First finding of a kind, and their number.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FindingsOfKind {
    #[serde(rename = "finding")]
    pub(super) fault: FindingKind,
    pub(super) count: u64,
    job: u64,
    /// Time since the first submission.
    time: Option<String>,
    /// Line of the schedule; for a job without a row, of the log.
    pub(super) line: u64,
    pub(super) words: String,
}

/// All findings, by kind.
#[derive(Debug, Default)]
pub(super) struct FindingList(pub(super) BTreeMap<FindingKind, FindingsOfKind>);

impl FindingList {
    pub(super) fn add(&mut self, fault: FindingKind, job: u64, time: Option<Time>, line: u64, words: String) {
        let time = time.map(|time| time.to_string());
        let first = FindingsOfKind { fault, count: 0, job, time, line, words };
        self.0.entry(fault).or_insert(first).count += 1;
    }
}
