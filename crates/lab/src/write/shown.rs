//! Exhibits as the page and the files show them: pictures, rows of data, tables.

use super::plot::{Estimated, Looks, chart, position, ticks};
use crate::chart::Picture;
use crate::exhibit::{Drawing, Exhibit, Figure, Panel, Schedule, Series};
use crate::extra::{Extra, Made, seen};
use crate::page;
use crate::paper::Paper;
use crate::quantity::{DesignPoint, Quantity};
use crate::study::Study;
use crate::table::{Row, Table, in_words};
use metrics::ConfidenceInterval;
use sim_core::Streams;

/// An exhibit whose numbers are known.
pub(crate) struct Shown {
    pub(super) id: &'static str,
    /// Each with its caption.
    pub(super) pictures: Vec<(Picture, String)>,
    /// For `data/ID.csv`.
    pub(super) rows: Vec<DataRow>,
    pub(super) tables: Vec<page::Table>,
    /// Whether its tables stand behind those that the paper has.
    pub(super) is_extra: bool,
}

/// The columns `series`, `x` and `metric` of a figure's data, and what was found.
pub(super) type DataRow = (String, String, String, ConfidenceInterval);

/// Makes what is shown of exhibits.
pub(crate) struct Showing<'a, P: Paper> {
    pub(crate) study: &'a Study<'a, P>,
    pub(crate) replications: u32,
    pub(crate) looks: &'a Looks,
    /// Those of the first replication.
    pub(crate) streams: Streams,
}

impl<P: Paper> Showing<'_, P> {
    pub(crate) fn show(&self, exhibit: &Exhibit<'_, P::Cell>) -> Shown {
        match exhibit {
            Exhibit::Plot(figure) => self.plot(figure),
            Exhibit::Table(table) => self.table(table),
            Exhibit::Gantt(id, make) => schedule(id, make(&self.streams)),
            Exhibit::Diagram(id, make) => drawing(id, make(&self.streams)),
            Exhibit::Extra(extra) => self.extra(extra),
        }
    }

    fn plot(&self, figure: &Figure<P::Cell>) -> Shown {
        let mut shown = Shown::nothing(figure.id);
        for panel in &figure.panels {
            let estimates = self.estimates(panel);
            for (series, points) in panel.series.iter().zip(&estimates) {
                for (x, estimate) in points {
                    let x = position(*x, figure.positions);
                    shown.rows.push((series.name.clone(), x, panel.metric.to_owned(), *estimate));
                }
            }
            let picture = Picture::from(self.looks.applied_to(chart(figure, panel, &estimates)));
            shown.pictures.push((picture, figure.caption.clone()));
            if figure.as_table {
                shown.tables.push(values(figure, panel, &estimates));
            }
        }
        shown
    }

    fn table(&self, table: &Table<P::Cell>) -> Shown {
        let found = table.found().map(|(column, row, quantity)| {
            (column.to_owned(), row.x.clone(), row.metric.clone(), self.estimate(quantity))
        });
        let row = |row: &Row<P::Cell>| {
            let cells = row.cells.iter().map(|entry| entry.text(|quantity| self.estimate(quantity)));
            row.names.iter().cloned().chain(cells).collect()
        };
        let whole = page::Table {
            id: format!("{}-values", table.id),
            title: table.title.clone(),
            caption: table.caption.clone(),
            columns: [&table.names[..], &table.columns].concat(),
            rows: table.rows.iter().map(row).collect(),
        };
        Shown { rows: found.collect(), tables: vec![whole], ..Shown::nothing(table.id) }
    }

    fn extra(&self, extra: &Extra<'_, P::Cell>) -> Shown {
        let at_most =
            |quantity: &Quantity<P::Cell>, most: u32| self.study.estimate(quantity, most.min(self.replications));
        let Made { charts, rows, tables } = (extra.make)(&at_most, &self.streams);
        let picture = |(chart, caption)| (Picture::from(self.looks.applied_to(chart)), caption);
        Shown {
            pictures: charts.into_iter().map(picture).collect(),
            rows: rows.into_iter().map(|row| (row.series, row.x, row.metric.to_owned(), row.estimate)).collect(),
            tables,
            is_extra: true,
            ..Shown::nothing(extra.id)
        }
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.estimate(quantity, self.replications)
    }

    fn estimates(&self, panel: &Panel<P::Cell>) -> Vec<Vec<Estimated>> {
        let points = |series: &Series<P::Cell>| {
            series.points.iter().map(|(x, quantity)| (*x, self.estimate(quantity))).collect()
        };
        panel.series.iter().map(points).collect()
    }
}

impl Shown {
    const fn nothing(id: &'static str) -> Self {
        Self { id, pictures: Vec::new(), rows: Vec::new(), tables: Vec::new(), is_extra: false }
    }
}

/// Bars of schedules as data: a row for the start, the end and the processors of each job.
fn schedule(id: &'static str, schedule: Schedule) -> Shown {
    let mut shown = Shown::nothing(id);
    for (suffix, mut gantt) in schedule.panels {
        gantt.id = format!("{id}-{suffix}");
        for bar in &gantt.bars {
            let processors: u32 = bar.processors.iter().map(|(_, count)| count).sum();
            for (metric, value) in [("start", bar.start), ("end", bar.end), ("processors", processors.into())] {
                shown.rows.push((suffix.to_owned(), bar.job.clone(), metric.to_owned(), seen(value)));
            }
        }
        shown.pictures.push((Picture::from(gantt), schedule.caption.clone()));
    }
    shown
}

fn drawing(id: &'static str, drawing: Drawing) -> Shown {
    let Drawing { caption, mut sketch, data } = drawing;
    id.clone_into(&mut sketch.id);
    let rows = data.into_iter().map(|(series, x, metric, value)| (series, x, metric.to_owned(), seen(value)));
    Shown { pictures: vec![(Picture::from(sketch), caption)], rows: rows.collect(), ..Shown::nothing(id) }
}

/// A plot as a table: a row per series, a column per x.
fn values<C: DesignPoint>(figure: &Figure<C>, panel: &Panel<C>, estimates: &[Vec<Estimated>]) -> page::Table {
    let xs: Vec<f64> = ticks(estimates);
    let row = |(series, points): (&Series<C>, &Vec<Estimated>)| {
        let at = |x: &f64| points.iter().find(|(at, _)| at.total_cmp(x).is_eq());
        let cells = xs.iter().map(|x| at(x).map_or_else(String::new, |(_, estimate)| in_words(estimate)));
        std::iter::once(series.name.clone()).chain(cells).collect()
    };
    page::Table {
        id: format!("{}-values", figure.id),
        title: figure.title.clone(),
        caption: format!("{}, by {}; mean ± half-width of the 95 % interval.", panel.y_label, figure.x_label),
        columns: std::iter::once(String::new()).chain(xs.iter().map(f64::to_string)).collect(),
        rows: panel.series.iter().zip(estimates).map(row).collect(),
    }
}
