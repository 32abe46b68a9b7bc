//! What a job costs as the world grows: the figure `scale`, and the slopes of its curves.
//!
//! Counts alone: time and memory depend on the computer, and are printed by the example `scale` of hier-grid.

use super::{Cell, Hierarchical, Metric, Scene, TREE, name};
use anyhow::{Result, ensure};
use hier_grid::System;
use hier_grid::config::GridConfig;
use lab::chart::fixed;
use lab::extra::{Estimate, Extra, Made, Tidy, seen};
use lab::page;
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};
use serde::Deserialize;
use sim_core::Streams;

/// The figure's id.
const ID: &str = "scale";

/// What is counted.
const COUNTS: [Metric; 3] = [Metric::messages, Metric::events, Metric::moves];

/// The scenario's table `scale`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScaleTable {
    /// Backbones, and nets in each.
    worlds: Vec<[u32; 2]>,
    quick_worlds: Vec<[u32; 2]>,
    /// Nodes of the largest world that is given to peers.
    peers_up_to: u32,
    replications: u32,
    /// Nodes of the smallest world that is run only once.
    once_from: u32,
}

impl ScaleTable {
    /// The worlds of a run, the smallest first.
    pub(super) fn worlds(&self, quick: bool) -> Vec<[u32; 2]> {
        let mut worlds = if quick { &self.quick_worlds } else { &self.worlds }.clone();
        worlds.sort_by_key(|[backbones, nets]| u64::from(*backbones) * u64::from(*nets));
        worlds.dedup();
        worlds
    }

    /// Replications of a world of so many nodes.
    pub(super) const fn replications(&self, nodes: u32) -> u32 {
        if nodes < self.once_from { self.replications } else { 1 }
    }

    pub(super) fn validate(&self, most_nodes: u64) -> Result<()> {
        for (key, worlds) in [("worlds", &self.worlds), ("quick_worlds", &self.quick_worlds)] {
            for &[backbones, nets] in worlds {
                let nodes = u64::from(backbones).saturating_mul(nets.into()).saturating_mul(150);
                ensure!(
                    (1..=most_nodes).contains(&nodes),
                    "scale.{key} has [{backbones}, {nets}], {nodes} nodes; expected backbones and nets in each, for 1 to \
                     {most_nodes} nodes"
                );
            }
        }
        ensure!(self.replications > 0, "scale.replications is 0; at least 1 is needed");
        Ok(())
    }
}

/// A world of so many backbones, and nets in each, under a tree like the paper's.
pub(super) fn grid([backbones, nets]: [u32; 2]) -> GridConfig {
    GridConfig::of_size(backbones, nets, &[backbones, nets, 2, 5])
}

/// Nodes of such a world, and jobs in it.
fn nodes(world: [u32; 2]) -> u32 {
    let grid = grid(world);
    u32::try_from(grid.all_sites() * u64::from(grid.nodes)).expect("validated")
}

/// The systems that are compared, each with the worlds that it is given.
fn cells(paper: &Hierarchical) -> Vec<(System, Vec<Cell>)> {
    let systems = [TREE, System::Trees(16), System::P2p].into_iter().filter(|system| paper.has(*system));
    let cells = |system| {
        let worlds = paper.worlds.iter().enumerate().filter(|(_, world)| {
            let sites = grid(**world).all_sites();
            match system {
                System::P2p => nodes(**world) <= paper.file.scale.peers_up_to,
                System::Trees(trees) => u64::from(trees) <= sites,
            }
        });
        let cell =
            |(i, world): (usize, &[u32; 2])| paper.cell(Scene::Scale(i), Hierarchical::SMALL, nodes(*world), system);
        worlds.map(cell).collect()
    };
    systems.map(|system| (system, cells(system))).filter(|(_, cells): &(_, Vec<_>)| !cells.is_empty()).collect()
}

/// Nothing where no system is compared.
pub(super) fn exhibits(paper: &Hierarchical) -> Vec<Exhibit<'_, Cell>> {
    if cells(paper).is_empty() {
        return Vec::new();
    }
    vec![Exhibit::Plot(figure(paper)), Exhibit::Extra(slopes(paper))]
}

