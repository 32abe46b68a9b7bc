//! Backfill pass (SPEC 5).

mod early_end;
mod quick;

use crate::cluster::Cluster;
use crate::cluster::nodes::NodeSet;
use crate::cluster::queue::{Entry, Pass, Start};
use crate::cluster::table::{NodeSpace, Record};
use crate::cluster::will_run::{ExpectedEnds, WillRun};
use crate::site::Site;
use crate::site::conf::{Conf, Scheduling};
use crate::site::limit_kinds::BEFORE_SELECTION;
use crate::site::text::stamp;
use crate::site::workload::array_of;
use quick::Bounds;
use std::collections::BTreeMap;

/// Nodes that the search for a job found, with the planned start and end unless the job starts now.
type Found = Option<(NodeSet, Option<(i64, i64)>)>;

/// Numbers of jobs visited so far, by the limit and its owner.
type Counts = BTreeMap<(u8, usize, usize), usize>;

/// Backfill pass in progress.
struct Search<'a> {
    cluster: &'a mut Cluster,
    conf: &'a Conf,
    settings: &'a Scheduling,
    is_new: bool,
    now: i64,
    table: NodeSpace,
    releases: ExpectedEnds,
    completing: NodeSet,
    bounds: Bounds,
    pass: Pass,
    /// Job whose steps are recorded; then slots are tested one by one for every job.
    watched: Option<u32>,
    /// True if the pass may end before plans that alter no start, [`Pass::marks_nodes`] or CPUs of a job, as in a simulation,
    /// where no plan survives its pass (SPEC 5.7).
    ends_early: bool,
    /// Indices of the entries after which the pass may end: those that may start or must be tested. None before they are
    /// collected, and after a start, which may let the pass visit others.
    candidates: Option<Vec<usize>>,
    /// Index of the entry before which the rest of the queue is examined next.
    due: usize,
    /// Slots that the search for that job tested, in words.
    steps: Vec<String>,
    /// Tasks of each array and partition: those planned, and those tested that got neither a plan nor a start.
    arrays: BTreeMap<(u32, usize), (usize, usize)>,
}

/// Runs a backfill pass over the sorted queue; jobs that it starts hold their nodes afterwards.
pub(crate) fn backfill(cluster: &mut Cluster, queue: &[Entry], now: i64, site: &Site, ends_early: bool) -> Pass {
    let mut search = Search { ends_early, ..Search::new(cluster, now, site) };
    search.run(queue);
    search.pass
}

/// Describes how such a pass searched the start of a job.
pub(crate) fn explain(cluster: &mut Cluster, queue: &[Entry], now: i64, site: &Site, job: u32) -> String {
    const SHOWN: usize = 4;
    let mut search = Search { watched: Some(job), ..Search::new(cluster, now, site) };
    search.run(queue);
    let count = search.steps.len();
    match &search.steps[count.saturating_sub(SHOWN)..] {
        [] => "the backfill pass does not reach the job".to_owned(),
        last => format!("search of the backfill pass, the last slots of {count}: {}", last.join(" | ")),
    }
}

impl<'a> Search<'a> {
    fn new(cluster: &'a mut Cluster, now: i64, site: &'a Site) -> Self {
        let settings = &site.conf.scheduling;
        let floor = |time: i64| time / settings.bf_resolution * settings.bf_resolution;
        let (releases, completing) = (cluster.releases(now), cluster.completing(0));
        let table = NodeSpace::new(floor(now), floor(now + settings.bf_window), cluster.machine.len());
        let pass = Pass::default();
        Self {
            cluster,
            conf: &site.conf,
            settings,
            is_new: site.version.is_new(),
            now,
            table,
            releases,
            completing,
            bounds: Bounds::default(),
            pass,
            watched: None,
            ends_early: false,
            candidates: None,
            due: 0,
            steps: Vec::new(),
            arrays: BTreeMap::new(),
        }
    }

    fn run(&mut self, queue: &[Entry]) {
        let mut counts = Counts::default();
        let mut tests = 0;
        for (index, entry) in queue.iter().enumerate() {
            if self.ends_early && index >= self.due && self.is_over(queue, index, &counts, tests) {
                break;
            }
            if !self.visits(entry, &mut counts) {
                continue;
            }
            // The limit is looked at before a job, and not before the next task of an array.
            let is_sibling =
                self.pass.tested.last().is_some_and(|(job, partition)| {
                    entry.array == Some(array_of(*job).0) && *partition == entry.partition
                });
            if tests >= self.settings.bf_max_job_test && !is_sibling {
                break;
            }
            self.pass.tested.push((entry.job, entry.partition));
            self.note(entry, |(_, without)| *without += 1);
            let quick = if self.needs_slots(entry) { None } else { self.quick_search(entry) };
            let (found, is_counted) = if quick.is_some() { (quick, true) } else { self.search(entry) };
            tests += usize::from(is_counted);
            let Some((nodes, planned)) = found else { continue };
            // A limit that counts the nodes found prevents the start of a job and, except under assoc_limit_stop, its plan.
            let is_exempt = planned.is_some() && self.settings.assoc_limit_stop;
            if !is_exempt && self.cluster.limits.reason(&entry.demand).is_some() {
                continue;
            }
            let Some((start, end)) = planned else {
                self.start(entry, nodes);
                if self.settings.bf_max_job_start > 0 && self.pass.starts.len() >= self.settings.bf_max_job_start {
                    break;
                }
                continue;
            };
            if self.is_for_now_only(entry) {
                continue;
            }
            // Beyond the window, and where the table is full, a plan reserves nothing.
            let (is_beyond, is_full) = (start > self.now + self.settings.bf_window, self.is_full());
            if !is_beyond && !is_full {
                let begin = self.floor(start);
                self.table.reserve(begin, end.max(begin + self.settings.bf_resolution), &nodes);
            }
            self.note(entry, |(planned, without)| (*planned, *without) = (*planned + 1, *without - 1));
            self.pass.plans.push(Start { job: entry.job, partition: entry.partition, nodes, planned });
            if is_full && !is_beyond {
                break;
            }
        }
        self.pass.marks_nodes = self.marks_nodes();
    }

