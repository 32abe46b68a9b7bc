//! Slurm's accounting, as `sacct --parsable2` prints it.

use super::Target;
use super::dice::Dice;
use super::text::{end_line, mutate, number, odd};
use std::io::Cursor;
use std::sync::Arc;
use workload::convert::convert_sacct;
use workload::sacct::{SacctReader, Zone};
use workload::{ConvertError, GwfReader, Layout, SwfReader};

pub(crate) fn targets() -> Vec<Target> {
    vec![Target {
        name: "sacct",
        about: "Slurm's accounting: read, and turned into logs that can be read",
        extension: "sacct",
        make: sacct,
        check,
    }]
}

/// Columns, and what may stand there.
const COLUMNS: [(&str, &[&str]); 16] = [
    ("JobIDRaw", &["100", "101", "102.batch", "103.0", "104+0", "105_[1-9]", "18446744073709551615"]),
    ("JobID", &["100", "101_1", "101_[2-9%4]", "102.batch", "104+0"]),
    ("User", &["alice", "bob", "", "a b"]),
    ("Group", &["staff", ""]),
    ("Account", &["physics", ""]),
    ("QOS", &["normal", ""]),
    ("Partition", &["batch", "gpu,batch", ""]),
    (
        "Submit",
        &[
            "2026-10-23T08:00:00",
            "2026-10-25T02:30:00",
            "1792742400",
            "Unknown",
            "None",
            "0001-01-01T00:00:00",
            "9999-12-31T23:59:59",
        ],
    ),
    ("Start", &["2026-10-23T08:00:10", "2026-10-25T02:30:00", "1792742410", "None", "Unknown", "1970-01-01T00:00:00"]),
    ("End", &["2026-10-23T09:00:10", "2026-10-25T02:10:00", "1792746010", "Unknown"]),
    ("Elapsed", &["01:00:00", "1-00:00:00", "59:59", "00:00:00", "99999999-00:00:00", "INVALID"]),
    ("Timelimit", &["02:00:00", "UNLIMITED", "Partition_Limit", "365-00:00:00", ""]),
    ("AllocCPUS", &["16", "0", "1", "4294967295"]),
    ("ReqCPUS", &["16", "0", "1"]),
    ("TotalCPU", &["14:30:00", "00:01.500", "1-02:03:04", "00:00:00"]),
    ("State", &["COMPLETED", "TIMEOUT", "CANCELLED by 1003", "PENDING", "RUNNING", "NODE_FAIL", "OUT_OF_MEMORY", ""]),
];

fn sacct(dice: &mut Dice<'_>) -> Vec<u8> {
    let columns: Vec<usize> = (0..COLUMNS.len()).filter(|_| !dice.one_in(12)).collect();
    let mut out = Vec::new();
    for (position, column) in columns.iter().enumerate() {
        if position > 0 {
            out.push(b'|');
        }
        out.extend_from_slice(COLUMNS[*column].0.as_bytes());
    }
    end_line(dice, &mut out);
    for _ in 0..dice.below(10) {
        for (position, column) in columns.iter().enumerate() {
            if position > 0 {
                out.push(b'|');
            }
            match dice.below(24) {
                22 => number(dice, &mut out),
                23 => out.extend_from_slice(odd(dice).as_bytes()),
                // The first is the plain one.
                0..=11 => out.extend_from_slice(COLUMNS[*column].1[0].as_bytes()),
                _ => out.extend_from_slice(dice.pick(COLUMNS[*column].1).as_bytes()),
            }
        }
        end_line(dice, &mut out);
    }
    mutate(dice, &mut out);
    out
}

const NAME: &str = "fuzz.sacct";

/// Whatever is converted can be read again, every record of it.
fn check(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let zone = match input.len() % 3 {
        0 => Zone::Unknown,
        1 => Zone::Fixed(-39_600),
        _ => "Europe/Berlin".parse::<Zone>().map_err(|error| error.to_string())?,
    };
    let reader = || SacctReader::from_read(NAME, Cursor::new(Arc::clone(&bytes)), zone.clone());
    let sane = |message: String| {
        let leads = message.starts_with(NAME) && message.len() <= 2_000;
        if leads { Ok(()) } else { Err(format!("a message that leads nowhere, or is too long: {message:?}")) }
    };
    match reader() {
        Err(error) => return sane(error.to_string()).map(|()| false),
        Ok(records) => records.filter_map(Result::err).try_for_each(|error| sane(error.to_string()))?,
    }
    let mut is_sound = true;
    for to in [Layout::Swf, Layout::Gwf] {
        let mut out = Vec::new();
        let processors = input.len().is_multiple_of(2).then_some(64);
        match convert_sacct(reader().map_err(|error| error.to_string())?, processors, to, &mut out) {
            Ok(done) if done.records > 0 => {
                let read = match to {
                    Layout::Gwf => {
                        GwfReader::from_read(NAME, Cursor::new(out)).map(|log| log.filter(Result::is_ok).count())
                    }
                    _ => SwfReader::from_read(NAME, Cursor::new(out)).map(|log| log.filter(Result::is_ok).count()),
                };
                let read = read.map_err(|error| format!("what was converted to {to:?} is no log: {error}"))?;
                if read as u64 != done.records {
                    return Err(format!("of {} records converted to {to:?}, {read} can be read", done.records));
                }
            }
            Ok(_) => is_sound = false,
            Err(ConvertError::Log(error)) => {
                sane(error.to_string())?;
                is_sound = false;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(is_sound)
}
