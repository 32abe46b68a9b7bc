//! Controller with the timers of its loops, [`Slurmctld`], and its simulation alone: jobs are submitted, started by its passes, and end
//! after their run time.

use crate::cluster::queue::Pass;
use crate::cluster::will_run::Running;
use crate::controller::{By, Controller, Why};
use crate::site::Site;
use crate::site::conf::Scheduling;
use crate::site::workload::SubmittedJob;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Interval of the check of time limits, in seconds.
const LIMIT_LOOK: i64 = 30;

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
    /// A main pass at a second of the workload's time; true for one without a depth limit.
    MainPass(i64, bool),
    /// A backfill pass at a second of the workload's time.
    BackfillPass(i64),
    /// A pass of a loop at a second of the workload's time left the job pending that is explained.
    Waits(i64, By, Why),
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

/// Offsets of the loops at the controller's start, in seconds: the first interval of each is shortened by its offset.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Phases {
    /// Offset of the full main pass.
    pub full: i64,
    /// Offset of the backfill pass.
    pub backfill: i64,
    /// Offset of the decay thread.
    pub decay: i64,
    /// Offset of the check of time limits.
    pub limits: i64,
    /// True if the backfill thread runs before the background loop within one second.
    pub backfill_first: bool,
}

/// Controller with the timers of its loops (SPEC 0). The caller submits and ends the jobs, and calls [`step`](Self::step) at each second
/// that [`next`](Self::next) names or in which a job is submitted or ends, before these events. Seconds count from 1970.
#[derive(Clone, Debug)]
pub struct Slurmctld {
    site: Arc<Site>,
    controller: Controller,
    terms: Terms,
    last_full: i64,
    last_request: i64,
    /// True if a submission or the end of a job calls for a main pass (SPEC 0.5).
    has_request: bool,
    last_backfill: i64,
    /// Last change of jobs or nodes (SPEC 0.4).
    last_change: i64,
    next_limits: i64,
    /// [`i64::MAX`] without a decay thread.
    next_decay: i64,
    /// True if the last backfill pass marked nodes as planned.
    has_marks: bool,
    /// Last submission or end of a job.
    last_event: i64,
    watched: Option<u32>,
    /// Jobs that the present step has started.
    started: Vec<u32>,
}

impl Slurmctld {
    /// Returns the controller of an idle cluster. Each pass reports the reason for which `watched` stays pending.
    pub fn new(site: Arc<Site>, terms: Terms, watched: Option<u32>) -> Self {
        let Terms { start, phases, .. } = terms;
        let priority = &site.conf.priority;
        let next_decay = start - phases.decay + priority.calc_period.max(1);
        Self {
            controller: Controller::new(Arc::clone(&site), start),
            last_full: start - phases.full,
            last_request: start,
            // Nodes register at the start, which requests a pass and changes the state for backfill.
            has_request: true,
            last_backfill: start - phases.backfill,
            last_change: start,
            next_limits: start - phases.limits + LIMIT_LOOK,
            next_decay: if priority.decays { next_decay } else { i64::MAX },
            has_marks: false,
            last_event: start,
            terms,
            watched,
            started: Vec::new(),
            site,
        }
    }

    /// Returns true if no job is left, or only jobs that can never start: held ones, those that no partition admits, and those
    /// that have not started on an idle cluster although all passes have tested them.
    pub fn is_stuck(&self, now: i64) -> bool {
        let scheduling = &self.site.conf.scheduling;
        let patience = 3600 + 2 * (scheduling.sched_interval + scheduling.bf_interval);
        self.controller.cluster.running.iter().all(|job| job.is_completing)
            && !self.controller.has_time_ahead()
            && (self.controller.queue.is_empty() || now > self.last_event + patience)
    }

    /// Returns the reason for which a job is pending, as a main pass finds it.
    pub fn why(&self, job: u32) -> Option<Why> {
        self.controller.why(job, By::Main, true, 0, self.terms.zero, &Pass::default())
    }

