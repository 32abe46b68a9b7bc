//! Lines per second of the reader, plain and gzip, compared with a reader that splits at blanks and parses every field
//! as a float.
//!
//! Reads the KTH log if `GRID_TRACES` names its folder, and a generated log of the same size otherwise.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use workload::{Intake, Options, SwfReader};

/// Returns the text of a log, and its origin.
fn log() -> (String, Vec<u8>) {
    if let Some(folder) = std::env::var_os("GRID_TRACES") {
        let name = "KTH-SP2-1996-2.1-cln.swf.gz";
        let mut text = Vec::new();
        let file = File::open(Path::new(&folder).join(name)).expect("the log is in the folder");
        MultiGzDecoder::new(file).read_to_end(&mut text).expect("the log is whole");
        return (name.to_owned(), text);
    }
    let line = |number: u64| {
        let (submit, runtime) = (599_850 + 1_000 * number, number * number % 36_007);
        format!(
            "{number:5} {submit:8} {:6} {runtime:6} {:4}     -1    -1 {:4} {:6}    -1  1  12  12  -1 -1 -1 -1 -1\n",
            number % 977,
            number % 99 + 1,
            number % 99 + 1,
            runtime + 60
        )
    };
    ("made up".to_owned(), (1..=28_476).map(line).collect::<String>().into_bytes())
}

fn read_all(text: &Arc<[u8]>) -> usize {
    let reader = SwfReader::from_read("log", Cursor::new(Arc::clone(text))).expect("a log");
    let mut records = 0;
    for record in reader {
        black_box(&record.expect("no faulty line"));
        records += 1;
    }
    records
}

fn read_naively(text: &[u8]) -> usize {
    let mut records = 0;
    for line in text.lines() {
        let line = line.expect("text");
        if line.starts_with(';') {
            continue;
        }
        let fields: Vec<f64> = line.split_whitespace().map(|field| field.parse().expect("a number")).collect();
        black_box(fields);
        records += 1;
    }
    records
}

fn swf(c: &mut Criterion) {
    let (name, text) = log();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&text).expect("memory does not fail");
    let packed: Arc<[u8]> = encoder.finish().expect("memory does not fail").into();
    let text: Arc<[u8]> = text.into();
    let lines = read_all(&text);
    println!("{name}: {lines} lines, {} bytes", text.len());

    let mut group = c.benchmark_group("swf");
    group.throughput(Throughput::Elements(lines as u64));
    group.bench_function("plain", |b| b.iter(|| read_all(&text)));
    group.bench_function("gzip", |b| b.iter(|| read_all(&packed)));
    group.bench_function("intake", |b| {
        b.iter(|| {
            let reader = SwfReader::from_read("log", Cursor::new(Arc::clone(&text))).expect("a log");
            Intake::new(reader, Options::default()).for_each(|job| {
                black_box(&job);
            });
        });
    });
    group.bench_function("naive", |b| b.iter(|| read_naively(&text)));
    group.finish();

    // Both are timed alternately, so that a busy machine slows both.
    let ratios: Vec<f64> = (0..21).map(|_| seconds(|| read_naively(&text)) / seconds(|| read_all(&text))).collect();
    let speed = lines as f64 / seconds(|| read_all(&text));
    println!("plain: {:.1} million lines/s, {:.1} times as fast as the naive reader", speed / 1e6, median(ratios));
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

criterion_group!(benches, swf);
criterion_main!(benches);
