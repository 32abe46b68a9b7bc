//! The figures and tables of the paper.

use super::{Cell, Hierarchical, Metric, Off, TREE, Trial, drawings, measure, name};
use hier_grid::{Kind, System};
use lab::paper::{Entry, Exhibit, Figure, Panel, Row, Series, Table};
use lab::quantity::{DesignPoint, Quantity};

const JOBS: &str = "jobs in the workload";

pub(super) fn exhibits(paper: &Hierarchical) -> Vec<Exhibit<'_, Cell>> {
    let mut exhibits = vec![
        Exhibit::made("fig1", |streams| drawings::channels(paper, streams)),
        Exhibit::made("fig2", |streams| drawings::hybrid(paper, streams)),
        server_types(paper).into(),
        server_table(paper).into(),
    ];
    for exhibit in over_the_jobs(paper) {
        let table = (exhibit.id == "messages").then(|| messages_by_kind(paper).into());
        exhibits.extend([exhibit].into_iter().chain(table));
    }
    exhibits.extend([distance(paper), spread(paper)].map(Exhibit::from));
    exhibits.retain(|exhibit| !exhibit.is_empty());
    exhibits
}

/// Returns figures 3 to 10, and additional ones: evidence for claims, and costs.
fn over_the_jobs<'a>(paper: &Hierarchical) -> Vec<Exhibit<'a, Cell>> {
    let systems = &paper.experiments.systems;
    let (sample, small, large) = (paper.sample(), Hierarchical::SMALL, paper.large());
    let [sampled, smalls, larges] =
        [sample, small, large].map(|input| format!("mean input {} GB", paper.workload.mean_input[input]));
    let over = |scene, input, metric| over_jobs(paper, systems, scene, input, metric);
    let ends: Vec<System> = systems.iter().copied().filter(|system| [System::P2p, TREE].contains(system)).collect();
    let trees: Vec<System> = paper.trees().collect();
    let moves = |scene| over_jobs(paper, &trees, scene, sample, Metric::moves);
    let mut figures = lab::figures! { over JOBS;
        "fig3" "Figure 3. AWT in experiment 1"
            format!("From request to offer, equation (4). Every work station submits its next job when the last one completes; {sampled}.")
            => [over(Trial::First, sample, Metric::awt)], log_x;
        "fig4" "Figure 4. TRT in experiment 1"
            format!("From the first request to the last output, equation (3); {sampled}. The last job to end ran on a slow server.")
            => [over(Trial::First, sample, Metric::trt)], log_x;
        "fig5" "Figure 5. AET of large jobs in experiment 1" format!("From offer to output, equation (5); {larges}.")
            => [over(Trial::First, large, Metric::aet)], log_x;
        "fig6" "Figure 6. AWT in experiment 2"
            format!("Each work station thinks at a rate of its own, each site submits with a probability of its own; {sampled}.")
            => [over(Trial::Second, sample, Metric::awt)], log_x;
        "fig7" "Figure 7. AET of small jobs in experiment 2" format!("From offer to output; {smalls}.")
            => [over(Trial::Second, small, Metric::aet)], log_x;
        "fig8" "Figure 8. Influence of butterfly and load-balance on the AWT in experiment 2"
            format!("The hierarchical system with both algorithms, without one, without both; {sampled}.")
            => [switches(paper, Trial::Second, &[Off::None, Off::Butterfly, Off::LoadBalance, Off::Both])], log_x;
        "fig10" "Figure 10. AWT in experiment 4" format!("Experiment 1 while servers change their operating system; {sampled}.")
            => [over(Trial::Fourth, sample, Metric::awt)], log_x;
        "small-jobs" "AET of small jobs in experiment 1"
            format!("Ours, for claim H7: as figure 5 with {smalls}. The same curves, since experiment 1 has no time of its own.")
            => [over_jobs(paper, &ends, Trial::First, small, Metric::aet)], log_x;
        "fallback" "AWT in experiment 4 without the three algorithms"
            format!("Ours, for claim H13: the hierarchical system while servers change their operating system; {sampled}.")
            => [switches(paper, Trial::Fourth, &[Off::None, Off::Both, Off::All])], log_x;
        "messages" "Control messages per job in experiment 1"
            format!("Ours: the cost in messages; {sampled}. Among peers, requests without an offer flood the overlay every two minutes.")
            => [over(Trial::First, sample, Metric::messages).log_y()], log_x;
        "moves" "Rescheduling"
            format!("Ours, for claim H9: how often a job is moved by butterfly, load-balance or fallback; {sampled}.")
            => [
                moves(Trial::First).labelled("moves per job, experiment 1"),
                moves(Trial::Second).labelled("moves per job, experiment 2").suffix("second"),
            ], log_x;
    };
    let intervals = systems.iter().map(|&system| {
        let cells = paper.experiments.intervals.iter().zip(paper.over_intervals(system));
        Series::new(name(system), cells.map(|(interval, cell)| (*interval, cell.get(Metric::awt))))
    });
    let caption = format!(
        "All work stations think equally long in the mean: an hour, a day, a week; {} jobs, {sampled}.",
        paper.experiments.interval_jobs
    );
    let ninth = Figure::of("fig9", "Figure 9. AWT in experiment 3", "mean interval (s)", Metric::awt, intervals);
    figures.insert(6, ninth.caption(caption).log_x().into());
    figures
}

fn line(name: String, cells: impl Iterator<Item = Cell>, metric: Metric) -> Series<Cell> {
    Series::new(name, cells.map(|cell| (cell.jobs.into(), cell.get(metric))))
}

