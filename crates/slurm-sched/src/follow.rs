//! Comparison with a recorded controller, pass by pass.
//!
//! The log gives the order of events and passes. Before each pass this crate's controller is in the state that the
//! log's decisions have produced. It decides, the decisions are compared, and it continues from those of the log.

use crate::backfill::Step;
use crate::calendar::stamp;
use crate::cluster::Cluster;
use crate::conf::YEAR;
use crate::controller::{By, Controller};
use crate::error::FollowError;
use crate::hostlist;
use crate::log::{Entry, Event, Events};
use crate::nodes::NodeSet;
use crate::queue::{Pass, Start};
use crate::site::Site;
use crate::workload::{SubmittedJob, array_of, tasks};
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
    #[must_use]
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
    let mut events = Events::new(log, site, arrays.map(|(array, _)| array).collect()).peekable();
    let start = match events.peek() {
        Some(Ok(first)) => first.time,
        Some(Err(_)) => 0,
        None => return Err(FollowError::Empty),
    };
    let mut follower = LogFollower {
        site,
        jobs: jobs.iter().map(|job| (job.id, job)).collect(),
        controller: Controller::new(Arc::new(site.clone()), start),
        next_decay: start + site.conf.priority.calc_period,
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
            return Err(FollowError::Wrong { line: entry.line, words: WORDS.to_owned() });
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
    next_decay: i64,
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
        let is_start = |entry: &&Entry| matches!(entry.event, Event::MainStart(_));
        let before = events.iter().position(|entry| is_start(&entry)).unwrap_or(1);
        let first = &events[0];
        self.others(&events[1..before])?;
        self.catch_up(first.time);
        let theirs = decisions(events, |event| if let Event::MainStart(start) = event { Some(start) } else { None });
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
        let rule = match pass.blocked.first() {
            Some((job, _)) => format!("starts in order of priority up to job {job}, which does not fit"),
            None => "starts in order of priority, and every job fits".to_owned(),
        };
        self.comparison.main_passes += 1;
        self.comparison.starts += theirs.len() as u64;
        self.comparison.wrong_starts += self.compare("main", first, &pass.starts, &theirs, |_| rule.clone());
        self.adopt(cluster, &pass.starts, theirs, first.time);
        self.others(events[before..].iter().filter(|entry| !is_start(entry)))
    }

    fn backfill_span(&mut self, events: &[Entry]) -> Result<(), FollowError> {
        let first = &events[0];
        self.catch_up(first.time);
        let starts =
            decisions(events, |event| if let Event::BackfillStart(start) = event { Some(start) } else { None });
        let plans = decisions(events, |event| if let Event::Plan(plan) = event { Some(plan) } else { None });
        prepare(&mut self.controller, first.time, &starts);
        let before = self.controller.clone();
        let pass = self.controller.backfill(first.time, false);
        for entry in events {
            if let Event::Test(job, priority, partition) = entry.event {
                self.compare_priority("backfill", entry, job, before.priority(job, partition), priority);
            }
        }
        let rule = |job: u32| words(&before.explain(job, first.time), &|nodes| names(self.site, nodes));
        let of_array = |plan: Start| Start { job: array_of(plan.job).0, ..plan };
        let our_plans: Vec<Start> = pass.plans.into_iter().map(of_array).collect();
        let wrong_starts = self.compare("backfill", first, &pass.starts, &starts, rule);
        let wrong_plans = self.compare("backfill", first, &our_plans, &plans, rule);
        self.comparison.backfill_passes += 1;
        self.comparison.starts += starts.len() as u64;
        self.comparison.plans += plans.len() as u64;
        self.comparison.wrong_starts += wrong_starts;
        self.comparison.wrong_plans += wrong_plans;
        self.adopt(before.cluster.clone(), &pass.starts, starts, first.time);
        self.others(events.iter().filter(|entry| !matches!(entry.event, Event::BackfillStart(_))))
    }

    /// Follows an event that is no pass.
    fn other(&mut self, entry: &Entry) -> Result<(), FollowError> {
        let now = entry.time;
        self.catch_up(now);
        match &entry.event {
            Event::Submit(job, priority) => {
                let tasks = self.jobs.range(tasks(*job)).chain(self.jobs.get_key_value(job));
                let ours = tasks.map(|(_, job)| self.controller.submit(job, now)).last();
                let ours = ours.ok_or_else(|| FollowError::Wrong {
                    line: entry.line,
                    words: format!("job {job} is not in the trace; add it, or cut the log where it begins"),
                })?;
                self.compare_priority("submission", entry, *job, Some(ours), *priority);
            }
            // The script of a requeued job fails, too.
            Event::Failure(job) if self.controller.is_running(*job) => {
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
            Event::NodeReturns(node) => self.controller.cluster.set_usable(*node, true),
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
            Event::MainStart(start) | Event::BackfillStart(start) => {
                self.adopt(self.controller.cluster.clone(), &[], vec![(entry.line, start.clone())], now);
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs the rounds of the decay thread up to `now` if the log does not show them (`DebugFlags` without `Priority`).
    fn catch_up(&mut self, now: i64) {
        let decays = self.site.conf.priority.decays && !self.is_decay_logged;
        while decays && self.next_decay < now {
            self.decay(self.next_decay);
        }
    }

    fn decay(&mut self, now: i64) {
        self.controller.decay(now);
        self.last_decay = now;
        self.next_decay = now + self.site.conf.priority.calc_period;
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
        self.comparison.first_difference.get_or_insert_with(|| Difference {
            line: entry.line,
            time: stamp(entry.time),
            pass,
            job,
            ours: ours.map_or("no such job".to_owned(), |priority| format!("priority {priority}")),
            theirs: format!("priority {theirs}"),
            rule: rule.to_owned(),
        });
    }

    /// Compares decisions on the same pass by job and partition, and returns the number of differences.
    fn compare(
        &mut self,
        pass: &'static str,
        first: &Entry,
        ours: &[Start],
        theirs: &[Decision],
        rule: impl Fn(u32) -> String,
    ) -> u64 {
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
            let none = "no start, no plan".to_owned();
            let [ours, theirs] = pair.map(|one| one.map_or(none.clone(), |(_, start)| self.said(start)));
            let (line, time, job, rule) = (line(pair), stamp(first.time), *job, rule(*job));
            let found = Difference { line, time, pass, job, ours, theirs, rule };
            self.comparison.first_difference.get_or_insert(found);
        }
        pairs.len() as u64
    }

    fn said(&self, start: &Start) -> String {
        let nodes = names(self.site, &start.nodes);
        match start.planned {
            None => format!("starts on {nodes}"),
            Some((start, end)) => format!("planned from {} to {} on {nodes}", stamp(start), stamp(end)),
        }
    }
}

/// Start or plan at a line of the log.
type Decision = (u64, Start);

/// Returns the decisions of one kind among events.
fn decisions(events: &[Entry], of: fn(&Event) -> Option<&Start>) -> Vec<Decision> {
    events.iter().filter_map(|entry| Some((entry.line, of(&entry.event)?.clone()))).collect()
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

fn names(site: &Site, nodes: &NodeSet) -> String {
    let names: Vec<&str> = nodes.iter().map(|node| site.conf.nodes[node].name.as_str()).collect();
    hostlist::fold(&names)
}

/// Describes how the backfill pass searched the start of a job.
fn words(steps: &[Step], names: &dyn Fn(&NodeSet) -> String) -> String {
    let slot = |step: &Step| {
        let found = match &step.will_run {
            Some((time, nodes)) => format!("the will-run test finds {} at {}", names(nodes), stamp(*time)),
            None => "no start there".to_owned(),
        };
        format!("from {}: unplanned {}; {found}", stamp(step.from), names(&step.usable))
    };
    const SHOWN: usize = 4;
    let last: Vec<String> = steps[steps.len().saturating_sub(SHOWN)..].iter().map(slot).collect();
    match last.as_slice() {
        [] => "the backfill pass does not reach the job".to_owned(),
        _ => format!("search of the backfill pass, the last slots of {}: {}", steps.len(), last.join(" | ")),
    }
}
