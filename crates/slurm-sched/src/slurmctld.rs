//! Controller with the timers of its loops: [`Slurmctld`].

use crate::backfill::Start;
use crate::controller::{Controller, Why};
use crate::loops::{Loops, Phases};
use crate::main_pass;
use crate::site::Site;
use crate::workload::SubmittedJob;
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// State in which a run of a job ended, by its name in sacct.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EndState {
    /// Its script ended.
    Completed,
    /// It was stopped at its time limit.
    Timeout,
    /// It was requeued, and the job is pending again.
    Requeued,
}

/// Ended run of a job.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ended {
    /// Number of the job.
    pub job: u32,
    /// Submission, or the requeue that ended the run before. Times count from the zero of the workload.
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
    /// State in which it ended.
    pub state: EndState,
}

/// Event that a step or a run reports.
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
    /// A pass left the job pending that is explained.
    Waits {
        /// Second of the workload's time.
        time: i64,
        /// Loop of the pass.
        by: By,
        /// Reason.
        why: Why,
    },
    /// A run of a job ended.
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
#[derive(Clone, Debug)]
struct Active {
    submit: i64,
    start: i64,
    limit: i64,
    start_of: Start,
    by: By,
}

/// Controller with the timers of its loops. The caller submits and ends the jobs, and calls [`step`](Self::step) at each second that
/// [`next`](Self::next) names or in which a job is submitted or ends, before these events. Seconds count from 1970.
#[derive(Clone, Debug)]
pub struct Slurmctld {
    site: Arc<Site>,
    controller: Controller,
    loops: Loops,
    /// See [`Phases::backfill_first`].
    backfill_first: bool,
    next_limits: i64,
    /// [`i64::MAX`] without a decay thread.
    next_decay: i64,
    /// Submissions of the pending jobs, from the zero of the workload.
    pending: BTreeMap<u32, i64>,
    active: BTreeMap<u32, Active>,
    /// True if the last backfill pass marked nodes as planned.
    has_marks: bool,
    /// Last submission or end of a job.
    last_event: i64,
    zero: i64,
    /// Job that is explained.
    watched: Option<u32>,
}

impl Slurmctld {
    /// Returns the controller of an idle cluster. Each pass reports the reason for which `watched` stays pending.
    #[must_use]
    pub fn new(site: Arc<Site>, terms: Terms, watched: Option<u32>) -> Self {
        let Terms { start, zero, phases } = terms;
        let priority = &site.conf.priority;
        let next_decay = start - phases.decay + priority.calc_period.max(1);
        Self {
            controller: Controller::new(Arc::clone(&site), start),
            loops: Loops::new(&site.conf.scheduling, start, phases),
            backfill_first: phases.backfill_first,
            next_limits: start - phases.limits + LIMIT_LOOK,
            next_decay: if priority.decays { next_decay } else { i64::MAX },
            pending: BTreeMap::new(),
            active: BTreeMap::new(),
            has_marks: false,
            last_event: start,
            zero,
            watched,
            site,
        }
    }

    /// Returns true if no job is left, or only jobs that can never start: held ones, those that no partition admits, and those
    /// that have not started on an idle cluster although all passes have tested them.
    #[must_use]
    pub fn is_stuck(&self, now: i64) -> bool {
        let scheduling = &self.site.conf.scheduling;
        let patience = 3600 + 2 * (scheduling.sched_interval + scheduling.bf_interval);
        self.active.is_empty()
            && !self.controller.has_time_ahead()
            && (!self.controller.has_queue() || now > self.last_event + patience)
    }

    /// Returns the reason for which a job is pending, as a main pass finds it.
    #[must_use]
    pub fn why(&self, job: u32) -> Option<Why> {
        self.controller.why_main(job, self.zero, true, &main_pass::Pass::default())
    }

    /// Returns the next second after `now` in which a loop acts if no job is submitted or ends.
    #[must_use]
    pub fn next(&self, now: i64) -> i64 {
        self.loops.next(now).min(self.next_limits).min(self.next_decay)
    }

    /// Runs the loops that act in the second `now`. Returns the jobs that they start; reports passes and jobs stopped at their limits,
    /// but not those of which `ends` is true, whose scripts end in this second.
    pub fn step(&mut self, now: i64, ends: &dyn Fn(u32) -> bool, report: &mut dyn FnMut(Report)) -> Vec<u32> {
        let mut started = Vec::new();
        let mut is_cut = false;
        if now >= self.next_limits {
            self.next_limits += LIMIT_LOOK;
            is_cut = self.cut(now, ends, report);
        }
        if self.backfill_first {
            self.look_backfill(now, &mut started, report);
        }
        let is_full = self.loops.look(now);
        if let Some(is_full) = is_full {
            self.main_pass(now, is_full, &mut started, report);
        }
        if is_cut {
            let nodes = self.controller.cluster().completing(1);
            self.controller.clean(&nodes);
        }
        if now >= self.next_decay {
            self.next_decay += self.site.conf.priority.calc_period.max(1);
            if self.controller.decay(now) {
                self.loops.change(now);
            }
        }
        if !self.backfill_first {
            self.look_backfill(now, &mut started, report);
        }
        // The clean-up of the first node, on which the script runs, calls for a main pass.
        if is_cut && is_full.is_some() {
            self.loops.request_at(now + 1);
        } else if is_cut {
            self.controller.clean_up(now);
            self.main_pass(now, false, &mut started, report);
        }
        started
    }

