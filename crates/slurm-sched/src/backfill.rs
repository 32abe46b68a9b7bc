//! Backfill pass (SPEC 5).

use crate::cluster::Cluster;
use crate::conf::Scheduling;
use crate::nodes::NodeSet;
use crate::queue::Entry;
use crate::table::{NodeSpace, Record};
use crate::version::Version;
use crate::will_run::{ExpectedEnds, Slot, WillRun};
use crate::workload::array_of;
use std::collections::BTreeMap;

/// Planned start of a job.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Plan {
    /// Number of the job.
    pub job: u32,
    /// Index of the partition.
    pub partition: usize,
    /// Planned start.
    pub start: i64,
    /// Planned end, rounded as in the table.
    pub end: i64,
    /// Planned nodes.
    pub nodes: NodeSet,
}

/// Job that a pass starts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Start {
    /// Number of the job.
    pub job: u32,
    /// Index of the partition.
    pub partition: usize,
    /// Nodes of the job.
    pub nodes: NodeSet,
}

/// Decisions of a backfill pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pass {
    /// Jobs tested, in order, with the index of the partition.
    pub tested: Vec<(u32, usize)>,
    /// Plans, in order.
    pub plans: Vec<Plan>,
    /// Starts, in order.
    pub starts: Vec<Start>,
    /// CPUs of the nodes that the last successful will-run test of each job found.
    pub found: BTreeMap<u32, u64>,
    /// True if the pass started a job, or moved one to a later slot (SPEC 0.4).
    pub changed: bool,
    /// True if the pass marked nodes as planned, which changes them, as does the next pass, which removes the marks.
    pub marks_nodes: bool,
}

/// Settings of a backfill pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    /// `SchedulerParameters`.
    pub settings: &'a Scheduling,
    /// Version whose rules apply.
    pub version: Version,
    /// True if the pass may end before plans that alter no start, [`Pass::marks_nodes`] or CPUs of a job, as in a simulation,
    /// where no plan survives its pass (SPEC 5.7).
    pub ends_early: bool,
}

/// Slot that the search for a job tested.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    /// Begin of the slot.
    pub from: i64,
    /// Nodes that stay unplanned from there for the limit of the job.
    pub usable: NodeSet,
    /// Begin of the next slot, or 0.
    pub later: i64,
    /// Start and nodes by the will-run test.
    pub will_run: Option<(i64, NodeSet)>,
}

/// Entries between two examinations of the rest of the queue.
const EXAMINATION: usize = 8;

/// Outcome of the search for one job.
#[derive(Debug)]
enum Found {
    Nothing,
    Now(NodeSet),
    Later { start: i64, end: i64, nodes: NodeSet },
}

/// Backfill pass in progress.
struct Search<'a> {
    cluster: &'a mut Cluster,
    settings: &'a Scheduling,
    /// See [`Version::is_new`].
    is_new: bool,
    now: i64,
    table: NodeSpace,
    releases: ExpectedEnds,
    bounds: Bounds,
    pass: Pass,
    /// Job whose steps are recorded.
    watched: Option<u32>,
    /// True if slots are tested one by one for every job.
    is_plain: bool,
    /// See [`Terms::ends_early`].
    ends_early: bool,
    /// Indices of the entries after which the pass may end: those that may start or must be tested. None before they are
    /// collected, and after a start, which may let the pass visit others.
    candidates: Option<Vec<usize>>,
    /// Index of the entry before which the rest of the queue is examined next.
    due: usize,
    steps: Vec<Step>,
}

/// Lower bounds of the starts of the jobs of a pass.
///
/// A job can start at T only if enough nodes are released by T and unplanned for its limit from T. Within a pass plans
/// are only added, and nodes are only taken. If this fails at every second before a bound for one job, it also fails
/// there for each later job of the partition that needs at least as many nodes for at least as long.
#[derive(Debug, Default)]
struct Bounds {
    /// Nodes, limit and bound, by partition.
    partitions: BTreeMap<usize, Vec<(usize, i64, i64)>>,
}

