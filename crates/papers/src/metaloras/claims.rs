//! The claims of the paper, as `docs/papers/metaloras.md` lists them.

use super::{Cell, MetaLorasPaper, Metric, Policy, Variant};
use lab::claim::{Check, Claim, Remark, Rule};
use lab::exhibit::Exhibit;
use lab::quantity::{DesignPoint, Quantity};
use metasched::config::{Candidates, NoCandidate};

type Checks = Vec<Check<Cell>>;

const W0: Policy = Policy::ptt(0.0);
const W05: Policy = Policy::ptt(0.5);
const W1: Policy = Policy::ptt(1.0);
const CLASSIC: [Policy; 2] = [Policy::Ffit, Policy::Rr];
const PTT: [Policy; 3] = [W0, W05, W1];
const PREDICTING: [Policy; 4] = [Policy::Tat, W0, W05, W1];

const ALL: [Policy; 6] = [Policy::Ffit, Policy::Rr, Policy::Tat, W0, W05, W1];

const BELOW: Rule = Rule::NEGATIVE;
const AT_MOST: Rule = Rule::Below { bound: 0.0, tie: true };

pub(super) struct VariantChecks<'a> {
    pub(super) paper: &'a MetaLorasPaper,
    pub(super) variant: Variant,
}

impl VariantChecks<'_> {
    fn cell(&self, policy: Policy, level: usize) -> Cell {
        Cell { variant: self.variant, level, policy }
    }

    fn turnaround(&self, policy: Policy, level: usize) -> Quantity<Cell> {
        self.cell(policy, level).get(Metric::turnaround)
    }

    fn slowdown(&self, policy: Policy, level: usize) -> Quantity<Cell> {
        self.paper.slowdown(self.cell(policy, level))
    }

    fn mean(&self, policy: Policy, metric: Metric) -> Quantity<Cell> {
        crate::mean(self.paper.levels().map(|level| self.cell(policy, level).get(metric))).expect("there is a level")
    }

    /// Returns the mean of the local users' slowdown over the levels with local users.
    fn mean_slowdown(&self, policy: Policy) -> Option<Quantity<Cell>> {
        crate::mean(self.paper.occupied_levels().into_iter().map(|level| self.slowdown(policy, level)))
    }

    /// Checks, at each level, the difference of each of `ones` to each of `others`, in percent of the latter.
    fn each_level(&self, ones: &[Policy], others: &[Policy], rule: Rule) -> Checks {
        self.at(self.paper.levels(), ones, others, rule)
    }

    fn at(&self, levels: impl Iterator<Item = usize>, ones: &[Policy], others: &[Policy], rule: Rule) -> Checks {
        let check = |level: usize, one: Policy, other: Policy| {
            let label = format!("{} %, {} against {}", self.paper.percent(level), one.name(), other.name());
            Check::new(label, self.turnaround(one, level).percent_above(self.turnaround(other, level)), rule)
        };
        let pairs = ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other)));
        let at = |level| pairs.clone().map(move |(one, other)| check(level, one, other));
        levels.flat_map(at).collect()
    }

    fn level(&self, percent: u32) -> Option<usize> {
        self.paper.levels().find(|level| self.paper.percent(*level) == percent)
    }

    /// Checks the reduction of a metric from `other` to `one`, in percent of `other`, both averaged over the levels.
    fn gain(&self, one: Policy, other: Policy, metric: Metric, rule: Rule) -> Check<Cell> {
        let label = format!("{} against {}, mean over levels", one.name(), other.name());
        Check::new(label, self.mean(one, metric).percent_above(self.mean(other, metric)) * -1.0, rule)
    }

    /// Checks the reduction of a metric from the mean of FFIT and RR to TAT.
    fn gain_over_classics(&self, metric: Metric, rule: Rule) -> Check<Cell> {
        let classics = crate::mean(CLASSIC.into_iter().map(|policy| self.mean(policy, metric))).expect("two");
        let gain = self.mean(Policy::Tat, metric).percent_above(classics) * -1.0;
        Check::new("TAT against the mean of FFIT and RR", gain, rule)
    }

    /// Returns the reduction of the local users' slowdown from the mean of `others` to PTT averaged over W.
    fn less_intrusion(&self, others: &[Policy]) -> Option<Quantity<Cell>> {
        let of = |policies: &[Policy]| {
            let slowdowns: Option<Vec<_>> = policies.iter().map(|policy| self.mean_slowdown(*policy)).collect();
            crate::mean(slowdowns?)
        };
        Some(of(&PTT)?.percent_above(of(others)?) * -1.0)
    }

    fn above(&self, one: Policy, other: Policy, rule: Rule) -> Option<Check<Cell>> {
        let label = format!("{} − {}, mean over levels", one.name(), other.name());
        Some(Check::new(label, self.mean_slowdown(one)? - self.mean_slowdown(other)?, rule))
    }

    pub(super) fn table(&self) -> Vec<Claim<Cell>> {
        lab::claims! {
            C1 "§3.2, fig. 3" "The FFIT policy is the worst"
                tested "turnaround of RR, TAT, W = 0.5 and W = 1 below FFIT's, paired, at each level; in percent"
                in "fig3" => self.each_level(&[Policy::Rr, Policy::Tat, W05, W1], &[Policy::Ffit], BELOW);
            C2 "§3.2, fig. 3" "RR behaves better than FFIT in all situations"
                tested "turnaround, paired, at each level; in percent of FFIT's"
                in "fig3" => self.each_level(&[Policy::Rr], &[Policy::Ffit], BELOW);
            C3 "§3.2, fig. 3" "TAT and PTT map even better than RR"
                tested "turnaround of TAT, W = 0.5 and W = 1, paired, at each level; in percent of RR's"
                in "fig3" => self.each_level(&[Policy::Tat, W05, W1], &[Policy::Rr], BELOW);
            C4 "§3.2, fig. 3" "PTT with W = 1 gives similar performance to TAT in all cases"
                tested "turnaround within 6 % of TAT's at each level"
                in "fig3" => self.each_level(&[W1], &[Policy::Tat], Rule::Within(-6.0, 6.0));
            C5 "§3.2, fig. 3" "W = 0 penalises turnaround, as in the 30 % case"
                tested "at 30 %, at least 2 % above TAT's and W = 0.5's"
                in "fig3" => self.at(self.level(30).into_iter(), &[W0], &[Policy::Tat, W05], Rule::Above { bound: 2.0, tie: true });
            C6 "§3.2, fig. 3" "W = 0.5 and W = 1 are similar on average"
                tested "mean turnaround over the levels within 5 %"
                in "fig3" => [self.gain(W05, W1, Metric::turnaround, Rule::Within(-5.0, 5.0))];
            C7 "§3.2, fig. 3" "PTT is better than RR and FFIT in all situations"
                tested "turnaround of W = 0, 0.5 and 1, paired, at each level; in percent of the other's"
                in "fig3" => self.each_level(&PTT, &CLASSIC, BELOW);
            C8 "§3.2, fig. 3" "W = 0.5 and W = 1 improve TAT by 5 % on average"
                tested "gain in mean turnaround over the levels between 1 and 9 %"
                in "fig3" => [W05, W1].map(|one| self.gain(one, Policy::Tat, Metric::turnaround, Rule::Band(1.0, 9.0)));
            C9 "§3.2, figs. 3, 4" "The makespan results are very similar to the turnaround"
                tested "pairs of cells (policy, level) that both rank alike, in percent of all pairs: at least 80"
                in "fig3", "fig4" => [self.pairs_alike()];
            C10 "§3.2, fig. 4" "In makespan PTT gains 2 % over TAT with W = 0, and 8 % with W = 0.5 and W = 1"
                tested "mean over the levels: between −1 and 5 %; between 3 and 13 %"
                in "fig4" => [(W0, -1.0, 5.0), (W05, 3.0, 13.0), (W1, 3.0, 13.0)]
                    .map(|(one, low, high)| self.gain(one, Policy::Tat, Metric::makespan, Rule::Band(low, high)));
            C11 "§3.3, fig. 5" "The intrusion does not increase with the local activity"
                tested "slowdown at 100 % at most 1.1 times that at 30 %, per policy"
                in "fig5" => self.stable();
            C12 "§3.3, fig. 5" "FFIT has a great negative impact on local tasks; RR too causes a considerable overhead"
                tested "mean slowdown over the levels: FFIT above all others, RR above every PTT"
                in "fig5" => [Policy::Rr, Policy::Tat, W0, W05, W1].map(|other| (Policy::Ffit, other)).into_iter()
                    .chain(PTT.map(|other| (Policy::Rr, other)))
                    .filter_map(|(one, other)| self.above(one, other, Rule::POSITIVE));
            C13 "§3.3, fig. 5" "PTT maintains the smallest latency in almost all cases"
                tested "slowdown of W = 0, 0.5 and 1 at most that of FFIT, RR and TAT, paired, at 30, 60 and 100 %"
                in "fig5" => self.smallest();
            C14 "§3.3, fig. 5" "On average, W = 0 obtains the smallest latency"
                tested "mean slowdown over the levels below that of every other policy, paired"
                in "fig5" => [Policy::Ffit, Policy::Rr, Policy::Tat, W05, W1].into_iter()
                    .filter_map(|other| self.above(W0, other, BELOW));
            C15 "§3.3" "TAT improves the performance of parallel applications over W = 0 by 11 %"
                tested "gain in mean turnaround over the levels between 5 and 17 %"
                in "fig3", "fig5" => [self.gain(Policy::Tat, W0, Metric::turnaround, Rule::Band(5.0, 17.0))];
            C16 "§3.3, fig. 5" "W = 1 obtains smaller latency values than W = 0.5"
                tested "mean slowdown over the levels, paired"
                in "fig5", "tradeoff" => self.above(W1, W05, BELOW);
            C17 "§4" "Prediction reduces the makespan by 23 % with respect to FFIT and RR"
                tested "TAT against their mean, over the levels: between 15 and 31 %"
                in "fig4" => [self.gain_over_classics(Metric::makespan, Rule::Band(15.0, 31.0))];
            C18 "§4" "Prediction reduces the turnaround by 25 % with respect to FFIT and RR"
                tested "TAT against their mean, over the levels: between 17 and 33 %"
                in "fig3" => [self.gain_over_classics(Metric::turnaround, Rule::Band(17.0, 33.0))];
            C19 "§4" "PTT allows the intrusion to be reduced by an average of 9 %"
                tested "mean slowdown over the levels and over W, against the classic policies, FFIT and RR, of the paragraph before: 4 to 14 % less"
                in "fig5" => self.less_intrusion(&CLASSIC).map(|less| {
                    Check::new("mean of W = 0, 0.5 and 1 against FFIT and RR", less, Rule::Band(4.0, 14.0))
                });
            C21 "§4" "The number of jobs waiting in LoRaS queues reduces prediction accuracy"
                tested "relative error against the number of jobs that waited in that queue when it was predicted: the slope of the line through them is above 0, at each level, where there are queues"
                in "prediction" => self.slopes();
        }
    }

    /// Returns the percentage of pairs of cells whose turnaround and makespan differ in the same direction.
    fn pairs_alike(&self) -> Check<Cell> {
        let cells: Vec<Cell> =
            self.paper.levels().flat_map(|level| ALL.map(|policy| self.cell(policy, level))).collect();
        let alike = |(one, other): (Cell, Cell)| {
            let difference = |metric: Metric| one.get(metric) - other.get(metric);
            difference(Metric::turnaround).has_the_sign_of(difference(Metric::makespan))
        };
        let pairs = cells.iter().enumerate().flat_map(|(i, one)| cells[..i].iter().map(move |other| (*one, *other)));
        let percent = crate::mean(pairs.map(alike)).expect("there is a pair") * 100.0;
        Check::new("all pairs of policies and levels", percent, Rule::Band(80.0, 100.0))
    }

    fn stable(&self) -> Checks {
        let Some((few, all)) = self.level(30).zip(self.level(100)) else { return Vec::new() };
        let ratio = |policy: Policy| {
            let ratio = self.slowdown(policy, all) / self.slowdown(policy, few);
            Check::new(format!("{}, 100 % / 30 %", policy.name()), ratio, Rule::Below { bound: 1.1, tie: true })
        };
        ALL.map(ratio).into()
    }

    fn smallest(&self) -> Checks {
        let check = |level: usize, one: Policy, other: Policy| {
            let label = format!("{} %, {} − {}", self.paper.percent(level), one.name(), other.name());
            Check::new(label, self.slowdown(one, level) - self.slowdown(other, level), AT_MOST)
        };
        let pairs = PTT.into_iter().flat_map(|one| [Policy::Ffit, Policy::Rr, Policy::Tat].map(|other| (one, other)));
        let at = |level| pairs.clone().map(move |(one, other)| check(level, one, other));
        self.paper.occupied_levels().into_iter().flat_map(at).collect()
    }

    /// Checks the growth of the error with the queue, at each level, for each policy under which jobs queue.
    fn slopes(&self) -> Checks {
        let readings = &self.paper.under(self.variant).readings;
        let queues = readings.candidates == Candidates::StaticFit || readings.no_candidate == NoCandidate::Dispatch;
        let queueing = if queues { &ALL[..] } else { &CLASSIC };
        let check = |level: usize, policy: Policy| {
            let label = format!("{} %, {}, points for each job that waits", self.paper.percent(level), policy.name());
            Check::new(label, self.cell(policy, level).get(Metric::prediction_error_per_waiting), Rule::POSITIVE)
        };
        self.paper.levels().flat_map(|level| queueing.iter().map(move |policy| check(level, *policy))).collect()
    }
}

pub(super) fn remarks(paper: &MetaLorasPaper) -> Vec<Remark<Cell>> {
    let on = VariantChecks { paper, variant: Variant::Default };
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

pub(super) fn side_by_side(paper: &MetaLorasPaper) -> Exhibit<'_, Cell> {
    let caption = "Each claim under the default and under reading-b (R5 dispatch, R6 smallest TR, R8 1, R9 no, \
         R12 0.15): verdict, and the estimate of the cell that decides.";
    let claims = Variant::PRESETS.map(|variant| VariantChecks { paper, variant }.table());
    Exhibit::side_by_side("fig3", ["default", "reading-b"], claims, ["presets", "Both presets side by side", caption])
}
