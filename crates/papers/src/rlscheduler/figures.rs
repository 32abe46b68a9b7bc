//! Table V as a picture and a table, and the same heuristics under EASY.

use super::claims::PRINTED;
use super::{Cell, HEURISTICS, Log, Metric, Regime};
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::DesignPoint;

/// Positions on the x axis.
const NAMES: [&str; 6] = ["FCFS", "WFP3", "UNICEP", "SJF", "F1", "RL"];

/// Without and with backfilling; then the same with the true wait.
const SERIES: [(&str, Regime, usize); 4] = [
    ("no backfilling", Regime::Alone, 0),
    ("backfilling", Regime::Backfilled, 0),
    ("no backfilling, true wait", Regime::Alone, 1),
    ("backfilling, true wait", Regime::Backfilled, 1),
];

pub(super) fn exhibits<'a>() -> Vec<Exhibit<'a, Cell>> {
    let slowdowns = Figure::new("table5", "Table V. Average bounded slowdown", "heuristic", Log::ALL.map(slowdown))
        .caption(
            "Mean over ten windows of 1 024 jobs, without and with the published program's backfilling; intervals are between \
             windows. As run, WFP3 and UNICEP take a wait of −1 − submission (R1). Hollow marks: what the article prints.",
        );
    let easy = [Metric::bounded_slowdown, Metric::area_weighted_response, Metric::utilization].map(under_easy);
    let easy = Figure::new("easy", "The same orders under EASY on the whole logs", "heuristic", easy).caption(
        "One run of the whole log (with --quick, of its first jobs) on a machine that is as full as the log keeps it, with the true \
         wait. Boëzennec, Dufossé and Pallez (JSSPP 2023) argue that bounded slowdown misleads, and weigh responses by area.",
    );
    [slowdowns, easy].map(|figure| figure.over(&NAMES).with_table()).map(Exhibit::from).into()
}

fn series(name: &str, cell: impl Fn(usize) -> Cell, places: &[u8], metric: Metric) -> Series<Cell> {
    Series::over(name, places.iter().copied(), |place| cell(place.into()).get(metric))
}

fn slowdown(log: Log) -> Panel<Cell> {
    let line = |(name, setting, wait): (&str, Regime, usize)| {
        let places: &[u8] = if wait == 0 { &[0, 1, 2, 3, 4] } else { &[1, 2] };
        let cell = |place: usize| Cell { log, heuristic: HEURISTICS[place].1[wait], setting };
        series(name, cell, places, Metric::bounded_slowdown)
    };
    let printed = PRINTED.into_iter().filter(|(its, ..)| *its == log).flat_map(|(_, setting, row, rl)| {
        let name = SERIES[usize::from(setting == Regime::Backfilled)].0;
        let values = row.into_iter().flatten().chain([rl]);
        let places = if row.is_some() { 0_u8.. } else { 5.. };
        places.zip(values).map(move |(place, value)| (name, f64::from(place), value))
    });
    let panel = Panel::of(Metric::bounded_slowdown, SERIES.map(line).into()).suffix(log.name().to_lowercase());
    panel.log_y().printed(printed)
}

fn under_easy(metric: Metric) -> Panel<Cell> {
    let line = |log: Log| {
        let cell = |place: usize| Cell { log, heuristic: HEURISTICS[place].1[1], setting: Regime::Easy };
        series(log.name(), cell, &[0, 1, 2, 3, 4], metric)
    };
    Panel::of(metric, Log::ALL.map(line).into()).suffix(metric.declared().field)
}
