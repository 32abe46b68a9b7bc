//! Exchanges per second with a policy that is a program of its own (docs/protocol.md): what a pass costs when it is asked about in
//! JSON, over two pipes. With a program in Rust that does next to nothing, and with the EASY in Python.
//!
//! `cargo build --release -p gridproof --example fcfs_program` comes first; the bench leaves out a program that is not there.

use clap::{CommandFactory, Parser};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gridproof::{Cli, Lab, begin};
use std::path::Path;

/// The command as it is typed, ended as it should.
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
    // What is no exchange: the log read, the tables and the page written.
    group.bench_function("without: fcfs", |bencher| bencher.iter(|| simulate("fcfs")));
    if in_rust.exists() {
        simulate(&format!("exec+{} --count {passes}", in_rust.display()));
        let count = std::fs::read_to_string(&passes).expect("it was told to count");
        group.throughput(Throughput::Elements(count.trim().parse().expect("a number")));
        group.bench_function("Rust: fcfs", |bencher| bencher.iter(|| simulate(&format!("exec+{}", in_rust.display()))));
        // As many passes within some: who waits differs, not who arrives and ends.
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
