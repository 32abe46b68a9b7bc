//! Tables 2, 3 and 4: the paper's number, the simulated one, and their difference, with every n beside the means.

use super::source::Workload;
use super::{Cell, FOUR, Metric, Policy, Profile, SwiftGapPaper, printed};
use lab::paper::{Entry, Row, Table};
use lab::quantity::{DesignPoint, Quantity};

/// Returns the decimals of a metric: slowdowns are small.
fn decimals(metric: Metric) -> i32 {
    if metric == Metric::slowdown { 2 } else { 1 }
}

const DIFFERENCE: &str = "difference (%)";

struct MetricTable<T> {
    columns: Vec<T>,
    rows: Vec<Row<Cell>>,
}

impl<T: Copy> MetricTable<T> {
    fn over(columns: impl IntoIterator<Item = T>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row about a metric, named by its word and `what`; `x` and `name` go to the data.
    fn row(&mut self, metric: Metric, what: &str, x: &str, name: impl ToString, cell: impl Fn(T) -> Entry<Cell>) {
        let names = [metric.declared().axis, what].map(str::to_owned).to_vec();
        let cells = self.columns.iter().map(|column| cell(*column)).collect();
        self.rows.push(Row { names, x: x.to_owned(), metric: name.to_string(), cells });
    }

    fn finish(self, id: &'static str, title: String, caption: String, head: impl Fn(T) -> String) -> Table<Cell> {
        let columns = self.columns.into_iter().map(head).collect();
        Table { id, title, caption, names: vec!["metric".to_owned(), String::new()], columns, rows: self.rows }
    }
}

pub(super) fn means(paper: &SwiftGapPaper, id: &'static str, workload: Workload) -> Table<Cell> {
    let mut table = MetricTable::over(paper.in_table(workload).iter().copied());
    for metric in FOUR {
        let printed = |policy| printed::mean(workload, metric, policy);
        table.row(metric, "paper", "paper", metric, |policy| Entry::Text(printed(policy).text.to_owned()));
        let ours = |policy| paper.mean(workload, metric, policy);
        table.row(metric, "ours", "ours", metric, |policy| Entry::Found(ours(policy), decimals(metric)));
        let name = format!("{metric}_difference_percent");
        table.row(metric, DIFFERENCE, DIFFERENCE, name, |policy| {
            Entry::Found(ours(policy).percent_above(Quantity::Constant(printed(policy).value)), 2)
        });
        for &records in &paper.file.workload.records {
            let n = format!("n = {records}");
            table.row(metric, &n, &n, metric, |policy| {
                Entry::Found(paper.cell(workload, policy, records).get(metric), decimals(metric))
            });
        }
    }
    let (number, explanation) = match (workload, paper.is_log()) {
        (Workload::Zewura, _) => (2, "The log of Zewura is not public."),
        (Workload::Wagap, true) => (
            3,
            "The tardiness of EASY and CONS is the mean over six n, as the paper took it; all others are over seven.",
        ),
        (Workload::Wagap, false) => (3, "The log of Wagap was not found."),
    };
    let caption = format!(
        "{explanation} Half-widths are those of 95 % intervals; none is shown where nothing is drawn. \
         SG is the text, word for word; SG, nearest is the reading that comes nearest to the printed column."
    );
    let title = format!("Table {number}. Mean values, {}", paper.place(workload));
    table.finish(id, title, caption, |policy| policy.name().to_owned())
}

pub(super) fn enhancements(paper: &SwiftGapPaper) -> Table<Cell> {
    let pairs = Policy::OTHERS.into_iter().flat_map(|policy| Workload::ALL.map(|workload| (policy, workload)));
    let mut table = MetricTable::over(pairs);
    for metric in FOUR {
        let name = metric.declared().field;
        table.row(metric, "paper", name, "", |(policy, workload)| {
            let printed = printed::enhancement(workload, metric, policy);
            Entry::Text(printed.map_or_else(String::new, |printed| printed.text.to_owned()))
        });
        table.row(metric, "recomputed", name, "enhancement_recomputed_percent", |(policy, workload)| {
            let [other, ours] = [policy, Policy::SwiftGap].map(|policy| printed::mean(workload, metric, policy).value);
            Entry::Found(Quantity::Constant(printed::symmetric_difference(other, ours)), 4)
        });
        table.row(metric, "ours", name, "enhancement_percent", |(policy, workload)| {
            Entry::Found(paper.enhancement(workload, metric, policy), 2)
        });
    }
    let caption = "Symmetric differences (other − SG) / ((other + SG) / 2) of means over n: as printed, recomputed from the \
                   printed tables 2 and 3, and ours.";
    let title = "Table 4. Swift Gap's enhancement ratio (%)".to_owned();
    table.finish("table4", title, caption.to_owned(), |(policy, workload)| {
        format!("{}, {}", policy.name(), paper.place(workload))
    })
}

pub(super) fn profiles(paper: &SwiftGapPaper) -> Table<Cell> {
    let mut table = MetricTable::over([Policy::SwiftGap, Policy::Bgt, Policy::BestGap, Policy::Cons, Policy::Easy]);
    for metric in FOUR {
        let mean = |policy, profile| {
            let cell = Cell { profile, ..paper.cell(Workload::Wagap, policy, 0) };
            SwiftGapPaper::mean_over(&paper.records, cell, metric)
        };
        for profile in [Profile::Alea31, Profile::Clean] {
            table.row(metric, profile.name(), profile.name(), format!("mean_{metric}"), |policy| {
                Entry::Found(mean(policy, profile), decimals(metric))
            });
        }
        let name = format!("mean_{metric}_difference_percent");
        table.row(metric, DIFFERENCE, DIFFERENCE, name, |policy| {
            Entry::Found(mean(policy, Profile::Clean).percent_above(mean(policy, Profile::Alea31)), 2)
        });
    }
    let title = format!("With and without the simulator's habits, {}", paper.place(Workload::Wagap));
    let caption = "Means over the numbers of jobs of this run, all of them for every metric. Best Gap is BGT without the search, \
                   and its plan is never compressed. In the rows clean, SG has the readings by default, whatever those \
                   of this run.";
    table.finish("profiles", title, caption.to_owned(), |policy| policy.name().to_owned())
}