    /// Counts an entry, and returns true if the pass visits it.
    fn visits(&self, entry: &Entry, counts: &mut Counts) -> bool {
        let is_started = self.pass.starts.iter().any(|start| start.job == entry.job);
        let limits = &self.cluster.limits;
        // Under assoc_limit_stop a limit of an association or QOS holds the job's place; that of an array never does.
        let is_limited = limits.reason_among(BEFORE_SELECTION, &entry.demand).is_some()
            && !(self.settings.assoc_limit_stop && limits.tasks_left(&entry.demand) > 0);
        !(is_started || is_limited || self.is_array_done(entry) || self.is_beyond(entry, counts))
    }

    /// Counts an entry, and returns true if it is beyond a limit on jobs of its partition, user or association.
    fn is_beyond(&self, entry: &Entry, counts: &mut Counts) -> bool {
        let (user, partition) = (entry.demand.user, entry.partition);
        let limits = [
            ((0, partition, 0), self.settings.bf_max_job_part),
            ((1, user, partition), self.settings.bf_max_job_user_part),
            ((2, user, 0), self.settings.bf_max_job_user),
            ((3, entry.demand.association.map_or(0, |at| at + 1), 0), self.settings.bf_max_job_assoc),
        ];
        limits.into_iter().filter(|(_, most)| *most > 0).any(|(key, most)| {
            let count = counts.entry(key).or_default();
            *count += 1;
            *count > most
        })
    }

    /// Returns true for a task of an array that has enough plans, or of which an earlier task got neither a plan nor a start.
    fn is_array_done(&self, entry: &Entry) -> bool {
        let siblings = entry.array.and_then(|array| self.arrays.get(&(array, entry.partition)));
        // 22.05 plans more tasks than may run at a time.
        let most = if self.is_new { self.cluster.limits.tasks_left(&entry.demand) } else { u64::MAX };
        let most = most.min(self.settings.bf_max_job_array_resv as u64);
        siblings.is_some_and(|(planned, without)| *planned as u64 >= most || *without > 0)
    }

    /// Counts a task of an array.
    fn note(&mut self, entry: &Entry, change: impl FnOnce(&mut (usize, usize))) {
        if let Some(array) = entry.array {
            change(self.arrays.entry((array, entry.partition)).or_default());
        }
    }

    fn marks_nodes(&self) -> bool {
        self.pass.plans.iter().any(|plan| self.is_new || plan.nodes.meets(&self.cluster.idle))
    }

    fn needs_slots(&self, entry: &Entry) -> bool {
        self.watched.is_some()
            || self.completing.len() > 0
            || entry.excluded.is_some()
            // A plan shorter than the table's step may hold no record.
            || entry.least_limit() < self.settings.bf_resolution
            || self.is_for_now_only(entry)
    }

