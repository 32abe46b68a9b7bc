//! State of a cluster's nodes and of the jobs that run on them: CPU shares and progress.
//!
//! There is no clock and no true run time here: a [`ClusterState`] counts the work that has been done without the total.
//! [`Completions`](crate::loras::Completions) holds the totals: the world's own the true ones, the predictor's the believed ones.
//!
//! Tasks of one job sit on several nodes, and the job advances at the rate of the slowest (§5 of the specification). Tasks can
//! therefore not be ordered by a time of their node. Each *job* has a time of its own, its work, which passes at the job's
//! rate. It is brought up to date only when that rate changes. Work is an integer, so the number of these updates
//! has no effect on it.

mod intrusion;

use intrusion::Intrusion;

use crate::application::{Application, PROCESSOR};
use crate::config::{Cluster, Config, LocalSlowdown, NodeChoice, Readings};
use sim_core::{Span, Time};
use slab::Slab;
use smallvec::SmallVec;

/// Nodes of a job's tasks, without an allocation for the few that most jobs have.
pub(crate) type JobNodes = SmallVec<[u32; 8]>;

/// Work of one task, in units of 2⁻³² of a nanosecond alone at reference speed.
pub(crate) type Work = u128;

/// Work per nanosecond, alone at reference speed.
const REFERENCE: u64 = 1 << 32;

