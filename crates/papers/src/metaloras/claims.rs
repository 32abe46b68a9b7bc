//! What the paper claims, sentence by sentence, as `docs/papers/metaloras.md` lists it.

use super::{Cell, MetaLorasPaper, Metric, Policy, Variant, Weight};
use lab::claim::{Check, Claim, Remark, Rule};
use lab::extra::Extra;
use lab::page;
use lab::quantity::{DesignPoint, Quantity};

const W0: Policy = Policy::Ptt(Weight::ZERO);
const W05: Policy = Policy::Ptt(Weight::HALF);
const W1: Policy = Policy::Ptt(Weight::ONE);
const CLASSIC: [Policy; 2] = [Policy::Ffit, Policy::Rr];
const PTT: [Policy; 3] = [W0, W05, W1];
/// Those that ask for predictions.
const PREDICTING: [Policy; 4] = [Policy::Tat, W0, W05, W1];

const BELOW: Rule = Rule::NEGATIVE;
const AT_MOST: Rule = Rule::Below { bound: 0.0, tie: true };

/// The claims, to be judged under `variant`.
pub(super) fn claims(paper: &MetaLorasPaper, variant: Variant) -> Vec<Claim<Cell>> {
    let on = Bench { paper, variant };
    let mut claims = on.of_turnaround();
    claims.extend(on.of_mean_turnaround());
    claims.extend(on.of_makespan());
    claims.extend(on.of_intrusion());
    claims.extend(on.of_mean_intrusion());
    claims.extend(on.of_prediction());
    // A scenario that leaves out a level leaves out the claims about it.
    claims.retain(|claim| !claim.checks.is_empty());
    claims.sort_by_key(|claim| number(claim.id));
    claims
}

/// C2 before C10.
fn number(id: &str) -> (usize, &str) {
    (id.find('-').unwrap_or(id.len()), id)
}

/// Builds checks on the cells of one variant.
struct Bench<'a> {
    paper: &'a MetaLorasPaper,
    variant: Variant,
}

