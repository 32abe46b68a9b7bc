//! State of the controller: present jobs, their priorities, the nodes. It runs one pass at a time.

pub(crate) mod backfill;
mod main_pass;
pub(crate) mod priority;
mod why;

pub use why::Why;

use crate::cluster::Cluster;
use crate::cluster::limits::Demand;
use crate::cluster::nodes::NodeSet;
use crate::cluster::queue::{self, Entry, Pass, Start};
use crate::cluster::select::Need;
use crate::controller::backfill::backfill;
use crate::controller::priority::{Priorities, Running};
use crate::site::Site;
use crate::site::conf::YEAR;
use crate::site::workload::{Begin, Dependency, DependencyKind, Memory, SubmittedJob, array_of, task, tasks};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Seconds between the requeue of a job and its begin time.
const REQUEUE_DELAY: i64 = 121;

/// Largest memory of a job in MiB that limits count, far above that of any cluster, so that sums over jobs stay within 64 bits.
const MOST_MEMORY: u64 = 1 << 48;

/// Pass that started a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// The main pass.
    Main,
    /// The backfill pass.
    Backfill,
}

impl By {
    /// Returns `main` or `backfill`.
    pub fn name(self) -> &'static str {
        if self == Self::Main { "main" } else { "backfill" }
    }
}

/// Change of a job by `scontrol`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Change {
    /// Time limit, in seconds.
    Limit(i64),
    /// Nice value and the priority that follows.
    Nice(i64, u32),
    Nodes(u32),
    /// Priority, which is fixed from then on; 0 holds the job.
    Priority(u32),
    Release,
}

/// Pending or running job.
#[derive(Clone, Debug)]
struct Job {
    /// The job in each of its partitions, in the order given; the queue has copies of these while the job is eligible.
    places: Vec<Entry>,
    user: usize,
    name: String,
    has_fixed_priority: bool,
    is_held: bool,
    running: Option<(Running, By)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Controller {
    site: Arc<Site>,
    pub cluster: Cluster,
    priorities: Priorities,
    jobs: BTreeMap<u32, Job>,
    users: BTreeMap<String, usize>,
    /// Pending jobs whose begin time is in the future.
    ahead: BTreeSet<(i64, u32)>,
    /// Pending jobs whose dependencies are not met, with their begin times.
    dependent: BTreeMap<u32, (i64, Vec<Vec<Dependency>>)>,
    /// Starts of jobs and, once they have ended, true for success: for the jobs that depend on them.
    fates: BTreeMap<u32, (i64, Option<bool>)>,
    pub queue: Vec<Entry>,
    /// Pending jobs of which the last test in a main pass lacked required nodes.
    lacking: BTreeSet<u32>,
    is_sorted: bool,
    /// True if priorities change with the CPUs that will-run tests find.
    counts_cpus: bool,
}

impl Controller {
    pub(crate) fn new(site: Arc<Site>, start: i64) -> Self {
        let priority = &site.conf.priority;
        Self {
            cluster: Cluster::new(Arc::clone(&site)),
            priorities: Priorities::new(Arc::clone(&site), start),
            jobs: BTreeMap::new(),
            users: BTreeMap::new(),
            ahead: BTreeSet::new(),
            dependent: BTreeMap::new(),
            fates: BTreeMap::new(),
            queue: Vec::new(),
            lacking: BTreeSet::new(),
            is_sorted: true,
            counts_cpus: priority.multifactor && priority.decays && priority.weights[3] != 0,
            site,
        }
    }

