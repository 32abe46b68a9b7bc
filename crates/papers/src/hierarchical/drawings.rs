//! Figures 1 and 2: a grid tree with its channels, and a hybrid. Both are drawn from the state of a run.

use super::{Cell, Hierarchical, Trial, name};
use hier_grid::grid::view::SchedulerView;
use hier_grid::world::tree::Role;
use hier_grid::{
    Address, Config, Grid, Kind, Message, Places, SchedulerId, Shape, StationId, Submission, System, World,
};
use lab::chart::{Piece, Sketch};
use lab::paper::Shown;
use lab::shown::seen;
use lab::units::float;
use sim_core::{Job, JobId, Sim, Span, Streams, Time};
use std::collections::BTreeMap;

/// Returns the example of figure 1: GSS over GS1; GS1 over GS2 and GS3; GS3 over GS4 and GS5. The first three of its six jobs find no
/// resources at GS4.
fn example(paper: &Hierarchical, streams: &Streams) -> Grid<(), impl Iterator<Item = Submission>> {
    let config = Config { system: System::Trees(1), ..paper.config(&sample(paper, System::Trees(1))) };
    let shape = Shape::over(vec![Shape::over(vec![Shape::site(), Shape::over(vec![Shape::site(), Shape::site()])])]);
    let places = Places { backbones: 1, nets: 1, sites: 3 };
    let servers = [vec![(64, 0b11)], vec![(64, 0b10)], vec![(64, 0b11)]];
    let world = World::explicit(places, &servers, &[1, 0, 0], shape).expect("a valid world");
    let submissions = (0..JOBS).map(|id| Submission {
        job: Job::new(JobId(id), Time::ZERO, 1, Span::from_secs(100)),
        station: StationId(0),
        system: id / 3,
        input: 0,
        output: 0,
    });
    Grid::fed(config, world, submissions, streams, ()).expect("the scenario was validated")
}

const JOBS: u32 = 6;

pub(super) fn channels(paper: &Hierarchical, streams: &Streams) -> Shown {
    let mut sim = Sim::new(example(paper, streams), ());
    sim.run_until(Time::from_secs(1));
    let views: Vec<SchedulerView> = sim.model().schedulers().collect();

    let places = places(&views, 90.0, 380.0);
    let mut sketch = Sketch {
        id: "fig1".to_owned(),
        title: "Figure 1. A grid tree with two channels".to_owned(),
        about: format!("{} schedulers in a tree, {JOBS} jobs", views.len()),
        ..Sketch::default()
    };
    let mut data = Vec::new();
    // The widest bag is the first channel, as in the paper.
    let mut bags: Vec<_> = views[0].channels.iter().map(|channel| channel.bag).collect();
    bags.sort_by_key(|bag| (std::cmp::Reverse(bag.classes().count()), *bag));
    for view in &views {
        let mut lines = vec![label(view)];
        for ((slot, bag), number) in bags.iter().enumerate().zip(1_u32..) {
            let Some(channel) = view.channels.iter().find(|channel| channel.bag == *bag) else { continue };
            lines.push(format!("channel {number}: {} CPUs", channel.power));
            data.push((label(view), format!("channel {number}"), "cpus".to_owned(), seen(float(channel.power))));
            let aside = 10.0 * f64::from(number) - 15.0;
            for branch in &channel.branches {
                let ends = [view.id, branch.child].map(|id| places[id.index()]);
                let points = ends.map(|(x, y)| (x + aside, y)).to_vec();
                sketch.pieces.push((Piece::Line { points, width: 2.2, dashed: false }, Some(slot)));
            }
        }
        sketch.pieces.push((Piece::Box { centre: places[view.id.index()], size: (134.0, 50.0), lines }, None));
    }
    for (slot, number) in (0..bags.len()).zip(1..) {
        let text = format!("channel {number}: {}", if slot == 0 { "jobs 1 to 6" } else { "jobs 4 to 6" });
        let at = (24.0, 62.0 + 18.0 * float(slot as u64));
        sketch.pieces.push((Piece::Words { at, text, size: 12.0 }, Some(slot)));
    }
    let caption = "The paper's example, drawn from a run a second after its start: six jobs, of which 1 to 3 find no resources at \
                   GS4. Lines are branches; a channel's processing power is the CPUs behind it. GS2, GS4 and GS5 are at sites.";
    Shown::picture(sketch, caption, data)
}

