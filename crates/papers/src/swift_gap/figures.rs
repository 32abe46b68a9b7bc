//! Figures 4 to 7, and the distances of the tables from the paper's.

use super::source::Workload;
use super::{Cell, Metric, Policy, Profile, SwiftGapPaper, metrics, printed};
use lab::paper::{Effort, Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

const RECORDS: &str = "number of jobs, n";

/// Names of a figure's two panels in its data, by metric: Zewura, Wagap, Wagap without its log.
const METRICS: [[&str; 3]; 4] = [
    ["slowdown_zewura_stand_in", "slowdown_wagap", "slowdown_wagap_stand_in"],
    ["tardiness_zewura_stand_in", "tardiness_wagap", "tardiness_wagap_stand_in"],
    ["wait_zewura_stand_in", "wait_wagap", "wait_wagap_stand_in"],
    ["response_zewura_stand_in", "response_wagap", "response_wagap_stand_in"],
];

const LABELS: [[&str; 3]; 4] = [
    ["mean slowdown, Zewura stand-in", "mean slowdown, Wagap", "mean slowdown, Wagap stand-in"],
    ["mean tardiness (s), Zewura stand-in", "mean tardiness (s), Wagap", "mean tardiness (s), Wagap stand-in"],
    ["mean wait (s), Zewura stand-in", "mean wait (s), Wagap", "mean wait (s), Wagap stand-in"],
    ["mean response (s), Zewura stand-in", "mean response (s), Wagap", "mean response (s), Wagap stand-in"],
];

/// Returns figures 4 to 7.
pub(super) fn over_records<'a>(paper: &SwiftGapPaper) -> [Exhibit<'a, Cell>; 4] {
    let figure = |id, title: &str, caption: &str, metric: usize| {
        let panels = Workload::ALL.map(|workload| panel(paper, workload, metric)).into();
        Exhibit::Plot(Figure::new(id, title, RECORDS, panels).caption(caption))
    };
    [
        figure(
            "fig4",
            "Figure 4. Slowdown",
            "Mean of response / time executed, over the jobs among the first n records.",
            0,
        ),
        figure(
            "fig5",
            "Figure 5. Tardiness",
            "Mean of the time by which jobs end after they are due: submission + 2 × logged run time.",
            1,
        ),
        figure("fig6", "Figure 6. Waiting time", "Mean time from submission to start.", 2),
        figure("fig7", "Figure 7. Response time", "Mean time from submission to end.", 3),
    ]
}

/// Returns a position in the names of this module.
fn kind(paper: &SwiftGapPaper, workload: Workload) -> usize {
    match (workload, paper.source.is_log()) {
        (Workload::Zewura, _) => 0,
        (Workload::Wagap, true) => 1,
        (Workload::Wagap, false) => 2,
    }
}

fn panel(paper: &SwiftGapPaper, workload: Workload, metric: usize) -> Panel<Cell> {
    let kind = kind(paper, workload);
    let series = |policy: Policy| {
        let at = |records| paper.cell(workload, policy, records).get(metrics::FOUR[metric]);
        Series::over(policy.name(), paper.records.iter().copied(), at)
    };
    Panel {
        suffix: match workload {
            Workload::Zewura => "left",
            Workload::Wagap => "right",
        },
        ..Panel::derived(
            METRICS[metric][kind],
            LABELS[metric][kind],
            Policy::ALL.into_iter().chain([Policy::NEAREST]).map(series).collect(),
        )
    }
}

/// Compares the simulator's rules with those of the policies themselves, on Wagap. Best Gap never compresses its plan, and its waits are
/// too long for the picture: it is only in the table.
pub(super) fn profiles(paper: &SwiftGapPaper) -> Figure<Cell> {
    let panel = |suffix, metric: usize| {
        let series = Policy::ALL.into_iter().flat_map(|policy| {
            [(Profile::Alea31, ""), (Profile::Clean, ", clean")].into_iter().map(move |(profile, suffix)| {
                let cell = |records| Cell { profile, ..paper.cell(Workload::Wagap, policy, records) };
                let at = |records| cell(records).get(metrics::FOUR[metric]);
                Series::over(format!("{}{suffix}", policy.name()), paper.records.iter().copied(), at)
            })
        });
        let kind = kind(paper, Workload::Wagap);
        Panel { suffix, ..Panel::derived(METRICS[metric][kind], LABELS[metric][kind], series.collect()) }
    };
    let panels = vec![panel("slowdown", 0), panel("wait", 2)];
    Figure::new("profiles", "With and without the simulator's habits", RECORDS, panels).caption(
        "The same jobs and clusters under Alea's rules, which meet table 3, and under those of the policies as their \
                  authors describe them (clean): CONS keeps its promises, EASY reserves where the job may run, and plans are made on profiles of \
                  free processors.",
    )
}