    /// Adds a job and returns its first priority.
    pub(crate) fn submit(&mut self, job: &SubmittedJob, now: i64) -> u32 {
        let request = &job.request;
        let count = self.users.len();
        let user = *self.users.entry(request.user().to_owned()).or_insert(count);
        let eligible = match request.begin {
            _ if request.hold => None,
            Some(Begin::After(seconds)) => Some(now + seconds),
            Some(Begin::At(time)) => Some(time.max(now)),
            None => Some(now),
        };
        let partitions = self.site.partitions(job).into_iter();
        let mut places: Vec<Entry> = partitions.map(|at| self.place(job, at, user, now, eligible)).collect();
        let is_multifactor = self.site.conf.priority.multifactor;
        // Tasks of an array are submitted as one job.
        let (array, _) = array_of(job.id);
        let mut first = if array == job.id { None } else { self.priority(array, places[0].partition) };
        for place in &mut places {
            place.priority = match (request.priority, first) {
                _ if request.hold => 0,
                (Some(fixed), _) => fixed,
                (None, Some(first)) if !is_multifactor => first,
                _ => self.priorities.first(place, now),
            };
            first.get_or_insert(place.priority);
        }
        let has_fixed_priority = request.priority.is_some();
        let (name, is_held) = (request.name.clone(), request.hold);
        self.jobs.insert(job.id, Job { places, user, name, has_fixed_priority, is_held, running: None });
        match eligible {
            Some(time) if !request.dependencies.is_empty() => {
                // A job that the controller does not know delays no other, not even if a later job gets its number.
                let is_known = |other: &Dependency| other.job.is_none_or(|other| self.knows(other));
                let groups = request.dependencies.iter().filter(|group| group.iter().all(is_known));
                self.dependent.insert(job.id, (time, groups.cloned().collect()));
            }
            Some(time) if time <= now => self.enqueue(job.id),
            Some(time) => {
                self.ahead.insert((time, job.id));
            }
            None => {}
        }
        first.unwrap_or(0)
    }

    /// Returns the job in one partition, without its priority.
    fn place(&self, job: &SubmittedJob, index: usize, user: usize, now: i64, eligible: Option<i64>) -> Entry {
        let (request, conf) = (&job.request, &self.site.conf);
        let partition = &conf.partitions[index];
        let nodes = job.whole_nodes(conf, partition).unwrap_or(u32::MAX);
        let limit = job.limit.or(partition.default_time).or(partition.max_time).unwrap_or(YEAR);
        let cpus = job.cpus(nodes);
        let memory = match request.memory {
            Some(Memory::PerNode(each)) => each.saturating_mul(u64::from(nodes)),
            Some(Memory::PerCpu(each)) => each.saturating_mul(cpus),
            None => 0,
        };
        let memory = memory.min(MOST_MEMORY);
        // A whole node counts with all of its CPUs.
        let each = partition.nodes.iter().map(|node| conf.nodes[*node].cpus).min().unwrap_or(0);
        let tres = [u64::from(nodes) * u64::from(each), memory, u64::from(nodes)];
        let accounts = &self.site.accounts;
        let association = accounts.association(request.account.as_deref(), request.user(), Some(&partition.name));
        let qos = match &request.qos {
            Some(name) => accounts.qos(name),
            None => association.and_then(|at| accounts.default_qos(at)),
        };
        let (array, _) = array_of(job.id);
        let most_tasks = request.most_tasks.map(|most| (array, u64::from(most)));
        let is_split = request.dependencies.iter().flatten().any(|one| one.kind == DependencyKind::AfterCorr);
        Entry {
            job: job.id,
            array: (array != job.id && !is_split).then_some(array),
            partition: index,
            is_admitted: partition.starts_jobs
                && partition.max_time.is_none_or(|most| limit <= most)
                && partition.max_nodes.is_none_or(|most| nodes <= most)
                && nodes >= partition.min_nodes
                && nodes as usize <= partition.nodes.len(),
            tier: partition.priority_tier,
            priority: 0,
            nice: request.nice,
            submit: now,
            eligible: now,
            ages_from: eligible.filter(|time| *time <= now && request.dependencies.is_empty()),
            need: Need { nodes: nodes as usize, cpus },
            cpus,
            limit_min: request.time_min.map(|least| least.min(limit)),
            required: self.node_set(&request.required),
            excluded: self.node_set(&request.excluded),
            demand: Demand { association, qos, partition: index, user, tres, limit, array: most_tasks },
            needs_test: self.counts_cpus && request.priority.is_none(),
        }
    }