/// Draws the hybrid with the fewest trees: its roots, the requests forwarded between them, and the schedulers below.
pub(super) fn hybrid(paper: &Hierarchical, streams: &Streams) -> Shown {
    let several = |system: &System| match *system {
        System::Trees(trees) if trees > 1 => Some(trees),
        _ => None,
    };
    let sites = u32::try_from(paper.grid.all_sites()).unwrap_or(u32::MAX);
    let trees = paper.experiments.systems.iter().filter_map(several).min().unwrap_or(4).min(sites);
    let system = System::Trees(trees);
    let config = paper.config(&sample(paper, system));
    let grid = Grid::new(config, streams, Vec::<Message>::new()).expect("the scenario was validated");
    let views: Vec<SchedulerView> = grid.schedulers().collect();
    let (grid, ()) = Sim::new(grid, ()).run();
    let mut forwards: BTreeMap<(SchedulerId, SchedulerId), u64> = BTreeMap::new();
    for message in grid.observer().iter().filter(|message| message.payload.kind() == Kind::Forward) {
        if let (Address::Scheduler(from), Address::Scheduler(to)) = (message.from, message.to) {
            *forwards.entry((from.min(to), from.max(to))).or_default() += 1;
        }
    }

    let places = places(&views, 190.0, 410.0);
    let levels = views.iter().map(|view| view.level).max().unwrap_or(0);
    let mut sketch = Sketch {
        id: "fig2".to_owned(),
        title: format!("Figure 2. A hybrid of {trees} grid trees: {}", name(system)),
        about: format!("{} schedulers in {trees} trees whose roots are peers", views.len()),
        ..Sketch::default()
    };
    let mut data = Vec::new();
    let slot = |view: &SchedulerView| Some(view.tree as usize);
    for view in &views {
        let (x, y) = places[view.id.index()];
        if let Some(parent) = view.parent {
            let thin = if view.level == levels { 0.7 } else { 1.2 };
            let points = vec![places[parent.index()], (x, y)];
            sketch.pieces.push((Piece::Line { points, width: thin, dashed: false }, slot(view)));
        }
        let size = match view.level {
            0 => (78.0, 34.0),
            level if level == levels => (3.0, 9.0),
            _ => (12.0, 12.0),
        };
        let mut lines = Vec::new();
        if view.level == 0 {
            let of_tree = |role| views.iter().filter(|other| other.tree == view.tree && other.role == role).count();
            lines = vec![label(view), format!("{} LGS", of_tree(Role::Lgs))];
            for (name, role) in [("LGS", Role::Lgs), ("GS", Role::Gs)] {
                let count = seen(float(of_tree(role) as u64));
                data.push((label(view), name.to_owned(), "schedulers".to_owned(), count));
            }
        }
        sketch.pieces.push((Piece::Box { centre: (x, y), size, lines }, slot(view)));
    }
    let most = forwards.values().copied().max().unwrap_or(1);
    for ((a, b), count) in &forwards {
        let ((from, y), (to, _)) = (places[a.index()], places[b.index()]);
        let rise = 30.0 + 0.13 * (to - from).abs();
        let arc = (0..=24_u32).map(|step| {
            let along = f64::from(step) / 24.0;
            (from + (to - from) * along, y - 17.0 - 4.0 * rise * along * (1.0 - along))
        });
        let width = 0.8 + 1.6 * float(*count) / float(most);
        sketch.pieces.push((Piece::Line { points: arc.collect(), width, dashed: true }, None));
        let [from, to] = [a, b].map(|id| label(&views[id.index()]));
        data.push((from, to, "forwards".to_owned(), seen(float(*count))));
    }
    let text = "dashed: requests forwarded between roots".to_owned();
    sketch.pieces.push((Piece::Words { at: (24.0, 56.0), text, size: 12.0 }, None));
    let caption = format!(
        "Roots of the trees are peers of each other (PGSS): a request goes from its home tree to the others. Drawn from a run of \
         {} jobs; the small marks below are the leaf schedulers, one for each of {sites} sites.",
        paper.workload.jobs[0]
    );
    Shown::picture(sketch, caption, data)
}

fn sample(paper: &Hierarchical, system: System) -> Cell {
    paper.cell(Trial::First, paper.sample(), paper.workload.jobs[0], system)
}

/// Returns the paper's name of a scheduler: `GSS`, `PGSS 1`, `GS3`.
fn label(view: &SchedulerView) -> String {
    match view.role {
        Role::Gss => "GSS".to_owned(),
        Role::Pgss => format!("PGSS {}", view.tree + 1),
        Role::Gs | Role::Lgs => format!("GS{}", view.id),
    }
}

/// Returns the positions of schedulers: leaves side by side, others centred above their children.
fn places(views: &[SchedulerView], top: f64, bottom: f64) -> Vec<(f64, f64)> {
    let children = |id| views.iter().filter(move |view| view.parent == Some(id));
    let levels = views.iter().map(|view| view.level).max().unwrap_or(0);
    let mut leaves: Vec<&SchedulerView> = views.iter().filter(|view| children(view.id).next().is_none()).collect();
    leaves.sort_by_key(|view| view.site);
    let step = 680.0 / float(leaves.len() as u64);
    let mut xs = vec![0.0; views.len()];
    for (k, leaf) in (0..).zip(&leaves) {
        xs[leaf.id.index()] = 20.0 + step * (float(k) + 0.5);
    }
    // Children have higher numbers than their parents.
    for view in views.iter().rev() {
        let below: Vec<f64> = children(view.id).map(|child| xs[child.id.index()]).collect();
        if !below.is_empty() {
            xs[view.id.index()] = below.iter().sum::<f64>() / float(below.len() as u64);
        }
    }
    let y = |level: u32| top + (bottom - top) * f64::from(level) / f64::from(levels.max(1));
    views.iter().map(|view| (xs[view.id.index()], y(view.level))).collect()
}
