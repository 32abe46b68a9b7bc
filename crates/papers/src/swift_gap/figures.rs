//! Figures 4 to 7, and the distances of the tables from the paper's.

use super::source::Workload;
use super::{Cell, Metric, Policy, Profile, SwiftGapPaper, metrics, printed};
use lab::paper::{Effort, Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

const RECORDS: &str = "number of jobs, n";

/// Labels of the four metrics, without the place.
const LABELS: [&str; 4] = ["mean slowdown", "mean tardiness (s)", "mean wait (s)", "mean response (s)"];

pub(super) fn over_records<'a>(paper: &SwiftGapPaper) -> [Exhibit<'a, Cell>; 4] {
    let panel = |metric: usize, workload: Workload| {
        let suffix = match workload {
            Workload::Zewura => "left",
            Workload::Wagap => "right",
        };
        let policies = Policy::ALL.into_iter().chain([Policy::Nearest]);
        let series = policies.map(|policy| over_n(paper, policy.name(), paper.cell(workload, policy, 0), metric));
        panel(paper, workload, metric, series).suffix(suffix)
    };
    let figure = |id, title: &str, caption: &str, metric: usize| {
        let panels = Workload::ALL.map(|workload| panel(metric, workload));
        Exhibit::Plot(Figure::new(id, title, RECORDS, panels).caption(caption))
    };
    let slowdown = "Mean of response / time executed, over the jobs among the first n records.";
    let tardiness = "Mean of the time by which jobs end after they are due: submission + 2 × logged run time.";
    [
        figure("fig4", "Figure 4. Slowdown", slowdown, 0),
        figure("fig5", "Figure 5. Tardiness", tardiness, 1),
        figure("fig6", "Figure 6. Waiting time", "Mean time from submission to start.", 2),
        figure("fig7", "Figure 7. Response time", "Mean time from submission to end.", 3),
    ]
}

fn over_n(paper: &SwiftGapPaper, name: impl Into<String>, cell: Cell, metric: usize) -> Series<Cell> {
    let at = |records| Cell { records, ..cell }.get(metrics::FOUR[metric]);
    Series::over(name, paper.records.iter().copied(), at)
}

/// Returns a panel named after the metric and the place.
fn panel(
    paper: &SwiftGapPaper,
    workload: Workload,
    metric: usize,
    series: impl IntoIterator<Item = Series<Cell>>,
) -> Panel<Cell> {
    let place = paper.source.place(workload);
    let name = format!("{}_{}", metrics::NAMES[metric], place.to_lowercase().replace([' ', '-'], "_"));
    Panel::derived(name, format!("{}, {place}", LABELS[metric]), series)
}

/// Compares the simulator's rules with those of the policies themselves, on Wagap. Best Gap never compresses its plan, and its waits are
/// too long for the picture: it is only in the table.
pub(super) fn profiles(paper: &SwiftGapPaper) -> Figure<Cell> {
    let panel = |suffix, metric: usize| {
        let series = Policy::ALL.into_iter().flat_map(|policy| {
            [(Profile::Alea31, ""), (Profile::Clean, ", clean")].map(|(profile, suffix)| {
                let cell = Cell { profile, ..paper.cell(Workload::Wagap, policy, 0) };
                over_n(paper, format!("{}{suffix}", policy.name()), cell, metric)
            })
        });
        panel(paper, Workload::Wagap, metric, series).suffix(suffix)
    };
    let panels = [panel("slowdown", 0), panel("wait", 2)];
    Figure::new("profiles", "With and without the simulator's habits", RECORDS, panels).caption(
        "The same jobs and clusters under Alea's rules, which meet table 3, and under those of the policies as their \
                  authors describe them (clean): CONS keeps its promises, EASY reserves where the job may run, and plans are made on profiles of \
                  free processors.",
    )
}