impl Bounds {
    fn of(&self, entry: &Entry) -> Option<i64> {
        let (nodes, limit) = (entry.need.nodes, entry.least_limit());
        let known = self.partitions.get(&entry.partition)?.iter();
        known.filter(|known| known.0 <= nodes && known.1 <= limit).map(|known| known.2).max()
    }

    fn add(&mut self, entry: &Entry, bound: i64) {
        let known = self.partitions.entry(entry.partition).or_default();
        let (nodes, limit) = (entry.need.nodes, entry.least_limit());
        known.retain(|known| known.0 < nodes || known.1 < limit || known.2 > bound);
        known.push((nodes, limit, bound));
    }
}

/// Runs a backfill pass over the sorted queue; jobs that it starts hold their nodes afterwards.
pub(crate) fn backfill(cluster: &mut Cluster, queue: &[Entry], now: i64, terms: Terms<'_>) -> Pass {
    let mut search = Search::new(cluster, now, terms);
    search.run(queue);
    search.pass
}

/// Returns the steps of the search for one job in such a pass.
pub(crate) fn explain(cluster: &mut Cluster, queue: &[Entry], now: i64, terms: Terms<'_>, job: u32) -> Vec<Step> {
    let mut search = Search { watched: Some(job), ..Search::new(cluster, now, terms) };
    search.run(queue);
    search.steps
}

impl<'a> Search<'a> {
    fn new(cluster: &'a mut Cluster, now: i64, terms: Terms<'a>) -> Self {
        let Terms { settings, version, ends_early } = terms;
        let floor = |time: i64| time / settings.bf_resolution * settings.bf_resolution;
        let releases = cluster.releases(now);
        let table = NodeSpace::new(floor(now), floor(now + settings.bf_window), cluster.machine().len(), &releases);
        let pass = Pass::default();
        Self {
            cluster,
            settings,
            is_new: version.is_new(),
            now,
            table,
            releases,
            bounds: Bounds::default(),
            pass,
            watched: None,
            is_plain: false,
            ends_early,
            candidates: None,
            due: 0,
            steps: Vec::new(),
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
            let is_sibling = self.pass.tested.last().is_some_and(|(job, partition)| {
                array_of(*job).0 == array_of(entry.job).0 && *partition == entry.partition
            });
            if tests >= self.settings.bf_max_job_test && !is_sibling {
                break;
            }
            self.pass.tested.push((entry.job, entry.partition));
            let found = if self.is_plain(entry) { None } else { self.quick_search(entry) };
            let (found, is_counted) = found.map_or_else(|| self.search(entry), |found| (found, true));
            tests += usize::from(is_counted);
            match found {
                Found::Nothing => {}
                // A limit that counts the nodes found prevents the start of a job and, except under assoc_limit_stop, its plan.
                Found::Now(_) if self.cluster.is_limited(&entry.demand) => {}
                Found::Later { .. } if !self.settings.assoc_limit_stop && self.cluster.is_limited(&entry.demand) => {}
                Found::Now(nodes) => {
                    self.start(entry, nodes);
                    if self.settings.bf_max_job_start > 0 && self.pass.starts.len() >= self.settings.bf_max_job_start {
                        break;
                    }
                }
                Found::Later { start, end, nodes } => {
                    if !self.is_for_now_only(entry) {
                        // Beyond the window, and where the table is full, a plan reserves nothing.
                        let is_beyond = start > self.now + self.settings.bf_window;
                        let is_full = self.is_full();
                        if !is_beyond && !is_full {
                            let begin = self.floor(start);
                            let end = end.max(begin + self.settings.bf_resolution);
                            self.table.reserve(begin, end, &nodes, &self.releases);
                        }
                        self.pass.plans.push(Plan { job: entry.job, partition: entry.partition, start, end, nodes });
                        if is_full && !is_beyond {
                            break;
                        }
                    }
                }
            }
        }
        self.pass.marks_nodes = self.marks_nodes();
    }

