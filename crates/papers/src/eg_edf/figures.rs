//! Figures 1 and 2, left and right, and three additional ones.

use super::claims::side_by_side;
use super::{Cell, EgEdfPaper, Metric, Policy};
use lab::paper::{Exhibit, Panel, Series};
use lab::quantity::DesignPoint;

pub(super) fn exhibits(paper: &EgEdfPaper) -> Vec<Exhibit<'_, Cell>> {
    let all = |metric| Panel::of(metric, over_loads(paper, &Policy::ALL, metric, false));
    let of_tabu = |metric| Panel::of(metric, over_loads(paper, &[Policy::Tabu], metric, false));
    let mut exhibits = lab::figures! { over "mean time between jobs (s)";
        "fig1-left" "Figure 1, left. Late jobs"
            "Jobs that end after their deadline, of all jobs (R3). Seven in ten have a deadline."
            => [all(Metric::late_percent)];
        "fig1-right" "Figure 1, right. System usage"
            "Active processors over the smaller of all processors and those requested by running and waiting jobs."
            => [all(Metric::usage_percent)];
        "fig1-right-strict" "Figure 1, right, with strict backfilling"
            "The same if a job may pass the head of the queue only when it ends by the head's reservation, on whatever machine (R6 = strict). FCFS, EG-EDF and Tabu search are as in figure 1."
            => [Panel::of(Metric::usage_percent, over_loads(paper, &Policy::ALL, Metric::usage_percent, true))];
        "fig2-left" "Figure 2, left. Scheduling cost"
            "Elementary operations at each event: a job against a machine, a step in a plan, a comparison in a sort."
            => [all(Metric::operations_per_event).log_y()];
        "fig2-right" "Figure 2, right. Slowdown" "Mean of (wait + time on the machine) / time on the machine."
            => [all(Metric::slowdown)];
        "makespan" "Makespan" "From the first submission to the last end." => [all(Metric::makespan)];
        "moves" "Tabu search: moves" "Work of Tabu search."
            => [of_tabu(Metric::moves_tried_per_job), of_tabu(Metric::moves_accepted_per_job).suffix("accepted")];
    };
    // The claims under both presets stand behind the figure of the preset.
    exhibits.insert(3, side_by_side(paper));
    exhibits
}

/// Returns one series per policy over the time between jobs. `strict` applies to the policies that backfill.
fn over_loads(paper: &EgEdfPaper, policies: &[Policy], metric: Metric, strict: bool) -> Vec<Series<Cell>> {
    let series = |&policy: &Policy| {
        let cell = |load| Cell { policy, load, strict: strict && policy.backfills() };
        let points = paper.loads().into_iter().map(|load| (paper.interarrival(load), cell(load).get(metric)));
        Series::new(policy.name(), points)
    };
    policies.iter().map(series).collect()
}
