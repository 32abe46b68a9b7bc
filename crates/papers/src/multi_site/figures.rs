//! Figures 2 to 14, table 2, and two additional ones.

use super::claims::COMPLETED;
use super::{Cell, Metric, MultiSite, number};
use gang_grid::Approach::{self, One, Three, Two};
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

const LAMBDA: &str = "arrival rate of locals per site, λ";

pub(super) fn exhibits(paper: &MultiSite) -> Vec<Exhibit<'_, Cell>> {
    let all = &paper.policy.approaches[..];
    let [two, three] = [Two, Three].map(|approach| if paper.has(approach) { vec![approach] } else { Vec::new() });
    let others: Vec<Approach> = all.iter().copied().filter(|approach| *approach != One && paper.has(One)).collect();
    let overheads: Vec<String> =
        paper.policy.overheads.iter().map(|part| format!(", overhead={}%", 100.0 * part)).collect();
    let thresholds: Vec<String> = paper.policy.thresholds.iter().map(|time| format!(", T={time}")).collect();
    let by_approach = |metric| [Panel::of(metric, paper.over_loads(all, &[String::new()], |cell, _| cell.get(metric)))];
    let by_overhead = |approach: &[Approach], metric| {
        let at = |cell, overhead| Cell { overhead, ..cell }.get(metric);
        [Panel::of(metric, paper.over_loads(approach, &overheads, at))]
    };
    let by_threshold = |metric| {
        let at = |cell, threshold| Cell { threshold, ..cell }.get(metric);
        [Panel::of(metric, paper.over_loads(&two, &thresholds, at))]
    };
    let completed_more = |cell: Cell, _| {
        let completed = |cell: Cell| cell.get(Metric::completed_percent);
        completed(cell).percent_above(completed(Cell { approach: One, ..cell }))
    };
    let increases = paper.over_loads(&others, &[String::new()], completed_more);
    // (RT at T = 0 − RT at T) / RT at T = 0.
    let above_zero = thresholds.get(1..).unwrap_or_default();
    let decreases = paper.over_loads(&two, above_zero, |cell, place| MultiSite::drt(cell, place + 1));
    let signed = |metric: &str, y_label: &str, series| [Panel::derived(metric, y_label, series).signed()];
    let printed = COMPLETED.map(|(_, approach, lambda, percent, _)| (name(approach), lambda, percent));
    let completed = by_approach(Metric::completed_percent).map(|panel| panel.printed(printed.clone()));
    let of_overheads = "Overhead of a gang that spans sites: 10 % and 5 % of its service time.";
    let of_thresholds = "T: how long a backfilled local may delay a gang.";
    let mut exhibits = lab::figures! { over LAMBDA;
        "fig2" "Figure 2. WRT of gangs" "Weighted response time of completed gangs, equation (5). T = 0, overhead 10 %."
            => by_approach(Metric::wrt);
        "fig3" "Figure 3. WSLD of gangs" "Weighted slowdown of completed gangs, equation (6). T = 0, overhead 10 %."
            => by_approach(Metric::wsld);
        "fig4" "Figure 4. Completed gangs"
            "Gangs completed, of those that had arrived when the run stopped. Hollow marks: values printed in the paper."
            => completed;
        "fig5" "Figure 5. ICG: more gangs than approach 1"
            "Relative increase in completed gangs over approach 1, per replication."
            => signed("icg_percent", "increase in completed gangs (%)", increases);
        "fig6" "Figure 6. RT of locals" "Mean response time of local jobs. T = 0, overhead 10 %."
            => by_approach(Metric::rt_local);
        "fig7" "Figure 7. SLD of locals"
            "Mean slowdown of local jobs, as in the paper. Its expectation is infinite for exponential service, so the intervals are wide and hold for this run length only."
            => by_approach(Metric::sld_local);
        "fig7-bounded" "Figure 7 with a floor: bounded SLD of locals"
            "The same with a lower bound on the service time (A1); claim L4 is judged on it."
            => by_approach(Metric::bounded_sld_local);
        "table2" "Table 2. Processor utilization" "Processor time that runs jobs, of all processor time."
            => by_approach(Metric::utilization_percent), with_table;
        "fig8" "Figure 8. WRT at two overheads, approach 2" of_overheads => by_overhead(&two, Metric::wrt);
        "fig9" "Figure 9. WSLD at two overheads, approach 2" of_overheads => by_overhead(&two, Metric::wsld);
        "fig10" "Figure 10. WRT at two overheads, approach 3" of_overheads => by_overhead(&three, Metric::wrt);
        "fig11" "Figure 11. WSLD at two overheads, approach 3" of_overheads => by_overhead(&three, Metric::wsld);
        "fig12" "Figure 12. WRT at three thresholds, approach 2" of_thresholds => by_threshold(Metric::wrt);
        "fig13" "Figure 13. WSLD at three thresholds, approach 2" of_thresholds => by_threshold(Metric::wsld);
        "fig14" "Figure 14. DRT: what locals gain from T"
            "Relative decrease of the locals' mean response time against T = 0, per replication. Approach 2."
            => signed("drt_percent", "decrease of response time (%)", decreases);
    };
    exhibits.extend([paper.by_size(), paper.run_length()].map(Exhibit::from));
    exhibits.retain(|exhibit| !exhibit.is_empty());
    exhibits
}