    /// Returns the next second after `now` in which a loop acts if no job is submitted or ends.
    pub fn next(&self, now: i64) -> i64 {
        let scheduling = &self.site.conf.scheduling;
        let mut next = self.last_full + scheduling.sched_interval;
        if self.has_request {
            next = next.min(self.last_request + scheduling.batch_sched_delay);
        }
        if scheduling.backfill && self.last_change >= self.last_backfill {
            next = next.min(self.last_backfill + scheduling.bf_interval);
        }
        next.max(now + 1).min(self.next_limits).min(self.next_decay)
    }

    /// Runs the loops that act in the second `now`. Returns the jobs that they start; reports passes and jobs stopped at their limits,
    /// but not those of which `ends` is true, whose scripts end in this second.
    pub fn step(&mut self, now: i64, ends: &dyn Fn(u32) -> bool, report: &mut dyn FnMut(Report)) -> Vec<u32> {
        let mut is_cut = false;
        if now >= self.next_limits {
            self.next_limits += LIMIT_LOOK;
            is_cut = self.cut(now, ends, report);
        }
        if self.terms.phases.backfill_first {
            self.look_backfill(now, report);
        }
        // One round of the background loop (SPEC 0.1).
        let Scheduling { sched_interval, batch_sched_delay, .. } = self.site.conf.scheduling;
        let is_full = now - self.last_full >= sched_interval;
        let is_pass = is_full || self.has_request && now - self.last_request >= batch_sched_delay;
        if is_pass {
            self.last_full = if is_full { now } else { self.last_full };
            (self.has_request, self.last_request) = (false, now);
            self.main_pass(now, is_full, report);
        }
        if is_cut {
            let nodes = self.controller.cluster.completing(1);
            self.controller.cluster.clean(&nodes);
        }
        if now >= self.next_decay {
            self.next_decay += self.site.conf.priority.calc_period.max(1);
            if self.controller.decay(now) {
                self.last_change = now;
            }
        }
        if !self.terms.phases.backfill_first {
            self.look_backfill(now, report);
        }
        // The clean-up of the first node, on which the script runs, calls for a main pass.
        if is_cut && is_pass {
            (self.has_request, self.last_request) = (true, now + 1 - batch_sched_delay);
        } else if is_cut {
            self.controller.cluster.clean_up(now);
            self.main_pass(now, false, report);
        }
        std::mem::take(&mut self.started)
    }

    /// Adds a job.
    pub fn submit(&mut self, job: &SubmittedJob, now: i64) {
        self.controller.submit(job, now);
        self.last_event = now;
        self.has_request = true;
        self.last_change = now;
    }

    /// Ends a run of a job; returns `None` for a job that is not running. A requeued job is pending again, and eligible after 121 s.
    pub fn end(&mut self, job: u32, now: i64, is_requeued: bool) -> Option<Ended> {
        let ended = self.finish(job, now, if is_requeued { EndState::Requeued } else { EndState::Completed })?;
        if is_requeued {
            self.controller.requeue(job, now);
        } else {
            self.controller.end(job, now, true);
        }
        self.has_request = true;
        Some(ended)
    }

    fn main_pass(&mut self, now: i64, is_full: bool, report: &mut dyn FnMut(Report)) {
        report(Report::MainPass(now - self.terms.zero, is_full));
        let pass = self.controller.main_pass(now, is_full);
        if pass.changed {
            self.last_change = now;
        }
        self.adopt(&pass, By::Main, is_full, now, report);
    }

    fn look_backfill(&mut self, now: i64, report: &mut dyn FnMut(Report)) {
        // One round of the backfill thread (SPEC 0.3).
        let Scheduling { backfill, bf_interval, .. } = self.site.conf.scheduling;
        if !(backfill && now - self.last_backfill >= bf_interval && self.last_change >= self.last_backfill) {
            return;
        }
        self.last_backfill = now;
        report(Report::BackfillPass(now - self.terms.zero));
        // Only an explanation needs the plans that alter no start.
        let pass = self.controller.backfill(now, self.watched.is_none());
        let had_marks = std::mem::replace(&mut self.has_marks, pass.marks_nodes);
        if pass.changed || pass.marks_nodes || had_marks {
            self.last_change = now;
        }
        self.adopt(&pass, By::Backfill, true, now, report);
    }

