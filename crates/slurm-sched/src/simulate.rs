//! Simulation of the controller alone: jobs are submitted, started by its passes, and end after their run time.

use crate::backfill::Start;
use crate::controller::{Controller, Why};
use crate::loops::{Loops, Phases};
use crate::site::Site;
use crate::workload::SubmittedJob;
use std::collections::{BTreeMap, BTreeSet};

/// Interval of the check of time limits, in seconds.
const LIMIT_LOOK: i64 = 30;

/// Pass that started a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// The main pass.
    Main,
    /// The backfill pass.
    Backfill,
}

/// Ended job.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ended {
    /// Number of the job.
    pub job: u32,
    /// Submission. Times count from the zero of the workload.
    pub submit: i64,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Name of the partition.
    pub partition: String,
    /// Nodes, by index in configuration order.
    pub nodes: Vec<usize>,
    /// Pass that started it.
    pub by: By,
    /// True if it was stopped at its time limit.
    pub is_cut: bool,
}

/// Event reported by a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Report {
    /// A main pass at a second of the workload's time.
    MainPass {
        /// Second.
        time: i64,
        /// True for a pass without a depth limit.
        is_full: bool,
    },
    /// A backfill pass at a second of the workload's time.
    BackfillPass {
        /// Second.
        time: i64,
    },
    /// A pass left the job of [`explain`] pending.
    Waits {
        /// Second of the workload's time.
        time: i64,
        /// Loop of the pass.
        by: By,
        /// Reason.
        why: Why,
    },
    /// A job ended.
    Ended(Ended),
}

/// Terms of a run.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Start of the controller, in seconds since 1970.
    pub start: i64,
    /// Zero of the workload, in seconds since 1970.
    pub zero: i64,
    /// Offsets of the loops.
    pub phases: Phases,
}

/// Running job.
struct Active {
    submit: i64,
    start: i64,
    limit: i64,
    start_of: Start,
    by: By,
}

/// Runs the jobs, which are ordered by submission, and reports passes and ends. Jobs that never start are left out.
pub fn simulate(site: &Site, jobs: &[SubmittedJob], terms: Terms, report: impl FnMut(Report)) {
    run(site, jobs, terms, None, report);
}

/// Runs the jobs until the one of that number ends, and reports also why each pass leaves it pending.
pub fn explain(site: &Site, jobs: &[SubmittedJob], terms: Terms, job: u32, report: impl FnMut(Report)) {
    run(site, jobs, terms, Some(job), report);
}

fn run(site: &Site, jobs: &[SubmittedJob], terms: Terms, watched: Option<u32>, report: impl FnMut(Report)) {
    let Terms { start, zero, phases } = terms;
    let mut run = Run {
        site,
        controller: Controller::new(site, start),
        loops: Loops::new(&site.conf.scheduling, start, phases),
        jobs: BTreeMap::new(),
        active: BTreeMap::new(),
        ends: BTreeSet::new(),
        has_marks: false,
        last_event: start,
        zero,
        watched,
        is_over: false,
        report,
    };
    let period = site.conf.priority.calc_period.max(1);
    let decays = site.conf.priority.decays;
    let (mut next_decay, mut next_limits) = (start - phases.decay + period, start - phases.limits + LIMIT_LOOK);
    let mut submissions = jobs.iter().peekable();
    let mut now = start;
    while !run.is_over && (submissions.peek().is_some() || !run.jobs.is_empty()) {
        let submission = submissions.peek().map(|job| zero + job.submit);
        let end = run.ends.first().map(|(time, _)| *time);
        let next = [submission, end, decays.then_some(next_decay), Some(next_limits), Some(run.loops.next(now))];
        let Some(next) = next.into_iter().flatten().min().filter(|_| !run.is_stuck(submission, now)) else { break };
        now = next.max(now);
        let mut is_cut = false;
        if now >= next_limits {
            next_limits += LIMIT_LOOK;
            is_cut = run.cut(now);
        }
        if phases.backfill_first {
            run.look_backfill(now);
        }
        let is_full = run.loops.look(now);
        if let Some(is_full) = is_full {
            run.main_pass(now, is_full);
        }
        if is_cut && is_full.is_some() {
            // The clean-up after the pass calls for another one.
            run.loops.request_at(now + 1);
        } else if is_cut {
            run.controller.clean_up(now);
            run.main_pass(now, false);
        }
        if decays && now >= next_decay {
            next_decay += period;
            if run.controller.decay(now) {
                run.loops.change(now);
            }
        }
        if !phases.backfill_first {
            run.look_backfill(now);
        }
        while let Some((_, id)) = run.ends.first().copied().filter(|(time, _)| *time <= now) {
            run.end(id, now, false);
        }
        while let Some(job) = submissions.next_if(|job| zero + job.submit <= now) {
            run.controller.submit(job, now);
            run.jobs.insert(job.id, job);
            run.last_event = now;
            run.loops.request();
            run.loops.change(now);
        }
    }
}

