//! Explores.
use hier_grid::{Config, Experiment, Grid, Kind, System};
use sim_core::record::Sink;
use sim_core::{JobLog, JobRecord, Sim, Streams, Time};

#[derive(Default)]
struct Sums {
    wait: f64,
    exec: f64,
    n: u32,
    first: Option<Time>,
    last: Time,
}
impl Sink for Sums {
    fn take_in(&mut self, r: JobRecord) {
        self.wait += r.wait().as_secs_f64();
        self.exec += r.finish.since(r.start).as_secs_f64();
        self.n += 1;
        self.first = Some(self.first.map_or(r.job.submit, |f| f.min(r.job.submit)));
        self.last = self.last.max(r.finish);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let gb: f64 = args.get(1).map_or(1.0, |a| a.parse().expect("gb"));
    let exp = args.get(2).map_or("1", |a| a.as_str());
    let reps: u32 = args.get(3).map_or(1, |a| a.parse().expect("reps"));
    for n in [520, 1040, 1560, 3000, 10_000] {
        for (name, system) in
            [("P2P", System::P2p), ("1T", System::Trees(1)), ("4T", System::Trees(4)), ("16T", System::Trees(16))]
        {
            let mut rows = Vec::new();
            let mut tally = None;
            let mut events = 0u64;
            for rep in 0..reps {
                let mut config = Config::of_the_paper(system, n, gb);
                config.experiment = match exp {
                    "1" => Experiment::first(),
                    "2" => Experiment::second(),
                    "4" => Experiment::fourth(),
                    m => Experiment::third(m.parse().expect("mean")),
                };
                let streams = Streams::new(2006, rep);
                let grid = Grid::new(config, &streams, ()).expect("valid");
                let mut sim = Sim::new(grid, JobLog::new(Sums::default()));
                while sim.step() {
                    events += 1;
                }
                let (grid, log) = sim.into_parts();
                if let Err(e) = grid.is_at_rest() {
                    println!("NOT AT REST {name} {n}: {e}");
                }
                tally = Some(grid.tally().clone());
                let s = log.into_sink();
                rows.push((
                    s.wait / f64::from(s.n),
                    s.exec / f64::from(s.n),
                    s.last.since(s.first.expect("some")).as_secs_f64(),
                ));
            }
            let mean = |f: fn(&(f64, f64, f64)) -> f64| rows.iter().map(f).sum::<f64>() / rows.len() as f64;
            let t = tally.expect("ran");
            println!(
                "{n:6} {name:4} AWT {:10.1} AET {:10.1} TRT {:10.1} events/job {:.1} msg/job {:.1} moves b {} lb {} f {} disc {} unans {} resub {} at {:?}",
                mean(|r| r.0),
                mean(|r| r.1),
                mean(|r| r.2),
                events as f64 / f64::from(n) / f64::from(reps),
                t.all_messages() as f64 / f64::from(n),
                t.butterfly,
                t.load_balance,
                t.fallback,
                t.discoveries,
                t.unanswered,
                t.resubmitted,
                [
                    hier_grid::world::Distance::SameSite,
                    hier_grid::world::Distance::SameNet,
                    hier_grid::world::Distance::SameBackbone,
                    hier_grid::world::Distance::Across
                ]
                .map(|d| t.jobs_at(d))
            );
            if exp == "msg" {
                for k in Kind::ALL {
                    println!("{k:?} {}", t.messages(*k));
                }
            }
        }
    }
}