impl Bench<'_> {
    fn cell(&self, policy: Policy, level: usize) -> Cell {
        Cell { variant: self.variant, level, policy }
    }

    fn turnaround(&self, policy: Policy, level: usize) -> Quantity<Cell> {
        self.cell(policy, level).get(Metric::turnaround)
    }

    fn slowdown(&self, policy: Policy, level: usize) -> Quantity<Cell> {
        self.paper.slowdown(self.cell(policy, level))
    }

    /// The mean of a metric over all levels.
    fn mean(&self, policy: Policy, metric: Metric) -> Quantity<Cell> {
        mean(self.paper.levels().map(|level| self.cell(policy, level).get(metric))).expect("there is a level")
    }

    /// The mean of the local users' slowdown over the levels where there are any.
    fn mean_slowdown(&self, policy: Policy) -> Option<Quantity<Cell>> {
        mean(self.paper.occupied_levels().into_iter().map(|level| self.slowdown(policy, level)))
    }

    /// A check at each of `levels` for each pair that `pairs` names: how far the first is above the second, in percent.
    fn each_level(&self, pairs: &[(Policy, Policy)], rule: Rule) -> Vec<Check<Cell>> {
        let at = |level: usize| {
            pairs.iter().map(move |&(one, other)| Check {
                label: format!("{} %, {} against {}", self.paper.percent(level), one.name(), other.name()),
                quantity: self.turnaround(one, level).percent_above(self.turnaround(other, level)),
                rule,
            })
        };
        self.paper.levels().flat_map(at).collect()
    }

    /// The position of a level that the paper calls so.
    fn level(&self, percent: u32) -> Option<usize> {
        self.paper.levels().find(|level| self.paper.percent(*level) == percent)
    }

    /// How many percent of `other` a metric of `one` is smaller, both averaged over the levels.
    fn gain(&self, one: Policy, other: Policy, metric: Metric, rule: Rule) -> Check<Cell> {
        Check {
            label: format!("{} against {}, mean over levels", one.name(), other.name()),
            quantity: self.mean(one, metric).percent_above(self.mean(other, metric)) * -1.0,
            rule,
        }
    }

    /// How much TAT gains over the mean of FFIT and RR.
    fn gain_over_classics(&self, metric: Metric) -> Quantity<Cell> {
        let classics = mean(CLASSIC.into_iter().map(|policy| self.mean(policy, metric))).expect("two");
        self.mean(Policy::Tat, metric).percent_above(classics) * -1.0
    }

    /// How much less PTT, on average over W, slows local users than the mean of `others` does.
    fn less_intrusion(&self, others: &[Policy]) -> Option<Quantity<Cell>> {
        let of = |policies: &[Policy]| {
            let slowdowns: Option<Vec<_>> = policies.iter().map(|policy| self.mean_slowdown(*policy)).collect();
            mean(slowdowns?.into_iter())
        };
        Some(of(&PTT)?.percent_above(of(others)?) * -1.0)
    }

    /// How far the mean slowdown of one policy is above that of another.
    fn above(&self, one: Policy, other: Policy, rule: Rule) -> Option<Check<Cell>> {
        Some(Check {
            label: format!("{} − {}, mean over levels", one.name(), other.name()),
            quantity: self.mean_slowdown(one)? - self.mean_slowdown(other)?,
            rule,
        })
    }

    /// Figure 3, level by level.
    fn of_turnaround(&self) -> Vec<Claim<Cell>> {
        let at_30 = self.level(30).map_or_else(Vec::new, |level| {
            let worse = |other: Policy| Check {
                label: format!("30 %, {} against {}", W0.name(), other.name()),
                quantity: self.turnaround(W0, level).percent_above(self.turnaround(other, level)),
                rule: Rule::Above { bound: 2.0, tie: true },
            };
            [Policy::Tat, W05].map(worse).into()
        });
        let pairs = |ones: &[Policy], others: &[Policy]| -> Vec<(Policy, Policy)> {
            ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other))).collect()
        };
        vec![
            Claim {
                id: "C1",
                source: "§3.2, fig. 3",
                statement: "The FFIT policy is the worst".to_owned(),
                test: "turnaround of RR, TAT, W = 0.5 and W = 1 below FFIT's, paired, at each level; in percent"
                    .to_owned(),
                figures: &["fig3"],
                checks: self.each_level(&pairs(&[Policy::Rr, Policy::Tat, W05, W1], &[Policy::Ffit]), BELOW),
            },
            Claim {
                id: "C2",
                source: "§3.2, fig. 3",
                statement: "RR behaves better than FFIT in all situations".to_owned(),
                test: "turnaround, paired, at each level; in percent of FFIT's".to_owned(),
                figures: &["fig3"],
                checks: self.each_level(&[(Policy::Rr, Policy::Ffit)], BELOW),
            },
            Claim {
                id: "C3",
                source: "§3.2, fig. 3",
                statement: "TAT and PTT map even better than RR".to_owned(),
                test: "turnaround of TAT, W = 0.5 and W = 1, paired, at each level; in percent of RR's".to_owned(),
                figures: &["fig3"],
                checks: self.each_level(&pairs(&[Policy::Tat, W05, W1], &[Policy::Rr]), BELOW),
            },
            Claim {
                id: "C4",
                source: "§3.2, fig. 3",
                statement: "PTT with W = 1 gives similar performance to TAT in all cases".to_owned(),
                test: "turnaround within 6 % of TAT's at each level".to_owned(),
                figures: &["fig3"],
                checks: self.each_level(&[(W1, Policy::Tat)], Rule::Within { low: -6.0, high: 6.0 }),
            },
            Claim {
                id: "C5",
                source: "§3.2, fig. 3",
                statement: "W = 0 penalises turnaround, as in the 30 % case".to_owned(),
                test: "at 30 %, at least 2 % above TAT's and W = 0.5's".to_owned(),
                figures: &["fig3"],
                checks: at_30,
            },
            Claim {
                id: "C7",
                source: "§3.2, fig. 3",
                statement: "PTT is better than RR and FFIT in all situations".to_owned(),
                test: "turnaround of W = 0, 0.5 and 1, paired, at each level; in percent of the other's".to_owned(),
                figures: &["fig3"],
                checks: self.each_level(&pairs(&PTT, &CLASSIC), BELOW),
            },
        ]
    }

    /// Figure 3, averaged over the levels.
    fn of_mean_turnaround(&self) -> Vec<Claim<Cell>> {
        vec![
            Claim {
                id: "C6",
                source: "§3.2, fig. 3",
                statement: "W = 0.5 and W = 1 are similar on average".to_owned(),
                test: "mean turnaround over the levels within 5 %".to_owned(),
                figures: &["fig3"],
                checks: vec![self.gain(W05, W1, Metric::turnaround, Rule::Within { low: -5.0, high: 5.0 })],
            },
            Claim {
                id: "C8",
                source: "§3.2, fig. 3",
                statement: "W = 0.5 and W = 1 improve TAT by 5 % on average".to_owned(),
                test: "gain in mean turnaround over the levels between 1 and 9 %".to_owned(),
                figures: &["fig3"],
                checks: [W05, W1]
                    .map(|one| self.gain(one, Policy::Tat, Metric::turnaround, Rule::Band { low: 1.0, high: 9.0 }))
                    .into(),
            },
            Claim {
                id: "C15",
                source: "§3.3",
                statement: "TAT improves the performance of parallel applications over W = 0 by 11 %".to_owned(),
                test: "gain in mean turnaround over the levels between 5 and 17 %".to_owned(),
                figures: &["fig3", "fig5"],
                checks: vec![self.gain(Policy::Tat, W0, Metric::turnaround, Rule::Band { low: 5.0, high: 17.0 })],
            },
            Claim {
                id: "C18",
                source: "§4",
                statement: "Prediction reduces the turnaround by 25 % with respect to FFIT and RR".to_owned(),
                test: "TAT against their mean, over the levels: between 17 and 33 %".to_owned(),
                figures: &["fig3"],
                checks: vec![Check {
                    label: "TAT against the mean of FFIT and RR".to_owned(),
                    quantity: self.gain_over_classics(Metric::turnaround),
                    rule: Rule::Band { low: 17.0, high: 33.0 },
                }],
            },
        ]
    }

    fn of_makespan(&self) -> Vec<Claim<Cell>> {
        let gain = |one, low, high| self.gain(one, Policy::Tat, Metric::makespan, Rule::Band { low, high });
        vec![
            Claim {
                id: "C9",
                source: "§3.2, figs. 3, 4",
                statement: "The makespan results are very similar to the turnaround".to_owned(),
                test: "pairs of cells (policy, level) that both rank alike, in percent of all pairs: at least 80"
                    .to_owned(),
                figures: &["fig3", "fig4"],
                checks: vec![self.pairs_alike()],
            },
            Claim {
                id: "C10",
                source: "§3.2, fig. 4",
                statement: "In makespan PTT gains 2 % over TAT with W = 0, and 8 % with W = 0.5 and W = 1".to_owned(),
                test: "mean over the levels: between −1 and 5 %; between 3 and 13 %".to_owned(),
                figures: &["fig4"],
                checks: vec![gain(W0, -1.0, 5.0), gain(W05, 3.0, 13.0), gain(W1, 3.0, 13.0)],
            },
            Claim {
                id: "C17",
                source: "§4",
                statement: "Prediction reduces the makespan by 23 % with respect to FFIT and RR".to_owned(),
                test: "TAT against their mean, over the levels: between 15 and 31 %".to_owned(),
                figures: &["fig4"],
                checks: vec![Check {
                    label: "TAT against the mean of FFIT and RR".to_owned(),
                    quantity: self.gain_over_classics(Metric::makespan),
                    rule: Rule::Band { low: 15.0, high: 31.0 },
                }],
            },
        ]
    }

    /// In how many percent of all pairs of cells turnaround and makespan differ in the same direction.
    fn pairs_alike(&self) -> Check<Cell> {
        let cells: Vec<Cell> = self
            .paper
            .levels()
            .flat_map(|level| CLASSIC.into_iter().chain(PREDICTING).map(move |policy| self.cell(policy, level)))
            .collect();
        let alike = |(one, other): (Cell, Cell)| {
            let difference = |metric: Metric| one.get(metric) - other.get(metric);
            difference(Metric::turnaround).has_the_sign_of(difference(Metric::makespan))
        };
        let pairs = cells.iter().enumerate().flat_map(|(i, one)| cells[..i].iter().map(move |other| (*one, *other)));
        Check {
            label: "all pairs of policies and levels".to_owned(),
            quantity: mean(pairs.map(alike)).expect("there is a pair") * 100.0,
            rule: Rule::Band { low: 80.0, high: 100.0 },
        }
    }

    /// Figure 5, level by level.
    fn of_intrusion(&self) -> Vec<Claim<Cell>> {
        let stable = self.level(30).zip(self.level(100)).map_or_else(Vec::new, |(few, all)| {
            let ratio = |policy: Policy| Check {
                label: format!("{}, 100 % / 30 %", policy.name()),
                quantity: self.slowdown(policy, all) / self.slowdown(policy, few),
                rule: Rule::Below { bound: 1.1, tie: true },
            };
            CLASSIC.into_iter().chain(PREDICTING).map(ratio).collect()
        });
        let smallest = |level: usize| {
            let others = [Policy::Ffit, Policy::Rr, Policy::Tat];
            PTT.into_iter().flat_map(move |one| {
                others.map(|other| Check {
                    label: format!("{} %, {} − {}", self.paper.percent(level), one.name(), other.name()),
                    quantity: self.slowdown(one, level) - self.slowdown(other, level),
                    rule: AT_MOST,
                })
            })
        };
        vec![
            Claim {
                id: "C11",
                source: "§3.3, fig. 5",
                statement: "The intrusion does not increase with the local activity".to_owned(),
                test: "slowdown at 100 % at most 1.1 times that at 30 %, per policy".to_owned(),
                figures: &["fig5"],
                checks: stable,
            },
            Claim {
                id: "C13",
                source: "§3.3, fig. 5",
                statement: "PTT maintains the smallest latency in almost all cases".to_owned(),
                test: "slowdown of W = 0, 0.5 and 1 at most that of FFIT, RR and TAT, paired, at 30, 60 and 100 %"
                    .to_owned(),
                figures: &["fig5"],
                checks: self.paper.occupied_levels().into_iter().flat_map(smallest).collect(),
            },
        ]
    }

    /// Figure 5, averaged over the levels.
    fn of_mean_intrusion(&self) -> Vec<Claim<Cell>> {
        let intrude = [
            [Policy::Rr, Policy::Tat, W0, W05, W1]
                .map(|other| self.above(Policy::Ffit, other, Rule::POSITIVE))
                .to_vec(),
            PTT.map(|other| self.above(Policy::Rr, other, Rule::POSITIVE)).to_vec(),
        ];
        let band = Rule::Band { low: 4.0, high: 14.0 };
        let less = |label: &str, others: &[Policy]| {
            let quantity = self.less_intrusion(others)?;
            Some(Check { label: format!("mean of W = 0, 0.5 and 1 against {label}"), quantity, rule: band })
        };
        vec![
            Claim {
                id: "C12",
                source: "§3.3, fig. 5",
                statement: "FFIT has a great negative impact on local tasks; RR too causes a considerable overhead"
                    .to_owned(),
                test: "mean slowdown over the levels: FFIT above all others, RR above every PTT".to_owned(),
                figures: &["fig5"],
                checks: intrude.concat().into_iter().flatten().collect(),
            },
            Claim {
                id: "C14",
                source: "§3.3, fig. 5",
                statement: "On average, W = 0 obtains the smallest latency".to_owned(),
                test: "mean slowdown over the levels below that of every other policy, paired".to_owned(),
                figures: &["fig5"],
                checks: [Policy::Ffit, Policy::Rr, Policy::Tat, W05, W1]
                    .into_iter()
                    .filter_map(|other| self.above(W0, other, BELOW))
                    .collect(),
            },
            Claim {
                id: "C16",
                source: "§3.3, fig. 5",
                statement: "W = 1 obtains smaller latency values than W = 0.5".to_owned(),
                test: "mean slowdown over the levels, paired".to_owned(),
                figures: &["fig5", "tradeoff"],
                checks: self.above(W1, W05, BELOW).into_iter().collect(),
            },
            Claim {
                id: "C19",
                source: "§4",
                statement: "PTT allows the intrusion to be reduced by an average of 9 %".to_owned(),
                test: "mean slowdown over the levels and over W, against the classic policies, FFIT and RR, of the paragraph before: 4 to 14 % less"
                    .to_owned(),
                figures: &["fig5"],
                checks: less("FFIT and RR", &CLASSIC).into_iter().collect(),
            },
        ]
    }

    fn of_prediction(&self) -> Vec<Claim<Cell>> {
        let queueing: Vec<Policy> = if self.paper.settings[&self.variant].queues_under_prediction() {
            CLASSIC.into_iter().chain(PREDICTING).collect()
        } else {
            CLASSIC.to_vec()
        };
        let slope = |level: usize| {
            let check = |policy: &Policy| Check {
                label: format!("{} %, {}, points for each job that waits", self.paper.percent(level), policy.name()),
                quantity: self.cell(*policy, level).get(Metric::prediction_error_per_waiting),
                rule: Rule::POSITIVE,
            };
            queueing.iter().map(check).collect::<Vec<_>>()
        };
        vec![Claim {
            id: "C21",
            source: "§4",
            statement: "The number of jobs waiting in LoRaS queues reduces prediction accuracy".to_owned(),
            test: "relative error against the number of jobs that waited in that queue when it was predicted: the slope of the line through them is above 0, at each level, where there are queues".to_owned(),
            figures: &["prediction"],
            checks: self.paper.levels().flat_map(slope).collect(),
        }]
    }
}