    /// Counts an entry, and returns true if the pass visits it.
    fn visits(&self, entry: &Entry, counts: &mut Counts) -> bool {
        let is_started = self.pass.starts.iter().any(|start| start.job == entry.job);
        let is_limited = self.cluster.is_barred(&entry.demand) && !self.settings.assoc_limit_stop;
        !(is_started || is_limited || self.is_array_done(entry) || counts.is_beyond(entry, self.settings))
    }

    /// Returns true for a task of an array that has enough plans, or of which an earlier task got neither a plan nor a start.
    fn is_array_done(&self, entry: &Entry) -> bool {
        let (array, _) = array_of(entry.job);
        let is_sibling = |job: u32, partition: usize| array_of(job).0 == array && partition == entry.partition;
        array != entry.job && {
            let Pass { tested, plans, starts, .. } = &self.pass;
            let tested = tested.iter().filter(|(job, partition)| is_sibling(*job, *partition)).count();
            let planned = plans.iter().filter(|plan| is_sibling(plan.job, plan.partition)).count();
            let started = starts.iter().filter(|start| is_sibling(start.job, start.partition)).count();
            planned >= self.settings.bf_max_job_array_resv || tested > planned + started
        }
    }

    /// Returns true if a plan marks nodes.
    fn marks_nodes(&self) -> bool {
        let idle = self.cluster.idle();
        self.pass.plans.iter().any(|plan| self.is_new || plan.nodes.meets(idle))
    }

    /// Returns true if no entry from `index` on can start or must be tested, and further plans cannot alter the effect of
    /// [`Pass::marks_nodes`] and [`Pass::changed`].
    ///
    /// Within a pass plans are only added, and nodes only taken, so that a job that cannot start now is not examined again.
    fn is_over(&mut self, queue: &[Entry], index: usize, counts: &Counts, tests: usize) -> bool {
        self.due = index + EXAMINATION;
        let candidates = self.candidates.take();
        let mut candidates = candidates.unwrap_or_else(|| self.reachable(queue, index, counts.clone(), tests));
        let matters = |at: usize| at >= index && (queue[at].needs_test || self.may_start(&queue[at]));
        let left = candidates.iter().rposition(|at| matters(*at)).map_or(0, |last| last + 1);
        candidates.truncate(left);
        self.candidates = Some(candidates);
        // A marked node has the effect of a change. Without idle nodes, 22.05 marks none.
        let is_unmarked = !self.is_new && self.cluster.idle().len() == 0;
        left == 0 && (self.marks_nodes() || (is_unmarked && self.pass.changed))
    }

    /// Returns the indices of the entries from `index` on that the pass visits unless it starts a job, and of some behind
    /// them: only jobs that are tested for certain count towards `bf_max_job_test`.
    fn reachable(&self, queue: &[Entry], index: usize, mut counts: Counts, mut tests: usize) -> Vec<usize> {
        let mut reachable = Vec::new();
        for (at, entry) in queue.iter().enumerate().skip(index) {
            if tests >= self.settings.bf_max_job_test {
                break;
            }
            if self.visits(entry, &mut counts) {
                reachable.push(at);
                tests += usize::from(array_of(entry.job).0 == entry.job && self.is_surely_tested(entry));
            }
        }
        reachable
    }

    /// Returns true if the first slot of a job has enough nodes, whatever is planned before it.
    ///
    /// Nodes that running jobs hold beyond its limit, and a step of the table more, have no plan that begins within the limit.
    fn is_surely_tested(&self, entry: &Entry) -> bool {
        let Some(record) = self.table.records_after(self.now).first() else { return false };
        let mut held = self.cluster.partition(entry.partition).clone();
        held.intersect(&record.free);
        held.subtract(self.releases.by(self.now + entry.least_limit() + self.settings.bf_resolution));
        entry.required.is_none() && entry.excluded.is_none() && held.len() >= entry.need.nodes
    }

    /// Returns true if enough idle nodes are unplanned for the limit of a job, and no limit prevents its start.
    fn may_start(&self, entry: &Entry) -> bool {
        let (needed, until) = (entry.need.nodes, self.now + entry.least_limit());
        let mut nodes = self.cluster.idle().clone();
        nodes.intersect(self.cluster.partition(entry.partition));
        let mut records = self.table.records_after(self.now).iter().take_while(|record| record.begin <= until);
        nodes.len() >= needed
            && records.all(|record| {
                nodes.intersect(&record.free);
                nodes.len() >= needed
            })
            && !self.cluster.is_limited(&entry.demand)
    }

