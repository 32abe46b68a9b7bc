//! Figures 2 to 14, table 2, and two additional ones.

use super::claims::COMPLETED;
use super::{Cell, Metric, MultiSite, number};
use gang_grid::Approach;
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

const NAMES: [&str; 3] = ["Approach 1", "Approach 2", "Approach 3"];

const LAMBDA: &str = "arrival rate of locals per site, λ";

pub(super) fn exhibits(paper: &MultiSite) -> Vec<Exhibit<'_, Cell>> {
    let approaches = &paper.file.policy.approaches[..];
    let beyond_one: Vec<Approach> = approaches.iter().copied().filter(|&approach| approach != Approach::One).collect();
    let two: &[Approach] = if approaches.contains(&Approach::Two) { &[Approach::Two] } else { &[] };
    let three: &[Approach] = if approaches.contains(&Approach::Three) { &[Approach::Three] } else { &[] };
    let by_approach = |metric| Panel::of(metric, over_loads(paper, approaches, Varied::None, metric));
    let by_overhead =
        |approach: &[Approach], metric| Panel::of(metric, over_loads(paper, approach, Varied::Overhead, metric));
    let by_threshold = |metric| Panel::of(metric, over_loads(paper, two, Varied::Threshold, metric));

    let printed =
        COMPLETED.map(|(_, approach, lambda, percent, _)| (NAMES[usize::from(number(approach)) - 1], lambda, percent));
    let mut figures = vec![
        figure(
            "fig2",
            "Figure 2. WRT of gangs",
            "Weighted response time of completed gangs, equation (5). T = 0, overhead 10 %.",
            by_approach(Metric::wrt),
        ),
        figure(
            "fig3",
            "Figure 3. WSLD of gangs",
            "Weighted slowdown of completed gangs, equation (6). T = 0, overhead 10 %.",
            by_approach(Metric::wsld),
        ),
        figure(
            "fig4",
            "Figure 4. Completed gangs",
            "Gangs completed, of those that had arrived when the run stopped. Hollow marks: what the paper prints.",
            Panel { printed: printed.to_vec(), ..by_approach(Metric::completed_percent) },
        ),
    ];
    if approaches.contains(&Approach::One) {
        let increase = beyond_one.iter().map(|&approach| Series {
            name: format!("Approach {}", number(approach)),
            points: over(paper, |load| {
                let completed = |approach| paper.cell(approach, load).get(Metric::completed_percent);
                completed(approach).percent_above(completed(Approach::One))
            }),
        });
        figures.push(figure(
            "fig5",
            "Figure 5. ICG: more gangs than approach 1",
            "Relative increase in completed gangs over approach 1, per replication.",
            signed("icg_percent", "increase in completed gangs (%)", increase.collect()),
        ));
    }
    figures.extend([
        figure("fig6", "Figure 6. RT of locals", "Mean response time of local jobs. T = 0, overhead 10 %.", by_approach(Metric::rt_local)),
        figure("fig7", "Figure 7. SLD of locals", "Mean slowdown of local jobs, as in the paper. Its expectation is infinite for exponential service, so the intervals are wide and honest only for this run length.", by_approach(Metric::sld_local)),
        figure("fig7-bounded", "Figure 7 with a floor: bounded SLD of locals", "The same with the service time floored (A1): what claim L4 is judged on.", by_approach(Metric::bounded_sld_local)),
        figure("table2", "Table 2. Processor utilization", "Processor time that runs jobs, of all processor time.", by_approach(Metric::utilization_percent)).with_table(),
        figure("fig8", "Figure 8. WRT at two overheads, approach 2", "Overhead of a gang that spans sites: 10 % and 5 % of its service time.", by_overhead(two, Metric::wrt)),
        figure("fig9", "Figure 9. WSLD at two overheads, approach 2", "Overhead of a gang that spans sites: 10 % and 5 % of its service time.", by_overhead(two, Metric::wsld)),
        figure("fig10", "Figure 10. WRT at two overheads, approach 3", "Overhead of a gang that spans sites: 10 % and 5 % of its service time.", by_overhead(three, Metric::wrt)),
        figure("fig11", "Figure 11. WSLD at two overheads, approach 3", "Overhead of a gang that spans sites: 10 % and 5 % of its service time.", by_overhead(three, Metric::wsld)),
        figure("fig12", "Figure 12. WRT at three thresholds, approach 2", "T: how long a backfilled local may delay a gang.", by_threshold(Metric::wrt)),
        figure("fig13", "Figure 13. WSLD at three thresholds, approach 2", "T: how long a backfilled local may delay a gang.", by_threshold(Metric::wsld)),
        figure("fig14", "Figure 14. DRT: what locals gain from T", "Relative decrease of the locals' mean response time against T = 0, per replication. Approach 2.", signed("drt_percent", "decrease of response time (%)", drt(paper, two))),
        by_size(paper),
        run_length(paper),
    ]);
    let mut exhibits: Vec<_> = figures.into_iter().map(Exhibit::Plot).collect();
    exhibits.retain(|exhibit| !exhibit.is_empty());
    exhibits
}

