//! Slow and plain twin of the model, after the specification: every job is brought up to date at
//! every event, every rate is recomputed, and a prediction is a clone of the cluster with profiles instead of true run times.

use crate::common::Policy;
use metasched::config::{NoCandidate, SeesUsers, Ties};
use metasched::{Config, Submission};
use std::collections::VecDeque;

/// 2⁻³² nanoseconds of work.
const UNIT: f64 = 4_294_967_296.0;

#[derive(Clone, Debug)]
struct Job {
    tasks: usize,
    cpu: f64,
    memory: u64,
    profile: u128,
    truth: u128,
}

#[derive(Clone, Debug)]
struct Running {
    id: usize,
    nodes: Vec<usize>,
    done: u128,
    goal: u128,
}

#[derive(Clone, Debug)]
struct Cluster {
    nodes: usize,
    users: bool,
    speed: f64,
    memory: u64,
    mpl: usize,
    loss: f64,
    running: Vec<Running>,
    queue: VecDeque<usize>,
}

/// Outcome of a job: cluster, times of dispatch, start and end, and predicted time; in nanoseconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) cluster: usize,
    pub(crate) dispatched: u64,
    pub(crate) start: u64,
    pub(crate) finish: u64,
    pub(crate) predicted: u64,
}

struct World<'a> {
    config: &'a Config,
    policy: Policy,
    jobs: Vec<Job>,
    clusters: Vec<Cluster>,
    now: u64,
    turn: usize,
    ends: Vec<End>,
}

impl Cluster {
    fn tasks_on(&self, node: usize) -> impl Iterator<Item = &Running> {
        self.running.iter().filter(move |job| job.nodes.contains(&node))
    }

    fn demand(&self, node: usize, jobs: &[Job]) -> f64 {
        self.tasks_on(node).map(|job| jobs[job.id].cpu).sum::<f64>() + if self.users { 0.15 } else { 0.0 }
    }

    /// Returns the nodes that LoRaS gives to a job, if there are enough.
    fn place(&self, job: &Job, jobs: &[Job], config: &Config) -> Option<Vec<usize>> {
        let mpl = if self.users { self.mpl.min(config.readings.mpl_beside_users as usize) } else { self.mpl };
        let held = if self.users { self.memory as f64 * 0.35 } else { 0.0 };
        let eligible = |node: &usize| {
            let memory: u64 = self.tasks_on(*node).map(|task| jobs[task.id].memory).sum();
            self.tasks_on(*node).count() < mpl && (memory + job.memory) as f64 + held <= self.memory as f64
        };
        let mut nodes: Vec<usize> = (0..self.nodes).filter(eligible).collect();
        // Demands are hundredths here, so a sum rounded to millionths is exact.
        let demand = |node: usize| (self.demand(node, jobs) * 1e6).round();
        nodes.sort_by(|&a, &b| demand(a).total_cmp(&demand(b)).then(a.cmp(&b)));
        nodes.truncate(job.tasks);
        (nodes.len() == job.tasks).then_some(nodes)
    }

