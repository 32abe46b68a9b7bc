//! Cost per job in worlds of growing size.
//!
//! Scenario: worlds of about 10³ to 10⁶ nodes in nets of ten sites, with a job of 1 GB for each node, experiment 1.
//!
//! Shows:
//! - events, messages and moves per job, which are the same on every computer,
//! - CPU time and peak memory of the run on standard error (Linux only), which differ between computers,
//! - the construction of worlds of another size.
//!
//! Run it: `cargo run --release --package hier-grid --example scale -- [SIZE] [TREES]`, where SIZE is 3 to 6 for 10³ to 10⁶ nodes
//! (3 if not given) and TREES is the number of grid trees, 0 for P2P. A million nodes under one tree take some seconds;
//! among peers, beyond 10⁴ nodes, hours.

use hier_grid::config::GridConfig;
use hier_grid::{Config, Grid, System};
use sim_core::{Sim, Streams};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u32>().expect("a number"));
    let size = arguments.next().unwrap_or(3);
    let trees = arguments.next().unwrap_or(1);
    let (backbones, nets): (u32, u32) = match size {
        3 => (1, 7),
        4 => (4, 16),
        5 => (16, 42),
        6 => (64, 104),
        _ => panic!("SIZE is {size}; expected 3 to 6"),
    };
    // As in the paper: nets of ten sites, and 13 servers to four sites.
    let (servers, tree) = (backbones * nets * 10 * 13 / 4, vec![backbones, nets, 2, 5]);
    let grid = GridConfig { backbones, nets, servers, tree, ..GridConfig::of_the_paper() };
    let nodes = backbones * nets * 10 * grid.nodes;
    let system = if trees == 0 { System::P2p } else { System::Trees(trees) };
    let config = Config { grid, ..Config::of_the_paper(system, nodes, 1.0) };

    let grid = Grid::new(config, &Streams::new(2007, 0), ()).expect("a valid configuration");
    let mut sim = Sim::new(grid, ());
    let mut events = 0_u64;
    while sim.step() {
        events += 1;
    }
    let counts = sim.model().counts();
    assert_eq!(counts.completed, u64::from(nodes));
    let per_job = |count: u64| count as f64 / f64::from(nodes);
    println!(
        "{nodes} nodes and jobs: per job {:.2} events, {:.2} messages, {:.3} moves",
        per_job(events),
        per_job(counts.all_messages()),
        per_job(counts.moves()),
    );
    if let Some((seconds, megabytes)) = taken() {
        let rate = events as f64 / seconds / 1e6;
        eprintln!("{seconds:.2} CPU seconds, {rate:.2} million events in each; {megabytes:.0} MB at most");
    }
}

/// CPU seconds and peak megabytes of this process, which has one thread, as Linux reports them.
fn taken() -> Option<(f64, f64)> {
    let nanoseconds = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = nanoseconds.split_whitespace().next()?.parse().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = peak.split_whitespace().next()?.parse().ok()?;
    Some((nanoseconds / 1e9, kilobytes * 1024.0 / 1e6))
}
