//! Part of a plan for one machine: its running jobs, its list, and their ends.

use super::PlannedJob;
use super::idle::Idle;
use crate::queue::QueuedJob;
use crate::view::Machine;
use sim_core::{JobId, Span, Time};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub(super) struct MachinePlan {
    pub(super) processors: u32,
    speed: f64,
    pub(super) faster: u32,
    /// True if there are other machines. Only then gaps are measured, to rule machines out.
    pub(super) is_one_of_many: bool,
    /// Running jobs, the last to end first.
    pub(super) running: Vec<PlannedJob>,
    /// Planned jobs in order; starts never decrease.
    pub(super) planned: VecDeque<PlannedJob>,
    pub(super) idle: Idle,
    /// Scratch buffer, empty between layouts.
    releases: Releases,
    /// End of the last running or planned job; [`Time::ZERO`] if there is none.
    pub(super) completion: Time,
    /// Number of planned jobs that will be late.
    pub(super) late: u32,
    /// Number of running and planned jobs that will be in time.
    pub(super) on_time: u32,
}

/// Effect of planning a job at some position.
#[derive(Copy, Clone, Debug)]
pub(super) struct Insertion {
    pub(super) start: Time,
    pub(super) end: Time,
    /// End of the last job of the machine.
    pub(super) completion: Time,
    /// Number of jobs of the machine in time, the new one included.
    pub(super) on_time: u32,
}

/// Future releases of processors, by instant, while a list is laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Releases {
    idle: u32,
    /// Latest first.
    ends: Vec<(Time, u32)>,
}

impl Releases {
    fn seize(&mut self, end: Time, processors: u32) {
        self.idle -= processors;
        let place = self.ends.partition_point(|other| other.0 > end);
        self.ends.insert(place, (end, processors));
    }

    /// Applies the next release.
    fn release(&mut self) -> Option<Time> {
        let (end, processors) = self.ends.pop()?;
        self.idle += processors;
        Some(end)
    }

    /// Applies the next release if it happens by `at` or must happen before `processors` are idle.
    ///
    /// Repeated until it returns `None`, with `at` moved to the returned instant, this finds the earliest instant at
    /// which enough are idle. Nothing is seized before that instant any more, so they stay idle.
    fn release_for(&mut self, at: Time, processors: u32) -> Option<Time> {
        let must = self.idle < processors;
        match self.ends.last() {
            Some(next) if must || next.0 <= at => self.release(),
            None if must => panic!("{processors} processors are needed where there are {}", self.idle),
            _ => None,
        }
    }
}

impl MachinePlan {
    pub(super) fn new(machine: Machine, faster: usize, is_one_of_many: bool) -> Self {
        let mut plan = Self {
            processors: machine.processors,
            speed: machine.speed,
            faster: u32::try_from(faster).expect("fewer than 2^32 machines"),
            is_one_of_many,
            ..Self::default()
        };
        plan.lay_out(0, Time::MAX, Time::ZERO);
        plan
    }

    /// Returns the expected time of the job on this machine: estimate / speed, but at least 1 ns.
    pub(super) fn span(&self, job: &QueuedJob) -> Span {
        let machine = Machine { processors: self.processors, speed: self.speed };
        machine.expects(&job.request).max(Span::from_nanos(1))
    }

    pub(super) fn next_start(&self) -> Option<Time> {
        self.planned.front().map(|planned| planned.start)
    }

    /// Returns the position of a job with this deadline by Earliest Deadline First: before the first planned job with a
    /// later one. A job without a deadline has the latest of all, and goes last.
    pub(super) fn edf_position(&self, job: &QueuedJob) -> usize {
        let due = |job: &QueuedJob| job.request.deadline.unwrap_or(Time::MAX);
        self.planned.iter().position(|planned| due(&planned.job) > due(job)).unwrap_or(self.planned.len())
    }