fn figure(paper: &Hierarchical) -> Figure<Cell> {
    // Peers do not move jobs.
    let moves = |metric| metric == Metric::moves;
    let panel = |metric: Metric| Panel {
        suffix: if metric == COUNTS[0] { "" } else { metric.declared().field },
        log_y: !moves(metric),
        ..Panel::of(
            metric,
            cells(paper)
                .into_iter()
                .filter(|(system, _)| !moves(metric) || *system != System::P2p)
                .map(|(system, cells)| Series {
                    name: name(system),
                    points: cells.into_iter().map(|cell| (f64::from(cell.jobs), cell.get(metric))).collect(),
                })
                .collect(),
        )
    };
    Figure::new(ID, "What a job costs as the world grows", "nodes, and jobs", COUNTS.into_iter().map(panel).collect())
        .caption(
            "Ours: experiment 1 in worlds of other sizes, nets of ten sites as in the paper's, with one small job for each \
             node.",
        )
        .log_x()
        .with_table()
}

/// The slopes of the figure's curves on logarithmic axes.
fn slopes(paper: &Hierarchical) -> Extra<'_, Cell> {
    let all = cells(paper);
    let needs = all.iter().flat_map(|(_, cells)| cells).flat_map(|cell| COUNTS.map(|metric| cell.get(metric)));
    let needs: Vec<Quantity<Cell>> = needs.collect();
    let make = move |estimate: &Estimate<'_, Cell>, _: &Streams| {
        let (mut rows, mut table) = (Vec::new(), Vec::new());
        for (system, cells) in &all {
            let mut row = vec![name(*system)];
            for metric in COUNTS {
                let point = |cell: &Cell| {
                    let found = estimate(&cell.get(metric), paper.file.scale.replications(cell.jobs));
                    (f64::from(cell.jobs), found.mean)
                };
                let slope = slope(&cells.iter().map(point).collect::<Vec<_>>());
                row.push(slope.map_or_else(|| "–".to_owned(), |slope| fixed(slope, 2)));
                if let Some(slope) = slope {
                    let (series, metric) = (name(*system), metric.declared().field);
                    rows.push(Tidy { series, x: "slope".to_owned(), metric, estimate: seen(slope) });
                }
            }
            table.push(row);
        }
        let columns =
            std::iter::once("system".to_owned()).chain(COUNTS.map(|metric| metric.declared().axis.to_owned()));
        let table = page::Table {
            id: "scale-slopes".to_owned(),
            title: "Slopes on logarithmic axes".to_owned(),
            caption: "Of the figure scale, by least squares: 0 is a cost that does not grow, 1 one that grows in proportion to \
                      the nodes."
                .to_owned(),
            columns: columns.collect(),
            rows: table,
        };
        Made { charts: Vec::new(), rows, tables: vec![table] }
    };
    Extra { id: ID, needs, make: Box::new(make) }
}

/// Slope of the line through the logarithms, by least squares; `None` without two points, or where a value is not positive.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 || points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0 || y.is_nan()) {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (libm::log10(*x), libm::log10(*y))).collect();
    let count = f64::from(u32::try_from(logs.len()).ok()?);
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|(x, _)| *x), mean(|(_, y)| *y));
    let products = logs.iter().map(|(of_x, of_y)| (of_x - x) * (of_y - y)).sum::<f64>();
    Some(products / logs.iter().map(|(of_x, _)| (of_x - x).powi(2)).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_the_exponent_of_a_power_law() {
        let cubes: Vec<(f64, f64)> = [1.0_f64, 10.0, 1000.0].map(|x| (x, 7.0 * x.powi(3))).to_vec();
        let found = slope(&cubes).expect("a slope");
        assert!((found - 3.0).abs() < 1e-12, "{found}");
        assert_eq!(slope(&cubes[..1]), None, "one point has no slope");
        assert_eq!(slope(&[(1.0, 0.0), (2.0, 1.0)]), None, "nothing has no logarithm");
    }
}
