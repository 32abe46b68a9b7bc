//! Compressed logs: recognized by their first bytes, in several members, truncated, damaged.

use crate::data::{error, line, records};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use workload::SwfReader;

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).expect("memory does not fail")
}

fn log(jobs: u64) -> String {
    (1..=jobs)
        .map(|number| line(number, &(number * number % 10_007 + 7 * number).to_string(), "9", "1", "1", "9"))
        .collect()
}

#[test]
fn gzip_is_recognized_by_its_first_bytes_and_not_by_its_name() {
    assert_eq!(records(packed(&log(1_000))), records(log(1_000)));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("packed.swf", packed(&log(3))), ("plain.swf.gz", log(3).into_bytes())] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        assert_eq!(SwfReader::open(&path).expect("a log").count(), 3, "{name}");
    }
}

#[test]
fn all_members_are_read() {
    let members = [packed("; MaxProcs: 4\n"), packed(&log(5)), packed(&log(7))].concat();
    assert_eq!(records(members).len(), 12);
}

#[test]
fn wherever_gzip_ends_early_it_is_an_incomplete_download() {
    let (short, long) = (packed(&log(20)), packed(&log(10_000)));
    for cut in (3..short.len()).map(|end| &short[..end]).chain([&long[..long.len() / 2]]) {
        let error = error(cut);
        let message = error.to_string();
        let words = ": the gzip data ends early: the download may be incomplete; fetch the file again";
        assert!(message.starts_with("a.swf:") && message.ends_with(words), "{}: {message}", cut.len());
        assert!(!error.is_io());
    }
}

#[test]
fn damaged_gzip_and_a_wrong_checksum_are_errors() {
    let (mut damaged, mut wrong) = (packed(&log(1_000)), packed(&log(10)));
    let (middle, checksum) = (damaged.len() / 2, wrong.len() - 8);
    damaged[middle..middle + 64].fill(0xff);
    wrong[checksum] ^= 1;
    let damage = error(damaged);
    assert!(!damage.is_io() && damage.to_string().starts_with("a.swf:"), "{damage}");
    assert_eq!(error(wrong).to_string(), "a.swf:11: the gzip data is damaged; fetch the file again");
}
