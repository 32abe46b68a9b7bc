//! Part of a plan for one machine: its running jobs, its list, and their ends.

use super::idle::{Gap, Idle};
use super::job::{PlanJob, PlannedJob};
use sim_core::{JobId, Span, Time};
use std::collections::VecDeque;

/// Part of a plan for one machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MachinePlan {
    pub(super) processors: u32,
    pub(super) speed: f64,
    /// 1 / speed.
    pub(super) slowness: f64,
    /// Number of faster machines.
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
    /// Latest deadline among the planned jobs up to each: sorted, so that the place of a deadline is a binary search.
    dues: VecDeque<Time>,
    pub(super) completion: Time,
    /// Number of planned jobs that will be late.
    pub(super) late: u32,
    /// Number of running and planned jobs that will be in time.
    pub(super) on_time: u32,
}

/// Summary of one machine.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct MachineSummary {
    /// End of its last running or planned job; [`Time::ZERO`] if it has none.
    pub(super) completion: Time,
    /// Start of its next planned job; [`Time::MAX`] if there is none.
    pub(super) next_start: Time,
    /// Expected end of its next running job; [`Time::MAX`] if that is unknown, or if there is none.
    pub(super) next_end: Time,
    /// 1 / speed.
    pub(super) slowness: f64,
    /// Number of planned jobs that will miss their deadlines.
    pub(super) late: u32,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Releases {
    idle: u32,
    /// Latest first.
    ends: Vec<(Time, u32)>,
}

impl Releases {
    fn reset(&mut self, processors: u32) {
        self.idle = processors;
        self.ends.clear();
    }

    /// Like `seize`, for an `end` no later than those already seized.
    fn seize_first(&mut self, end: Time, processors: u32) {
        self.idle -= processors;
        self.ends.push((end, processors));
    }

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
    pub(super) fn new(processors: u32, speed: f64) -> Self {
        assert!(processors > 0, "a machine needs at least one processor");
        assert!(speed > 0.0 && speed.is_finite(), "a machine cannot have the speed {speed}");
        let mut machine = Self {
            processors,
            speed,
            slowness: 1.0 / speed,
            faster: 0,
            is_one_of_many: true,
            running: Vec::new(),
            planned: VecDeque::new(),
            idle: Idle::default(),
            releases: Releases::default(),
            dues: VecDeque::new(),
            completion: Time::ZERO,
            late: 0,
            on_time: 0,
        };
        machine.restart_at(Time::ZERO);
        machine
    }

    /// Returns the expected time of the job on this machine: estimate / speed, but at least 1 ns.
    pub(super) fn span(&self, job: &PlanJob) -> Span {
        job.span_at(self.slowness)
    }

    pub(super) fn summary(&self) -> MachineSummary {
        let next_start = self.planned.front().map_or(Time::MAX, |planned| planned.start);
        let next_end = self.running.last().map_or(Time::MAX, |running| running.end);
        MachineSummary { completion: self.completion, next_start, next_end, slowness: self.slowness, late: self.late }
    }

    /// Returns the position of a job with this deadline by Earliest Deadline First: before the first planned job with a
    /// later one. A job without a deadline has the latest of all, and goes last.
    pub(super) fn edf_position(&self, deadline: Option<Time>) -> usize {
        let due = PlanJob::due(deadline);
        self.dues.partition_point(|other| *other <= due)
    }

    pub(super) fn insert(&mut self, position: usize, job: PlanJob, now: Time) {
        assert!(
            job.processors <= self.processors,
            "job {} requests {} processors, but the machine has {}",
            job.id,
            job.processors,
            self.processors
        );
        let end = now + self.span(&job);
        self.add(position, PlannedJob { job, start: now, end });
        self.lay_out(position, end, now);
    }

    /// Removes the planned job at `position`.
    pub(super) fn remove(&mut self, position: usize, now: Time) -> PlanJob {
        let removed = self.planned.remove(position).expect("a planned job");
        self.forget_due(position);
        self.on_time -= u32::from(removed.is_on_time());
        self.late -= u32::from(!removed.is_on_time());
        self.lay_out(position, removed.end, now);
        removed.job
    }

    pub(super) fn gap_at(&self, start: Time, job: &PlanJob) -> Gap {
        let position = self.planned.partition_point(|planned| planned.start <= start);
        Gap { position, start, end: start + self.span(job) }
    }

    pub(super) fn fill(&mut self, gap: &Gap, job: PlanJob, now: Time) {
        let filled = PlannedJob { job, start: gap.start, end: gap.end };
        self.add(gap.position, filled);
        self.idle.forget_before(now);
        self.idle.reserve(gap.start, gap.end, job.processors);
        self.measure();
    }

    /// Adds a planned job to the list and to the counts.
    fn add(&mut self, position: usize, planned: PlannedJob) {
        self.planned.insert(position, planned);
        let due = PlanJob::due(planned.job.deadline);
        let latest = position.checked_sub(1).map_or(due, |previous| due.max(self.dues[previous]));
        self.dues.insert(position, latest);
        for later in self.dues.range_mut(position + 1..).take_while(|later| **later < due) {
            *later = due;
        }
        self.completion = self.completion.max(planned.end);
        self.on_time += u32::from(planned.is_on_time());
        self.late += u32::from(!planned.is_on_time());
    }