pub(crate) fn work_of(time: Span) -> Work {
    Work::from(time.as_nanos()) * Work::from(REFERENCE)
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct WaitingJob {
    /// Its number in the world that drives the cluster.
    pub(crate) key: u32,
    pub(crate) app: Application,
}

/// Limits and costs that hold on every node of a cluster.
#[derive(Copy, Clone, Debug)]
pub(crate) struct NodeRules {
    pub(crate) cluster: Cluster,
    readings: Readings,
    mpl: u32,
    task_overhead: f64,
    /// Demand of a local user, in millionths and in KiB.
    user_cpu: u32,
    user_memory: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct NodeState {
    /// Parallel tasks on it, in the order in which they started. As many as the paper's MPL allows lie in the node itself, since
    /// each prediction copies all nodes.
    tasks: SmallVec<[Task; 4]>,
    /// Sum of the CPU demands of its tasks and its user, in millionths of its CPU.
    demand: u32,
    /// Sum of the memory that they hold, in KiB.
    memory: u64,
    pub(crate) users: bool,
    /// See [`fair_level`].
    level: f64,
    /// Remaining fraction of a task's rate beside the other tasks, and beside users.
    factor: f64,
}

impl NodeState {
    fn count(&self) -> u32 {
        u32::try_from(self.tasks.len()).expect("a node runs few tasks")
    }

    /// Returns true if it could take one more task, as far as MPL allows.
    fn is_open(&self, rules: &NodeRules) -> bool {
        self.count() < if self.users { rules.mpl.min(rules.readings.mpl_beside_users) } else { rules.mpl }
    }

    /// Recomputes the level and the factor after a change of its tasks. Returns the slots of their jobs.
    fn share_out(&mut self, rules: &NodeRules) -> impl Iterator<Item = u32> {
        let user = self.users.then_some(rules.user_cpu);
        self.level = fair_level(self.demand, self.tasks.iter().map(|task| task.cpu).chain(user));
        let kept = if self.users { 1.0 - rules.readings.hidden_loss } else { 1.0 };
        self.factor = kept / (1.0 + rules.task_overhead * f64::from(self.count().saturating_sub(1)));
        self.tasks.iter().map(|task| task.slot)
    }
}

#[derive(Copy, Clone, Debug)]
struct Task {
    slot: u32,
    /// CPU demand, in millionths.
    cpu: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct ActiveJob {
    pub(crate) app: Application,
    /// Its number in the world that drives the cluster.
    pub(crate) key: u32,
    pub(crate) nodes: JobNodes,
    /// Number of its nodes with local users.
    users: u32,
    /// Work per nanosecond.
    rate: u64,
    /// Work done until `since`.
    done: Work,
    since: Time,
}

impl ActiveJob {
    pub(crate) fn done(&self, now: Time) -> Work {
        self.done + Work::from(self.rate) * Work::from(now.since(self.since).as_nanos())
    }

    /// Time at which it will have done `goal`, at its present rate.
    pub(crate) fn end(&self, goal: Work) -> Time {
        // The last nanosecond may have gone a little further than the goal.
        let nanos = goal.saturating_sub(self.done).div_ceil(Work::from(self.rate));
        self.since + Span::from_nanos(u64::try_from(nanos).expect("a job ends within 584 years"))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ClusterState {
    pub(crate) rules: NodeRules,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) running: Slab<ActiveJob>,
    /// Slots in use, in the order in which their jobs started.
    pub(crate) live: Vec<u32>,
    /// Nodes in the order in which LoRaS takes them: `demand << 32 | index`.
    order: Vec<u64>,
    /// Number of nodes that could take one more task, as far as MPL allows.
    open: u32,
    /// Jobs whose rate the last change has changed.
    pub(crate) touched: Vec<u32>,
    intrusion: Intrusion,
}

impl ClusterState {
    /// The idle nodes of a cluster, each with a user if they are `occupied`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fractions of what fits")]
    pub(crate) fn new(config: &Config, cluster: &Cluster, occupied: bool) -> Self {
        let nodes = cluster.nodes;
        let rules = NodeRules {
            cluster: *cluster,
            readings: config.readings,
            mpl: config.mpl,
            task_overhead: config.task_overhead,
            user_cpu: (config.local.cpu * f64::from(PROCESSOR)).round() as u32,
            user_memory: (config.local.memory * cluster.memory as f64).round() as u64,
        };
        let (demand, memory) = if occupied { (rules.user_cpu, rules.user_memory) } else { (0, 0) };
        // Level and factor concern only tasks, and are recomputed with each.
        let (level, factor) = (f64::INFINITY, 1.0);
        let node = NodeState { tasks: SmallVec::new(), demand, memory, users: occupied, level, factor };
        let key = if rules.readings.node_choice == NodeChoice::FirstFit { 0 } else { u64::from(demand) << 32 };
        Self {
            rules,
            nodes: vec![node; nodes as usize],
            running: Slab::new(),
            live: Vec::new(),
            order: (0..u64::from(nodes)).map(|index| key | index).collect(),
            open: nodes,
            touched: Vec::new(),
            intrusion: Intrusion::new(config.readings.local_slowdown, config.queueing_weight),
        }
    }

    /// Turns a copy of a real cluster into the one that the predictor believes in at `now`: it does not know the hidden loss
    /// (R12), and does not see users if `sees_users` is false (R9).
    pub(crate) fn believe(&mut self, now: Time, sees_users: bool) {
        self.intrusion = Intrusion::new(LocalSlowdown::CpuUsed, 0.0);
        if sees_users && self.rules.readings.hidden_loss <= 0.0 {
            return; // the truth is believed: jobs continue at their rates
        }
        self.rules.readings.hidden_loss = 0.0;
        for node in &mut self.nodes {
            if node.users && !sees_users {
                node.users = false;
                node.demand -= self.rules.user_cpu;
                node.memory -= self.rules.user_memory;
            }
            let _ = node.share_out(&self.rules);
        }
        let Self { rules, nodes, running, live, .. } = self;
        for &slot in &*live {
            let job = &mut running[slot as usize];
            job.done = job.done(now);
            job.since = now;
            job.rate = rate(job, nodes, rules);
        }
        // Without users more nodes may be open, and their order may differ.
        self.open = self.nodes.iter().map(|node| u32::from(node.is_open(&self.rules))).sum();
        self.reorder();
    }

    /// Used fraction of a node, between 0 and 1: the mean of CPU and memory.
    pub(crate) fn occupancy(&self, node: u32) -> f64 {
        let NodeState { demand, memory, .. } = &self.nodes[node as usize];
        let cpu = f64::from(*demand.min(&PROCESSOR)) / f64::from(PROCESSOR);
        let memory = *memory as f64 / self.rules.cluster.memory.max(1) as f64;
        f64::midpoint(cpu, memory.min(1.0))
    }

    /// Returns true if `app` would find enough nodes without other jobs, beside the local users.
    pub(crate) fn fits(&self, app: &Application) -> bool {
        let alone = app.demand.memory() <= self.rules.cluster.memory;
        let beside_users = app.demand.memory() + self.rules.user_memory <= self.rules.cluster.memory;
        // Only memory excludes a node forever: every job ends, so MPL does so for a time.
        let suitable = match (alone, beside_users) {
            (false, _) => 0,
            (true, true) => self.nodes.len(),
            (true, false) => self.nodes.iter().filter(|node| !node.users).count(),
        };
        app.tasks as usize <= suitable
    }

    /// Returns true if LoRaS may put a task of `app` on the node: MPL and memory are hard limits.
    fn is_eligible(&self, node: u32, app: &Application) -> bool {
        let node = &self.nodes[node as usize];
        node.is_open(&self.rules) && node.memory + app.demand.memory() <= self.rules.cluster.memory
    }

    /// Returns the nodes that LoRaS would give to `app` now, in its order; `None` if there are too few.
    pub(crate) fn place(&self, app: &Application) -> Option<JobNodes> {
        // The order is long, and on a full cluster no node in it is suitable.
        if app.tasks > self.open {
            return None;
        }
        let eligible = self.order.iter().map(|&key| index_of(key)).filter(|&node| self.is_eligible(node, app));
        let nodes: JobNodes = eligible.take(app.tasks as usize).collect();
        (nodes.len() == app.tasks as usize).then_some(nodes)
    }

    /// Starts a job on `nodes`. [`touched`](Self::touched) then contains it and the jobs whose rate it has changed.
    pub(crate) fn admit(&mut self, now: Time, WaitingJob { key, app }: WaitingJob, nodes: JobNodes) -> u32 {
        let slot = u32::try_from(self.running.vacant_key()).expect("fewer than 2³² jobs at once");
        let (cpu, mut users) = (app.demand.millionths(), 0);
        self.touched.clear();
        for &place in &nodes {
            let node = &mut self.nodes[place as usize];
            node.tasks.push(Task { slot, cpu });
            node.demand += cpu;
            node.memory += app.demand.memory();
            users += u32::from(node.users);
            self.open -= u32::from(!node.is_open(&self.rules));
            self.touched.extend(node.share_out(&self.rules));
        }
        // Rate 0 until `propagate`, which then treats the job as one whose rate has changed.
        self.running.insert(ActiveJob { app, key, nodes, users, rate: 0, done: 0, since: now });
        self.live.push(slot);
        self.propagate(now);
        slot
    }

    /// Ends a job that has done `goal` and returns it. [`touched`](Self::touched) then contains the jobs whose rate that has changed.
    pub(crate) fn release(&mut self, now: Time, slot: u32, goal: Work) -> ActiveJob {
        let mut job = self.running.remove(slot as usize);
        // The job's cost to its users, up to its goal instead of the nanosecond in which it passed the goal.
        self.intrusion.advance(&mut job, now);
        self.intrusion.correct(&job, goal);
        self.touched.clear();
        for &place in &job.nodes {
            let node = &mut self.nodes[place as usize];
            self.open += u32::from(!node.is_open(&self.rules));
            node.tasks.retain(|task| task.slot != slot);
            node.demand -= job.app.demand.millionths();
            node.memory -= job.app.demand.memory();
            self.touched.extend(node.share_out(&self.rules));
        }
        self.live.retain(|&live| live != slot);
        self.propagate(now);
        job
    }

    /// Updates the consequences of changed levels, with [`touched`](Self::touched) the jobs there: their rates, and the order of nodes.
    fn propagate(&mut self, now: Time) {
        self.intrusion.pass(now);
        // Rates after the levels of all changed nodes: a job that has tasks on several of them takes the slowest. A job is
        // then examined once instead of once for each of its tasks.
        let Self { touched, running, nodes, rules, intrusion, .. } = self;
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|&slot| {
            let job = &mut running[slot as usize];
            let rate = rate(job, nodes, rules);
            let changed = rate != job.rate;
            // Brought up to date at the old rate, then the new one holds. A job whose rate stays needs no update: its
            // work passes by itself.
            if changed {
                intrusion.advance(job, now);
                job.rate = rate;
            }
            changed
        });
        self.reorder();
        self.measure_queueing();
    }

    fn reorder(&mut self) {
        if self.rules.readings.node_choice == NodeChoice::LeastDemand {
            for key in &mut self.order {
                let index = index_of(*key);
                *key = u64::from(self.nodes[index as usize].demand) << 32 | u64::from(index);
            }
            self.order.sort_unstable();
        }
    }

    /// Updates the latency that users see from now on (reading R10 "queueing").
    fn measure_queueing(&mut self) {
        if !self.intrusion.is_queueing() {
            return;
        }
        let weight = self.intrusion.weight;
        let used = |node: &NodeState| -> f64 {
            let of = |task: &Task| {
                let progress = self.running[task.slot as usize].rate as f64 / REFERENCE as f64;
                f64::from(task.cpu) / f64::from(PROCESSOR) * progress / self.rules.cluster.speed
            };
            node.tasks.iter().map(of).sum()
        };
        let occupied = self.nodes.iter().filter(|node| node.users);
        self.intrusion.excess = occupied.map(|node| 1.0 / (1.0 - weight * used(node)) - 1.0).sum();
    }

    /// Returns the seconds of disturbance of local users until `now` (R10), over the nodes of all `clusters`.
    pub(crate) fn disturbance<'a>(clusters: impl Iterator<Item = &'a Self>, now: Time) -> f64 {
        // Clusters of one speed are added up as integers, so that the sum is independent of the order of events.
        let mut by_speed: Vec<(&Self, (u128, f64))> = Vec::new();
        for state in clusters {
            let (sum, area) = state.intrusion.until(state.running.iter().map(|(_, job)| job), now);
            match by_speed
                .iter_mut()
                .find(|(other, _)| other.rules.cluster.speed.total_cmp(&state.rules.cluster.speed).is_eq())
            {
                Some((_, sums)) => *sums = (sums.0 + sum, sums.1 + area),
                None => by_speed.push((state, (sum, area))),
            }
        }
        by_speed.iter().map(|(state, sums)| state.intrusion.seconds(*sums, state.rules.cluster.speed)).sum()
    }
}

fn index_of(key: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is the index")]
    let index = key as u32;
    index
}

/// Max-min fair level of a node: a task with a smaller demand gets its demand, one with a larger demand gets the level. In
/// millionths of a CPU; infinite if there is enough for all. `demands` yields each demand once, `total` is their
/// sum.
///
/// The level is raised in rounds from an equal share: the CPU that modest tasks leave over is shared by the others. A round that
/// finds no further modest task is the last, so there are at most as many rounds as distinct demands, and mostly two.
fn fair_level(total: u32, demands: impl Iterator<Item = u32> + Clone) -> f64 {
    if total <= PROCESSOR {
        return f64::INFINITY;
    }
    let mut sharing = demands.clone().count() as u64;
    let mut left = u64::from(PROCESSOR);
    loop {
        let (mut modest, mut others) = (0, 0);
        for demand in demands.clone() {
            // In integers: demand ≤ left / sharing.
            if u64::from(demand) * sharing <= left {
                modest += u64::from(demand);
            } else {
                others += 1;
            }
        }
        let left_over = u64::from(PROCESSOR) - modest;
        if others == sharing {
            return left_over as f64 / sharing as f64;
        }
        (left, sharing) = (left_over, others);
    }
}

/// Work per nanosecond of a job's slowest task (§5 of the specification).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1000 · 2³², and at least 1")]
fn rate(job: &ActiveJob, nodes: &[NodeState], rules: &NodeRules) -> u64 {
    let cpu = f64::from(job.app.demand.millionths());
    let of_task = |&node: &u32| {
        let node = &nodes[node as usize];
        node.factor * cpu.min(node.level)
    };
    let share = job.nodes.iter().map(of_task).fold(f64::INFINITY, f64::min);
    let rate = rules.cluster.speed * (share / cpu) * REFERENCE as f64;
    ((rate + 0.5) as u64).max(1)
}
