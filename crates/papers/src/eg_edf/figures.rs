//! Figures 1 and 2, left and right, and three of our own.

use super::{Cell, EgEdfPaper, Policy};
use lab::paper::{Figure, Panel, Series};

const INTERARRIVAL: &str = "mean time between jobs (s)";

pub(super) fn figures(paper: &EgEdfPaper) -> Vec<Figure<Cell>> {
    let all = |metric: &'static str, y_label| panel(metric, y_label, over_loads(paper, &Policy::ALL, metric, false));
    vec![
        figure(
            "fig1-left",
            "Figure 1, left. Late jobs",
            "Jobs that end after their deadline, of all jobs (R3). Seven in ten have a deadline.",
            all("late_percent", "late jobs (%)"),
        ),
        figure(
            "fig1-right",
            "Figure 1, right. System usage",
            "Active processors over the lesser of all processors and those asked for by running and waiting jobs.",
            all("usage_percent", "system usage (%)"),
        ),
        figure(
            "fig1-right-strict",
            "Figure 1, right, with strict backfilling",
            "The same if a job may pass the head of the queue only when it ends by the head's reservation, on whatever \
             machine (R6 = strict). FCFS, EG-EDF and Tabu search are as in figure 1.",
            panel("usage_percent", "system usage (%)", over_loads(paper, &Policy::ALL, "usage_percent", true)),
        ),
        figure(
            "fig2-left",
            "Figure 2, left. Scheduling cost",
            "Elementary operations at each event: a job against a machine, a step in a plan, a comparison in a sort.",
            Panel { log_y: true, ..all("operations_per_event", "operations per event") },
        ),
        figure(
            "fig2-right",
            "Figure 2, right. Slowdown",
            "Mean of (wait + time on the machine) / time on the machine.",
            all("slowdown", "mean slowdown"),
        ),
        figure("makespan", "Makespan", "From the first submission to the last end.", all("makespan", "makespan (s)")),
        Figure {
            panels: vec![
                panel(
                    "moves_tried_per_job",
                    "gaps weighed per job",
                    over_loads(paper, &[Policy::Tabu], "moves_tried_per_job", false),
                ),
                Panel {
                    suffix: "accepted",
                    ..panel(
                        "moves_accepted_per_job",
                        "moves made per job",
                        over_loads(paper, &[Policy::Tabu], "moves_accepted_per_job", false),
                    )
                },
            ],
            ..figure("moves", "Tabu search: moves", "How much Tabu search has to do.", panel("", "", Vec::new()))
        },
    ]
}

fn figure(id: &'static str, title: &str, caption: &str, panel: Panel<Cell>) -> Figure<Cell> {
    Figure {
        id,
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_label: INTERARRIVAL,
        log_x: false,
        panels: vec![panel],
        as_table: false,
    }
}

fn panel(metric: &'static str, y_label: &'static str, series: Vec<Series<Cell>>) -> Panel<Cell> {
    Panel { suffix: "", metric, y_label, log_y: false, series, printed: Vec::new() }
}

/// One series per policy over the time between jobs. `strict` concerns the policies that backfill.
fn over_loads(paper: &EgEdfPaper, policies: &[Policy], metric: &str, strict: bool) -> Vec<Series<Cell>> {
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
