//! Logs: the Standard Workload Format, plain and packed, and that of the Grid Workloads Archive.

use super::Target;
use super::dice::Dice;
use super::text::{end_line, mutate, number, push_number};
use flate2::Compression;
use flate2::write::GzEncoder;
use sim_core::{Span, Time};
use std::io::{Cursor, Read, Write};
use std::sync::{Arc, OnceLock};
use workload::convert::{Layout, convert_read};
use workload::validate::Anomaly;
use workload::{
    ConvertError, Deadlines, Estimates, GwfReader, GwfRecord, GwfWriter, Inspection, Intake, Options, SwfError,
    SwfReader, SwfRecord, SwfWriter, Validation,
};

pub(crate) fn targets() -> Vec<Target> {
    vec![
        Target {
            name: "swf",
            about: "logs in the Standard Workload Format: read, written again, taken in, validated, inspected, converted",
            extension: "swf",
            make: swf,
            check: check_swf,
        },
        Target {
            name: "swf-gzip",
            about: "the same packed: cut off, damaged, in several members, and bombs",
            extension: "gz",
            make: gzip,
            check: check_gzip,
        },
        Target {
            name: "gwf",
            about: "logs of the Grid Workloads Archive: read, written again, converted",
            extension: "gwf",
            make: gwf,
            check: check_gwf,
        },
    ]
}

const HEADER: [&str; 12] = [
    "; Version: 2.2",
    "; MaxProcs: ",
    "; MaxNodes: ",
    "; UnixStartTime: ",
    "; TimeZone: ",
    "; TimeZoneString: Europe/Prague",
    "; Note: it was written",
    ";",
    ";; Queue: 1 = ",
    "; Preemption: No",
    "; http://no.key/",
    ";=",
];

/// A log: some comments, some records, and some accidents.
fn swf(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..dice.below(4) {
        let line = dice.pick(&HEADER);
        out.extend_from_slice(line.as_bytes());
        if line.ends_with(": ") {
            number(dice, &mut out);
        }
        end_line(dice, &mut out);
    }
    let mut submit = 0;
    for job in 0..1 + dice.below(12) as u64 {
        push_number(&mut out, job + 1);
        submit += dice.below(200) as u64;
        for column in 1..columns(dice) {
            out.push(b' ');
            match column {
                1 if !dice.one_in(12) => push_number(&mut out, submit),
                19 => out.extend_from_slice(b"q_1d"),
                20 => out.extend_from_slice(dice.pick(&[
                    &b"1:ppn=4"[..],
                    b"2:ppn=12:cl_zewura",
                    b"0:ppn=0:^cl_zegox",
                    b":",
                    b"1:ppn=x+",
                ])),
                _ => number(dice, &mut out),
            }
        }
        end_line(dice, &mut out);
    }
    mutate(dice, &mut out);
    out
}

/// How many a record has: 18, or not quite.
fn columns(dice: &mut Dice<'_>) -> usize {
    if dice.one_in(10) { dice.pick(&[21, 20, 19, 17, 2, 1, 40]) } else { 18 }
}

fn gwf(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..dice.below(3) {
        out.extend_from_slice(dice.pick(&[&b"# JobID\tSubmitTime"[..], b"#", b"#\xff", b" # Note: it was written"]));
        end_line(dice, &mut out);
    }
    let separator = if dice.one_in(4) { b' ' } else { b'\t' };
    for job in 0..1 + dice.below(8) as u64 {
        push_number(&mut out, job);
        let columns = if dice.one_in(10) { 1 + dice.below(32) } else { 29 };
        for column in 1..columns {
            out.push(separator);
            match column {
                1..=10 => number(dice, &mut out),
                _ => out.extend_from_slice(dice.pick(&[
                    &b"-1"[..],
                    b"U1",
                    b"U2",
                    b"user one",
                    b"BoT",
                    b"Q1",
                    b"U12",
                    b"",
                    b"-",
                    b"\xc3\xa9",
                    b"cpu:1,mem:2",
                    b"a\x1bb",
                    b"7",
                ])),
            }
        }
        end_line(dice, &mut out);
    }
    mutate(dice, &mut out);
    out
}

fn packed(plain: &[u8], level: u32) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::new(level));
    out.write_all(plain).and_then(|()| out.finish()).expect("into memory")
}

/// 64 MiB of what might be taken for something, in some kilobytes. Of lines that are blank and therefore read to the end, fewer:
/// a reader of 64 million lines takes seconds, and may.
fn bombs() -> &'static [Vec<u8>] {
    static BOMBS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    BOMBS.get_or_init(|| {
        let size = |line: &[u8]| if line == b"\n" { 2 << 20 } else { 64 << 20 };
        let repeated = |line: &[u8]| packed(&line.repeat(size(line) / line.len()), 9);
        [&b"\0"[..], b"\n", b" ", b"1 ", b";\n", b"; a: b\n", b"#\n", b"# a\n", b"; a\n", b"\xff"].map(repeated).into()
    })
}