fn name(approach: Approach) -> String {
    format!("Approach {}", number(approach))
}

impl MultiSite {
    /// Returns a series for each approach and variant over λ, lowest first. `quantity` receives a cell and the position of the variant.
    fn over_loads(
        &self,
        approaches: &[Approach],
        variants: &[String],
        quantity: impl Fn(Cell, usize) -> Quantity<Cell>,
    ) -> Vec<Series<Cell>> {
        let lines = approaches.iter().flat_map(|approach| variants.iter().enumerate().map(move |it| (*approach, it)));
        let series = |(approach, (place, variant)): (Approach, (usize, &String))| {
            let at = |load| (self.lambda(load), quantity(self.cell(approach, load), place));
            Series::new(name(approach) + variant, self.loads().into_iter().map(at))
        };
        lines.map(series).collect()
    }

    /// Returns the reduction of the locals' response time when T rises from its first value, in percent.
    pub(super) fn drt(cell: Cell, threshold: usize) -> Quantity<Cell> {
        Cell { threshold, ..cell }.get(Metric::rt_local).percent_above(cell.get(Metric::rt_local)) * -1.0
    }

    fn at_middle_load(&self, xs: &[u32], quantity: impl Fn(Cell, u32) -> Quantity<Cell>) -> Vec<Series<Cell>> {
        let of = |&approach: &Approach| {
            let cell = self.cell(approach, self.middle_load());
            Series::over(name(approach), xs.iter().copied(), |x| quantity(cell, x))
        };
        self.policy.approaches.iter().map(of).collect()
    }

    fn by_size(&self) -> Figure<Cell> {
        let series = |metric: fn(u32) -> Metric| {
            self.at_middle_load(&self.workload.gang_sizes, |cell, size| cell.get(metric(size)))
        };
        let wrt = Panel::of(Metric::wrt, series(Metric::wrt_of)).suffix("wrt").labelled("response time").log_y();
        let panels = [Panel::of(Metric::completed_percent, series(Metric::completed_percent_of)), wrt];
        let title = format!("Gangs by size, λ = {}", self.lambda(self.middle_load()));
        Figure::new("by-size", title, "tasks of the gang", panels)
            .caption("Completed gangs and their response time by number of tasks. T = 0, overhead 10 %.")
            .log_x()
    }

    fn run_length(&self) -> Figure<Cell> {
        let series = |metric| {
            self.at_middle_load(&self.run.run_lengths, |cell, jobs| Cell { jobs: jobs.into(), ..cell }.get(metric))
        };
        let completed = Panel::of(Metric::completed_percent, series(Metric::completed_percent)).suffix("completed");
        let title = format!("Length of the run, λ = {}", self.lambda(self.middle_load()));
        let panels = [Panel::of(Metric::wrt, series(Metric::wrt)), completed];
        Figure::new("run-length", title, "jobs completed when the run stops", panels)
            .caption("WRT grows with the run wherever gangs starve: it is not a steady-state value.")
            .log_x()
    }
}