    /// Adds a job.
    pub fn submit(&mut self, job: &SubmittedJob, now: i64) {
        self.controller.submit(job, now);
        self.pending.insert(job.id, now - self.zero);
        self.last_event = now;
        self.loops.request();
        self.loops.change(now);
    }

    /// Ends a run of a job; returns `None` for a job that is not running. A requeued job is pending again, and eligible after 121 s.
    pub fn end(&mut self, job: u32, now: i64, is_requeued: bool) -> Option<Ended> {
        let ended = self.finish(job, now, if is_requeued { EndState::Requeued } else { EndState::Completed })?;
        if is_requeued {
            self.controller.requeue(job, now);
            self.pending.insert(job, now - self.zero);
        } else {
            self.controller.end(job, now, true);
        }
        self.loops.request();
        Some(ended)
    }

    fn main_pass(&mut self, now: i64, is_full: bool, started: &mut Vec<u32>, report: &mut dyn FnMut(Report)) {
        report(Report::MainPass { time: now - self.zero, is_full });
        let pass = self.controller.main_pass(now, is_full);
        if pass.changed {
            self.loops.change(now);
        }
        let why = self.watched.and_then(|job| self.controller.why_main(job, self.zero, is_full, &pass));
        why.into_iter().for_each(|why| report(Report::Waits { time: now - self.zero, by: By::Main, why }));
        self.begin(pass.starts, By::Main, now, started);
    }

    fn look_backfill(&mut self, now: i64, started: &mut Vec<u32>, report: &mut dyn FnMut(Report)) {
        if !self.loops.look_backfill(now) {
            return;
        }
        report(Report::BackfillPass { time: now - self.zero });
        // Only an explanation needs the plans that alter no start.
        let pass = self.controller.backfill(now, self.watched.is_none());
        let had_marks = std::mem::replace(&mut self.has_marks, pass.marks_nodes);
        if pass.changed || pass.marks_nodes || had_marks {
            self.loops.change(now);
        }
        let why = self.watched.and_then(|job| self.controller.why_backfill(job, now, self.zero, &pass));
        why.into_iter().for_each(|why| report(Report::Waits { time: now - self.zero, by: By::Backfill, why }));
        self.begin(pass.starts, By::Backfill, now, started);
    }

    fn begin(&mut self, starts: Vec<Start>, by: By, now: i64, started: &mut Vec<u32>) {
        self.controller.commit(&starts, now);
        for start_of in starts {
            let id = start_of.job;
            let submit = self.pending.remove(&id).expect("only a pending job starts");
            let limit = self.controller.limit(id, start_of.partition);
            self.active.insert(id, Active { submit, start: now, limit, start_of, by });
            started.push(id);
        }
    }

    /// Stops the jobs that have reached their limits, and returns true if there are any.
    fn cut(&mut self, now: i64, ends: &dyn Fn(u32) -> bool, report: &mut dyn FnMut(Report)) -> bool {
        let over = |active: &Active| {
            let partition = &self.site.conf.partitions[active.start_of.partition];
            partition.over_time_limit.unwrap_or(self.site.conf.over_time_limit)
        };
        let late = |active: &Active| now >= active.start + active.limit + over(active);
        let late = self.active.iter().filter(|(id, active)| late(active) && !ends(**id));
        let late: Vec<u32> = late.map(|(id, _)| *id).collect();
        for id in &late {
            let ended = self.finish(*id, now, EndState::Timeout);
            self.controller.stop(*id, now, false);
            ended.map(Report::Ended).into_iter().for_each(&mut *report);
        }
        !late.is_empty()
    }

    fn finish(&mut self, job: u32, now: i64, state: EndState) -> Option<Ended> {
        let Active { submit, start, start_of, by, .. } = self.active.remove(&job)?;
        self.last_event = now;
        self.loops.change(now);
        Some(Ended {
            job,
            submit,
            start: start - self.zero,
            end: now - self.zero,
            partition: self.site.conf.partitions[start_of.partition].name.clone(),
            nodes: start_of.nodes.iter().collect(),
            by,
            state,
        })
    }
}