/// Sentences that are shown and not judged, under the default.
pub(super) fn remarks(paper: &MetaLorasPaper) -> Vec<Remark<Cell>> {
    let on = Bench { paper, variant: Variant::Default };
    let against_tat = on.less_intrusion(&[Policy::Tat]);
    let deviation = |level: usize| {
        let of = |policy: Policy| {
            let label = format!("{} %, {}, %", paper.percent(level), policy.name());
            (label, on.cell(policy, level).get(Metric::prediction_error))
        };
        PREDICTING.map(of)
    };
    vec![
        Remark {
            id: "C19-TAT",
            source: "§4",
            statement: "PTT allows the intrusion to be reduced by an average of 9 %",
            why: "No baseline is named. C19 takes that of the paragraph before, the classic policies; here is the same against TAT",
            figures: &["fig5"],
            shown: against_tat.map(|less| ("less slowdown than under TAT, %".to_owned(), less)).into_iter().collect(),
        },
        Remark {
            id: "C20",
            source: "§2.1",
            statement: "The turnaround deviation achieved by the predictor system is always below 20 %",
            why: "It is about earlier work, \"as was demonstrated in [4] and [5]\", on other clusters and other jobs; here is the mean of |predicted − actual| / actual",
            figures: &["prediction"],
            shown: paper.levels().flat_map(deviation).collect(),
        },
    ]
}

fn mean(mut quantities: impl Iterator<Item = Quantity<Cell>>) -> Option<Quantity<Cell>> {
    let first = quantities.next()?;
    let (sum, count) = quantities.fold((first, 1.0), |(sum, count), next| (sum + next, count + 1.0));
    Some(sum * (1.0 / count))
}

/// Every claim under both presets.
pub(super) fn side_by_side(paper: &MetaLorasPaper) -> Extra<'_, Cell> {
    let [default, other] = Variant::PRESETS.map(|variant| claims(paper, variant));
    let table = page::Table {
        id: "presets".to_owned(),
        title: "Both presets side by side".to_owned(),
        caption: "Each claim under the default and under reading-b (R5 dispatch, R6 smallest TR, R8 1, R9 no, \
                  R12 0.15): verdict, and the estimate of the cell that decides."
            .to_owned(),
        ..page::Table::default()
    };
    let pairs = default.into_iter().zip(other).map(<[_; 2]>::from);
    Extra::side_by_side("fig3", ["default", "reading-b"], pairs.collect(), table)
}