    /// Returns the set of named nodes, or none without names.
    fn node_set(&self, names: &[String]) -> Option<NodeSet> {
        let members = names.iter().filter_map(|name| self.site.node(name));
        (!names.is_empty()).then(|| NodeSet::of(self.site.conf.nodes.len(), members))
    }

    /// Puts the job into the queue, once for each partition that admits it.
    fn enqueue(&mut self, id: u32) {
        let Some(job) = self.jobs.get(&id) else { return };
        let admitted = job.places.iter().filter(|place| place.is_admitted);
        self.queue.extend(admitted.cloned());
        self.is_sorted = false;
    }

    /// Returns true if at least one alternative of each group is met at `now`.
    fn is_independent(&self, id: u32, groups: &[Vec<Dependency>], now: i64) -> bool {
        let is_met_by = |kind: DependencyKind, other: u32| {
            match (kind, self.fates.get(&other)) {
                // A job that the controller does not know delays no other.
                (_, None) => !self.jobs.contains_key(&other),
                (DependencyKind::After(delay), Some((start, _))) => start + delay <= now,
                (DependencyKind::AfterOk | DependencyKind::AfterCorr, Some((_, is_ok))) => *is_ok == Some(true),
                (DependencyKind::AfterNotOk, Some((_, is_ok))) => *is_ok == Some(false),
                (_, Some((_, is_ok))) => is_ok.is_some(),
            }
        };
        let is_met = |dependency: &Dependency| {
            let Some(other) = dependency.job else { return self.is_alone(id) };
            // A dependency on an array is one on all of its tasks, or on the task of the same index if there is one.
            let is_own = |task: &u32| dependency.kind == DependencyKind::AfterCorr && self.knows(*task);
            let all = task(other, array_of(id).1).filter(is_own).map_or(tasks(other), |own| own..=own);
            is_met_by(dependency.kind, other)
                && self.jobs.range(all.clone()).all(|(other, _)| is_met_by(dependency.kind, *other))
                && self.fates.range(all).all(|(other, _)| is_met_by(dependency.kind, *other))
        };
        groups.iter().all(|group| group.iter().any(is_met))
    }

    /// Returns true if a job, or a task of an array, was submitted.
    fn knows(&self, id: u32) -> bool {
        let is_there = |id| self.jobs.contains_key(&id) || self.fates.contains_key(&id);
        is_there(id) || self.jobs.range(tasks(id)).next().is_some() || self.fates.range(tasks(id)).next().is_some()
    }

    /// Returns true if no job of the same name and user runs, or is pending and older. Tasks of one array do not wait for each other.
    fn is_alone(&self, id: u32) -> bool {
        let Some(own) = self.jobs.get(&id) else { return true };
        let is_before = |(other, job): (&u32, &Job)| {
            let [other, this] = [*other, id].map(|id| array_of(id).0);
            other != this && job.name == own.name && job.user == own.user && (job.running.is_some() || other < this)
        };
        !self.jobs.iter().any(is_before)
    }

    /// Puts jobs whose begin time has come and whose dependencies are met into the queue, and sorts it.
    pub(crate) fn prepare(&mut self, now: i64) {
        self.cluster.clean_up(now - 1);
        let is_met = |(id, (time, groups)): (&u32, &(i64, Vec<Vec<Dependency>>))| {
            (*time <= now && self.is_independent(*id, groups, now)).then_some(*id)
        };
        for id in self.dependent.iter().filter_map(is_met).collect::<Vec<u32>>() {
            self.dependent.remove(&id);
            self.ahead.insert((now, id));
        }
        while let Some((time, id)) = self.ahead.first().copied().filter(|(time, _)| *time <= now) {
            self.ahead.pop_first();
            if let Some(job) = self.jobs.get_mut(&id) {
                if job.is_held {
                    continue;
                }
                for place in &mut job.places {
                    (place.ages_from, place.eligible) = (Some(time), time);
                }
            }
            self.enqueue(id);
        }
        if !self.is_sorted {
            queue::sort(&mut self.queue);
            self.is_sorted = true;
        }
    }