    /// Returns true if a job requires, or must explain, the search by slots.
    fn is_plain(&self, entry: &Entry) -> bool {
        self.is_plain
            || self.watched == Some(entry.job)
            || entry.excluded.is_some()
            // A plan shorter than the table's step may hold no record.
            || entry.least_limit() < self.settings.bf_resolution
            || self.is_for_now_only(entry)
    }

    /// Searches the start of one job like [`Self::search`], without the tests of slots in which too few nodes are
    /// released and unplanned. Returns `None` if the search by slots must decide.
    fn quick_search(&mut self, entry: &Entry) -> Option<Found> {
        let known = self.bounds.of(entry);
        let bound = self.not_before(entry, known.unwrap_or(self.now));
        if known != Some(bound) {
            self.bounds.add(entry, bound);
        }
        let (need, limit) = (entry.need, entry.least_limit());
        let partition = self.cluster.partition(entry.partition);
        let mut usable = partition.clone();
        let mut not_before = bound;
        let mut from = self.now;
        let (start, end, nodes) = loop {
            if not_before < from {
                not_before = self.not_before(entry, from);
            }
            let (slot_begin, records, later) = self.slot(partition, limit, from, not_before)?;
            from = slot_begin;
            // The slot serves starts up to `later`.
            let until = if later == 0 { i64::MAX } else { later };
            let beyond = records.partition_point(|record| record.begin <= from + limit);
            usable.copy_from(partition);
            records[..beyond].iter().for_each(|record| usable.intersect(&record.free));
            let has_required = entry.required.as_ref().is_none_or(|nodes| nodes.is_within(&usable));
            let slot = Slot { from: if self.is_new { from } else { self.now }, until, is_bounded: self.is_new };
            let found =
                if has_required { self.will_run().test(&usable, need, entry.required.as_ref(), slot) } else { None };
            let Some((start, nodes)) = found else {
                if later == 0 {
                    return None;
                }
                from = later;
                continue;
            };
            let start = start.max(from);
            if start <= self.now {
                break (start, 0, nodes);
            }
            let end = self.round_end(start + limit);
            // Up to the end of a job that starts with the slot, the usable nodes have no plan.
            let begin = self.floor(start);
            let further = beyond.max(records.partition_point(|record| record.end <= begin));
            let mut further = records[further..].iter().take_while(|record| record.begin < end);
            if further.any(|record| !nodes.is_within(&record.free)) {
                from = start;
            } else if start > until {
                from = later;
            } else {
                break (start, end, nodes);
            }
        };
        self.pass.changed |= from > self.now;
        self.pass.found.insert(entry.job, self.cluster.machine().cpus(&nodes));
        Some(if start <= self.now { Found::Now(nodes) } else { Found::Later { start, end, nodes } })
    }

    /// Returns the first slot from `from` on that can serve a start at `not_before`: its begin, the records from there, and the
    /// begin of the next slot, or 0. Returns `None` after the last record.
    ///
    /// The first end of a plan in a slot is the next slot: up to there, nodes that the walk lacks are lacking in the present
    /// record, too. If a slot begins with a clash, the same end follows, because no plan of the partition ends earlier.
    fn slot(&self, partition: &NodeSet, limit: i64, from: i64, not_before: i64) -> Option<(i64, &[Record], i64)> {
        let records = self.table.records_after(from);
        let is_whole = partition.len() == self.cluster.machine().len();
        let (mut first, mut from) = (0, from);
        for (index, record) in records.iter().enumerate() {
            let rises_here = || records[index + 1].free.offers_more(partition, &record.free, &record.free);
            if record.is_rising && (is_whole || rises_here()) {
                if record.end >= not_before {
                    return Some((from, &records[first..], record.end));
                }
                (first, from) = (index + 1, record.end);
            } else if record.begin > from + limit {
                let after_next = if self.is_new { records.get(index + 1).map_or(0, |next| next.end) } else { 0 };
                return Some((from, &records[first..], after_next));
            }
        }
        (first < records.len()).then_some((from, &records[first..], 0))
    }

