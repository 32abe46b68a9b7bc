//! The claims of the paper, as `docs/papers/eg-edf.md` lists them.

use super::Policy::{self, Easy, EasyIndexed, EgEdf, Fcfs, Flex, Tabu};
use super::{Cell, EgEdfPaper, Metric};
use lab::claim::{Check, Claim, Rule};
use lab::exhibit::Exhibit;
use lab::quantity::{DesignPoint, Quantity};

type Checks = Vec<Check<Cell>>;

const AT_LEAST: Rule = Rule::Above { bound: 0.0, tie: true };
/// Margin in points of late jobs: a job and a half of 3000. Without it, a single late job in 60 000, three runs in a thousand, would
/// decide.
const LATE: Rule = Rule::AtLeast(0.05);
/// Margin of the slowdown, which is at least 1.
const SLOWDOWN: Rule = Rule::AtLeast(0.03);
const QUEUES: [Policy; 3] = [Fcfs, Easy, Flex];
/// The paper's times between jobs. A claim about one of them is judged if the scenario has it.
const ALL: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
const CONTENDED: [f64; 3] = [1.0, 2.0, 3.0];

/// Claims and checks on one paper's cells; with `strict`, under R6 = strict regardless of the scenario.
pub(super) struct ClaimBuilder<'a> {
    pub(super) paper: &'a EgEdfPaper,
    pub(super) strict: bool,
}