    /// Decides a backfill pass, which may end early in a simulation. The nodes are held afterwards;
    /// [`Self::commit`] removes the jobs from the queue.
    pub(crate) fn backfill(&mut self, now: i64, ends_early: bool) -> Pass {
        self.prepare(now);
        let pass = backfill(&mut self.cluster, &self.queue, now, &self.site, ends_early);
        for (id, cpus) in &pass.found {
            if let Some(job) = self.jobs.get_mut(id) {
                job.places.iter_mut().for_each(|place| place.cpus = *cpus);
            }
        }
        // On nodes of one size, every test of a job finds as many CPUs.
        let nodes = &self.site.conf.nodes;
        if self.counts_cpus && nodes.iter().all(|node| node.cpus == nodes[0].cpus) {
            self.queue.iter_mut().for_each(|entry| entry.needs_test &= !pass.found.contains_key(&entry.job));
        }
        pass
    }

    pub(crate) fn commit(&mut self, starts: &[Start], by: By, now: i64) {
        for start in starts {
            let Some(place) = place_in(&self.jobs, start.job, start.partition) else { continue };
            let Demand { association, qos, tres: [_, memory, _], .. } = place.demand;
            let tres = [self.cluster.machine.cpus(&start.nodes), memory, start.nodes.len() as u64];
            let billing = self.priorities.billing(start.partition, tres);
            self.fates.insert(start.job, (now, None));
            let running = Running { association, qos, start: now, billing };
            self.jobs.entry(start.job).and_modify(|job| job.running = Some((running, by)));
        }
        if !starts.is_empty() {
            self.queue.retain(|entry| !starts.iter().any(|start| start.job == entry.job));
        }
    }

    /// Removes a running or pending job.
    pub(crate) fn end(&mut self, job: u32, now: i64, is_ok: bool) {
        self.stop(job, now, is_ok);
        self.cluster.end(job);
    }

    /// Removes a running or pending job, whose nodes stay in use until [`Cluster::clean_up`].
    pub(crate) fn stop(&mut self, job: u32, now: i64, is_ok: bool) {
        let start = if let Some((start, None)) = self.fates.get(&job) { *start } else { now };
        self.fates.insert(job, (start, Some(is_ok)));
        self.dependent.remove(&job);
        self.ahead.retain(|(_, other)| *other != job);
        if let Some((running, _)) = self.jobs.remove(&job).and_then(|ended| ended.running) {
            self.priorities.job_ended(&running, now);
        }
        self.cluster.stop(job, now);
        self.lacking.remove(&job);
        self.queue.retain(|entry| entry.job != job);
    }

    /// Makes a running job pending again: submitted `now` with its priority, and eligible after [`REQUEUE_DELAY`].
    pub(crate) fn requeue(&mut self, id: u32, now: i64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Some((running, _)) = job.running.take() else { return };
        for place in &mut job.places {
            (place.submit, place.ages_from, place.cpus) = (now, None, place.need.cpus);
        }
        self.priorities.job_ended(&running, now);
        self.fates.remove(&id);
        self.ahead.insert((now + REQUEUE_DELAY, id));
        self.cluster.end(id);
    }

    pub(crate) fn update(&mut self, id: u32, change: Change, now: i64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if let Change::Priority(priority) = change {
            // `scontrol release` of a job that is not held computes its priority again.
            let mut renewed = self.priorities.clone();
            let is_reset = job.places.first().is_some_and(|one| renewed.first(one, now) == priority);
            if is_reset {
                self.priorities = renewed;
            }
            (job.is_held, job.has_fixed_priority) = (priority == 0, priority > 0 && !is_reset);
        } else if change == Change::Release {
            (job.is_held, job.has_fixed_priority) = (false, false);
        }
        for place in &mut job.places {
            match change {
                Change::Limit(limit) => place.demand.limit = limit,
                Change::Nice(nice, priority) => (place.nice, place.priority) = (nice, priority),
                Change::Nodes(nodes) => (place.need.nodes, place.demand.tres[2]) = (nodes as usize, u64::from(nodes)),
                Change::Priority(priority) => place.priority = priority,
                Change::Release => {
                    place.ages_from.get_or_insert(now);
                    place.priority = self.priorities.first(place, now);
                }
            }
        }
        if let (Change::Limit(limit), Some((Running { start, .. }, _))) = (change, job.running)
            && let Some(ended) = self.cluster.end(id)
        {
            self.cluster.start(id, start + limit, ended.nodes, Demand { limit, ..ended.demand });
        }
        let is_eligible = job.running.is_none() && !job.is_held && !self.dependent.contains_key(&id);
        self.queue.retain(|entry| entry.job != id);
        if is_eligible && self.ahead.iter().all(|(_, other)| *other != id) {
            self.enqueue(id);
        }
    }