    /// Returns the first second from `time` on at which enough nodes may be released and unplanned for the limit of a job.
    fn not_before(&self, entry: &Entry, time: i64) -> i64 {
        let (nodes, partition) = (entry.need.nodes, self.cluster.partition(entry.partition));
        let records = self.table.records_after(time);
        // Nodes without a plan in `records[first..last]`.
        let mut common = partition.clone();
        let (mut first, mut last, mut counted) = (0, 0, 0);
        while first < records.len() {
            // A start in the first record lasts at least until then.
            let end = self.round_end(time.max(records[first].begin) + entry.least_limit());
            let window = counted.max(first);
            counted = window + records[window..].iter().take_while(|record| record.begin < end).count();
            counted = counted.max(first + 1);
            if let Some(low) = records[window..counted].iter().rposition(|record| record.ready_count < nodes) {
                first = window + low + 1;
                last = first;
                common.copy_from(partition);
                continue;
            }
            let released = self.releases.by(records[first].end);
            while last < counted && (last % 4 != 0 || last == first || common.count_within(released) >= nodes) {
                common.intersect(&records[last].free);
                last += 1;
            }
            if common.count_within(released) >= nodes {
                break;
            }
            // The walk backward finds the last record from which these records bar a start.
            common.copy_from(partition);
            let bars = |common: &NodeSet, record: &Record| {
                let mut ready = common.clone();
                ready.intersect(&record.free);
                ready.count_within(self.releases.by(record.end)) < nodes
            };
            let mut barred = last - 1;
            while barred > first && !bars(&common, &records[barred]) {
                common.intersect(&records[barred].free);
                barred -= 1;
            }
            first = barred + 1;
        }
        records
            .get(first)
            .or(records.last())
            .map_or(time, |record| if first < records.len() { time.max(record.begin) } else { record.end })
    }

    /// Searches the start of one job slot by slot (SPEC 5.4). Also returns true if a will-run test was made.
    fn search(&mut self, entry: &Entry) -> (Found, bool) {
        let is_for_now_only = self.is_for_now_only(entry);
        let mut later = self.now;
        let mut is_tested = false;
        loop {
            let from = later;
            if is_for_now_only && from > self.now {
                return (Found::Nothing, is_tested);
            }
            if self.is_new && from >= self.table.end() {
                return (Found::Nothing, is_tested);
            }
            let (usable, next) = self.usable(entry, from);
            later = next;
            if from > self.now {
                self.pass.changed = true;
            }
            let has_required = entry.required.as_ref().is_none_or(|nodes| nodes.is_within(&usable));
            let found = if usable.len() >= entry.need.nodes && has_required {
                is_tested = true;
                let until = if self.is_new && later != 0 { later } else { i64::MAX };
                let slot = Slot { from: if self.is_new { from } else { self.now }, until, is_bounded: self.is_new };
                self.will_run().test(&usable, entry.need, entry.required.as_ref(), slot)
            } else {
                None
            };
            if self.watched == Some(entry.job) {
                self.steps.push(Step { from, usable, later, will_run: found.clone() });
            }
            let Some((start, nodes)) = found else {
                if later == 0 {
                    return (Found::Nothing, is_tested);
                }
                continue;
            };
            self.pass.found.insert(entry.job, self.cluster.machine().cpus(&nodes));
            let start = start.max(from);
            if start <= self.now {
                return (Found::Now(nodes), true);
            }
            let is_nearer = later != 0 && start > later;
            if is_nearer && !self.is_new {
                continue;
            }
            let begin = self.floor(start);
            let end = self.round_end(start + entry.least_limit());
            if self.table.clashes(begin, end, &nodes) {
                later = start;
                continue;
            }
            if is_nearer {
                continue;
            }
            return (Found::Later { start, end, nodes }, true);
        }
    }