    fn adopt(&mut self, pass: &Pass, by: By, is_full: bool, now: i64, report: &mut dyn FnMut(Report)) {
        let why = self.watched.and_then(|job| self.controller.why(job, by, is_full, now, self.terms.zero, pass));
        why.into_iter().for_each(|why| report(Report::Waits(now - self.terms.zero, by, why)));
        self.controller.commit(&pass.starts, by, now);
        self.started.extend(pass.starts.iter().map(|start| start.job));
    }

    /// Stops the jobs that have reached their limits, and returns true if there are any.
    fn cut(&mut self, now: i64, ends: &dyn Fn(u32) -> bool, report: &mut dyn FnMut(Report)) -> bool {
        let is_late = |job: &Running| {
            let over = self.site.conf.partitions[job.demand.partition].over_time_limit;
            let is_over = |(_, start, _)| now >= start + job.demand.limit + over;
            !job.is_completing && self.controller.run_of(job.job).is_some_and(is_over) && !ends(job.job)
        };
        let late = self.controller.cluster.running.iter().filter(|job| is_late(job));
        let late: BTreeSet<u32> = late.map(|job| job.job).collect();
        for id in &late {
            let ended = self.finish(*id, now, EndState::Timeout);
            self.controller.stop(*id, now, false);
            ended.map(Report::Ended).into_iter().for_each(&mut *report);
        }
        !late.is_empty()
    }

    fn finish(&mut self, job: u32, now: i64, state: EndState) -> Option<Ended> {
        let running = self.controller.cluster.running.iter().find(|one| one.job == job && !one.is_completing)?;
        let (submit, start, by) = self.controller.run_of(job)?;
        self.last_event = now;
        self.last_change = now;
        Some(Ended {
            job,
            submit: submit - self.terms.zero,
            start: start - self.terms.zero,
            end: now - self.terms.zero,
            partition: self.site.conf.partitions[running.demand.partition].name.clone(),
            nodes: running.nodes.iter().collect(),
            by,
            state,
        })
    }
}

/// Runs the jobs, which are ordered by submission, and reports passes and ends. Jobs that never start are left out. With a number of a
/// job to watch the run lasts until that job ends, and reports also why each pass leaves it pending.
pub fn simulate(
    site: &Site,
    jobs: &[SubmittedJob],
    terms: Terms,
    watched: Option<u32>,
    mut report: impl FnMut(Report),
) {
    let mut slurmctld = Slurmctld::new(Arc::new(site.clone()), terms, watched);
    let mut submissions = jobs.iter().peekable();
    // Present jobs with the number of their runs begun, and ends of the running ones; a job that is stopped earlier keeps its entries.
    let (mut present, mut ends) = (BTreeMap::<u32, (&SubmittedJob, usize)>::new(), BTreeSet::new());
    let mut now = terms.start;
    let mut is_over = false;
    while !is_over {
        let submission = submissions.peek().map(|job| terms.zero + job.submit);
        if submission.is_none() && slurmctld.is_stuck(now) {
            break;
        }
        let end = ends.first().map(|(time, _)| *time);
        let next = [submission, end].into_iter().flatten().fold(slurmctld.next(now), i64::min);
        now = next.max(now);
        let mut ended = |one: Report| {
            is_over |=
                matches!(&one, Report::Ended(ended) if Some(ended.job) == watched && ended.state != EndState::Requeued);
            report(one);
        };
        let is_ending = |job| ends.range(..=(now, u32::MAX)).any(|(_, other)| *other == job);
        for job in slurmctld.step(now, &is_ending, &mut ended) {
            let (submitted, begun) = present.get_mut(&job).expect("a job that starts was submitted");
            ends.insert((now + submitted.earlier_runs.get(*begun).unwrap_or(&submitted.run), job));
            *begun += 1;
        }
        while let Some((_, job)) = ends.first().copied().filter(|(time, _)| *time <= now) {
            ends.pop_first();
            let is_again = present.get(&job).is_some_and(|(submitted, begun)| *begun <= submitted.earlier_runs.len());
            slurmctld.end(job, now, is_again).map(Report::Ended).into_iter().for_each(&mut ended);
            if !is_again {
                present.remove(&job);
            }
        }
        while let Some(job) = submissions.next_if(|job| terms.zero + job.submit <= now) {
            slurmctld.submit(job, now);
            present.insert(job.id, (job, 0));
        }
    }
}