/// A log, packed, and what may happen on the way: half of it is lost, a bit is not what it was, there are several members.
fn gzip(dice: &mut Dice<'_>) -> Vec<u8> {
    if dice.one_in(4_000) {
        return dice.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|bomb| &bombs()[bomb])).clone();
    }
    let plain = if dice.one_in(4) { gwf(dice) } else { swf(dice) };
    let mut out = packed(&plain, 1);
    match dice.below(6) {
        1 => out.truncate(dice.below(out.len())),
        2 => {
            let at = dice.below(out.len());
            out[at] ^= 1 << dice.below(8);
        }
        3 => out.extend(packed(&swf(dice), 1)),
        4 => out.extend_from_slice(dice.pick(&[&b"\0\0\0"[..], b"1 2 3\n", b"\x1f\x8b", b"\n"])),
        _ => {}
    }
    out
}

/// Gives a few bytes at a time, as a pipe may.
struct Dripping {
    bytes: Cursor<Arc<[u8]>>,
    piece: usize,
}

impl Read for Dripping {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let piece = self.piece.min(buffer.len());
        self.bytes.read(&mut buffer[..piece])
    }
}

/// The name that stands for the file.
const NAME: &str = "fuzz.log";

/// A message leads to the file, and is short enough to be read.
pub(crate) fn sane(message: &str) -> Result<(), String> {
    if !message.starts_with(NAME) || message.len() > 1_000 {
        return Err(format!("a message that leads nowhere, or is too long: {message:?}"));
    }
    Ok(())
}

type Records = Vec<Result<SwfRecord, SwfError>>;

fn read_swf(input: impl Read + Send + 'static) -> Result<Records, SwfError> {
    Ok(SwfReader::from_read(NAME, input)?.collect())
}

fn check_swf(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let whole = || Cursor::new(Arc::clone(&bytes));
    let records = match read_swf(whole()) {
        Err(error) => return sane(&error.to_string()).map(|()| false),
        Ok(records) => records,
    };
    for error in records.iter().filter_map(|record| record.as_ref().err()) {
        sane(&error.to_string())?;
    }
    let good: Vec<&SwfRecord> = records.iter().filter_map(|record| record.as_ref().ok()).collect();
    written_again(&good)?;
    match input.len() % 6 {
        0 => dripped(&bytes, &records)?,
        1 | 2 => taken_in(whole(), good.len(), input.len())?,
        3 => {
            let bad = records.len() - good.len();
            let reader = SwfReader::from_read(NAME, whole()).map_err(|error| error.to_string())?;
            let unreadable = |finding: &workload::validate::Finding| matches!(finding.anomaly, Anomaly::Unreadable(_));
            let told = Validation::new(reader, Some(64)).filter(unreadable).count();
            if told != bad {
                return Err(format!("{bad} lines cannot be read, and validation tells of {told}"));
            }
        }
        4 => {
            let reader = SwfReader::from_read(NAME, whole()).map_err(|error| error.to_string())?;
            if let Ok(seen) = Inspection::of(reader, None, None)
                && seen.records < good.len() as u64
            {
                return Err(format!("{} records were read, {} inspected", good.len(), seen.records));
            }
        }
        _ => converted(whole(), Layout::Swf, good.len() == records.len())?,
    }
    Ok(good.len() == records.len())
}

/// What was read, written and read again is the same.
fn written_again(records: &[&SwfRecord]) -> Result<(), String> {
    if records.is_empty() {
        return Ok(());
    }
    let mut out = SwfWriter::new(Vec::new());
    records.iter().try_for_each(|record| out.record(record)).map_err(|error| error.to_string())?;
    let again = read_swf(Cursor::new(out.into_inner())).map_err(|error| error.to_string())?;
    let same = again.len() == records.len()
        && again.iter().zip(records).all(|(again, record)| again.as_ref().is_ok_and(|again| again == *record));
    if same { Ok(()) } else { Err(format!("read {records:?}\nwritten and read again {again:?}")) }
}

/// It does not matter in which pieces the bytes come.
fn dripped(bytes: &Arc<[u8]>, records: &Records) -> Result<(), String> {
    let pieces = Dripping { bytes: Cursor::new(Arc::clone(bytes)), piece: 1 + bytes.len() % 7 };
    let again = read_swf(pieces).map_err(|error| format!("in pieces: {error}"))?;
    let same = |(one, two): (&Result<SwfRecord, SwfError>, &Result<SwfRecord, SwfError>)| match (one, two) {
        (Ok(one), Ok(two)) => one == two,
        (Err(one), Err(two)) => one.to_string() == two.to_string(),
        _ => false,
    };
    let is_same = again.len() == records.len() && again.iter().zip(records).all(same);
    if is_same { Ok(()) } else { Err(format!("in one piece {records:?}\nin pieces {again:?}")) }
}