    /// Searches the start of one job slot by slot (SPEC 5.4). Also returns true if a will-run test was made.
    fn search(&mut self, entry: &Entry) -> (Found, bool) {
        let is_for_now_only = self.is_for_now_only(entry);
        let mut later = self.now;
        let mut is_tested = false;
        loop {
            let from = later;
            if (is_for_now_only && from > self.now) || (self.is_new && from >= self.table.end()) {
                return (None, is_tested);
            }
            let (usable, next) = self.usable(entry, from);
            later = next;
            let has_required = entry.required.as_ref().is_none_or(|nodes| nodes.is_within(&usable));
            let found = if usable.len() >= entry.need.nodes && has_required {
                is_tested = true;
                let until = if self.is_new && later != 0 { later } else { i64::MAX };
                self.will_run(entry, &usable, from, until)
            } else {
                None
            };
            if self.watched == Some(entry.job) {
                let names = |nodes: &NodeSet| self.conf.node_list(nodes.iter());
                let result = match &found {
                    Some((time, nodes)) => format!("the will-run test finds {} at {}", names(nodes), stamp(*time)),
                    None => "no start there".to_owned(),
                };
                self.steps.push(format!("from {}: unplanned {}; {result}", stamp(from), names(&usable)));
            }
            let Some((start, nodes)) = found else {
                if later == 0 {
                    return (None, is_tested);
                }
                continue;
            };
            self.pass.found.insert(entry.job, self.cluster.machine.cpus(&nodes));
            // A start that is moved to the begin of its slot changes the job (SPEC 0.4).
            self.pass.changed |= start < from;
            let mut start = start.max(from);
            if start <= self.now && !nodes.meets(&self.completing) {
                // The nodes are picked again, among those that are idle.
                let idle = usable.intersection(&self.cluster.idle);
                if let Some(picked) = self.cluster.machine.choose(&idle, entry.need, entry.required.as_ref()) {
                    return (Some((picked, None)), true);
                }
                // A job past its limit still holds some of the nodes (24.11): they are planned from now on.
                later = 0;
            } else if start <= self.now {
                (start, later) = (self.now + 1, 0);
            }
            let (begin, end) = (self.floor(start), self.round_end(start + entry.least_limit()));
            // 22.05 tries a nearer slot before it tests for a clash.
            let has_nearer = later != 0 && start > later;
            if (self.is_new || !has_nearer) && self.table.clashes(begin, end, &nodes) {
                later = start;
            } else if !has_nearer {
                return (Some((nodes, Some((start, end)))), true);
            }
        }
    }

    /// Returns the nodes that stay unplanned from `from` for the limit of the job, and the begin of a later slot, or 0 (SPEC 5.4b).
    fn usable(&self, entry: &Entry, from: i64) -> (NodeSet, i64) {
        let partition = &self.cluster.partitions[entry.partition];
        let mut usable = partition.clone();
        let mut later = 0;
        let until = entry.least_limit() + from.max(self.now);
        // Records that end before the slot change nothing.
        let records = self.table.records_after(from);
        let is_watched = self.watched == Some(entry.job);
        for (index, record) in records.iter().enumerate() {
            let offers = |next: &Record| next.free.offers_more(partition, &usable, &record.free);
            if later == 0 && records.get(index + 1).is_some_and(offers) {
                later = record.end;
            }
            // A job that ends in the very second in which a plan begins collides with it.
            if record.begin > until {
                if self.is_new && later == 0 {
                    later = records.get(index + 1).map_or(0, |next| next.end);
                }
                break;
            }
            usable.intersect(&record.free);
            // With a later slot known, and too few nodes left in this one, the rest of the walk has no effect.
            if later != 0 && !is_watched && usable.len() < entry.need.nodes {
                break;
            }
        }
        // The walk itself takes no notice of excluded nodes.
        if let Some(excluded) = &entry.excluded {
            usable.subtract(excluded);
        }
        (usable, later)
    }

    fn will_run(&self, entry: &Entry, usable: &NodeSet, from: i64, until: i64) -> Option<(i64, NodeSet)> {
        let (machine, window_linear) = (&self.cluster.machine, self.settings.bf_window_linear);
        let test = WillRun { machine, releases: &self.releases, now: self.now, window_linear, is_bounded: self.is_new };
        let from = if self.is_new { from } else { self.now };
        test.test(usable, entry.need, entry.required.as_ref(), (from, until))
    }

    /// Returns true for a job that may start now and gets no plan (the end of SPEC 5.4).
    fn is_for_now_only(&self, entry: &Entry) -> bool {
        let (settings, plans) = (self.settings, &self.pass.plans);
        let of_partition = || plans.iter().filter(|plan| plan.partition == entry.partition).count();
        self.now - entry.eligible < settings.bf_min_age_reserve
            || (entry.priority as usize) < settings.bf_min_prio_reserve
            || (settings.bf_job_part_count_reserve > 0 && of_partition() >= settings.bf_job_part_count_reserve)
            || (settings.bf_one_resv_per_job && plans.iter().any(|plan| plan.job == entry.job))
    }

    /// Returns true if the table takes no further record.
    fn is_full(&self) -> bool {
        self.table.slots >= self.settings.bf_node_space_size
    }

    fn start(&mut self, entry: &Entry, nodes: NodeSet) {
        // A job with `--time-min` that starts here has that limit.
        let end = self.now + entry.least_limit();
        if !self.is_full() {
            let least = self.floor(self.now) + self.settings.bf_resolution;
            self.table.reserve(0, self.round_end(end).max(least), &nodes);
        }
        self.cluster.start(entry.job, end, nodes.clone(), entry.demand);
        self.releases = self.cluster.releases(self.now);
        self.pass.changed = true;
        self.note(entry, |(_, without)| *without -= 1);
        (self.candidates, self.due) = (None, 0);
        self.pass.starts.push(Start { job: entry.job, partition: entry.partition, nodes, planned: None });
    }

    fn floor(&self, time: i64) -> i64 {
        time / self.settings.bf_resolution * self.settings.bf_resolution
    }

    fn round_end(&self, time: i64) -> i64 {
        if self.is_new { self.floor(time + self.settings.bf_resolution - 1) } else { self.floor(time) }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/backfill.rs"]
mod tests;
