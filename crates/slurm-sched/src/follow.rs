//! Comparison with a recorded controller, pass by pass.
//!
//! The log gives the order of events and passes. Before each pass this crate's controller is in the state that the
//! log's decisions have produced. It decides, the decisions are compared, and it continues from those of the log.

pub(crate) mod log;

use crate::cluster::Cluster;
use crate::cluster::queue::{Pass, Start};
use crate::controller::backfill::explain;
use crate::controller::{By, Controller};
use crate::error::FollowError;
use crate::follow::log::{Entry, Event, events};
use crate::site::Site;
use crate::site::conf::YEAR;
use crate::site::text::stamp;
use crate::site::workload::{SubmittedJob, array_of, tasks};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::sync::Arc;

/// Result of a comparison.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Comparison {
    /// Starts in the log.
    pub starts: u64,
    /// Planned starts in the log.
    pub plans: u64,
    /// Priorities in the log.
    pub priorities: u64,
    /// Starts of the log or of this crate that the other lacks, or has on other nodes.
    pub wrong_starts: u64,
    /// Plans of the log or of this crate that the other lacks, or has at other times or on other nodes.
    pub wrong_plans: u64,
    /// Priorities that differ.
    pub wrong_priorities: u64,
    /// First difference, if any.
    pub first_difference: Option<Difference>,
    /// Version whose rules were compared.
    pub version: String,
    /// Main passes in the log.
    pub main_passes: u64,
    /// Backfill passes in the log.
    pub backfill_passes: u64,
    /// Settings of slurm.conf that are read and not modelled.
    pub not_modelled: Vec<String>,
}

/// Decision in which the log and this crate differ.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Line of the log.
    pub line: u64,
    /// Time by the log's clock, such as `2023-11-14T22:33:20`.
    pub time: String,
    /// `main`, `backfill` or `submission`.
    pub pass: &'static str,
    /// Number of the job.
    pub job: u32,
    /// Decision of this crate.
    pub ours: String,
    /// Decision of the log.
    pub theirs: String,
    /// Rule by which this crate decided.
    pub rule: String,
}

impl Comparison {
    /// Returns true if all starts, plans and priorities are equal.
    pub fn is_equal(&self) -> bool {
        self.wrong_starts + self.wrong_plans + self.wrong_priorities == 0
    }
}

/// Compares the decisions of a log with those of this crate.
///
/// # Errors
///
/// If the log cannot be read, or names jobs, nodes or partitions that the other files lack.
pub fn follow<R: BufRead>(site: &Site, jobs: &[SubmittedJob], log: R) -> Result<Comparison, FollowError> {
    let arrays = jobs.iter().map(|job| (array_of(job.id).0, job.id)).filter(|(array, job)| array != job);
    let mut events = events(log, site, arrays.map(|(array, _)| array).collect()).peekable();
    let start = match events.peek() {
        Some(Ok(first)) => first.time,
        Some(Err(_)) => 0,
        None => return Err(FollowError::Empty),
    };
    let mut follower = LogFollower {
        site,
        jobs: jobs.iter().map(|job| (job.id, job)).collect(),
        controller: Controller::new(Arc::new(site.clone()), start),
        last_decay: start,
        is_decay_logged: false,
        is_cut: false,
        failed: BTreeSet::new(),
        resumed: BTreeSet::new(),
        comparison: Comparison {
            version: site.version.to_string(),
            not_modelled: site.conf.not_modelled.clone(),
            ..Comparison::default()
        },
    };
    let mut span: Vec<Entry> = Vec::new();
    let mut last = start;
    for entry in events {
        let entry = entry?;
        // Local clocks are set back by an hour in autumn.
        if !(-86_400..=YEAR).contains(&(entry.time - last)) {
            const WORDS: &str =
                "the clock jumps by more than a year, or a day back; follow the parts of the log by themselves";
            return Err(FollowError::Wrong(entry.line, WORDS.to_owned()));
        }
        last = entry.time;
        if matches!(entry.event, Event::MainPass(_) | Event::BackfillPass) {
            follower.span(std::mem::take(&mut span))?;
        }
        span.push(entry);
    }
    // If the log ends in the second of its last pass, and not after the pass's own last line, the rest may be missing.
    follower.is_cut = span.first().is_some_and(|first| span.iter().all(|entry| entry.time == first.time))
        && !span.iter().any(|entry| entry.event == Event::BackfillEnd);
    follower.span(span)?;
    Ok(follower.comparison)
}