    /// Runs one round of the decay thread. Returns true if a priority changed.
    pub(crate) fn decay(&mut self, now: i64) -> bool {
        self.prepare(now);
        let calculates_running = self.site.conf.priority.has("CALCULATE_RUNNING");
        let is_computed = |job: &Job| job.running.is_none() && !job.has_fixed_priority && !job.is_held;
        self.priorities.begin_tick(now);
        for job in self.jobs.values() {
            if let Some((running, _)) = &job.running {
                self.priorities.charge(running, now);
            }
            if is_computed(job) || calculates_running && job.running.is_some() {
                self.priorities.renew_factor(job.places.first().and_then(|place| place.demand.association));
            }
        }
        self.priorities.end_tick(now);
        let mut is_changed = false;
        let computed = self.jobs.values_mut().filter(|job| is_computed(job));
        for place in computed.flat_map(|job| &mut job.places) {
            let renewed = self.priorities.renewed(place, now);
            is_changed |= renewed != place.priority;
            place.priority = renewed;
        }
        if is_changed {
            for entry in &mut self.queue {
                if let Some(place) = place_in(&self.jobs, entry.job, entry.partition) {
                    entry.priority = place.priority;
                }
            }
            self.is_sorted = false;
        }
        is_changed
    }

    /// Returns the priority of a job, or of an array's first pending task, in a partition.
    pub(crate) fn priority(&self, job: u32, partition: usize) -> Option<u32> {
        let pending = self.jobs.range(tasks(job)).find(|(_, task)| task.running.is_none()).map_or(job, |(id, _)| *id);
        place_in(&self.jobs, pending, partition).map(|place| place.priority)
    }

    /// Returns the submission and the start of a running job, and the pass that started it.
    pub(crate) fn run_of(&self, job: u32) -> Option<(i64, i64, By)> {
        let job = self.jobs.get(&job)?;
        let (running, by) = job.running?;
        Some((job.places.first()?.submit, running.start, by))
    }

    /// Returns true if a job will be in the queue at its begin time or by a dependency on known jobs.
    pub(crate) fn has_time_ahead(&self) -> bool {
        let is_met =
            |(id, (_, groups)): (&u32, &(i64, Vec<Vec<Dependency>>))| self.is_independent(*id, groups, i64::MAX);
        !self.ahead.is_empty() || self.dependent.iter().any(is_met)
    }

    /// Assigns nodes to a job as recorded in a log, overriding this controller.
    pub(crate) fn force(&mut self, start: &Start, now: i64) {
        let held =
            |running: &crate::cluster::will_run::Running| running.job == start.job || running.nodes.meets(&start.nodes);
        let displaced: Vec<u32> = self.cluster.running.iter().filter(|job| held(job)).map(|job| job.job).collect();
        displaced.into_iter().for_each(|job| self.end(job, now, false));
        let place = place_in(&self.jobs, start.job, start.partition);
        let demand = place.map_or(Demand { limit: YEAR, ..Demand::default() }, |place| place.demand);
        self.cluster.start(start.job, now + demand.limit, start.nodes.clone(), demand);
    }
}

fn place_in(jobs: &BTreeMap<u32, Job>, job: u32, partition: usize) -> Option<&Entry> {
    jobs.get(&job)?.places.iter().find(|place| place.partition == partition)
}
