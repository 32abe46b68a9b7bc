//! Written files, read back by the crate's own reader.

use super::super::{Added, Simulate, command};
use super::*;
use clap::Parser;
use lab::cli::Common;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

#[derive(Parser)]
struct ColumnLine {
    #[command(flatten)]
    options: Simulate,
    #[command(flatten)]
    common: Common,
}

/// Runs `simulate` and compares `jobs.parquet` of each policy with `jobs.csv`, value by value. Returns rows and row groups of
/// the last.
fn check(folder: &Path, policies: &[&str], words: &[&str]) -> (usize, usize) {
    let (log, out) = (folder.join("log.swf"), folder.join("out"));
    let paths = ["--trace", log.to_str().expect("UTF-8"), "--out", out.to_str().expect("UTF-8"), "--quiet", "--json"];
    let named = policies.join(",");
    let words_before = ["simulate", "--format", "evalys,parquet", "--policy", &named];
    let ColumnLine { options, common } = ColumnLine::parse_from(words_before.iter().chain(&paths).chain(words));
    command(&options, &Added::default(), &common).expect("a run");
    let compared: Vec<_> = policies.iter().map(|policy| same(&out.join(policy))).collect();
    *compared.last().expect("there are policies")
}

fn same(folder: &Path) -> (usize, usize) {
    let mut csv = csv::Reader::from_path(folder.join("jobs.csv")).expect("a table");
    let header = csv.headers().expect("a header").clone();
    let file = SerializedFileReader::new(File::open(folder.join("jobs.parquet")).expect("a file")).expect("Parquet");
    let mut rows = file.get_row_iter(None).expect("rows");
    let mut compared = 0;
    for record in csv.records() {
        let (record, row) = (record.expect("a row"), rows.next().expect("as many rows").expect("a row"));
        let columns: Vec<_> = row.get_column_iter().collect();
        assert_eq!(columns.len(), header.len());
        for ((name, field), (column, text)) in columns.into_iter().zip(header.iter().zip(&record)) {
            assert_eq!(name, column);
            let agrees = match field {
                Field::Null => text.is_empty(),
                Field::Long(value) => text.parse() == Ok(*value),
                // The same bits: both are the nearest to the digits.
                Field::Double(value) => text.parse::<f64>().is_ok_and(|read| read.to_bits() == value.to_bits()),
                Field::Str(value) => text == value,
                _ => false,
            };
            assert!(agrees, "row {compared}, {name}: {text:?} in jobs.csv, {field:?} in jobs.parquet");
        }
        compared += 1;
    }
    assert!(rows.next().is_none(), "a row that jobs.csv has not");
    assert!(folder.join("evalys.csv").exists());
    (compared, file.num_row_groups())
}

#[test]
fn every_value_is_that_of_jobs_csv_and_what_does_not_exist_is_null() {
    let folder = tempfile::tempdir().expect("a folder");
    // Two machines, of which the second makes thirds of seconds; a job that is cut, one that no machine can hold, one without a user.
    let log = "; MaxProcs: 12
        1 100 -1 10 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1
        2 105 -1 10 8 -1 -1 8 20 -1 1 7 1 -1 -1 -1 -1 -1
        3 106 -1 50 2 -1 -1 2 5 -1 1 -1 1 -1 -1 -1 -1 -1
        4 107 -1 10 16 -1 -1 16 15 -1 1 8 1 -1 -1 -1 -1 -1
        5 4000000107 -1 31 3 -1 -1 3 40 -1 1 8 1 -1 -1 -1 -1 -1\n";
    fs::write(folder.path().join("log.swf"), log.replace("        ", "")).expect("a log");
    let machines = folder.path().join("site.machines");
    fs::write(&machines, "0\tslow\t1\t4\t1.0\t1\n1\tfast, new\t1\t8\t1.5\t1\n").expect("a file");
    let words = ["--machines", machines.to_str().expect("UTF-8"), "--inside", "machine", "--deadlines", "factor:2"];
    assert_eq!(check(folder.path(), &["fcfs", "easy+backfill=spf"], &words), (5, 1));
    let file = File::open(folder.path().join("out/fcfs/jobs.parquet")).expect("a file");
    let file = SerializedFileReader::new(file).expect("Parquet");
    let units = file.metadata().file_metadata().key_value_metadata().expect("units");
    let of = |column: &str| units.iter().find(|one| one.key == format!("unit of {column}"))?.value.clone();
    assert_eq!((of("start").as_deref(), of("run").as_deref()), (Some("s since the first submit"), Some("s")));
    assert_eq!(of("site"), None);
    let jobs = fs::read_to_string(folder.path().join("out/fcfs/jobs.csv")).expect("a table");
    assert!(["cut", "rejected", ".6666"].iter().all(|word| jobs.contains(word)), "{jobs}");
    assert!(fs::read_to_string(folder.path().join("out/columns.md")).expect("a page").contains("jobs.parquet"));
}

#[test]
fn a_log_of_more_jobs_than_a_group_holds_is_in_several_and_an_empty_one_in_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = "; MaxProcs: 4\n".to_owned();
    for k in 1..=GROUP + 3 {
        writeln!(log, "{k} {k} -1 1 1 -1 -1 1 9 -1 1 {} 1 -1 -1 -1 -1 -1", k % 7).expect("a line");
    }
    fs::write(folder.path().join("log.swf"), log).expect("a log");
    assert_eq!(check(folder.path(), &["fcfs"], &[]), (GROUP + 3, 2));
    let mut nothing = ParquetRows::new(Vec::new()).expect("a file");
    nothing.group = Group::default();
    let bytes = nothing.finish().expect("a file");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}
