//! Figures 4 to 7, and the distances of the tables from the paper's.

use super::source::Workload;
use super::{Cell, FOUR, Metric, Policy, Profile, SwiftGapPaper, WORDS, printed};
use lab::paper::{Effort, Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

const RECORDS: &str = "number of jobs, n";

/// Labels of the four metrics, without the place.
const LABELS: [&str; 4] = ["mean slowdown", "mean tardiness (s)", "mean wait (s)", "mean response (s)"];

pub(super) fn over_records<'a>(paper: &SwiftGapPaper) -> Vec<Exhibit<'a, Cell>> {
    let panels = |metric: Metric| {
        [(Workload::Zewura, "left"), (Workload::Wagap, "right")].map(|(workload, suffix)| {
            let policies = Policy::ALL.into_iter().chain([Policy::Nearest]);
            let series = policies.map(|policy| over_n(paper, policy.name(), paper.cell(workload, policy, 0), metric));
            panel(paper, workload, metric, series).suffix(suffix)
        })
    };
    lab::figures! { over RECORDS;
        "fig4" "Figure 4. Slowdown" "Mean of response / time executed, over the jobs among the first n records."
            => panels(Metric::slowdown);
        "fig5" "Figure 5. Tardiness"
            "Mean of the time by which jobs end after they are due: submission + 2 × logged run time."
            => panels(Metric::tardiness);
        "fig6" "Figure 6. Waiting time" "Mean time from submission to start." => panels(Metric::wait);
        "fig7" "Figure 7. Response time" "Mean time from submission to end." => panels(Metric::response);
    }
}

fn over_n(paper: &SwiftGapPaper, name: impl Into<String>, cell: Cell, metric: Metric) -> Series<Cell> {
    let at = |records| Cell { records, ..cell }.get(metric);
    Series::over(name, paper.records.iter().copied(), at)
}

fn panel(
    paper: &SwiftGapPaper,
    workload: Workload,
    metric: Metric,
    series: impl IntoIterator<Item = Series<Cell>>,
) -> Panel<Cell> {
    let place = paper.place(workload);
    let name = format!("{metric}_{}", place.to_lowercase().replace([' ', '-'], "_"));
    Panel::derived(name, format!("{}, {place}", LABELS[metric as usize]), series)
}

/// Compares the simulator's rules with those of the policies themselves, on Wagap. Best Gap never compresses its plan, and its waits are
/// too long for the picture: it is only in the table.
pub(super) fn profiles(paper: &SwiftGapPaper) -> Figure<Cell> {
    let panel = |metric: Metric| {
        let series = Policy::ALL.into_iter().flat_map(|policy| {
            [(Profile::Alea31, ""), (Profile::Clean, ", clean")].map(|(profile, suffix)| {
                let cell = Cell { profile, ..paper.cell(Workload::Wagap, policy, 0) };
                over_n(paper, format!("{}{suffix}", policy.name()), cell, metric)
            })
        });
        panel(paper, Workload::Wagap, metric, series).suffix(metric.declared().field)
    };
    let panels = [Metric::slowdown, Metric::wait].map(panel);
    Figure::new("profiles", "With and without the simulator's habits", RECORDS, panels).caption(
        "The same jobs and clusters under Alea's rules, which meet table 3, and under those of the policies as their \
                  authors describe them (clean): CONS keeps its promises, EASY reserves where the job may run, and plans are made on profiles of \
                  free processors. There, SG has the readings by default, whatever those of this run.",
    )
}

/// Returns table 2 or 3 as a picture: the relative differences of the simulated means to the paper's.
pub(super) fn difference(paper: &SwiftGapPaper, id: &'static str, workload: Workload) -> Figure<Cell> {
    let series = |policy: &Policy| {
        let difference = |metric: Metric| {
            let printed = Quantity::Constant(printed::mean(workload, metric, *policy).value);
            paper.mean(workload, metric, *policy).percent_above(printed)
        };
        Series::at_positions(policy.name(), FOUR.map(difference))
    };
    let (number, explanation) = match (workload, paper.is_log()) {
        (Workload::Zewura, _) => (2, ". The log is not public: a stand-in can show orderings and magnitudes, no more."),
        (Workload::Wagap, true) => (3, ": 0 is an equal number. EASY's waiting time is a misprint (A3)."),
        (Workload::Wagap, false) => (3, ". Without the log itself this shows orderings and magnitudes, no more."),
    };
    let title = format!("Table {number}. Means over n, {}", paper.place(workload));
    let series = paper.in_table(workload).iter().map(series);
    let panel = Panel::derived("difference_percent", "difference from the paper (%)", series).signed();
    Figure::new(id, title, "metric", [panel])
        .caption(format!("Our means relative to the printed ones{explanation}"))
        .over(&WORDS)
}

pub(super) fn enhancement(paper: &SwiftGapPaper) -> Figure<Cell> {
    let pairs = || Policy::OTHERS.into_iter().flat_map(|policy| Workload::ALL.map(|workload| (policy, workload)));
    let name = |(policy, workload): (Policy, Workload)| format!("{}, {}", policy.name(), paper.place(workload));
    let series = pairs().map(|(policy, workload)| {
        let of = |metric| paper.enhancement(workload, metric, policy);
        Series::at_positions(name((policy, workload)), FOUR.map(of))
    });
    let printed = pairs().flat_map(|(policy, workload)| {
        let of = move |(x, metric)| {
            Some((name((policy, workload)), f64::from(x), printed::enhancement(workload, metric, policy)?.value))
        };
        (0_u8..).zip(FOUR).filter_map(of)
    });
    let panel = Panel::derived("enhancement_percent", "enhancement (%)", series).signed().printed(printed);
    Figure::new("table4", "Table 4. What Swift Gap gains", "metric", [panel])
        .caption(
            "Symmetric differences (other − SG) / ((other + SG) / 2) of the means over n. Hollow marks: what the paper \
             prints.",
        )
        .over(&WORDS)
}

impl SwiftGapPaper {
    /// Returns the policies, with both versions of Swift Gap, whose columns of table 2 or 3 this run fills in. The means are over the paper's
    /// own numbers of jobs. A quick run fills in the columns of table 3 without a search.
    pub(super) fn in_table(&self, workload: Workload) -> &'static [Policy] {
        let is_whole = self.file.workload.records.iter().eq(&printed::RECORDS);
        match self.effort {
            Effort::Full if is_whole => &Policy::SHOWN,
            Effort::Quick if is_whole && workload == Workload::Wagap && self.is_log() => &[Policy::Cons, Policy::Easy],
            Effort::Full | Effort::Quick => &[],
        }
    }

    pub(super) fn has_table_4(&self) -> bool {
        Workload::ALL.into_iter().all(|workload| self.in_table(workload).len() == Policy::SHOWN.len())
    }

    /// Returns the mean over the numbers of jobs, of which the paper leaves out the first for the tardiness of EASY and CONS on Wagap.
    pub(super) fn mean(&self, workload: Workload, metric: Metric, policy: Policy) -> Quantity<Cell> {
        let left_out = usize::from(policy.leaves_out_the_first(workload, metric));
        Self::mean_over(self.file.workload.records.iter().skip(left_out), self.cell(workload, policy, 0), metric)
    }

    /// Returns the mean over `records`, which is not empty.
    pub(super) fn mean_over<'a>(
        records: impl IntoIterator<Item = &'a u32>,
        cell: Cell,
        metric: Metric,
    ) -> Quantity<Cell> {
        let at = |&records: &u32| Cell { records, ..cell }.get(metric);
        crate::mean(records.into_iter().map(at)).expect("there is one")
    }

    /// Returns the improvement of SG's mean over that of `policy`: the symmetric difference, in percent.
    pub(super) fn enhancement(&self, workload: Workload, metric: Metric, policy: Policy) -> Quantity<Cell> {
        let [other, ours] = [policy, Policy::SwiftGap].map(|policy| self.mean(workload, metric, policy));
        (other.clone() - ours.clone()) / (other + ours) * 200.0
    }
}