    /// Share of a task with demand `cpu`: the most modest are served first.
    fn share(&self, node: usize, cpu: f64, jobs: &[Job]) -> f64 {
        let mut demands: Vec<f64> = self.tasks_on(node).map(|job| jobs[job.id].cpu).collect();
        demands.extend(self.users.then_some(0.15));
        demands.sort_by(f64::total_cmp);
        let (mut left, mut sharing) = (1.0, demands.len() as f64);
        for demand in demands {
            let share = f64::min(demand, left / sharing);
            if demand >= cpu {
                return share;
            }
            left -= share;
            sharing -= 1.0;
        }
        unreachable!("a task is one of those on its node");
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is positive and small")]
    fn rate(&self, job: &Running, jobs: &[Job], overhead: f64) -> u128 {
        let cpu = jobs[job.id].cpu;
        let of_task = |&node: &usize| {
            let others = self.tasks_on(node).count() - 1;
            let kept = if self.users { 1.0 - self.loss } else { 1.0 };
            self.share(node, cpu, jobs) / cpu * kept / (1.0 + overhead * others as f64)
        };
        let slowest = job.nodes.iter().map(of_task).fold(f64::INFINITY, f64::min);
        (slowest * self.speed * UNIT).round() as u128
    }

    fn next_end(&self, now: u64, jobs: &[Job], overhead: f64) -> Option<u64> {
        let end = |job: &Running| {
            let left = job.goal.saturating_sub(job.done);
            now + u64::try_from(left.div_ceil(self.rate(job, jobs, overhead))).expect("it ends")
        };
        self.running.iter().map(end).min()
    }

    fn advance(&mut self, span: u64, jobs: &[Job], overhead: f64) {
        let rates: Vec<u128> = self.running.iter().map(|job| self.rate(job, jobs, overhead)).collect();
        for (job, rate) in self.running.iter_mut().zip(rates) {
            job.done += rate * u128::from(span);
        }
    }

    /// Removes the jobs that are done and starts those that can start; returns both.
    fn settle(&mut self, jobs: &[Job], config: &Config, goal: impl Fn(&Job) -> u128) -> (Vec<usize>, Vec<usize>) {
        let (mut ended, mut started) = (Vec::new(), Vec::new());
        self.running.retain(|job| {
            let over = job.done >= job.goal;
            ended.extend(over.then_some(job.id));
            !over
        });
        while let Some(&id) = self.queue.front() {
            let Some(nodes) = self.place(&jobs[id], jobs, config) else { break };
            self.queue.pop_front();
            self.running.push(Running { id, nodes, done: 0, goal: goal(&jobs[id]) });
            started.push(id);
        }
        (ended, started)
    }
}

impl World<'_> {
    fn can_start(&self, cluster: usize, id: usize) -> bool {
        let cluster = &self.clusters[cluster];
        cluster.queue.is_empty() && cluster.place(&self.jobs[id], &self.jobs, self.config).is_some()
    }

    fn fits(&self, cluster: usize, id: usize) -> bool {
        let (cluster, job) = (&self.clusters[cluster], &self.jobs[id]);
        let empty = Cluster { running: Vec::new(), queue: VecDeque::new(), ..cluster.clone() };
        empty.place(job, &self.jobs, self.config).is_some()
    }

    /// TR and LT.
    fn predict(&self, cluster: usize, id: usize, sees_users: bool) -> (u64, f64) {
        let mut cluster = self.clusters[cluster].clone();
        let local = if cluster.users { self.jobs[id].tasks as f64 } else { 0.0 };
        cluster.users &= sees_users;
        cluster.loss = 0.0;
        for job in &mut cluster.running {
            let profile = self.jobs[job.id].profile;
            job.goal = if job.done < profile { profile } else { job.done + profile / 50 };
        }
        cluster.queue.push_back(id);
        let (mut now, overhead) = (self.now, self.config.task_overhead);
        loop {
            cluster.settle(&self.jobs, self.config, |job| job.profile);
            if cluster.running.iter().all(|job| job.id != id) && !cluster.queue.contains(&id) {
                return (now - self.now, local);
            }
            let next = cluster.next_end(now, &self.jobs, overhead).expect("something runs");
            cluster.advance(next - now, &self.jobs, overhead);
            now = next;
        }
    }