    /// Returns the nodes that stay unplanned from `from` for the limit of the job, and the begin of a later slot, or 0 (SPEC 5.4b).
    fn usable(&self, entry: &Entry, from: i64) -> (NodeSet, i64) {
        let partition = self.cluster.partition(entry.partition);
        let mut usable = partition.clone();
        let mut later = 0;
        let until = entry.least_limit() + from.max(self.now);
        // Records that end before the slot change nothing.
        let records = self.table.records_after(from);
        let is_watched = self.watched == Some(entry.job);
        for (index, record) in records.iter().enumerate() {
            if later == 0 {
                let offers = |next: &Record| next.free.offers_more(partition, &usable, &record.free);
                if records.get(index + 1).is_some_and(offers) {
                    later = record.end;
                }
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

    fn will_run(&self) -> WillRun<'_> {
        WillRun {
            machine: self.cluster.machine(),
            releases: &self.releases,
            now: self.now,
            window_linear: self.settings.bf_window_linear,
        }
    }

    /// Returns true for a job that may start now and gets no plan (the end of SPEC 5.4).
    fn is_for_now_only(&self, entry: &Entry) -> bool {
        let Scheduling {
            bf_min_age_reserve, bf_min_prio_reserve, bf_job_part_count_reserve, bf_one_resv_per_job, ..
        } = *self.settings;
        let plans = &self.pass.plans;
        let of_partition = || plans.iter().filter(|plan| plan.partition == entry.partition).count();
        self.now - entry.eligible < bf_min_age_reserve
            || (entry.priority as usize) < bf_min_prio_reserve
            || (bf_job_part_count_reserve > 0 && of_partition() >= bf_job_part_count_reserve)
            || (bf_one_resv_per_job && plans.iter().any(|plan| plan.job == entry.job))
    }

    /// Returns true if the table takes no further record.
    fn is_full(&self) -> bool {
        self.table.slots() >= self.settings.bf_node_space_size
    }

    fn start(&mut self, entry: &Entry, nodes: NodeSet) {
        // A job with `--time-min` that starts here has that limit.
        let end = self.now + entry.least_limit();
        if !self.is_full() {
            let least = self.floor(self.now) + self.settings.bf_resolution;
            self.table.reserve(0, self.round_end(end).max(least), &nodes, &self.releases);
        }
        self.cluster.start(entry.job, end, nodes.clone(), entry.demand);
        self.releases = self.cluster.releases(self.now);
        self.pass.changed = true;
        (self.candidates, self.due) = (None, 0);
        self.pass.starts.push(Start { job: entry.job, partition: entry.partition, nodes });
    }

    fn floor(&self, time: i64) -> i64 {
        time / self.settings.bf_resolution * self.settings.bf_resolution
    }

    fn round_end(&self, time: i64) -> i64 {
        if self.is_new { self.floor(time + self.settings.bf_resolution - 1) } else { self.floor(time) }
    }
}

/// Numbers of jobs visited so far, by user, partition and association.
#[derive(Clone, Debug, Default)]
struct Counts {
    users: BTreeMap<usize, usize>,
    partitions: BTreeMap<usize, usize>,
    users_of_partitions: BTreeMap<(usize, usize), usize>,
    associations: BTreeMap<Option<usize>, usize>,
}

impl Counts {
    /// Counts an entry, and returns true if it is beyond one of the limits.
    fn is_beyond(&mut self, entry: &Entry, settings: &Scheduling) -> bool {
        fn exceeds<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, limit: usize) -> bool {
            if limit == 0 {
                return false;
            }
            let count = counts.entry(key).or_default();
            *count += 1;
            *count > limit
        }
        exceeds(&mut self.partitions, entry.partition, settings.bf_max_job_part)
            || exceeds(
                &mut self.users_of_partitions,
                (entry.demand.user, entry.partition),
                settings.bf_max_job_user_part,
            )
            || exceeds(&mut self.users, entry.demand.user, settings.bf_max_job_user)
            || exceeds(&mut self.associations, entry.demand.association, settings.bf_max_job_assoc)
    }
}

#[cfg(test)]
#[path = "../tests/unit/backfill.rs"]
mod tests;