/// Jobs come in order, can run, and are all accounted for.
fn taken_in(input: impl Read + Send + 'static, good: usize, choice: usize) -> Result<(), String> {
    let estimates = [
        Estimates::Exact,
        Estimates::User,
        Estimates::Factor(2.5),
        Estimates::RequestFactor(2.0),
        Estimates::FModel(3.0),
        Estimates::MeanOfUser(2),
    ];
    let deadlines = [Deadlines::None, Deadlines::Factor(1e6), Deadlines::Column(19)];
    let (estimates, deadlines) = (estimates[choice / 6 % 6], deadlines[choice / 36 % 3]);
    let options = Options { estimates, deadlines, capacity: Some(64), ..Options::default() };
    let reader = SwfReader::from_read(NAME, input).map_err(|error| error.to_string())?;
    let mut intake = Intake::new(reader, options);
    let (mut jobs, mut last) = (0, Time::ZERO);
    for job in intake.by_ref().flatten() {
        let job = job.job;
        let can_run = job.request.processors > 0 && job.runtime > Span::ZERO && job.request.estimate > Some(Span::ZERO);
        if !can_run || job.submit < last {
            return Err(format!("under {options:?}, after {last:?}: {job:?}"));
        }
        (jobs, last) = (jobs + 1, job.submit);
    }
    let skipped = intake.repairs().skipped();
    let faulty_deadlines = matches!(deadlines, Deadlines::Column(_));
    if !faulty_deadlines && jobs + skipped != good as u64 {
        return Err(format!("of {good} records {jobs} became jobs and {skipped} were skipped"));
    }
    Ok(())
}

/// A sound log can be converted to every format, and what comes out can be read.
fn converted(input: Cursor<Arc<[u8]>>, from: Layout, is_sound: bool) -> Result<(), String> {
    for to in [Layout::Swf, Layout::Swf21, Layout::Gwf] {
        let mut out = Vec::new();
        match convert_read(NAME, input.clone(), from, to, &mut out) {
            Ok(done) if done.records > 0 => {
                let read = match to {
                    Layout::Gwf => {
                        GwfReader::from_read(NAME, Cursor::new(out)).map(|log| log.filter(Result::is_ok).count())
                    }
                    _ => read_swf(Cursor::new(out)).map(|log| log.iter().filter(|record| record.is_ok()).count()),
                };
                let read = read.map_err(|error| format!("what was converted to {to:?} is no log: {error}"))?;
                if read as u64 != done.records {
                    return Err(format!("of {} records converted to {to:?}, {read} can be read", done.records));
                }
            }
            Err(ConvertError::Log(error)) if !is_sound => sane(&error.to_string())?,
            Err(error) => return Err(format!("a sound log cannot be converted to {to:?}: {error}")),
            Ok(_) => {}
        }
    }
    Ok(())
}

fn read_gwf(input: impl Read + Send + 'static) -> Result<Vec<Result<GwfRecord, SwfError>>, SwfError> {
    Ok(GwfReader::from_read(NAME, input)?.collect())
}

fn check_gwf(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let records = match read_gwf(Cursor::new(Arc::clone(&bytes))) {
        Err(error) => return sane(&error.to_string()).map(|()| false),
        Ok(records) => records,
    };
    for error in records.iter().filter_map(|record| record.as_ref().err()) {
        sane(&error.to_string())?;
    }
    let good: Vec<&GwfRecord> = records.iter().filter_map(|record| record.as_ref().ok()).collect();
    let is_sound = good.len() == records.len();
    if input.len().is_multiple_of(2) {
        converted(Cursor::new(bytes), Layout::Gwf, is_sound)?;
    } else if !good.is_empty() {
        let mut out = GwfWriter::new(Vec::new());
        good.iter().try_for_each(|record| out.record(record)).map_err(|error| error.to_string())?;
        let again = read_gwf(Cursor::new(out.into_inner())).map_err(|error| error.to_string())?;
        let same = again.len() == good.len()
            && again.iter().zip(&good).all(|(again, record)| again.as_ref().is_ok_and(|again| again == *record));
        if !same {
            return Err(format!("read {good:?}\nwritten and read again {again:?}"));
        }
    }
    Ok(is_sound)
}

/// After so many faulty lines nobody reads on; each is a message, and a bomb has millions.
const FAULTS: usize = 1_000;

/// Both readers, whatever is inside: neither knows before it has unpacked it. Records are not kept: a bomb has millions.
fn check_gzip(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let swf = SwfReader::from_read(NAME, Cursor::new(Arc::clone(&bytes)));
    let is_sound = read_on(swf.map(|log| log.map(|record| record.map(drop))))?;
    let gwf = GwfReader::from_read(NAME, Cursor::new(bytes));
    read_on(gwf.map(|log| log.map(|record| record.map(drop))))?;
    Ok(is_sound)
}

/// Whether there is no fault; each is told as it should be.
fn read_on(log: Result<impl Iterator<Item = Result<(), SwfError>>, SwfError>) -> Result<bool, String> {
    let log = match log {
        Err(error) => return sane(&error.to_string()).map(|()| false),
        Ok(log) => log,
    };
    let faults = log.filter_map(Result::err).take(FAULTS).map(|error| sane(&error.to_string()));
    faults.collect::<Result<Vec<()>, String>>().map(|faults| faults.is_empty())
}