    fn select(&mut self, id: usize) -> Option<(usize, Option<u64>)> {
        let all = 0..self.clusters.len();
        let readings = &self.config.readings;
        let weight = match self.policy {
            Policy::Ffit => {
                let first = all.clone().find(|&cluster| self.can_start(cluster, id));
                return first
                    .or_else(|| all.clone().find(|&cluster| self.fits(cluster, id)))
                    .map(|cluster| (cluster, None));
            }
            Policy::Rr => {
                while !self.fits(self.turn, id) {
                    self.turn = (self.turn + 1) % all.len();
                }
                let chosen = self.turn;
                self.turn = (chosen + 1) % all.len();
                return Some((chosen, None));
            }
            Policy::Tat => None,
            Policy::Ptt(weight) => Some(weight),
        };
        let mut candidates: Vec<usize> = all.clone().filter(|&cluster| self.can_start(cluster, id)).collect();
        if candidates.is_empty() && readings.no_candidate == NoCandidate::Dispatch {
            candidates = all.filter(|&cluster| self.fits(cluster, id)).collect();
        }
        let sees_users = weight.is_some() || readings.tat_sees_users == SeesUsers::Yes;
        let found: Vec<(u64, f64)> = candidates.iter().map(|&cluster| self.predict(cluster, id, sees_users)).collect();
        let max_tr = found.iter().map(|&(tr, _)| tr as f64).fold(0.0, f64::max);
        let max_lt = found.iter().map(|&(_, lt)| lt).fold(0.0, f64::max);
        let score = |&(tr, lt): &(u64, f64)| match weight {
            None => tr as f64,
            Some(w) => tr as f64 * (w * tr as f64 / max_tr + (1.0 - w) * lt / if max_lt == 0.0 { 1.0 } else { max_lt }),
        };
        let least = found.iter().map(score).fold(f64::INFINITY, f64::min);
        let mut tied = (0..found.len()).filter(|&i| score(&found[i]) <= least * (1.0 + 1e-9));
        let smallest_tr = weight.is_some() && readings.ties == Ties::SmallestTr;
        let chosen = if smallest_tr { tied.min_by_key(|&i| found[i].0) } else { tied.next() };
        chosen.map(|i| (candidates[i], Some(found[i].0)))
    }

    fn decide(&mut self, input: &mut VecDeque<usize>) {
        while let Some(&id) = input.front() {
            let Some((cluster, predicted)) = self.select(id) else { break };
            input.pop_front();
            let predicted = predicted.unwrap_or_else(|| self.predict(cluster, id, true).0);
            self.ends[id] = End { cluster, dispatched: self.now, predicted, ..End::default() };
            self.clusters[cluster].queue.push_back(id);
            self.settle(cluster);
        }
    }

    fn settle(&mut self, cluster: usize) {
        let (ended, started) = self.clusters[cluster].settle(&self.jobs, self.config, |job| job.truth);
        for id in started {
            self.ends[id].start = self.now;
        }
        for id in ended {
            self.ends[id].finish = self.now;
        }
    }
}

/// Runs all jobs; users sit in the first clusters and stay.
pub(crate) fn run(config: &Config, policy: Policy, submissions: &[Submission]) -> Vec<End> {
    let nanos = |span: sim_core::Span| u128::from(span.as_nanos()) << 32;
    let job = |submission: &Submission| {
        let demand = submission.demand.expect("given");
        Job {
            tasks: submission.job.request.processors as usize,
            cpu: demand.cpu(),
            memory: demand.memory(),
            profile: nanos(submission.job.request.estimate.expect("given")),
            truth: nanos(submission.job.runtime),
        }
    };
    let cluster = |(i, cluster): (usize, &metasched::Cluster)| Cluster {
        nodes: cluster.nodes as usize,
        users: i < config.local.clusters as usize,
        speed: cluster.speed,
        memory: cluster.memory,
        mpl: config.mpl as usize,
        loss: config.readings.hidden_loss,
        running: Vec::new(),
        queue: VecDeque::new(),
    };
    let mut world = World {
        config,
        policy,
        jobs: submissions.iter().map(job).collect(),
        clusters: config.clusters.iter().enumerate().map(cluster).collect(),
        now: 0,
        turn: 0,
        ends: vec![End::default(); submissions.len()],
    };
    let mut arrivals: VecDeque<(u64, usize)> =
        submissions.iter().enumerate().map(|(id, submission)| (submission.job.submit.as_nanos(), id)).collect();
    let mut input = VecDeque::new();
    loop {
        let ends =
            world.clusters.iter().filter_map(|cluster| cluster.next_end(world.now, &world.jobs, config.task_overhead));
        let Some(next) = ends.chain(arrivals.front().map(|&(at, _)| at)).min() else { break };
        for cluster in &mut world.clusters {
            cluster.advance(next - world.now, &world.jobs, config.task_overhead);
        }
        world.now = next;
        for cluster in 0..world.clusters.len() {
            world.settle(cluster);
        }
        while arrivals.front().is_some_and(|&(at, _)| at == next) {
            input.extend(arrivals.pop_front().map(|(_, id)| id));
        }
        world.decide(&mut input);
    }
    world.ends
}
