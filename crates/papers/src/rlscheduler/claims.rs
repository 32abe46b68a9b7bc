//! The printed table, and the claims about it.

use super::{Cell, Log, Metric, Regime, RlScheduler};
use lab::claim::{Check, Claim, Rule};
use lab::quantity::{DesignPoint, Quantity};

/// Rows of table V: FCFS, WFP3, UNICEP, SJF and F1, if available, and RL.
pub(super) const PRINTED: [(Log, Regime, Option<[f64; 5]>, f64); 6] = [
    (Log::Lublin1, Regime::Alone, Some([7273.77, 19753.53, 22274.74, 277.35, 258.37]), 254.67),
    (Log::Lublin1, Regime::Backfilled, Some([235.82, 133.87, 307.23, 73.31, 75.07]), 58.64),
    (Log::SdscSp2, Regime::Alone, Some([1727.54, 3000.88, 1848.45, 2680.55, 1232.06]), 466.44),
    (Log::SdscSp2, Regime::Backfilled, Some([1595.12, 1083.12, 548.01, 2167.84, 1098.22]), 397.82),
    (Log::Hpc2n, Regime::Alone, None, 117.01),
    (Log::Hpc2n, Regime::Backfilled, None, 86.14),
];

/// A cell of the table: log, setting, position of the heuristic, number if available, and that of RL.
type Printed = (Log, Regime, usize, Option<f64>, f64);

fn table() -> impl Iterator<Item = Printed> {
    PRINTED.into_iter().flat_map(|(log, setting, row, rl)| {
        (0..5).map(move |place| (log, setting, place, row.map(|row| row[place]), rl))
    })
}

/// Positions in [`HEURISTICS`](super::HEURISTICS).
const FCFS: usize = 0;
const WFP3: usize = 1;
const SJF: usize = 3;
const F1: usize = 4;

/// A mean over the ten fixed windows is exact and is compared without an interval.
const ABOVE_ZERO: Rule = Rule::Exact(0.0, f64::INFINITY);

pub(super) fn claims(paper: &RlScheduler) -> Vec<Claim<Cell>> {
    lab::claims! {
        T1 "table V" "The average bounded slowdown of five heuristics on two logs, without and with backfilling, is as printed"
            tested "exact: the mean over ten windows equals every printed cell to its last digit"
            in "table5" => paper.printed();
        T2 "table V" "RL is the best of each row"
            tested "exact: the mean over ten windows, of each heuristic in each row, is above the printed cell of RL"
            in "table5" => paper.best_of_the_row();
        T3 "table V" "RL beats WFP3 by the printed factor"
            tested "exact: WFP3 over RL as printed, within 1 % of the factor"
            in "table5" => paper.factor();
        T4 "table V" "F1 is better than SJF"
            tested "SJF − F1, paired over ten windows, of which three overlap: above 0, per log and setting"
            in "table5" => paper.f1_against_sjf();
        T5 "table V" "The order of the heuristics is the same with and without backfilling"
            tested "exact: the mean over ten windows with backfilling rises in the order printed without it"
            in "table5" => paper.same_order();
        T6 "ours" "Under EASY on the whole log, SJF and F1 have a lower bounded slowdown than FCFS"
            tested "exact, per log" in "easy" => paper.under_easy(Metric::bounded_slowdown);
        T7 "ours" "Under EASY on the whole log, SJF and F1 have a lower area-weighted response than FCFS"
            tested "exact, per log" in "easy" => paper.under_easy(Metric::area_weighted_response);
        T8 "ours" "Under EASY on the whole log, SJF and F1 have a higher utilization than FCFS"
            tested "exact, per log" in "easy" => paper.under_easy(Metric::utilization);
    }
}

impl RlScheduler {
    fn slowdown(&self, log: Log, setting: Regime, place: usize) -> Quantity<Cell> {
        Cell { log, heuristic: self.heuristic(place), setting }.get(Metric::bounded_slowdown)
    }

    fn printed(&self) -> Vec<Check<Cell>> {
        let check = |(log, setting, place, value, _): Printed| {
            // Rounded to three decimals for readability.
            let bound = |value: f64| (value * 1000.0).round() / 1000.0;
            let rule = Rule::Exact(bound(value? - 0.005), bound(value? + 0.005));
            Some(Check::new(label(log, setting, place), self.slowdown(log, setting, place), rule))
        };
        table().filter_map(check).collect()
    }

    fn best_of_the_row(&self) -> Vec<Check<Cell>> {
        let check = |(log, setting, place, _, rl): Printed| {
            let above = self.slowdown(log, setting, place) - Quantity::Constant(rl);
            Check::new(format!("{} − RL", label(log, setting, place)), above, ABOVE_ZERO)
        };
        table().map(check).collect()
    }

    fn factor(&self) -> Vec<Check<Cell>> {
        let check = |(log, setting, place, value, rl): Printed| {
            let factor = value? / rl;
            let rule = Rule::Exact(0.99 * factor, 1.01 * factor);
            let found = self.slowdown(log, setting, place) / Quantity::Constant(rl);
            Some(Check::new(format!("{} / RL", label(log, setting, place)), found, rule))
        };
        table().filter(|(_, _, place, ..)| *place == WFP3).filter_map(check).collect()
    }

    fn f1_against_sjf(&self) -> Vec<Check<Cell>> {
        let check = |(log, setting, ..): (Log, Regime, _, _)| {
            let gain = self.slowdown(log, setting, SJF) - self.slowdown(log, setting, F1);
            Check::new(format!("{} − F1", label(log, setting, SJF)), gain, Rule::POSITIVE)
        };
        PRINTED.into_iter().map(check).collect()
    }

    fn same_order(&self) -> Vec<Check<Cell>> {
        let of_row = |(log, setting, row, _): (Log, Regime, Option<[f64; 5]>, f64)| {
            let row = row.filter(|_| setting == Regime::Alone)?;
            let order = crate::ascending(row.into_iter());
            let step = move |pair: [usize; 2]| {
                let [better, worse] = pair.map(|place| self.slowdown(log, Regime::Backfilled, place));
                let words = format!("{} − {}", label(log, Regime::Backfilled, pair[1]), super::HEURISTICS[pair[0]].0);
                Check::new(words, worse - better, ABOVE_ZERO)
            };
            Some((1..5).map(move |place| step([order[place - 1], order[place]])))
        };
        PRINTED.into_iter().filter_map(of_row).flatten().collect()
    }

    fn under_easy(&self, metric: Metric) -> Vec<Check<Cell>> {
        let rule = if metric == Metric::utilization { Rule::POSITIVE } else { Rule::NEGATIVE };
        let of_log = |log: Log| {
            [SJF, F1].map(|place| {
                let of = |place| Cell { log, heuristic: self.heuristic(place), setting: Regime::Easy }.get(metric);
                Check::new(format!("{} − FCFS", label(log, Regime::Easy, place)), of(place) - of(FCFS), rule)
            })
        };
        Log::ALL.into_iter().flat_map(of_log).collect()
    }
}

fn label(log: Log, setting: Regime, place: usize) -> String {
    let setting = match setting {
        Regime::Alone => "no backfilling",
        Regime::Backfilled => "backfilling",
        Regime::Easy => "EASY",
    };
    format!("{}, {setting}, {}", log.name(), super::HEURISTICS[place].0)
}
