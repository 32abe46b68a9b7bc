//! The table of a finished simulation on the terminal, as wide as that at most, with units in its head.

use super::world::Run;
use crate::units::{aligned, readable};
use lab::terminal::width as width_of_terminal;
use metrics::{Metric, catalogue};

pub(super) fn table(runs: &[Run]) -> String {
    let value = |run: &Run, metric: &Metric| run.value(metric).map_or_else(String::new, readable);
    let names = runs.iter().map(|run| run.label.chars().count()).max().unwrap_or(0).max("policy".len());
    let shown = runs[0].columns.iter().filter(|(metric, _)| metric.terminal_head() != [""; 2]);
    let mut columns: Vec<(&Metric, [&str; 2], Vec<String>)> = shown
        .map(|(metric, _)| (*metric, metric.terminal_head(), runs.iter().map(|run| value(run, metric)).collect()))
        .filter(|(_, _, cells): &(_, _, Vec<String>)| cells.iter().any(|cell| !cell.is_empty()))
        .collect();
    // A long name has a line for itself.
    let (names, apart) = if names > 40 { (6, true) } else { (names, false) };
    let width = |(_, heads, cells): &(&Metric, [&str; 2], Vec<String>)| {
        heads.iter().map(|head| head.chars().count()).chain(cells.iter().map(|cell| cell.chars().count())).max()
    };
    for order in 1..=catalogue().iter().map(Metric::spared_as).max().unwrap_or(0) {
        let total: usize = columns.iter().filter_map(width).map(|width| width + 2).sum();
        if names + total > width_of_terminal() {
            columns.retain(|(metric, ..)| metric.spared_as() != order);
        }
    }
    let row = |first: &str, cells: Vec<&str>| [vec![first], cells].concat().into_iter().map(str::to_owned).collect();
    let head = |line: usize| columns.iter().map(|(_, heads, _)| heads[line]).collect();
    let of = |k: usize| columns.iter().map(|(_, _, cells)| cells[k].as_str()).collect();
    let name = |k: usize| if apart { "" } else { runs[k].label.as_str() };
    let rows = (0..runs.len()).map(|k| row(name(k), of(k)));
    let rows: Vec<Vec<String>> = [row("", head(0)), row("policy", head(1))].into_iter().chain(rows).collect();
    let text = aligned(&rows);
    if !apart {
        return text;
    }
    let names = [None; 2].into_iter().chain(runs.iter().map(|run| Some(run.label.as_str())));
    names
        .zip(text.lines())
        .flat_map(|(name, line)| name.into_iter().chain([line]))
        .map(|line| format!("{line}\n"))
        .collect()
}
