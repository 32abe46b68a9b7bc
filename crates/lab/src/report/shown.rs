//! Exhibits in the page and in files: pictures, rows of data, tables.

use crate::chart::{self, Chart, Picture, Point};
use crate::measure::claim::Judged;
use crate::measure::quantity::{DesignPoint, Quantity};
use crate::measure::table::{Row, Table, columns, csv, in_words};
use crate::output::OutDir;
use crate::report::exhibit::{Estimate, Exhibit, Figure, Panel, Series, distinct};
use crate::report::page;
use crate::run::terminal::csv_name;
use anyhow::Result;
use metrics::ConfidenceInterval;
use rayon::prelude::*;
use sim_core::Streams;
use std::collections::BTreeMap;

pub use crate::report::exhibit::{DataRow, Shown};

/// Returns a single observation as an estimate without an interval.
pub const fn seen(value: f64) -> ConfidenceInterval {
    ConfidenceInterval { level: ConfidenceInterval::LEVEL, ..ConfidenceInterval::exact(value) }
}

const TIDY: [&str; 8] = ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"];

/// Writes the pictures and data of all `exhibits`. Returns the figures of the page, each with the claims that name it.
pub fn write(exhibits: &[Shown], judged: &[Judged], out: &OutDir) -> Result<Vec<page::Figure>> {
    let ids = distinct(exhibits.iter().map(|exhibit| exhibit.id.as_str()));
    let of_id = |id: &&str| -> Result<Vec<page::Figure>> {
        let (mut data, mut figures) = (Vec::new(), Vec::new());
        for exhibit in exhibits.iter().filter(|exhibit| exhibit.id == *id) {
            for (series, x, metric, estimate) in &exhibit.rows {
                let names = [(*id).to_owned(), csv_name(series).into_owned(), x.clone(), metric.clone()];
                data.push(names.into_iter().chain(columns(estimate)).collect::<Vec<_>>());
            }
            for (picture, caption) in &exhibit.pictures {
                write_picture(picture, out)?;
                let about_it = judged.iter().filter(|judged| judged.figures.contains(id));
                let claims = about_it.map(|judged| judged.id.clone()).collect();
                // The panels of a figure share its data file.
                let figure = page::Figure::new(picture.clone(), caption, format!("data/{id}.csv"));
                figures.push(page::Figure { claims, ..figure });
            }
        }
        out.write(format!("data/{id}.csv"), csv(TIDY, data)?)?;
        Ok(figures)
    };
    // Drawing dominates the time: one thread for each id; the order is restored afterwards.
    let figures: Vec<Vec<page::Figure>> = ids.par_iter().map(of_id).collect::<Result<_>>()?;
    Ok(figures.into_iter().flatten().collect())
}

/// Writes a picture into the folder `figures`; fails if it cannot be drawn or written.
pub fn write_picture(picture: &Picture, out: &OutDir) -> Result<()> {
    let svg = chart::svg(picture);
    #[cfg(feature = "png")]
    out.write(format!("figures/{}.png", picture.id()), chart::png(&svg)?)?;
    out.write(format!("figures/{}.svg", picture.id()), svg)
}

impl<'a, C: DesignPoint + 'a> From<Figure<C>> for Exhibit<'a, C> {
    fn from(figure: Figure<C>) -> Self {
        let series = || figure.panels.iter().flat_map(|panel| &panel.series);
        let needs = series().flat_map(|series| &series.points).map(|(_, quantity)| quantity.clone()).collect();
        let (id, names) = (figure.id.clone(), series().map(|series| series.name.clone()).collect());
        Self { id, series: Some(names), needs, make: Box::new(move |estimate, _| plot(&figure, estimate)) }
    }
}

impl<'a, C: DesignPoint + 'a> From<Table<C>> for Exhibit<'a, C> {
    fn from(table: Table<C>) -> Self {
        let (id, needs) = (table.id.to_owned(), table.found().map(|(.., quantity)| quantity.clone()).collect());
        Self { id, series: None, needs, make: Box::new(move |estimate, _| self::table(&table, estimate)) }
    }
}

impl<C: DesignPoint> Exhibit<'_, C> {
    /// Estimates and draws it; `streams` are those of the first replication.
    pub(crate) fn shown(&self, estimate: &Estimate<'_, C>, looks: &Looks, streams: &Streams) -> Shown {
        let mut shown = Shown { id: self.id.clone(), ..(self.make)(estimate, streams) };
        for (picture, _) in &mut shown.pictures {
            if let Picture::Chart(chart) = picture {
                looks.apply_to(chart);
            }
        }
        shown
    }
}

fn plot<C: DesignPoint>(figure: &Figure<C>, estimate: &Estimate<'_, C>) -> Shown {
    let mut shown = Shown::default();
    for panel in &figure.panels {
        let estimated = |(x, quantity): &(f64, Quantity<C>)| (*x, estimate(quantity));
        let estimates = panel.series.iter().map(|series| series.points.iter().map(estimated).collect());
        let estimates: Vec<Vec<Estimated>> = estimates.collect();
        for (series, points) in panel.series.iter().zip(&estimates) {
            for (x, estimate) in points {
                let x = position(*x, figure.positions);
                shown.rows.push((series.name.clone(), x, panel.metric.clone(), *estimate));
            }
        }
        let chart = plotted(figure, panel, &estimates);
        if figure.as_table {
            shown.tables.push(values(figure, panel, &estimates, &chart));
        }
        shown.pictures.push((chart.into(), figure.caption.clone()));
    }
    shown
}