struct Run<'a, F> {
    site: &'a Site,
    controller: Controller<'a>,
    loops: Loops,
    /// Pending and running jobs.
    jobs: BTreeMap<u32, &'a SubmittedJob>,
    active: BTreeMap<u32, Active>,
    /// Ends of running jobs.
    ends: BTreeSet<(i64, u32)>,
    /// True if the last backfill pass marked nodes as planned.
    has_marks: bool,
    /// Last submission or end of a job.
    last_event: i64,
    zero: i64,
    /// Job that is explained.
    watched: Option<u32>,
    /// It has ended.
    is_over: bool,
    report: F,
}

impl<F: FnMut(Report)> Run<'_, F> {
    /// Returns true if only jobs are left that can never start: held ones, those that no partition admits, and those
    /// that have not started on an idle cluster although all passes have tested them.
    fn is_stuck(&self, submission: Option<i64>, now: i64) -> bool {
        let scheduling = &self.site.conf.scheduling;
        let patience = 3600 + 2 * (scheduling.sched_interval + scheduling.bf_interval);
        submission.is_none()
            && self.active.is_empty()
            && !self.controller.has_time_ahead()
            && (!self.controller.has_queue() || now > self.last_event + patience)
    }

    fn main_pass(&mut self, now: i64, is_full: bool) {
        (self.report)(Report::MainPass { time: now - self.zero, is_full });
        let pass = self.controller.main_pass(now, is_full);
        if pass.changed {
            self.loops.change(now);
        }
        let why = self.watched.and_then(|job| self.controller.why_main(job, self.zero, is_full, &pass));
        self.waits(why, By::Main, now);
        self.begin(pass.starts, By::Main, now);
    }

    fn look_backfill(&mut self, now: i64) {
        if !self.loops.look_backfill(now) {
            return;
        }
        (self.report)(Report::BackfillPass { time: now - self.zero });
        // Only an explanation needs the plans that alter no start.
        let pass = self.controller.backfill(now, self.watched.is_none());
        let had_marks = std::mem::replace(&mut self.has_marks, pass.marks_nodes);
        if pass.changed || pass.marks_nodes || had_marks {
            self.loops.change(now);
        }
        let why = self.watched.and_then(|job| self.controller.why_backfill(job, now, self.zero, &pass));
        self.waits(why, By::Backfill, now);
        self.begin(pass.starts, By::Backfill, now);
    }

    fn waits(&mut self, why: Option<Why>, by: By, now: i64) {
        if let Some(why) = why {
            (self.report)(Report::Waits { time: now - self.zero, by, why });
        }
    }

    fn begin(&mut self, starts: Vec<Start>, by: By, now: i64) {
        self.controller.commit(&starts, now);
        for start_of in starts {
            let job = self.jobs[&start_of.job];
            self.ends.insert((now + job.run, job.id));
            let limit = self.controller.limit(job.id, start_of.partition);
            self.active.insert(job.id, Active { submit: job.submit, start: now, limit, start_of, by });
        }
    }

    /// Stops the jobs that are past their limits, and returns true if there are any.
    fn cut(&mut self, now: i64) -> bool {
        let over = |active: &Active| {
            let partition = &self.site.conf.partitions[active.start_of.partition];
            partition.over_time_limit.unwrap_or(self.site.conf.over_time_limit)
        };
        let late = |active: &Active| now > active.start + active.limit + over(active);
        let late: Vec<u32> = self.active.iter().filter(|(_, active)| late(active)).map(|(id, _)| *id).collect();
        let is_any = !late.is_empty();
        for id in late {
            self.end(id, now, true);
        }
        is_any
    }

    fn end(&mut self, id: u32, now: i64, is_cut: bool) {
        let (Some(job), Some(active)) = (self.jobs.remove(&id), self.active.remove(&id)) else { return };
        self.ends.remove(&(active.start + job.run, id));
        if is_cut {
            self.controller.stop(id, now, false);
        } else {
            self.controller.end(id, now, true);
            self.loops.request();
        }
        self.last_event = now;
        self.is_over = self.watched == Some(id);
        self.loops.change(now);
        (self.report)(Report::Ended(Ended {
            job: id,
            submit: active.submit,
            start: active.start - self.zero,
            end: now - self.zero,
            partition: self.site.conf.partitions[active.start_of.partition].name.clone(),
            nodes: active.start_of.nodes.iter().collect(),
            by: active.by,
            is_cut,
        }));
    }
}