impl ClaimBuilder<'_> {
    #[expect(clippy::too_many_lines, reason = "a table")]
    pub(super) fn table(&self) -> Vec<Claim<Cell>> {
        lab::claims! {
            // Late jobs: figure 1, left.
            L1 "§4.1, fig. 1" "Late jobs decrease as the time between jobs increases"
                tested "each step, per policy; less than 0.05 points is no difference, and equality is met"
                in "fig1-left" => self.falls(Metric::late_percent, LATE);
            L2 "§4.1, fig. 1" "EG-EDF has fewer late jobs than Flex, EASY and FCFS"
                tested "paired, at every load; less than 0.05 points is no difference, and equality is met"
                in "fig1-left" => self.below(EgEdf, &QUEUES, Metric::late_percent, &ALL, LATE);
            L3 "§4.1, fig. 1" "Tabu search has fewer late jobs than Flex, EASY and FCFS"
                tested "paired, at every load; less than 0.05 points is no difference, and equality is met"
                in "fig1-left" => self.below(Tabu, &QUEUES, Metric::late_percent, &ALL, LATE);
            L4 "§4.1, fig. 1" "EG-EDF is much better: late jobs"
                tested "at most 0.8 of Flex at 1 to 4; less than 0.05 points is no difference"
                in "fig1-left" => self.at_most(EgEdf, 0.8, Flex, Metric::late_percent, &ALL[..4], LATE);
            L5 "§4.1, fig. 1" "Tabu search is much better: late jobs"
                tested "at most 0.8 of Flex at 1 to 4; less than 0.05 points is no difference"
                in "fig1-left" => self.at_most(Tabu, 0.8, Flex, Metric::late_percent, &ALL[..4], LATE);
            L6 "§4.1, fig. 1" "Tabu search outperforms all others, EG-EDF included"
                tested "late jobs, paired, at every load; less than 0.05 points is no difference, and equality is met"
                in "fig1-left" => self.below(Tabu, &[Fcfs, Easy, Flex, EgEdf], Metric::late_percent, &ALL, LATE);
            L7 "§4.1, fig. 1" "At 5, Tabu search is nearly the same as EG-EDF"
                tested "gap below 1 point, and no larger than the mean gap at the other loads"
                in "fig1-left" => self.nearly_the_same();
            L8 "§3.1, fig. 1" "Flexible backfilling lowers late jobs"
                tested "at most those of EASY and FCFS, paired, at every load; less than 0.05 points is no difference"
                in "fig1-left" => self.below(Flex, &[Easy, Fcfs], Metric::late_percent, &ALL, LATE);
            // System usage: figure 1, right.
            U1 "§4.1, fig. 1" "EG-EDF exploits the resources better, in general"
                tested "usage above FCFS, EASY and Flex at 1 to 3, paired"
                in "fig1-right", "fig1-right-strict" => self.above(EgEdf, &QUEUES, Metric::usage_percent, &CONTENDED, Rule::POSITIVE);
            U2 "§4.1, fig. 1" "Tabu search exploits the resources better, in general"
                tested "usage above FCFS, EASY and Flex at 1 to 3, paired"
                in "fig1-right", "fig1-right-strict" => self.above(Tabu, &QUEUES, Metric::usage_percent, &CONTENDED, Rule::POSITIVE);
            U3 "§4.1, fig. 1" "Without contention, EG-EDF and Tabu search use the resources worse"
                tested "usage below FCFS, EASY and Flex at 5, paired"
                in "fig1-right" => [EgEdf, Tabu].into_iter().flat_map(|policy| self.below(policy, &QUEUES, Metric::usage_percent, &[5.0], Rule::POSITIVE));
            U4 "abstract" "Tabu search raises machine usage"
                tested "usage at least that of EG-EDF, paired, at every load"
                in "fig1-right" => self.above(Tabu, &[EgEdf], Metric::usage_percent, &ALL, AT_LEAST);
            // Scheduling cost: figure 2, left.
            T1 "§4.1, fig. 2" "FCFS costs very little against EASY and Flex"
                tested "operations below a third at 1 to 3"
                in "fig2-left" => [Easy, Flex].into_iter()
                    .flat_map(|other| self.at_most(Fcfs, 1.0 / 3.0, other, Metric::operations_per_event, &CONTENDED, AT_LEAST));
            T2 "§4.1, fig. 2" "The cost of EASY and Flex grows quickly with the queue"
                tested "operations at 1 at least 5 times those at 5"
                in "fig2-left" => [Easy, Flex].into_iter().flat_map(|policy| self.grows(policy, 5.0));
            T3 "§4.1, fig. 2" "Flex costs minimally more than EASY"
                tested "operations at most 1.3 times, at every load"
                in "fig2-left" => self.at_most(Flex, 1.3, Easy, Metric::operations_per_event, &ALL, AT_LEAST);
            T4 "§4.1, fig. 2" "EG-EDF is cheaper than EASY and Flex"
                tested "operations, paired, at 1 to 3"
                in "fig2-left" => self.below(EgEdf, &[Easy, Flex], Metric::operations_per_event, &CONTENDED, Rule::POSITIVE);
            T5 "§4.1, fig. 2" "Tabu search is cheaper than EASY and Flex"
                tested "operations, paired, at 1 to 3"
                in "fig2-left" => self.below(Tabu, &[Easy, Flex], Metric::operations_per_event, &CONTENDED, Rule::POSITIVE);
            T6 "§4.1, fig. 2" "The cost of EG-EDF and Tabu search is stable"
                tested "it grows less from 5 to 1 than that of EASY and Flex"
                in "fig2-left" => self.steadier();
            // Slowdown: figure 2, right.
            S1 "§4.1, fig. 2" "The slowdown grows with contention"
                tested "each step, per policy; less than 0.03 is no difference, and equality is met"
                in "fig2-right" => self.falls(Metric::slowdown, SLOWDOWN);
            S2 "§4.1, fig. 2" "Tabu search has the best slowdown"
                tested "paired against each, at every load; less than 0.03 is no difference, and equality is met"
                in "fig2-right" => self.below(Tabu, &[Fcfs, Easy, Flex, EgEdf], Metric::slowdown, &ALL, SLOWDOWN);
            S3 "§4.1, fig. 2" "… close to Flex"
                tested "within 25 % of Flex, at every load"
                in "fig2-right" => self.each(&ALL, "Tabu against Flex, %", Rule::Within(-25.0, 25.0), |load| {
                    self.at(Tabu, load, Metric::slowdown).percent_above(self.at(Flex, load, Metric::slowdown))
                });
            // Statements about the queue, Tabu search and EASY.
            Q1 "§4" "At 5 the queue does not grow"
                tested "fewer than 15 jobs wait at the last arrival, per policy"
                in "fig1-left" => Policy::ALL.into_iter().flat_map(|policy| {
                    self.values(policy, Metric::waiting_at_last_arrival, &[5.0], Rule::Below { bound: 15.0, tie: false })
                });
            Q2 "§4.1" "At 5 a new job is often started at once, and Tabu search has little to move"
                tested "above 50 % under EG-EDF and Tabu search; below 0.1 moves per job"
                in "moves" => [
                    (EgEdf, Metric::started_at_once_percent, Rule::Above { bound: 50.0, tie: false }),
                    (Tabu, Metric::started_at_once_percent, Rule::Above { bound: 50.0, tie: false }),
                    (Tabu, Metric::moves_accepted_per_job, Rule::Below { bound: 0.1, tie: false }),
                ].into_iter().flat_map(|(policy, metric, rule)| self.values(policy, metric, &[5.0], rule));
            E1 "§3.1, §4" "EASY backfilling, which Flexible backfilling extends, maintains the reservation of the first queued job"
                tested "no job starts later than the machines could have had it when it became the first of the queue, at every load, as its program scans and with indices (R14)"
                in "fig1-left" => [Easy, EasyIndexed].into_iter().flat_map(|policy| {
                    self.values(policy, Metric::promises_broken, &ALL, Rule::Below { bound: 0.0, tie: true })
                });
        }
    }

    /// Returns the positions of these times between jobs, as far as the scenario has them.
    fn loads(&self, interarrivals: &[f64]) -> Vec<usize> {
        let load = |wanted: &f64| {
            self.paper.loads().into_iter().find(|load| (self.paper.interarrival(*load) - wanted).abs() < 1e-9)
        };
        interarrivals.iter().filter_map(load).collect()
    }

    fn at(&self, policy: Policy, load: usize, metric: Metric) -> Quantity<Cell> {
        // R6 exists only for policies that backfill.
        Cell { policy, load, strict: self.strict && policy.backfills() }.get(metric)
    }

    fn label(&self, what: &str, load: usize) -> String {
        format!("{what}, inter-arrival {}", self.paper.interarrival(load))
    }

    fn each(&self, loads: &[f64], what: &str, rule: Rule, quantity: impl Fn(usize) -> Quantity<Cell>) -> Checks {
        let check = |load| Check::new(self.label(what, load), quantity(load), rule);
        self.loads(loads).into_iter().map(check).collect()
    }

    fn above(&self, policy: Policy, others: &[Policy], metric: Metric, loads: &[f64], rule: Rule) -> Checks {
        let check = |load: usize, other: Policy| {
            let label = self.label(&format!("{} − {}", policy.name(), other.name()), load);
            Check::new(label, self.at(policy, load, metric) - self.at(other, load, metric), rule)
        };
        self.loads(loads).into_iter().flat_map(|load| others.iter().map(move |&other| check(load, other))).collect()
    }

    fn below(&self, policy: Policy, others: &[Policy], metric: Metric, loads: &[f64], rule: Rule) -> Checks {
        others.iter().flat_map(|&other| self.above(other, &[policy], metric, loads, rule)).collect()
    }

    fn at_most(&self, policy: Policy, factor: f64, other: Policy, metric: Metric, loads: &[f64], rule: Rule) -> Checks {
        let what = format!("{factor:.2} {} − {}", other.name(), policy.name());
        self.each(loads, &what, rule, |load| self.at(other, load, metric) * factor - self.at(policy, load, metric))
    }

    fn falls(&self, metric: Metric, rule: Rule) -> Checks {
        let loads = self.paper.loads();
        let steps = |policy: Policy| {
            let step = |step: &[usize]| {
                let [one, next] = [step[0], step[1]].map(|load| self.paper.interarrival(load));
                let fall = self.at(policy, step[0], metric) - self.at(policy, step[1], metric);
                Check::new(format!("{}, inter-arrival {one} − {next}", policy.name()), fall, rule)
            };
            loads.windows(2).map(step).collect::<Vec<_>>()
        };
        Policy::ALL.into_iter().flat_map(steps).collect()
    }

    fn values(&self, policy: Policy, metric: Metric, loads: &[f64], rule: Rule) -> Checks {
        let what = format!("{}, {metric}", policy.name());
        self.each(loads, &what, rule, |load| self.at(policy, load, metric))
    }

    fn nearly_the_same(&self) -> Checks {
        let gap = |load| self.at(EgEdf, load, Metric::late_percent) - self.at(Tabu, load, Metric::late_percent);
        let [five] = self.loads(&[5.0])[..] else { return Vec::new() };
        let Some(mean) = crate::mean(self.loads(&ALL[..4]).into_iter().map(gap)) else { return Vec::new() };
        vec![
            Check::new(self.label("EG-EDF − Tabu, points", five), gap(five), Rule::Within(-1.0, 1.0)),
            Check::new("mean gap at the other loads − gap at 5", mean - gap(five), AT_LEAST),
        ]
    }

    fn grows(&self, policy: Policy, factor: f64) -> Checks {
        let [one, five] = self.loads(&[1.0, 5.0])[..] else { return Vec::new() };
        let cost = |load| self.at(policy, load, Metric::operations_per_event);
        let label = format!("{}, operations at 1 − {factor} × at 5", policy.name());
        vec![Check::new(label, cost(one) - cost(five) * factor, AT_LEAST)]
    }

    fn steadier(&self) -> Checks {
        let [one, five] = self.loads(&[1.0, 5.0])[..] else { return Vec::new() };
        let growth = |policy| {
            self.at(policy, one, Metric::operations_per_event) / self.at(policy, five, Metric::operations_per_event)
        };
        let check = |(queue, plan): (Policy, Policy)| {
            let label = format!("growth of {} − growth of {}", queue.name(), plan.name());
            Check::new(label, growth(queue) - growth(plan), Rule::POSITIVE)
        };
        [(Easy, EgEdf), (Flex, EgEdf), (Easy, Tabu), (Flex, Tabu)].into_iter().map(check).collect()
    }
}

pub(super) fn side_by_side(paper: &EgEdfPaper) -> Exhibit<'_, Cell> {
    let caption = "Each claim under the readings of this run and under the preset strict (the same with R6 strict: who \
         passes the head of the queue ends by its reservation, on whatever machine): verdict, and the \
         estimate of the cell that decides.";
    Exhibit::side_by_side(
        "fig1-right-strict",
        ["default", "strict"],
        [false, true].map(|strict| ClaimBuilder { paper, strict }.table()),
        ["presets", "Both presets side by side", caption],
    )
}