    /// Plans the job at index `position` of the list. Jobs behind it may shift to later starts; those before it stay.
    pub(super) fn insert(&mut self, position: usize, job: QueuedJob, now: Time) {
        let end = now + self.span(&job);
        self.add(position, PlannedJob { job, start: now, end });
        self.lay_out(position, end, now);
    }

    pub(super) fn remove(&mut self, position: usize, now: Time) -> QueuedJob {
        let removed = self.planned.remove(position).expect("a planned job");
        self.on_time -= u32::from(removed.is_on_time());
        self.late -= u32::from(!removed.is_on_time());
        self.lay_out(position, removed.end, now);
        removed.job
    }

    /// Plans the job in the gap that begins at `start`. No other start moves.
    pub(super) fn fill(&mut self, start: Time, job: QueuedJob, now: Time) {
        let position = self.planned.partition_point(|planned| planned.start <= start);
        let end = start + self.span(&job);
        self.add(position, PlannedJob { job, start, end });
        self.idle.forget_before(now);
        self.idle.reserve(start, end, job.request.processors);
        self.measure();
    }

    fn add(&mut self, position: usize, planned: PlannedJob) {
        self.planned.insert(position, planned);
        self.completion = self.completion.max(planned.end);
        self.on_time += u32::from(planned.is_on_time());
        self.late += u32::from(!planned.is_on_time());
    }

    /// Starts every job that is planned to start at `now`, and counts it as running.
    pub(super) fn start_due(&mut self, now: Time, mut started: impl FnMut(JobId)) {
        let mut free = self.processors - self.running.iter().map(|running| running.job.request.processors).sum::<u32>();
        while let Some(due) = self.planned.pop_front_if(|planned| planned.start <= now) {
            let PlannedJob { job: QueuedJob { job, request, .. }, start, .. } = due;
            let need = request.processors;
            assert!(start == now, "job {job} was planned for {start} s, but it is already {now} s");
            assert!(
                need <= free,
                "job {job} is due on {need} processors where {free} are free: has a running job outlived its expected end?"
            );
            free -= need;
            self.late -= u32::from(!due.is_on_time());
            self.run(due);
            started(job);
        }
        self.idle.forget_before(now);
        if self.planned.is_empty() {
            self.measure();
        }
    }

    fn run(&mut self, job: PlannedJob) {
        let place = self.running.partition_point(|other| other.end > job.end);
        self.running.insert(place, job);
    }

    fn take_running(&mut self, job: JobId) -> PlannedJob {
        let position = self.running.iter().position(|running| running.job.job == job);
        let taken = self.running.remove(position.unwrap_or_else(|| panic!("job {job} does not run here")));
        self.on_time -= u32::from(taken.is_on_time());
        taken
    }

    pub(super) fn finish(&mut self, job: JobId, now: Time) -> QueuedJob {
        let ended = self.take_running(job);
        // An end as planned moves nothing.
        if ended.end != now || self.completion == now {
            self.lay_out(0, ended.end, now);
        }
        ended.job
    }

    /// Moves the expected end of a running job. Later starts move.
    pub(super) fn expect(&mut self, job: JobId, end: Time, now: Time) {
        let before = self.take_running(job);
        let after = PlannedJob { end, ..before };
        self.on_time += u32::from(after.is_on_time());
        self.run(after);
        self.lay_out(0, end.max(before.end), now);
    }