    /// Updates the latest deadlines after the planned job at `position` has gone.
    fn forget_due(&mut self, position: usize) {
        self.dues.remove(position);
        let mut latest = position.checked_sub(1).map_or(Time::ZERO, |previous| self.dues[previous]);
        for (known, planned) in self.dues.range_mut(position..).zip(self.planned.range(position..)) {
            latest = latest.max(PlanJob::due(planned.job.deadline));
            if *known == latest {
                break;
            }
            *known = latest;
        }
    }

    pub(super) fn start_due(&mut self, now: Time, mut started: impl FnMut(PlannedJob)) {
        let mut free = self.processors - self.running.iter().map(|running| running.job.processors).sum::<u32>();
        while let Some(due) = self.planned.pop_front_if(|planned| planned.start <= now) {
            let PlannedJob { job, start, .. } = due;
            assert!(start == now, "job {} was planned for {start} s, but it is already {now} s", job.id);
            assert!(
                job.processors <= free,
                "job {} is due on {} processors where {free} are free: has a running job outlived its expected end?",
                job.id,
                job.processors
            );
            free -= job.processors;
            self.forget_due(0);
            self.late -= u32::from(!due.is_on_time());
            self.run(due);
            started(due);
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

    fn running_position(&self, job: JobId) -> usize {
        let position = self.running.iter().position(|running| running.job.id == job);
        position.unwrap_or_else(|| panic!("job {job} does not run here"))
    }

    pub(super) fn finish(&mut self, job: JobId, now: Time) -> PlanJob {
        let position = self.running_position(job);
        let ended = self.running.remove(position);
        self.on_time -= u32::from(ended.is_on_time());
        // An end as planned moves nothing.
        if ended.end != now || self.completion == now {
            self.lay_out(0, ended.end, now);
        }
        ended.job
    }

    pub(super) fn expect(&mut self, job: JobId, end: Time, now: Time) {
        let position = self.running_position(job);
        let before = self.running.remove(position);
        let after = PlannedJob { end, ..before };
        self.run(after);
        self.on_time = self.on_time - u32::from(before.is_on_time()) + u32::from(after.is_on_time());
        self.lay_out(0, end.max(before.end), now);
    }

    /// Ends the outage that holds the machine.
    pub(super) fn end_outage(&mut self, now: Time) {
        let outage = self.running.pop().expect("an outage");
        self.lay_out(0, outage.end, now);
    }

    /// Lays out the running jobs, after the list has been emptied.
    pub(super) fn restart_at(&mut self, now: Time) {
        self.dues.clear();
        self.late = 0;
        self.on_time = self.running.iter().map(|running| u32::from(running.is_on_time())).sum();
        self.lay_out(0, Time::MAX, now);
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
            while let Some(at) = releases.release_for(start, planned.job.processors) {
                start = start.max(at);
                self.idle.push(at, releases.idle);
            }
            if start != planned.start {
                let before = std::mem::replace(planned, planned.starting(start));
                self.on_time = self.on_time - u32::from(before.is_on_time()) + u32::from(planned.is_on_time());
                self.late = self.late - u32::from(!before.is_on_time()) + u32::from(!planned.is_on_time());
                last_has_moved |= before.end >= self.completion;
                self.completion = self.completion.max(planned.end);
                changed = changed.max(before.end).max(planned.end);
            } else if changed <= start {
                rest = Some(start);
                break;
            }
            releases.seize(planned.end, planned.job.processors);
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
            let ends = self.running.iter().chain(&self.planned).map(|job| job.end);
            self.completion = ends.max().unwrap_or(Time::ZERO);
        }
        self.measure();
    }

    /// Returns the effect of inserting the job at `position`, if it starts at the instant `at` that
    /// [`try_start`](Self::try_start) has just found, with its `releases`. Returns `None` as soon as it is `hopeless`. Each
    /// bound passed to `hopeless` is at least as good as the result, for jobs that shift end no earlier than before.
    pub(super) fn try_insert(
        &self,
        position: usize,
        job: &PlanJob,
        mut at: Time,
        releases: &mut Releases,
        hopeless: impl Fn(&Insertion) -> bool,
    ) -> Option<Insertion> {
        let (start, end) = (at, at + self.span(job));
        releases.seize(end, job.processors);
        let completion = releases.ends.first().map_or(end, |last| last.0);
        let mut trial = Insertion { start, end, completion, on_time: self.on_time + u32::from(job.is_met_by(end)) };
        for other in self.planned.range(position..) {
            while let Some(released) = releases.release_for(at, other.job.processors) {
                at = at.max(released);
            }
            let end = at + other.end.since(other.start);
            releases.seize(end, other.job.processors);
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
    pub(super) fn try_start(&self, position: usize, job: &PlanJob, now: Time, releases: &mut Releases) -> Time {
        let mut at = self.start_before(position, now);
        self.seize_before(position, at, releases);
        while let Some(released) = releases.release_for(at, job.processors) {
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
        releases.reset(self.processors);
        for running in self.running.iter().take_while(|running| running.end > at) {
            releases.seize_first(running.end, running.job.processors);
        }
        for planned in self.planned.range(..position).filter(|planned| planned.end > at) {
            releases.seize(planned.end, planned.job.processors);
        }
    }

    fn measure(&mut self) {
        if self.is_one_of_many {
            self.idle.measure(self.processors, self.planned.back().map(|last| last.start));
        }
    }
}