fn table<C: DesignPoint>(table: &Table<C>, estimate: &Estimate<'_, C>) -> Shown {
    let found = table
        .found()
        .map(|(column, row, quantity)| (column.to_owned(), row.x.clone(), row.metric.clone(), estimate(quantity)));
    let row = |row: &Row<C>| {
        let cells = row.cells.iter().map(|entry| entry.text(estimate));
        row.names.iter().cloned().chain(cells).collect()
    };
    let columns = [&table.names[..], &table.columns].concat();
    let (id, rows) = (format!("{}-values", table.id), table.rows.iter().map(row).collect());
    let whole = page::Table::new(id, &table.title, &table.caption, columns, rows);
    Shown { rows: found.collect(), tables: vec![whole], ..Shown::default() }
}

/// Returns a plot as a table: a row per series, a column per x.
fn values<C: DesignPoint>(figure: &Figure<C>, panel: &Panel<C>, all: &[Vec<Estimated>], chart: &Chart) -> page::Table {
    let xs: Vec<f64> = ticks(all.iter().flatten().map(|(x, _)| *x));
    let row = |(series, points): (&Series<C>, &Vec<Estimated>)| {
        let at = |x: &f64| points.iter().find(|(at, _)| at.total_cmp(x).is_eq());
        let cells = xs.iter().map(|x| at(x).map_or_else(String::new, |(_, estimate)| in_words(estimate)));
        std::iter::once(series.name.clone()).chain(cells).collect()
    };
    let caption = format!("{}, by {}; mean ± half-width of the 95 % interval.", panel.y.label, figure.x.label);
    let columns = std::iter::once(String::new()).chain(xs.iter().map(|x| position(*x, figure.positions)));
    let rows = panel.series.iter().zip(all).map(row).collect();
    page::Table::new(format!("{}-values", chart.id), &chart.title, caption, columns, rows)
}

/// One plotted point with its estimate.
type Estimated = (f64, ConfidenceInterval);

/// Returns a position on the x axis in words: its name, or the number.
fn position(x: f64, names: &[&str]) -> String {
    let named = names.iter().zip(0_u32..).find(|(_, place)| f64::from(*place).total_cmp(&x).is_eq());
    named.map_or_else(|| x.to_string(), |(name, _)| (*name).to_owned())
}

/// Colour and mark of each series in all figures of a paper: names that occur in several figures keep theirs.
pub(crate) struct Looks(Vec<String>);

impl Looks {
    /// Assigns looks by the order in which the names first appear.
    pub(crate) fn of<C: DesignPoint>(exhibits: &[Exhibit<'_, C>]) -> Self {
        let figures = exhibits.iter().filter_map(|exhibit| exhibit.series.as_ref());
        let names: Vec<Vec<&str>> = figures.map(|names| distinct(names.iter().map(String::as_str))).collect();
        let recurs = |name: &&str| names.iter().filter(|names| names.contains(name)).count() > 1;
        Self(distinct(names.iter().flatten().copied().filter(recurs)).into_iter().map(str::to_owned).collect())
    }

    /// Gives the chart the paper's looks. If it shows a shared name, its other names take unused looks; otherwise they count from the first.
    fn apply_to(&self, chart: &mut Chart) {
        let slot_of = |name: &str| self.0.iter().position(|known| *known == name);
        if !chart.series.iter().any(|series| slot_of(&series.name).is_some()) {
            return;
        }
        let mut unused = self.0.len()..;
        for series in chart.series.iter_mut().filter(|series| series.slot.is_none()) {
            series.slot = slot_of(&series.name).or_else(|| unused.next());
        }
    }
}

fn plotted<C: DesignPoint>(figure: &Figure<C>, panel: &Panel<C>, estimates: &[Vec<Estimated>]) -> Chart {
    let series = panel.series.iter().zip(estimates);
    let has_interval =
        estimates.iter().flatten().any(|(_, estimate)| estimate.half_width().is_some_and(|half| half > 0.0));
    // Categories are not joined; a single series without intervals is drawn as bars.
    let drawn = match (figure.joined, panel.series.len()) {
        (true, _) => chart::Series::lines,
        (false, 1) if !has_interval => chart::Series::bars,
        (false, _) => chart::Series::marks,
    };
    let series = series.map(|(series, points)| {
        drawn(series.name.clone(), points.iter().map(|(x, estimate)| Point::of(*x, estimate)).collect())
    });
    let mut printed: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for (name, x, y) in &panel.printed {
        printed.entry(name).or_default().push(Point::new(*x, *y));
    }
    let slot = |name: &str| panel.series.iter().position(|series| series.name == name);
    let reference =
        printed.into_iter().filter_map(|(name, points)| Some(chart::Series::marks(name, points).in_slot(slot(name)?)));
    // A name may have printed values alone.
    let printed_at = panel.printed.iter().map(|(_, x, _)| *x).filter(|_| !figure.positions.is_empty());
    let xs = ticks(estimates.iter().flatten().map(|(x, _)| *x).chain(printed_at));
    let labels = xs.into_iter().map(|x| (x, position(x, figure.positions))).collect();
    let id = if panel.suffix.is_empty() { figure.id.clone() } else { format!("{}-{}", figure.id, panel.suffix) };
    // The plots of one figure differ in their metric, or in what their files are called after.
    let is_alike = figure.panels.iter().filter(|other| other.y.label == panel.y.label).count() > 1;
    let own = if is_alike { &panel.suffix } else { &panel.y.label };
    let is_alone = figure.panels.len() < 2 || own.is_empty();
    let title = if is_alone { figure.title.clone() } else { format!("{}: {own}", figure.title) };
    let x = figure.x.clone().with_ticks(labels);
    Chart { reference: reference.collect(), ..Chart::new(id, title, x, panel.y.clone(), series.collect()) }
}

/// Returns the positions on the x axis, in order.
fn ticks(xs: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut xs: Vec<f64> = xs.collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup_by_key(|x| x.to_bits());
    xs
}