/// Returns table 2 or 3 as a picture: the relative differences of the simulated means to the paper's.
pub(super) fn difference(paper: &SwiftGapPaper, id: &'static str, workload: Workload) -> Figure<Cell> {
    let series = |policy: Policy| Series {
        name: policy.name().to_owned(),
        points: POSITIONS
            .into_iter()
            .map(|(x, metric)| {
                let printed = Quantity::Constant(printed::mean(workload, metric, policy).value);
                (x, paper.mean(workload, metric, policy).percent_above(printed))
            })
            .collect(),
    };
    let (title, caption) = [
        (
            "Table 2. Means over n, Zewura stand-in",
            "Our means relative to those that the paper prints. The log is not public: a stand-in can show orderings and \
             magnitudes, no more.",
        ),
        (
            "Table 3. Means over n, Wagap",
            "Our means relative to those that the paper prints: 0 is an equal number. EASY's waiting time is a misprint (A3).",
        ),
        (
            "Table 3. Means over n, Wagap stand-in",
            "Our means relative to those that the paper prints. Without the log itself this shows orderings and magnitudes, \
             no more.",
        ),
    ][kind(paper, workload)];
    let panel = Panel {
        signed: true,
        ..Panel::derived(
            "difference_percent",
            "difference from the paper (%)",
            paper.in_table(workload).iter().copied().map(series).collect(),
        )
    };
    Figure::new(id, title, "metric", vec![panel]).caption(caption).over(&metrics::WORDS)
}

/// Positions of the four metrics on the x axis of the tables.
pub(super) const POSITIONS: [(f64, usize); 4] = [(0.0, 0), (1.0, 1), (2.0, 2), (3.0, 3)];

/// Policies that SG is compared with, by [`kind`].
const OTHERS: [(Policy, [&str; 3]); 3] = [
    (Policy::Bgt, ["BGT, Zewura stand-in", "BGT, Wagap", "BGT, Wagap stand-in"]),
    (Policy::Cons, ["CONS, Zewura stand-in", "CONS, Wagap", "CONS, Wagap stand-in"]),
    (Policy::Easy, ["EASY, Zewura stand-in", "EASY, Wagap", "EASY, Wagap stand-in"]),
];

/// Returns table 4 as a picture.
pub(super) fn enhancement(paper: &SwiftGapPaper) -> Figure<Cell> {
    let mut printed = Vec::new();
    let mut series = Vec::new();
    for (policy, names) in OTHERS {
        for workload in Workload::ALL {
            let name = names[kind(paper, workload)];
            let points = POSITIONS.map(|(x, metric)| (x, paper.enhancement(workload, metric, policy)));
            series.push(Series { name: name.to_owned(), points: points.into() });
            let on_paper = |(x, metric)| Some((name, x, printed::enhancement(workload, metric, policy)?.value));
            printed.extend(POSITIONS.into_iter().filter_map(on_paper));
        }
    }
    let panel = Panel { signed: true, printed, ..Panel::derived("enhancement_percent", "enhancement (%)", series) };
    Figure::new("table4", "Table 4. What Swift Gap gains", "metric", vec![panel])
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
        self.mean_over(&records[usize::from(leaves_out)..], workload, metric, policy)
    }

    /// Returns the mean over `records`, which is not empty.
    pub(super) fn mean_over(
        &self,
        records: &[u32],
        workload: Workload,
        metric: usize,
        policy: Policy,
    ) -> Quantity<Cell> {
        let at = |&records: &u32| self.cell(workload, policy, records).get(metrics::FOUR[metric]);
        crate::mean(records.iter().map(at)).expect("there is one")
    }

    /// Returns the improvement of SG's mean over that of `policy`: the symmetric difference, in percent.
    pub(super) fn enhancement(&self, workload: Workload, metric: usize, policy: Policy) -> Quantity<Cell> {
        let [other, ours] = [policy, Policy::SG].map(|policy| self.mean(workload, metric, policy));
        (other.clone() - ours.clone()) / (other + ours) * 200.0
    }
}
