//! Jobs per second of a whole experiment on one core: logs redrawn, replayed and measured, and the report written.
//!
//! Reads the KTH log in the folder `GRID_TRACES` if that is set, and otherwise draws one of the same size. Constant costs
//! are included, so a longer experiment is faster: the target of a replication is two million jobs per second.

use clap::{CommandFactory, Parser};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gridproof::{Cli, Lab, begin};
use std::path::Path;
use std::time::Duration;
use workload::{HeldLog, Options, SwfReader};

const KTH: &str = "KTH-SP2-1996-2.1-cln.swf.gz";
const COUNT: u64 = 50;

/// Runs a command line, and fails unless it succeeds.
fn run(arguments: &[&str]) {
    let cli = Cli::parse_from([&["gridproof", "--quiet", "--jobs", "1"], arguments].concat());
    Lab::standard().run(cli.command, &cli.common, &Cli::command()).expect("the experiment is sound");
}

fn experiments(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_owned();
    begin(&Cli::parse_from(["gridproof", "--quiet", "--jobs", "1", "list"]).common).expect("threads");
    let log = match std::env::var_os("GRID_TRACES") {
        Some(traces) => Path::new(&traces).join(KTH).to_str().expect("a plain path").to_owned(),
        None => {
            let log = path("lublin.swf");
            let arguments = ["--procs", "100", "--count", "28476", "--seed", "1", "--out", &log];
            run(&[&["workload", "generate", "lublin"][..], &arguments].concat());
            log
        }
    };
    let (held, _) = HeldLog::read(SwfReader::open(Path::new(&log)).expect("a log"), Options::default()).expect("a log");
    let mut group = criterion.benchmark_group("experiment");
    group.sample_size(10).measurement_time(Duration::from_secs(30));
    // Two policies, since an experiment compares: backfilling in another order costs a little more.
    for method in ["shake", "users"] {
        let file = path(&format!("{method}.toml"));
        let text = format!(
            "name = {method:?}\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\n\
             policies = [\"easy\", \"easy+backfill=spf\"]\n\
             [[log]]\nfile = {log:?}\n[replicate]\nmethod = {method:?}\ncount = {COUNT}\n"
        );
        std::fs::write(&file, text).expect("it can be written");
        // Redrawn logs are as long as the log on average.
        group.throughput(Throughput::Elements(2 * COUNT * held.jobs().len() as u64));
        group.bench_function(format!("{method}/easy and easy+backfill=spf"), |bencher| {
            bencher.iter(|| run(&["experiment", &file, "--fresh", "--out", &path(method)]));
        });
    }
    group.finish();
}

criterion_group!(benches, experiments);
criterion_main!(benches);
