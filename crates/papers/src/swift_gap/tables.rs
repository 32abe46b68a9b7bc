//! Tables 2, 3 and 4: the paper's number, the simulated one, and their difference, with every n beside the means.

use super::source::Workload;
use super::{Cell, Policy, Profile, SwiftGapPaper, metrics, printed};
use lab::paper::{Entry, Row, Table};
use lab::quantity::{DesignPoint, Quantity};

/// Decimals of the four metrics: slowdowns are small.
const DECIMALS: [i32; 4] = [2, 1, 1, 1];

/// Returns a row about a metric, named by its word and `what`; `x` and `name` go to the data.
fn row(metric: usize, what: &str, (x, name): (&str, &str), cells: impl Iterator<Item = Entry<Cell>>) -> Row<Cell> {
    let names = [metrics::WORDS[metric], what].map(str::to_owned).to_vec();
    Row { names, x: x.to_owned(), metric: name.to_owned(), cells: cells.collect() }
}

fn table(
    id: &'static str,
    title: impl Into<String>,
    caption: String,
    columns: Vec<String>,
    rows: Vec<Row<Cell>>,
) -> Table<Cell> {
    Table { id, title: title.into(), caption, names: vec!["metric".to_owned(), String::new()], columns, rows }
}

pub(super) fn means(paper: &SwiftGapPaper, id: &'static str, workload: Workload) -> Table<Cell> {
    let policies = paper.in_table(workload);
    let records = super::sorted(&paper.file.workload.records);
    let mut rows = Vec::new();
    for (metric, decimals) in DECIMALS.into_iter().enumerate() {
        let mut row = |x: &str, name: &str, cell: &dyn Fn(Policy) -> Entry<Cell>| {
            rows.push(row(metric, x, (x, name), policies.iter().map(|policy| cell(*policy))));
        };
        let name = metrics::NAMES[metric];
        let printed = |policy| printed::mean(workload, metric, policy);
        row("paper", name, &|policy| Entry::Text(printed(policy).text.to_owned()));
        row("ours", name, &|policy| Entry::Found(paper.mean(workload, metric, policy), decimals));
        row("difference (%)", &format!("{name}_difference_percent"), &|policy| {
            let printed = Quantity::Constant(printed(policy).value);
            Entry::Found(paper.mean(workload, metric, policy).percent_above(printed), 2)
        });
        for &records in &records {
            row(&format!("n = {records}"), name, &|policy| {
                Entry::Found(paper.cell(workload, policy, records).get(metrics::FOUR[metric]), decimals)
            });
        }
    }
    let (title, caption) = match (workload, paper.source.is_log()) {
        (Workload::Zewura, _) => ("Table 2. Mean values, Zewura stand-in", "The log of Zewura is not public."),
        (Workload::Wagap, true) => (
            "Table 3. Mean values, Wagap",
            "The tardiness of EASY and CONS is the mean over six n, as the paper took it; all others are over seven.",
        ),
        (Workload::Wagap, false) => ("Table 3. Mean values, Wagap stand-in", "The log of Wagap was not found."),
    };
    let caption = format!(
        "{caption} Half-widths are those of 95 % intervals; none is shown where nothing is drawn. \
         SG is the text, word for word; SG, nearest is the reading that comes nearest to the printed column."
    );
    table(id, title, caption, policies.iter().map(|policy| policy.name().to_owned()).collect(), rows)
}

pub(super) fn enhancements(paper: &SwiftGapPaper) -> Table<Cell> {
    const OTHERS: [Policy; 3] = [Policy::Bgt, Policy::Cons, Policy::Easy];
    let pairs = || OTHERS.into_iter().flat_map(|policy| Workload::ALL.map(|workload| (policy, workload)));
    let mut rows = Vec::new();
    for metric in 0..4 {
        let mut row = |what: &str, name: &str, cell: &dyn Fn((Policy, Workload)) -> Entry<Cell>| {
            rows.push(row(metric, what, (metrics::NAMES[metric], name), pairs().map(cell)));
        };
        let printed = |policy, workload| printed::enhancement(workload, metric, policy);
        row("paper", "", &|(policy, workload)| {
            Entry::Text(printed(policy, workload).map_or_else(String::new, |printed| printed.text.to_owned()))
        });
        row("recomputed", "enhancement_recomputed_percent", &|(policy, workload)| {
            let [other, ours] = [policy, Policy::SG].map(|policy| printed::mean(workload, metric, policy).value);
            Entry::Found(Quantity::Constant(printed::symmetric_difference(other, ours)), 4)
        });
        row("ours", "enhancement_percent", &|(policy, workload)| {
            Entry::Found(paper.enhancement(workload, metric, policy), 2)
        });
    }
    let column = |(policy, workload): (Policy, Workload)| {
        let place = match workload {
            Workload::Zewura => "Zewura stand-in",
            Workload::Wagap if paper.source.is_log() => "Wagap",
            Workload::Wagap => "Wagap stand-in",
        };
        format!("{}, {place}", policy.name())
    };
    let caption = "Symmetric differences (other − SG) / ((other + SG) / 2) of means over n: as printed, recomputed from the \
                   printed tables 2 and 3, and ours.";
    let title = "Table 4. Swift Gap's enhancement ratio (%)";
    table("table4", title, caption.to_owned(), pairs().map(column).collect(), rows)
}

/// Returns the means over n under the simulator's rules and without its peculiarities.
pub(super) fn profiles(paper: &SwiftGapPaper) -> Table<Cell> {
    const POLICIES: [Policy; 5] = [Policy::SG, Policy::Bgt, Policy::BestGap, Policy::Cons, Policy::Easy];
    let mut rows = Vec::new();
    for (metric, decimals) in DECIMALS.into_iter().enumerate() {
        let name = metrics::NAMES[metric];
        let mean = |policy, profile| {
            let at = |&records: &u32| {
                Cell { profile, ..paper.cell(Workload::Wagap, policy, records) }.get(metrics::FOUR[metric])
            };
            crate::mean(paper.records.iter().map(at)).expect("there is one")
        };
        let mut row = |what: &str, name: &str, cell: &dyn Fn(Policy) -> Entry<Cell>| {
            rows.push(row(metric, what, (what, name), POLICIES.into_iter().map(cell)));
        };
        row("alea31", &format!("mean_{name}"), &|policy| Entry::Found(mean(policy, Profile::Alea31), decimals));
        row("clean", &format!("mean_{name}"), &|policy| Entry::Found(mean(policy, Profile::Clean), decimals));
        row("difference (%)", &format!("mean_{name}_difference_percent"), &|policy| {
            Entry::Found(mean(policy, Profile::Clean).percent_above(mean(policy, Profile::Alea31)), 2)
        });
    }
    let place = if paper.source.is_log() { "Wagap" } else { "Wagap stand-in" };
    let title = format!("With and without the simulator's habits, {place}");
    let caption = "Means over the numbers of jobs of this run, all of them for every metric. Best Gap is BGT without the search, \
                   and its plan is never compressed.";
    table("profiles", title, caption.to_owned(), POLICIES.iter().map(|policy| policy.name().to_owned()).collect(), rows)
}