struct LogFollower<'a> {
    site: &'a Site,
    jobs: BTreeMap<u32, &'a SubmittedJob>,
    controller: Controller,
    last_decay: i64,
    is_decay_logged: bool,
    /// True if the pass may have decided more than the log contains.
    is_cut: bool,
    /// Jobs whose scripts failed and whose ends have not yet occurred in the log.
    failed: BTreeSet<u32>,
    /// Nodes that are idle again and have not yet responded.
    resumed: BTreeSet<usize>,
    comparison: Comparison,
}

impl LogFollower<'_> {
    /// Follows the events from one pass to the next.
    fn span(&mut self, events: Vec<Entry>) -> Result<(), FollowError> {
        match events.first() {
            Some(Entry { event: Event::MainPass(is_full), .. }) => self.main_span(*is_full, &events),
            Some(Entry { event: Event::BackfillPass, .. }) => self.backfill_span(&events),
            _ => self.others(&events),
        }
    }

    fn others<'e>(&mut self, events: impl IntoIterator<Item = &'e Entry>) -> Result<(), FollowError> {
        events.into_iter().try_for_each(|entry| self.other(entry))
    }

    /// A main pass logs its begin before it has its locks: events logged before its first start came before it.
    fn main_span(&mut self, is_full: bool, events: &[Entry]) -> Result<(), FollowError> {
        let is_start = |entry: &&Entry| matches!(entry.event, Event::Decision(By::Main, _));
        let before = events.iter().position(|entry| is_start(&entry)).unwrap_or(1);
        let first = &events[0];
        self.others(&events[1..before])?;
        self.catch_up(first.time);
        let theirs = decisions(events, By::Main, false);
        let is_theirs = |pass: &Pass| pass.starts.iter().eq(theirs.iter().map(|(_, start)| start));
        // In the second of a limit's end, the full pass precedes the clean-up, which calls for another pass. The log does not say
        // which nodes are clean by then: all, or those on which the pass starts jobs.
        let some_clean = (!is_full && self.controller.cluster.completing(0).len() > 0).then(|| self.controller.clone());
        if !is_full {
            self.controller.cluster.clean_up(first.time);
        }
        let (mut cluster, mut pass) = decide_main_pass(&mut self.controller, first.time, is_full, &theirs);
        if let Some(mut controller) = some_clean.filter(|_| !is_theirs(&pass)) {
            let other = decide_main_pass(&mut controller, first.time, is_full, &theirs);
            if is_theirs(&other.1) {
                ((cluster, pass), self.controller) = (other, controller);
            }
        }
        self.comparison.main_passes += 1;
        self.compare((By::Main, false), first, &pass.starts, &theirs, |_| match pass.blocked.first() {
            Some((job, _)) => format!("starts in order of priority up to job {job}, which does not fit"),
            None => "starts in order of priority, and every job fits".to_owned(),
        });
        self.adopt(cluster, &pass.starts, theirs, first.time);
        self.others(events[before..].iter().filter(|entry| !is_start(entry)))
    }

    fn backfill_span(&mut self, events: &[Entry]) -> Result<(), FollowError> {
        let first = &events[0];
        self.catch_up(first.time);
        let [starts, plans] = [false, true].map(|is_plan| decisions(events, By::Backfill, is_plan));
        prepare(&mut self.controller, first.time, &starts);
        let before = self.controller.clone();
        let pass = self.controller.backfill(first.time, false);
        for entry in events {
            if let Event::Test(job, priority, partition) = entry.event {
                self.compare_priority("backfill", entry, job, before.priority(job, partition), priority);
            }
        }
        let site = self.site;
        let rule = |job| explain(&mut before.cluster.clone(), &before.queue, first.time, site, job);
        let of_array = |plan: Start| Start { job: array_of(plan.job).0, ..plan };
        let our_plans: Vec<Start> = pass.plans.into_iter().map(of_array).collect();
        self.comparison.backfill_passes += 1;
        self.compare((By::Backfill, false), first, &pass.starts, &starts, rule);
        self.compare((By::Backfill, true), first, &our_plans, &plans, rule);
        self.adopt(before.cluster, &pass.starts, starts, first.time);
        self.others(events.iter().filter(|entry| !matches!(entry.event, Event::Decision(By::Backfill, _))))
    }

    /// Follows an event that is no pass.
    fn other(&mut self, entry: &Entry) -> Result<(), FollowError> {
        let now = entry.time;
        self.catch_up(now);
        match &entry.event {
            Event::Submit(job, priority) => {
                let tasks = self.jobs.range(tasks(*job)).chain(self.jobs.get_key_value(job));
                let ours = tasks.map(|(_, job)| self.controller.submit(job, now)).last();
                let unknown = || format!("job {job} is not in the trace; add it, or cut the log where it begins");
                let ours = ours.ok_or_else(|| FollowError::Wrong(entry.line, unknown()))?;
                self.compare_priority("submission", entry, *job, Some(ours), *priority);
            }
            // The script of a requeued job fails, too.
            Event::Failure(job) if self.controller.run_of(*job).is_some() => {
                self.failed.insert(*job);
            }
            Event::Requeue(job) => self.controller.requeue(*job, now),
            Event::Done(job) => {
                let is_ok = !self.failed.remove(job);
                self.controller.end(*job, now, is_ok);
            }
            Event::Stop(job) => {
                self.failed.remove(job);
                self.controller.stop(*job, now, false);
            }
            Event::Update(job, change) => self.controller.update(*job, *change, now),
            Event::NodeFails(job, node) => self.controller.cluster.release_node(*job, *node),
            Event::NodeResumes(node) => {
                self.resumed.insert(*node);
                self.controller.cluster.set_usable(*node, false);
            }
            Event::NodeState(node, is_usable) => {
                self.resumed.remove(node);
                self.controller.cluster.set_usable(*node, *is_usable);
            }
            Event::NodeResponds(node) if self.resumed.remove(node) => {
                self.controller.cluster.set_usable(*node, true);
            }
            Event::Decay => {
                self.is_decay_logged = true;
                if now > self.last_decay {
                    self.decay(now);
                }
            }
            // A start outside a pass, such as that of srun, is adopted.
            Event::Decision(_, start) if start.planned.is_none() => {
                self.adopt(self.controller.cluster.clone(), &[], vec![(entry.line, start.clone())], now);
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs the rounds of the decay thread up to `now` if the log does not show them (`DebugFlags` without `Priority`).
    fn catch_up(&mut self, now: i64) {
        let priority = &self.site.conf.priority;
        let decays = priority.decays && !self.is_decay_logged;
        while decays && self.last_decay + priority.calc_period < now {
            self.decay(self.last_decay + priority.calc_period);
        }
    }

    fn decay(&mut self, now: i64) {
        self.controller.decay(now);
        self.last_decay = now;
    }

    /// Continues from the starts of the log.
    fn adopt(&mut self, before: Cluster, ours: &[Start], theirs: Vec<Decision>, now: i64) {
        let starts: Vec<Start> = theirs.into_iter().map(|(_, start)| start).collect();
        if ours != starts || ours.is_empty() {
            self.controller.cluster = before;
            for start in &starts {
                self.controller.force(start, now);
            }
        }
        self.controller.commit(&starts, By::Main, now);
    }

    fn compare_priority(&mut self, pass: &'static str, entry: &Entry, job: u32, ours: Option<u32>, theirs: u32) {
        self.comparison.priorities += 1;
        if ours == Some(theirs) {
            return;
        }
        self.comparison.wrong_priorities += 1;
        let priority = &self.site.conf.priority;
        let rule = match (priority.multifactor, self.site.accounts.associations.is_empty() && priority.decays) {
            (true, false) => "weighted sum of factors",
            (true, true) => "weighted sum of factors without accounts; give them with --accounts",
            (false, _) => "order of submission",
        };
        let ours = ours.map_or("no such job".to_owned(), |priority| format!("priority {priority}"));
        let (line, time, theirs, rule) = (entry.line, stamp(entry.time), format!("priority {theirs}"), rule.to_owned());
        let found = Difference { line, time, pass, job, ours, theirs, rule };
        self.comparison.first_difference.get_or_insert(found);
    }

    /// Compares the starts of a pass, or its plans, by job and partition. `first` is its first event.
    fn compare(
        &mut self,
        (by, is_plan): (By, bool),
        first: &Entry,
        ours: &[Start],
        theirs: &[Decision],
        rule: impl Fn(u32) -> String,
    ) {
        // Ours and theirs, with their line, by job, partition, and order among the plans of one array.
        type Pair<'s> = [Option<(u64, &'s Start)>; 2];
        let mut pairs = BTreeMap::<(u32, usize, usize), Pair<'_>>::new();
        let ours = ours.iter().map(|start| (0, first.line, start));
        for (side, line, start) in ours.chain(theirs.iter().map(|(line, start)| (1, *line, start))) {
            let of_job = (start.job, start.partition, 0)..=(start.job, start.partition, usize::MAX);
            let nth = pairs.range(of_job).filter(|(_, pair)| pair[side].is_some()).count();
            pairs.entry((start.job, start.partition, nth)).or_default()[side] = Some((line, start));
        }
        let is_missing = |pair: &Pair<'_>| self.is_cut && pair[1].is_none();
        pairs.retain(|_, pair| !is_missing(pair) && pair[0].map(|(_, start)| start) != pair[1].map(|(_, start)| start));
        let line = |pair: &Pair<'_>| pair[1].map_or(first.line, |(line, _)| line);
        if let Some(((job, ..), pair)) = pairs.iter().min_by_key(|(_, pair)| line(pair)) {
            let said =
                |one: Option<(u64, &Start)>| one.map_or("no start, no plan".to_owned(), |(_, start)| self.said(start));
            let ([ours, theirs], line, time, job) = (pair.map(said), line(pair), stamp(first.time), *job);
            let found = || Difference { line, time, pass: by.name(), job, ours, theirs, rule: rule(job) };
            self.comparison.first_difference.get_or_insert_with(found);
        }
        let found = &mut self.comparison;
        let (all, wrong) = match is_plan {
            true => (&mut found.plans, &mut found.wrong_plans),
            false => (&mut found.starts, &mut found.wrong_starts),
        };
        (*all, *wrong) = (*all + theirs.len() as u64, *wrong + pairs.len() as u64);
    }

    fn said(&self, start: &Start) -> String {
        let nodes = self.site.conf.node_list(start.nodes.iter());
        match start.planned {
            None => format!("starts on {nodes}"),
            Some((start, end)) => format!("planned from {} to {} on {nodes}", stamp(start), stamp(end)),
        }
    }
}

/// Start or plan at a line of the log.
type Decision = (u64, Start);

fn decisions(events: &[Entry], by: By, is_plan: bool) -> Vec<Decision> {
    let of = |entry: &Entry| match &entry.event {
        Event::Decision(own, start) if *own == by && start.planned.is_some() == is_plan => {
            Some((entry.line, start.clone()))
        }
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

/// Decides a main pass; returns also the state of the nodes before it.
fn decide_main_pass(controller: &mut Controller, now: i64, is_full: bool, theirs: &[Decision]) -> (Cluster, Pass) {
    prepare(controller, now, theirs);
    (controller.cluster.clone(), controller.main_pass(now, is_full))
}

/// Prepares a pass. The log does not say when a node of a stopped job is clean, but a start on it shows that it is.
fn prepare(controller: &mut Controller, now: i64, starts: &[Decision]) {
    controller.prepare(now);
    starts.iter().for_each(|(_, start)| controller.cluster.clean(&start.nodes));
}
