//! Figures 1 and 2, left and right, and three additional ones.

use super::claims::side_by_side;
use super::{Cell, EgEdfPaper, Metric, Policy};
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::DesignPoint;

const INTERARRIVAL: &str = "mean time between jobs (s)";

pub(super) fn exhibits(paper: &EgEdfPaper) -> Vec<Exhibit<'_, Cell>> {
    let all = |metric| Panel::of(metric, over_loads(paper, &Policy::ALL, metric, false));
    let of_tabu = |metric| Panel::of(metric, over_loads(paper, &[Policy::Tabu], metric, false));
    vec![
        figure(
            "fig1-left",
            "Figure 1, left. Late jobs",
            "Jobs that end after their deadline, of all jobs (R3). Seven in ten have a deadline.",
            all(Metric::late_percent),
        ),
        figure(
            "fig1-right",
            "Figure 1, right. System usage",
            "Active processors over the smaller of all processors and those requested by running and waiting jobs.",
            all(Metric::usage_percent),
        ),
        figure(
            "fig1-right-strict",
            "Figure 1, right, with strict backfilling",
            "The same if a job may pass the head of the queue only when it ends by the head's reservation, on whatever \
             machine (R6 = strict). FCFS, EG-EDF and Tabu search are as in figure 1.",
            Panel::of(Metric::usage_percent, over_loads(paper, &Policy::ALL, Metric::usage_percent, true)),
        ),
        Exhibit::Extra(side_by_side(paper)),
        figure(
            "fig2-left",
            "Figure 2, left. Scheduling cost",
            "Elementary operations at each event: a job against a machine, a step in a plan, a comparison in a sort.",
            Panel { log_y: true, ..all(Metric::operations_per_event) },
        ),
        figure(
            "fig2-right",
            "Figure 2, right. Slowdown",
            "Mean of (wait + time on the machine) / time on the machine.",
            all(Metric::slowdown),
        ),
        figure("makespan", "Makespan", "From the first submission to the last end.", all(Metric::makespan)),
        plot(
            "moves",
            "Tabu search: moves",
            "Work of Tabu search.",
            vec![
                of_tabu(Metric::moves_tried_per_job),
                Panel { suffix: "accepted", ..of_tabu(Metric::moves_accepted_per_job) },
            ],
        ),
    ]
}

fn figure<'a>(id: &'static str, title: &str, caption: &str, panel: Panel<Cell>) -> Exhibit<'a, Cell> {
    plot(id, title, caption, vec![panel])
}

fn plot<'a>(id: &'static str, title: &str, caption: &str, panels: Vec<Panel<Cell>>) -> Exhibit<'a, Cell> {
    Exhibit::Plot(Figure::new(id, title, INTERARRIVAL, panels).caption(caption))
}

/// Returns one series per policy over the time between jobs. `strict` applies to the policies that backfill.
fn over_loads(paper: &EgEdfPaper, policies: &[Policy], metric: Metric, strict: bool) -> Vec<Series<Cell>> {
    let series = |&policy: &Policy| Series {
        name: policy.name().to_owned(),
        points: paper
            .loads()
            .into_iter()
            .map(|load| {
                let strict = strict && matches!(policy, Policy::Easy | Policy::Flex);
                (paper.interarrival(load), Cell { strict, ..EgEdfPaper::cell(policy, load) }.get(metric))
            })
            .collect(),
    };
    policies.iter().map(series).collect()
}
