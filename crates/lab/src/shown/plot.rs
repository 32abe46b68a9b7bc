//! Plots of a figure: looks of the series and ticks of the axes.

use crate::chart::{self, Axis, Chart, Point};
use crate::exhibit::{Exhibit, Figure, Panel};
use crate::quantity::DesignPoint;
use metrics::ConfidenceInterval;
use std::collections::{BTreeMap, BTreeSet};

/// One plotted point with its estimate.
pub(super) type Estimated = (f64, ConfidenceInterval);

/// Returns a position on the x axis in words: its name, or the number.
pub(super) fn position(x: f64, names: &[&str]) -> String {
    let named = names.iter().zip(0_u32..).find(|(_, place)| f64::from(*place).total_cmp(&x).is_eq());
    named.map_or_else(|| x.to_string(), |(name, _)| (*name).to_owned())
}

/// Colour and mark of each series in all figures of a paper: names that occur in several figures keep theirs.
pub struct Looks(Vec<String>);

impl Looks {
    /// Assigns looks by the order in which the names first appear.
    pub fn of<C: DesignPoint>(exhibits: &[Exhibit<'_, C>]) -> Self {
        let figures = || {
            exhibits.iter().filter_map(|exhibit| match exhibit {
                Exhibit::Plot(figure) => Some(figure),
                _ => None,
            })
        };
        let mut figures_with: BTreeMap<&str, u32> = BTreeMap::new();
        for figure in figures() {
            let series = figure.panels.iter().flat_map(|panel| &panel.series);
            let names: BTreeSet<&str> = series.map(|series| series.name.as_str()).collect();
            names.into_iter().for_each(|name| *figures_with.entry(name).or_default() += 1);
        }
        let mut recurring: Vec<String> = Vec::new();
        for series in figures().flat_map(|figure| &figure.panels).flat_map(|panel| &panel.series) {
            if figures_with[series.name.as_str()] > 1 && !recurring.contains(&series.name) {
                recurring.push(series.name.clone());
            }
        }
        Self(recurring)
    }

    /// Gives the chart the paper's looks. Names of this figure alone take unused looks if the figure also shows a shared name;
    /// otherwise they count from the first.
    pub(super) fn apply_to(&self, chart: &mut Chart) {
        let slot_of = |name: &str| self.0.iter().position(|known| *known == name);
        if !chart.series.iter().any(|series| slot_of(&series.name).is_some()) {
            return;
        }
        let mut next = self.0.len();
        for series in chart.series.iter_mut().filter(|series| series.slot.is_none()) {
            series.slot = Some(slot_of(&series.name).unwrap_or_else(|| {
                next += 1;
                next - 1
            }));
        }
    }
}

/// Returns one plot of a figure, from the estimates of its series.
pub(super) fn chart<C: DesignPoint>(figure: &Figure<C>, panel: &Panel<C>, estimates: &[Vec<Estimated>]) -> Chart {
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
    let is_alike = figure.panels.iter().filter(|other| other.y_label == panel.y_label).count() > 1;
    let own = if is_alike { &panel.suffix } else { &panel.y_label };
    let is_alone = figure.panels.len() < 2 || own.is_empty();
    let title = if is_alone { figure.title.clone() } else { format!("{}: {own}", figure.title) };
    Chart {
        id,
        title,
        x: Axis { log: figure.log_x, ..Axis::new(figure.x_label.as_str()).with_ticks(labels) },
        y: Axis { log: panel.log_y, signed: panel.signed, ..Axis::new(&panel.y_label) },
        series: series.collect(),
        reference: reference.collect(),
        observations: "",
    }
}

/// Returns the positions on the x axis, in order.
pub(super) fn ticks(xs: impl Iterator<Item = f64>) -> Vec<f64> {
    let bits: BTreeSet<u64> = xs.map(f64::to_bits).collect();
    let mut xs: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
    xs.sort_by(f64::total_cmp);
    xs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhibit::Series;
    use crate::metric::for_tests::Metric;

    fn figure(id: &'static str, names: &[&str]) -> Figure<u8> {
        Figure::of(id, "", "N", Metric::wait, names.iter().map(|name| Series::new(*name, [])))
    }

    #[test]
    fn a_name_keeps_its_colour_in_every_figure_and_no_other_name_takes_it() {
        let names: [(&str, &[&str]); 3] =
            [("fig3", &["P2P", "Tree"]), ("fig8", &["Tree", "Tree, butterfly off"]), ("fig9", &["P2P"])];
        let looks = Looks::of(&names.map(|(id, names)| Exhibit::Plot(figure(id, names))));
        let figures = names.map(|(id, names)| figure(id, names));
        let slots = |figure: &Figure<u8>| -> Vec<Option<usize>> {
            let mut drawn = chart(figure, &figure.panels[0], &[Vec::new(), Vec::new()]);
            looks.apply_to(&mut drawn);
            drawn.series.iter().map(|series| series.slot).collect()
        };
        assert_eq!(slots(&figures[0]), [Some(0), Some(1)]);
        assert_eq!(slots(&figures[1]), [Some(1), Some(2)], "blue is P2P's in every figure");
    }
}