/// Returns table 2 or 3 as a picture: the relative differences of the simulated means to the paper's.
pub(super) fn difference(paper: &SwiftGapPaper, id: &'static str, workload: Workload) -> Figure<Cell> {
    let series = |policy: &Policy| {
        let difference = |metric: usize| {
            let printed = Quantity::Constant(printed::mean(workload, metric, *policy).value);
            paper.mean(workload, metric, *policy).percent_above(printed)
        };
        Series::at_positions(policy.name(), (0..4).map(difference))
    };
    let (number, explanation) = match (workload, paper.source.is_log()) {
        (Workload::Zewura, _) => (2, ". The log is not public: a stand-in can show orderings and magnitudes, no more."),
        (Workload::Wagap, true) => (3, ": 0 is an equal number. EASY's waiting time is a misprint (A3)."),
        (Workload::Wagap, false) => (3, ". Without the log itself this shows orderings and magnitudes, no more."),
    };
    let title = format!("Table {number}. Means over n, {}", paper.source.place(workload));
    let series = paper.in_table(workload).iter().map(series);
    let panel = Panel::derived("difference_percent", "difference from the paper (%)", series).signed();
    Figure::new(id, title, "metric", [panel])
        .caption(format!("Our means relative to the printed ones{explanation}"))
        .over(&metrics::WORDS)
}

/// Returns table 4 as a picture.
pub(super) fn enhancement(paper: &SwiftGapPaper) -> Figure<Cell> {
    let pairs = || Policy::OTHERS.into_iter().flat_map(|policy| Workload::ALL.map(|workload| (policy, workload)));
    let name = |(policy, workload): (Policy, Workload)| format!("{}, {}", policy.name(), paper.source.place(workload));
    let series = pairs().map(|(policy, workload)| {
        let of = |metric| paper.enhancement(workload, metric, policy);
        Series::at_positions(name((policy, workload)), (0..4).map(of))
    });
    let printed = pairs().flat_map(|(policy, workload)| {
        let of = move |x: u8| Some((f64::from(x), printed::enhancement(workload, x.into(), policy)?.value));
        (0..4).filter_map(of).map(move |(x, value)| (name((policy, workload)), x, value))
    });
    let panel = Panel::derived("enhancement_percent", "enhancement (%)", series).signed().printed(printed);
    Figure::new("table4", "Table 4. What Swift Gap gains", "metric", [panel])
        .caption(
            "Symmetric differences (other − SG) / ((other + SG) / 2) of the means over n. Hollow marks: what the paper \
             prints.",
        )
        .over(&metrics::WORDS)
}

impl SwiftGapPaper {
    /// Returns the policies, with both versions of Swift Gap, whose columns of table 2 or 3 this run fills in. The means are over the paper's
    /// own numbers of jobs. A quick run fills in the columns of table 3 without a search.
    pub(super) fn in_table(&self, workload: Workload) -> &'static [Policy] {
        let is_whole = super::sorted(&self.file.workload.records) == printed::RECORDS;
        match self.effort {
            Effort::Full if is_whole => &Policy::SHOWN,
            Effort::Quick if is_whole && workload == Workload::Wagap && self.source.is_log() => {
                &[Policy::Cons, Policy::Easy]
            }
            Effort::Full | Effort::Quick => &[],
        }
    }

    pub(super) fn has_table_4(&self) -> bool {
        Workload::ALL.into_iter().all(|workload| self.in_table(workload).len() == Policy::SHOWN.len())
    }

    /// Returns the mean over the numbers of jobs, of which the paper leaves out the first for the tardiness of EASY and CONS on Wagap.
    pub(super) fn mean(&self, workload: Workload, metric: usize, policy: Policy) -> Quantity<Cell> {
        let records = super::sorted(&self.file.workload.records);
        let leaves_out =
            workload != Workload::Zewura && metrics::FOUR[metric] == Metric::tardiness && policy.leaves_out_the_first();
        Self::mean_over(&records[usize::from(leaves_out)..], self.cell(workload, policy, 0), metric)
    }

    /// Returns the mean over `records`, which is not empty.
    pub(super) fn mean_over(records: &[u32], cell: Cell, metric: usize) -> Quantity<Cell> {
        let at = |&records: &u32| Cell { records, ..cell }.get(metrics::FOUR[metric]);
        crate::mean(records.iter().map(at)).expect("there is one")
    }

    /// Returns the improvement of SG's mean over that of `policy`: the symmetric difference, in percent.
    pub(super) fn enhancement(&self, workload: Workload, metric: usize, policy: Policy) -> Quantity<Cell> {
        let [other, ours] = [policy, Policy::SwiftGap].map(|policy| self.mean(workload, metric, policy));
        (other.clone() - ours.clone()) / (other + ours) * 200.0
    }
}
