//! Bounds of a job's turnaround, without a simulation.

use super::{ClusterState, NodeRules, Task, fair_level, time_for, work_of, work_rate};
use crate::application::Application;
use sim_core::{Span, Time};

/// Bounds of TR.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TurnaroundBounds {
    /// Lower bound of TR.
    pub at_least: Span,
    /// Upper bound of TR; [`Span::MAX`] if none is known.
    pub at_most: Span,
}

impl TurnaroundBounds {
    /// Returns true if TR is known: no known event touches the job's nodes before it ends.
    pub(crate) fn is_exact(&self) -> bool {
        self.at_least == self.at_most
    }
}

/// Task on the node that is examined: its remaining work, in nanoseconds alone at reference speed, and its demand.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Neighbour {
    left: f64,
    cpu: u32,
}

impl ClusterState {
    /// Bounds of the turnaround of a job that starts on `places` now, as predicted: without hidden loss, and
    /// without users if the predictor does not see them.
    ///
    /// CPU shares on its nodes change only when jobs there end, and then they grow, so the job is never slower than at
    /// first. It is never faster than on its slowest node alone, with its neighbours running only there:
    /// they would then end earlier.
    pub(crate) fn bound(
        &self,
        app: &Application,
        places: &[u32],
        now: Time,
        sees_users: bool,
        overrun: f64,
        neighbours: &mut Vec<Neighbour>,
    ) -> TurnaroundBounds {
        let rules = &self.rules;
        let left = |slot: u32| {
            let left = self.running[slot as usize].believed_left(now, overrun);
            u64::try_from(left >> 32).unwrap_or(u64::MAX) as f64
        };
        let own = app.demand.millionths();
        let (mut share, mut slowest, mut steady) = (f64::INFINITY, 0, f64::INFINITY);
        for &place in places {
            let on_node = self.tasks_at(place);
            let demands = on_node.iter().map(|task| task.cpu).chain(self.user_at(place, sees_users)).chain([own]);
            let level = fair_level(demands.clone().sum(), demands);
            let factor = rules.factor(self.nodes[place as usize].tasks + 1, 1.0);
            let here = factor * f64::from(own).min(level);
            // The job advances at the rate of its slowest task, so one node bounds all of it.
            if here < share {
                (slowest, share) = (place, here);
            }
            for task in on_node {
                let cpu = f64::from(task.cpu);
                steady = steady.min(left(task.slot) * (cpu / (rules.speed * factor * cpu.min(level))));
            }
        }
        let at_most = time_for(work_of(app.time), work_rate(share, f64::from(own), rules));
        // The job ends before any neighbour does: nothing changes on its nodes, and its rate stays.
        if at_most <= rounded_down(steady) {
            return TurnaroundBounds { at_least: at_most, at_most };
        }
        // Lower bound, on the slowest node alone: neighbours with tasks elsewhere may be slower than here, and leave later.
        neighbours.clear();
        neighbours.extend(self.tasks_at(slowest).iter().map(|task| Neighbour { left: left(task.slot), cpu: task.cpu }));
        let at_least = rounded_down(on_one_node(app, neighbours, self.user_at(slowest, sees_users), rules));
        TurnaroundBounds { at_least: at_least.min(at_most), at_most }
    }

    fn tasks_at(&self, node: u32) -> &[Task] {
        let first = node as usize * self.rules.mpl as usize;
        &self.tasks[first..first + self.nodes[node as usize].tasks as usize]
    }

    fn user_at(&self, node: u32, sees_users: bool) -> Option<u32> {
        (self.nodes[node as usize].users && sees_users).then_some(self.rules.user_cpu)
    }
}

/// Time at which the job would end if it and its neighbours ran on this node alone, in nanoseconds from now.
fn on_one_node(app: &Application, neighbours: &mut Vec<Neighbour>, user: Option<u32>, rules: &NodeRules) -> f64 {
    let cpu = app.demand.millionths();
    let (mut left, mut passed) = (app.time.as_nanos() as f64, 0.0);
    let mut tasks = 1 + u32::try_from(neighbours.len()).expect("a node runs few tasks");
    loop {
        // Shares hold until the next end on the node; then they are recomputed for the remaining tasks.
        let demands = neighbours.iter().map(|neighbour| neighbour.cpu).chain(user).chain([cpu]);
        let level = fair_level(demands.clone().sum(), demands);
        let full = rules.speed * rules.factor(tasks, 1.0);
        let rate = |cpu: f64| full * cpu.min(level) / cpu;
        let own = left / rate(cpu.into());
        let next = neighbours.iter().map(|neighbour| neighbour.left / rate(neighbour.cpu.into())).fold(own, f64::min);
        passed += next;
        if own <= next {
            return passed;
        }
        left -= next * rate(cpu.into());
        neighbours.retain_mut(|neighbour| {
            neighbour.left -= next * rate(neighbour.cpu.into());
            // The task that ends is among those with less than a nanosecond left.
            let stays = neighbour.left > 1.0;
            tasks -= u32::from(!stays);
            stays
        });
    }
}

/// Rounds down by a little more than the rounding error.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn rounded_down(nanos: f64) -> Span {
    Span::from_nanos((nanos * (1.0 - 1e-9)) as u64).saturating_sub(Span::from_nanos(8))
}
