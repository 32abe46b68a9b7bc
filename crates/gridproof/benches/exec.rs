//! Exchanges per second with a policy that is an external program (docs/protocol.md): cost of a pass in
//! JSON, over two pipes, with a minimal program in Rust, and with EASY in Python.
//!
//! `cargo build --release -p gridproof --example fcfs_program` comes first; the bench skips missing programs.

use clap::{CommandFactory, Parser};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gridproof::{Cli, Lab, begin};
use std::path::Path;

/// Runs a command line, and fails unless it succeeds.
fn run(words: &str) {
    let cli = Cli::parse_from(["gridproof", "--quiet", "--jobs", "1"].into_iter().chain(words.split('\t')));
    Lab::standard().run(cli.command, &cli.common, &Cli::command()).expect("the simulation is sound");
}

fn exchanges(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_owned();
    begin(&Cli::parse_from(["gridproof", "--quiet", "--jobs", "1", "list"]).common).expect("threads");
    let (log, out, passes) = (path("log.swf"), path("out"), path("passes"));
    run(&format!(
        "workload\tgenerate\tlublin\t--procs\t128\t--count\t20000\t--seed\t1\t--estimates\ttsafrir\t--out\t{log}"
    ));
    let bench = std::env::current_exe().expect("a program");
    let in_rust = bench.ancestors().nth(2).expect("cargo's folder").join("examples/fcfs_program");
    let in_python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies/easy.py");
    let simulate = |policy: &str| run(&format!("simulate\t--trace\t{log}\t--out\t{out}\t--policy\t{policy}"));

    let mut group = criterion.benchmark_group("exec");
    group.sample_size(10);
    // Time without exchanges: reading the log, writing the tables and the page.
    group.bench_function("without: fcfs", |bencher| bencher.iter(|| simulate("fcfs")));
    if in_rust.exists() {
        simulate(&format!("exec+{} --count {passes}", in_rust.display()));
        let count = std::fs::read_to_string(&passes).expect("it was told to count");
        group.throughput(Throughput::Elements(count.trim().parse().expect("a number")));
        group.bench_function("Rust: fcfs", |bencher| bencher.iter(|| simulate(&format!("exec+{}", in_rust.display()))));
        // Nearly the same number of passes: waiting jobs differ, arrivals and ends do not.
        group.bench_function("Python: easy", |bencher| {
            bencher.iter(|| simulate(&format!("exec+python3 {}", in_python.display())));
        });
    } else {
        eprintln!("{} is missing: cargo build --release -p gridproof --example fcfs_program", in_rust.display());
    }
    group.finish();
}

criterion_group!(benches, exchanges);
criterion_main!(benches);
