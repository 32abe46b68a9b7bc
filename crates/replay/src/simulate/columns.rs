//! `columns.md`: the meaning of the columns of the tables, with their units.

use super::cli::Format;
use super::report::Simulation;
use super::rows::LISTED;
use metrics::Metric;

pub(super) fn text(report: &Simulation) -> String {
    let allocated = if report.sites().shared.is_some() {
        "empty: tasks share processors here".to_owned()
    } else {
        format!(
            "processors that it held, as `0-3,7`, numbered from 0 on through the places in their order. Policies know no \
             processors apart: these are the free ones of lowest number. Empty on machines of more than {LISTED} processors"
        )
    };
    let evalys = if report.options.format.contains(&Format::Evalys) { EVALYS } else { "" };
    let text = include_str!("columns.md").replace("ALLOCATED", &allocated).replace("EVALYS", evalys);
    text.replace("METRICS", &metrics(report))
}

/// Rows about metrics: one for adjacent metrics with the same definition.
fn metrics(report: &Simulation) -> String {
    let measured: Vec<&Metric> = report.runs[0].columns.iter().map(|(metric, _)| *metric).collect();
    let groups = measured.chunk_by(|a, b| (a.text(), a.unit()) == (b.text(), b.unit()));
    let row = |group: &[&Metric]| {
        let names: Vec<String> = group.iter().map(|metric| format!("`{metric}`")).collect();
        format!("| {} | {} | {} |\n", names.join(", "), group[0].text(), group[0].unit())
    };
    groups.map(row).collect()
}

const EVALYS: &str = "
## POLICY/evalys.csv

The jobs that ran, as `evalys.jobset.JobSet.from_csv` of evalys 4 reads them. Times in seconds since the first submit; `success` is \
1, or 0 if the job was cut at its limit; `stretch` is turnaround / execution time; `allocated_resources` lists processors as `0-3 7`.
";
