//! One machine's part of a plan: its running jobs, its list, and their ends.

use super::idle::{Gap, Idle};
use super::job::{PlanJob, PlannedJob};
use sim_core::{JobId, Span, Time};
use std::collections::VecDeque;

/// One machine's part of a plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MachinePlan {
    pub(super) processors: u32,
    pub(super) speed: f64,
    /// 1 / speed.
    pub(super) slowness: f64,
    /// How many machines are faster.
    pub(super) faster: u32,
    /// Whether there are others: only then gaps are measured, to rule machines out.
    pub(super) is_one_of_many: bool,
    /// The last to end first.
    pub(super) running: Vec<PlannedJob>,
    /// In order; starts never decrease.
    pub(super) planned: VecDeque<PlannedJob>,
    pub(super) idle: Idle,
    /// Scratch buffer, empty between layouts.
    releases: Releases,
    /// The latest deadline among the planned jobs up to each: sorted, so that the place of a deadline is a binary search.
    dues: VecDeque<Time>,
    pub(super) completion: Time,
    /// Planned jobs that will be late.
    pub(super) late: u32,
    /// Running and planned jobs that will be in time.
    pub(super) on_time: u32,
}

/// One machine at a glance.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct MachineSummary {
    /// When its last running or planned job ends; [`Time::ZERO`] if it has none.
    pub(super) completion: Time,
    /// When its next planned job starts; [`Time::MAX`] if there is none.
    pub(super) next_start: Time,
    /// When its next running job is expected to end; [`Time::MAX`] if that is unknown, or if there is none.
    pub(super) next_end: Time,
    /// 1 / speed.
    pub(super) slowness: f64,
    /// Planned jobs that will miss their deadlines.
    pub(super) late: u32,
}

/// What planning a job at some position would do.
#[derive(Copy, Clone, Debug)]
pub(super) struct Trial {
    pub(super) start: Time,
    pub(super) end: Time,
    /// When the last job of the machine would end.
    pub(super) completion: Time,
    /// Jobs of the machine in time, the new one included.
    pub(super) on_time: u32,
}

/// Processors that will be given back, by instant, while a list is laid out.
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

    /// The same as `seize`, where nothing that has been seized ends before.
    fn seize_first(&mut self, end: Time, processors: u32) {
        self.idle -= processors;
        self.ends.push((end, processors));
    }

    fn seize(&mut self, end: Time, processors: u32) {
        self.idle -= processors;
        let place = self.ends.partition_point(|other| other.0 > end);
        self.ends.insert(place, (end, processors));
    }

    /// The next release.
    fn release(&mut self) -> Option<Time> {
        let (end, processors) = self.ends.pop()?;
        self.idle += processors;
        Some(end)
    }

    /// The next release, if it happens by `at` or must happen before `processors` are idle.
    ///
    /// Repeated until it answers `None`, with `at` moved to what it answered, this finds the earliest instant at which
    /// enough are idle. Nothing is seized before it any more, so they stay idle.
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
        machine.begin_anew(Time::ZERO);
        machine
    }

    /// The expected time of the job here: estimate / speed, but at least 1 ns.
    pub(super) fn span(&self, job: &PlanJob) -> Span {
        job.span_at(self.slowness)
    }

    pub(super) fn summary(&self) -> MachineSummary {
        let next_start = self.planned.front().map_or(Time::MAX, |planned| planned.start);
        let next_end = self.running.last().map_or(Time::MAX, |running| running.end);
        MachineSummary { completion: self.completion, next_start, next_end, slowness: self.slowness, late: self.late }
    }

    /// The place of a job with this deadline by Earliest Deadline First: before the first planned job with a later one. A job
    /// without a deadline has the latest of all, and goes last.
    pub(super) fn edf_position(&self, deadline: Option<Time>) -> usize {
        let due = PlanJob::due(deadline);
        self.dues.partition_point(|other| *other <= due)
    }

    pub(super) fn insert(&mut self, position: usize, job: PlanJob, now: Time) {
        assert!(
            job.processors <= self.processors,
            "job {} asks for {} processors, but the machine has {}",
            job.id,
            job.processors,
            self.processors
        );
        let end = now + self.span(&job);
        self.add(position, PlannedJob { job, start: now, end });
        self.lay_out(position, end, now);
    }

    /// Takes the planned job at `position` out.
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

    /// Enters a planned job in the list and in what is counted.
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

    /// What follows for the latest deadlines from the planned job at `position` having gone.
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
        // As planned, nothing moves.
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

    /// What runs is an outage, and has ended.
    pub(super) fn end_outage(&mut self, now: Time) {
        let outage = self.running.pop().expect("an outage");
        self.lay_out(0, outage.end, now);
    }

    /// Lays out what runs, after the list has been emptied.
    pub(super) fn begin_anew(&mut self, now: Time) {
        self.dues.clear();
        self.late = 0;
        self.on_time = self.running.iter().map(|running| u32::from(running.is_on_time())).sum();
        self.lay_out(0, Time::MAX, now);
    }

    /// Gives the planned jobs from number `from` on their starts, and writes down what follows from that. Until `changed`
    /// other processors are taken than before, by what runs or by what has come or gone at `from`.
    ///
    /// As soon as a job stays where it was, and all that has changed ends before, those behind it stay too: nothing behind
    /// is looked at.
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

    /// What inserting the job at `position` would do, if it starts `at` the instant that [`try_start`](Self::try_start) has
    /// just found, with such `releases`. `None` as soon as it is `hopeless`: each guess that it is asked about is at least
    /// as good as what follows, for jobs that shift end no earlier than they would.
    pub(super) fn try_insert(
        &self,
        position: usize,
        job: &PlanJob,
        mut at: Time,
        releases: &mut Releases,
        hopeless: impl Fn(&Trial) -> bool,
    ) -> Option<Trial> {
        let (start, end) = (at, at + self.span(job));
        releases.seize(end, job.processors);
        let completion = releases.ends.first().map_or(end, |last| last.0);
        let mut trial = Trial { start, end, completion, on_time: self.on_time + u32::from(job.is_met_by(end)) };
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

    /// When the job would start at `position`. Leaves in `releases` what is to come after all that runs or is planned before
    /// it, as it is then.
    pub(super) fn try_start(&self, position: usize, job: &PlanJob, now: Time, releases: &mut Releases) -> Time {
        let mut at = self.start_before(position, now);
        self.seize_before(position, at, releases);
        while let Some(released) = releases.release_for(at, job.processors) {
            at = at.max(released);
        }
        at
    }

    /// No job at this position can start earlier.
    pub(super) fn start_before(&self, position: usize, now: Time) -> Time {
        position.checked_sub(1).map_or(now, |previous| self.planned[previous].start)
    }

    /// Leaves in `releases` what is still taken at `at` by all that runs or is planned before `position`.
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