    /// Assigns starts to the planned jobs from index `from` on, and updates all that depends on them. Until `changed`,
    /// other processors are taken than before, by running jobs or by the job that came or went at `from`.
    ///
    /// As soon as a job keeps its start and all changes end before it, the jobs behind it stay too and are not visited.
    fn lay_out(&mut self, from: usize, mut changed: Time, now: Time) {
        let mut releases = std::mem::take(&mut self.releases);
        let mut start = self.start_before(from, now);
        self.seize_before(from, start, &mut releases);
        self.idle.begin(now, start, releases.idle);
        let mut last_has_moved = changed >= self.completion;
        let mut rest = None;
        for planned in self.planned.range_mut(from..) {
            while let Some(at) = releases.release_for(start, planned.job.request.processors) {
                start = start.max(at);
                self.idle.push(at, releases.idle);
            }
            if start != planned.start {
                let before = *planned;
                (planned.start, planned.end) = (start, start + before.end.since(before.start));
                self.on_time = self.on_time - u32::from(before.is_on_time()) + u32::from(planned.is_on_time());
                self.late = self.late - u32::from(!before.is_on_time()) + u32::from(!planned.is_on_time());
                last_has_moved |= before.end >= self.completion;
                self.completion = self.completion.max(planned.end);
                changed = changed.max(before.end).max(planned.end);
            } else if changed <= start {
                rest = Some(start);
                break;
            }
            releases.seize(planned.end, planned.job.request.processors);
            self.idle.push(start, releases.idle);
        }
        if rest.is_none() {
            while let Some(at) = releases.release() {
                self.idle.push(at, releases.idle);
            }
        }
        self.idle.end(rest);
        self.releases = releases;
        if last_has_moved {
            let jobs = self.running.iter().chain(&self.planned);
            self.completion = jobs.map(|job| job.end).max().unwrap_or(Time::ZERO);
        }
        self.measure();
    }

    /// Returns the effect of inserting the job at `position`, if it starts at the instant `at` that
    /// [`try_start`](Self::try_start) has just found, with its `releases`. Returns `None` as soon as it is `hopeless`. Each
    /// bound passed to `hopeless` is at least as good as the result, for jobs that shift end no earlier than before.
    pub(super) fn try_insert(
        &self,
        position: usize,
        job: &QueuedJob,
        mut at: Time,
        releases: &mut Releases,
        hopeless: impl Fn(&Insertion) -> bool,
    ) -> Option<Insertion> {
        let (start, end) = (at, at + self.span(job));
        releases.seize(end, job.request.processors);
        let completion = releases.ends.first().map_or(end, |last| last.0);
        let mut trial = Insertion { start, end, completion, on_time: self.on_time + u32::from(job.is_met_by(end)) };
        for other in self.planned.range(position..) {
            while let Some(released) = releases.release_for(at, other.job.request.processors) {
                at = at.max(released);
            }
            let end = at + other.end.since(other.start);
            releases.seize(end, other.job.request.processors);
            let becomes_late = other.is_on_time() && !other.job.is_met_by(end);
            if becomes_late || end > trial.completion {
                trial.completion = trial.completion.max(end);
                trial.on_time -= u32::from(becomes_late);
                if hopeless(&trial) {
                    return None;
                }
            }
        }
        Some(trial)
    }

    /// Returns the start that the job would have at `position`. Leaves in `releases` the releases after that instant by
    /// all that runs or is planned before it.
    pub(super) fn try_start(&self, position: usize, job: &QueuedJob, now: Time, releases: &mut Releases) -> Time {
        let mut at = self.start_before(position, now);
        self.seize_before(position, at, releases);
        while let Some(released) = releases.release_for(at, job.request.processors) {
            at = at.max(released);
        }
        at
    }

    /// Returns a lower bound of the start of a job at this position.
    pub(super) fn start_before(&self, position: usize, now: Time) -> Time {
        position.checked_sub(1).map_or(now, |previous| self.planned[previous].start)
    }

    /// Leaves in `releases` the processors that all running jobs and all jobs planned before `position` still hold at `at`.
    fn seize_before(&self, position: usize, at: Time, releases: &mut Releases) {
        releases.idle = self.processors;
        releases.ends.clear();
        for running in self.running.iter().take_while(|running| running.end > at) {
            // No end is later than those before it.
            releases.idle -= running.job.request.processors;
            releases.ends.push((running.end, running.job.request.processors));
        }
        for planned in self.planned.range(..position).filter(|planned| planned.end > at) {
            releases.seize(planned.end, planned.job.request.processors);
        }
    }

    fn measure(&mut self) {
        if self.is_one_of_many {
            self.idle.measure(self.processors, self.planned.back().map(|last| last.start));
        }
    }
}