/// Parameter that a figure varies besides the approach.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Varied {
    None,
    Overhead,
    Threshold,
}

fn figure(id: &'static str, title: &str, caption: &str, panel: Panel<Cell>) -> Figure<Cell> {
    Figure::new(id, title, LAMBDA, vec![panel]).caption(caption)
}

/// Returns a panel of a relative difference of either sign.
fn signed(metric: &'static str, y_label: &'static str, series: Vec<Series<Cell>>) -> Panel<Cell> {
    Panel { signed: true, ..Panel::derived(metric, y_label, series) }
}

/// Returns one point per load, at x = λ, lowest first.
fn over(paper: &MultiSite, quantity: impl Fn(usize) -> Quantity<Cell>) -> Vec<(f64, Quantity<Cell>)> {
    paper.loads().into_iter().map(|load| (paper.lambda(load), quantity(load))).collect()
}

fn over_loads(paper: &MultiSite, approaches: &[Approach], variant: Varied, metric: Metric) -> Vec<Series<Cell>> {
    let policy = &paper.file.policy;
    let variants = match variant {
        Varied::None => 1,
        Varied::Overhead => policy.overheads.len(),
        Varied::Threshold => policy.thresholds.len(),
    };
    let series = |&approach: &Approach| {
        (0..variants).map(move |i| {
            let (threshold, overhead, suffix) = match variant {
                Varied::None => (0, 0, String::new()),
                Varied::Overhead => (0, i, format!(", overhead={}%", 100.0 * policy.overheads[i])),
                Varied::Threshold => (i, 0, format!(", T={}", policy.thresholds[i])),
            };
            Series {
                name: format!("Approach {}{suffix}", number(approach)),
                points: over(paper, |load| Cell { threshold, overhead, ..paper.cell(approach, load) }.get(metric)),
            }
        })
    };
    approaches.iter().flat_map(series).collect()
}

/// Returns the series of figure 14: (RT at T = 0 − RT at T) / RT at T = 0.
fn drt(paper: &MultiSite, approaches: &[Approach]) -> Vec<Series<Cell>> {
    let thresholds = &paper.file.policy.thresholds;
    let series = |&approach: &Approach| {
        (1..thresholds.len()).map(move |threshold| Series {
            name: format!("Approach {}, T={}", number(approach), thresholds[threshold]),
            points: over(paper, |load| paper.drt(approach, load, threshold)),
        })
    };
    approaches.iter().flat_map(series).collect()
}

impl MultiSite {
    /// Returns the reduction of the locals' response time when T rises from its first value, in percent.
    pub(super) fn drt(&self, approach: Approach, load: usize, threshold: usize) -> Quantity<Cell> {
        let cell = self.cell(approach, load);
        Cell { threshold, ..cell }.get(Metric::rt_local).percent_above(cell.get(Metric::rt_local)) * -1.0
    }
}

/// Returns an additional figure: completed gangs and their response times by size, at the middle load.
fn by_size(paper: &MultiSite) -> Figure<Cell> {
    let load = paper.middle_load();
    let series = |metric: fn(u32) -> Metric| -> Vec<Series<Cell>> {
        let of = |&approach: &Approach| {
            let sizes = paper.file.workload.gang_sizes.iter().copied();
            let name = format!("Approach {}", number(approach));
            Series::over(name, sizes, |size| paper.cell(approach, load).get(metric(size)))
        };
        paper.file.policy.approaches.iter().map(of).collect()
    };
    let panels = vec![
        Panel::of(Metric::completed_percent, series(Metric::completed_percent_of)),
        Panel {
            suffix: "wrt",
            log_y: true,
            y_label: "response time",
            ..Panel::of(Metric::wrt, series(Metric::wrt_of))
        },
    ];
    Figure::new("by-size", format!("Gangs by size, λ = {}", paper.lambda(load)), "tasks of the gang", panels)
        .caption("Completed gangs and their response time by number of tasks. T = 0, overhead 10 %.")
        .log_x()
}

/// Returns an additional figure: dependence of the results on the length of the run, at the middle load.
fn run_length(paper: &MultiSite) -> Figure<Cell> {
    let load = paper.middle_load();
    let series = |metric| -> Vec<Series<Cell>> {
        let of = |&approach: &Approach| Series {
            name: format!("Approach {}", number(approach)),
            points: paper
                .run_lengths
                .iter()
                .map(|&jobs| {
                    #[expect(clippy::cast_precision_loss, reason = "a position on an axis")]
                    let x = jobs as f64;
                    (x, Cell { jobs, ..paper.cell(approach, load) }.get(metric))
                })
                .collect(),
        };
        paper.file.policy.approaches.iter().map(of).collect()
    };
    let panels = vec![
        Panel::of(Metric::wrt, series(Metric::wrt)),
        Panel { suffix: "completed", ..Panel::of(Metric::completed_percent, series(Metric::completed_percent)) },
    ];
    let title = format!("Length of the run, λ = {}", paper.lambda(load));
    Figure::new("run-length", title, "jobs completed when the run stops", panels)
        .caption("WRT grows with the run wherever gangs starve: it is no steady-state value.")
        .log_x()
}