fn over_jobs(paper: &Hierarchical, systems: &[System], scene: Trial, input: usize, metric: Metric) -> Panel<Cell> {
    let of = |&system: &System| line(name(system), paper.over_jobs(scene, input, system), metric);
    Panel::of(metric, systems.iter().map(of).collect())
}

/// Returns the AWT of the hierarchical system with some of its algorithms switched off.
fn switches(paper: &Hierarchical, scene: Trial, offs: &[Off]) -> Panel<Cell> {
    let of = |&off: &Off| {
        let cells = paper.over_jobs(scene, paper.sample(), TREE).map(|cell| Cell { off, ..cell });
        line(name(TREE) + off.parts().1, cells, Metric::awt)
    };
    Panel::of(Metric::awt, offs.iter().filter(|_| paper.has(TREE)).map(of).collect())
}

fn server_types(paper: &Hierarchical) -> Figure<Cell> {
    let grid = &paper.grid;
    let types = || (0..grid.server_nodes.len()).zip(1_u32..);
    let series = |name: &str, of: &dyn Fn(usize) -> Quantity<Cell>| {
        [Series::new(name, types().map(|(kind, number)| (f64::from(number), of(kind))))]
    };
    let cpus = |kind: usize| Quantity::Constant(f64::from(grid.server_nodes[kind]) * f64::from(grid.server_cpus[kind]));
    let panels = [
        Panel::derived("cpus", "CPUs of a server", series("Table 1", &cpus)),
        Panel::derived("servers", "servers in the world", series("drawn", &|kind| drawn(paper, kind))).suffix("drawn"),
    ];
    // Server types have no order to join.
    Figure::new("table1", "Table 1. Computational resources", "server number", panels)
        .caption(
            "CPUs of each type of server, and how many servers of the type the world holds. Types are drawn with equal \
             chances, once for all replications (R14).",
        )
        .unjoined()
}

fn drawn(paper: &Hierarchical, kind: usize) -> Quantity<Cell> {
    let any = paper.cell(Trial::First, paper.sample(), paper.workload.jobs[0], paper.experiments.systems[0]);
    any.get(Metric::servers_of_type(kind))
}

fn distance(paper: &Hierarchical) -> Figure<Cell> {
    let of = |&system: &System| {
        let cell = Cell { runs: 1, ..paper.several(system) };
        Series::at_positions(name(system), (0..4).map(|distance| cell.get(Metric::percent_at(distance))))
    };
    let panels = [Panel::derived("jobs_percent", "jobs (%)", paper.experiments.systems.iter().map(of))];
    let title = format!("Where jobs ran, {} jobs", paper.several(TREE).jobs);
    Figure::new("distance", title, "from the work station", panels)
        .caption(
            "Ours: how far from their work station jobs were executed, which is what the AET measures apart from the \
             server. Experiment 1.",
        )
        .over(&measure::DISTANCES)
}

fn spread(paper: &Hierarchical) -> Figure<Cell> {
    let systems = [System::P2p, TREE].into_iter().filter(|system| paper.has(*system));
    let of = |system| line(name(system), std::iter::once(paper.several(system)), Metric::awt_spread_percent);
    let title = format!("Worst and best of {} runs", paper.run.batch);
    Figure::of("spread", &title, JOBS, Metric::awt_spread_percent, systems.map(of)).caption(
        "Ours, for claim H14: how far the AWT of the worst run lies above that of the best. A replication is a set of \
         runs. Experiment 1.",
    )
}

fn server_table(paper: &Hierarchical) -> Table<Cell> {
    let grid = &paper.grid;
    let row = |kind: usize| Row {
        names: vec![(kind + 1).to_string()],
        x: (kind + 1).to_string(),
        metric: "servers".to_owned(),
        cells: vec![
            Entry::Text(grid.server_nodes[kind].to_string()),
            Entry::Text(grid.server_cpus[kind].to_string()),
            Entry::Text((u64::from(grid.server_nodes[kind]) * u64::from(grid.server_cpus[kind])).to_string()),
            Entry::Found(drawn(paper, kind), 0),
        ],
    };
    let columns = ["nodes", "CPUs per node", "CPUs", "servers in the world"];
    Table {
        id: "table1",
        title: "Table 1. Computational resources".to_owned(),
        caption: "The paper's types of servers, and how many of each were drawn.".to_owned(),
        names: vec!["server number".to_owned()],
        columns: columns.map(str::to_owned).to_vec(),
        rows: (0..grid.server_nodes.len()).map(row).collect(),
    }
}

fn messages_by_kind(paper: &Hierarchical) -> Table<Cell> {
    let jobs = *paper.workload.jobs.last().expect("validated");
    let systems = &paper.experiments.systems;
    let row = |words: String, metric: Metric| Row {
        names: vec![words],
        x: jobs.to_string(),
        metric: metric.to_string(),
        cells: systems
            .iter()
            .map(|&system| Entry::Found(paper.cell(Trial::First, paper.sample(), jobs, system).get(metric), 2))
            .collect(),
    };
    let mut rows: Vec<_> = Kind::ALL.iter().map(|kind| row(measure::word(*kind), Metric::messages_of(*kind))).collect();
    rows.push(row("all".to_owned(), Metric::messages));
    Table {
        id: "messages",
        title: format!("Control messages per job by kind, {jobs} jobs"),
        caption: "The documentation of hier_grid::message has the sender, the occasion and the effect of each kind."
            .to_owned(),
        names: vec!["kind".to_owned()],
        columns: systems.iter().map(|system| name(*system)).collect(),
        rows,
    }
}
