//! Logs: the Standard Workload Format, plain and packed, the Grid Workloads Archive's, Slurm's accounting, and logs resampled.

use super::Target;
use super::recipe::{damage, varied};
use flate2::Compression;
use flate2::write::GzEncoder;
use rand::RngExt;
use sim_core::{Span, Stream, Streams, Time};
use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use workload::convert::{Layout, convert_read, convert_sacct};
use workload::resample::{Users, shaken};
use workload::sacct::{SacctReader, Zone};
use workload::validate::Anomaly;
use workload::{
    ConvertError, Converted, Deadlines, Estimates, GwfReader, HeldJob, HeldLog, Inspection, Intake, Options, SwfReader,
    SwfWriter, Validation,
};

const SWF: [&[u8]; 2] = [include_bytes!("../samples/log.swf"), include_bytes!("../samples/log21.swf")];
const GWF: &[u8] = include_bytes!("../samples/log.gwf");
const SACCT: &[u8] = include_bytes!("../samples/jobs.sacct");

pub(crate) const TARGETS: [Target; 5] = [
    Target::of(
        "swf",
        "logs in the Standard Workload Format: read, written again, taken in, validated, inspected, converted",
        || SWF.map(<[u8]>::to_vec).into(),
        check_swf,
    ),
    Target {
        make: gzip,
        ..Target::of(
            "swf-gzip",
            "packed logs: cut off, damaged, and of several members",
            || [SWF[0], GWF].map(<[u8]>::to_vec).into(),
            check_gzip,
        )
    },
    Target::of(
        "gwf",
        "logs of the Grid Workloads Archive: read, written again, converted",
        || vec![GWF.to_vec()],
        check_gwf,
    ),
    Target::of(
        "sacct",
        "Slurm's accounting: read, and turned into logs that can be read",
        || vec![SACCT.to_vec()],
        check_sacct,
    ),
    Target::of(
        "resample",
        "logs shaken, made denser, redrawn user by user: every job is one of the log's, in order",
        || SWF.map(<[u8]>::to_vec).into(),
        check_resampled,
    ),
];

/// Name of the file in messages.
pub(crate) const NAME: &str = "fuzz.log";

/// Fails if a message does not begin with the file's name, or is too long to read.
pub(crate) fn sane(message: impl Display) -> Result<(), String> {
    let message = message.to_string();
    if !message.starts_with(NAME) || message.len() > 2_000 {
        return Err(format!("a message that leads nowhere, or is too long: {message:?}"));
    }
    Ok(())
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// Returns the sound records of a log, and true if all records are sound; `None` if the log is refused as a whole.
fn records<R, E: Display>(
    log: Result<impl Iterator<Item = Result<R, E>>, E>,
) -> Result<Option<(Vec<R>, bool)>, String> {
    let (mut sound, mut faults) = (Vec::new(), 0);
    match log {
        Err(error) => return sane(error).map(|()| None),
        Ok(log) => {
            for record in log {
                match record {
                    Ok(record) => sound.push(record),
                    // A decompression bomb has millions of faulty lines.
                    Err(_) if faults > 1_000 => break,
                    Err(error) => {
                        sane(error)?;
                        faults += 1;
                    }
                }
            }
        }
    }
    Ok(Some((sound, faults == 0)))
}

/// Fails if records differ from those read again.
fn same<R: PartialEq + Debug, E: Display>(
    records: &[R],
    again: Result<impl Iterator<Item = Result<R, E>>, E>,
    how: &str,
) -> Result<(), String> {
    let again: Vec<R> = again.map_err(|error| format!("{how}: {error}"))?.filter_map(Result::ok).collect();
    if records == again { Ok(()) } else { Err(format!("read {records:?}\n{how} {again:?}")) }
}

/// A reader that returns a few bytes at a time, as a pipe may.
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

fn check_swf(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let whole = || Cursor::new(Arc::clone(&bytes));
    let open = || SwfReader::from_read(NAME, whole());
    let Some((good, is_sound)) = records(open())? else { return Ok(false) };
    if !good.is_empty() {
        let mut out = SwfWriter::new(Vec::new());
        good.iter().try_for_each(|record| out.record(record)).map_err(text)?;
        same(&good, SwfReader::from_read(NAME, Cursor::new(out.into_inner())), "written and read again")?;
    }
    match input.len() % 6 {
        0 => {
            let pieces = Dripping { bytes: whole(), piece: 1 + input.len() % 7 };
            same(&good, SwfReader::from_read(NAME, pieces), "in pieces")?;
        }
        1 | 2 => taken_in(open().map_err(text)?, good.len(), input.len() / 6)?,
        3 => {
            let bad = open().map_err(text)?.filter(Result::is_err).count();
            let findings = Validation::new(open().map_err(text)?, Some(64));
            let reported = findings.filter(|finding| matches!(finding.anomaly, Anomaly::Unreadable(_))).count();
            if reported != bad {
                return Err(format!("{bad} lines cannot be read, and validation reports {reported}"));
            }
        }
        4 => {
            if let Ok(seen) = Inspection::of(open().map_err(text)?, None, None)
                && seen.records < good.len() as u64
            {
                return Err(format!("{} records were read, {} inspected", good.len(), seen.records));
            }
        }
        _ => {
            for to in [Layout::Swf, Layout::Swf21, Layout::Gwf] {
                converted(to, is_sound, |out| convert_read(NAME, whole(), Layout::Swf, to, out))?;
            }
        }
    }
    Ok(is_sound)
}

/// Checks that jobs are in order, can run, and are all accounted for.
fn taken_in(log: SwfReader, good: usize, choice: usize) -> Result<(), String> {
    let estimates = [
        Estimates::Exact,
        Estimates::User,
        Estimates::Factor(2.5),
        Estimates::RequestFactor(2.0),
        Estimates::FModel(3.0),
        Estimates::MeanOfUser(2),
    ];
    let deadlines = [Deadlines::None, Deadlines::Factor(1e6), Deadlines::Column(19)];
    let (estimates, deadlines) = (estimates[choice % 6], deadlines[choice / 6 % 3]);
    let options = Options { estimates, deadlines, capacity: Some(64), ..Options::default() };
    let mut intake = Intake::new(log, options);
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

/// Checks that a sound log can be converted and every record of the result can be read. Returns true if it was converted.
fn converted(
    to: Layout,
    is_sound: bool,
    convert: impl FnOnce(&mut Vec<u8>) -> Result<Converted, ConvertError>,
) -> Result<bool, String> {
    let mut out = Vec::new();
    let done = match convert(&mut out) {
        Ok(done) => done,
        Err(ConvertError::Log(error)) if !is_sound => return sane(error).map(|()| false),
        Err(error) => return Err(format!("a sound log cannot be converted to {to:?}: {error}")),
    };
    if done.records == 0 {
        return Ok(false);
    }
    let out = Cursor::new(out);
    let read = match to {
        Layout::Gwf => GwfReader::from_read(NAME, out).map(|log| log.filter(Result::is_ok).count()),
        _ => SwfReader::from_read(NAME, out).map(|log| log.filter(Result::is_ok).count()),
    };
    let read = read.map_err(|error| format!("what was converted to {to:?} is no log: {error}"))?;
    if read as u64 == done.records {
        return Ok(true);
    }
    Err(format!("of {} records converted to {to:?}, {read} can be read", done.records))
}

fn check_gwf(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let whole = || Cursor::new(Arc::clone(&bytes));
    let Some((good, is_sound)) = records(GwfReader::from_read(NAME, whole()))? else { return Ok(false) };
    if input.len().is_multiple_of(2) {
        for to in [Layout::Swf, Layout::Swf21, Layout::Gwf] {
            converted(to, is_sound, |out| convert_read(NAME, whole(), Layout::Gwf, to, out))?;
        }
    } else if !good.is_empty() {
        let mut out = Vec::new();
        good.iter().try_for_each(|record| record.write(&mut out)).map_err(text)?;
        same(&good, GwfReader::from_read(NAME, Cursor::new(out)), "written and read again")?;
    }
    Ok(is_sound)
}

fn check_sacct(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let zone = match input.len() % 3 {
        0 => Zone::Unknown,
        1 => Zone::Fixed(-39_600),
        _ => "Europe/Berlin".parse::<Zone>().map_err(text)?,
    };
    let reader = || SacctReader::from_read(NAME, Cursor::new(Arc::clone(&bytes)), zone.clone());
    let Some((_, is_sound)) = records(reader())? else { return Ok(false) };
    let mut all = is_sound;
    for to in [Layout::Swf, Layout::Gwf] {
        all &= converted(to, false, |out| convert_sacct(reader()?, None, to, out))?;
    }
    Ok(all)
}

fn packed(plain: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(plain).and_then(|()| out.finish()).expect("into memory")
}

/// Makes a packed log; some are then damaged or followed by another member.
fn gzip(samples: &[Vec<u8>], draws: &mut Stream) -> Vec<u8> {
    let mut out = packed(&varied(samples, draws));
    match draws.random_range(0..8) {
        0 => out.extend(packed(&samples[0])),
        1..4 => damage(&mut out, draws),
        _ => {}
    }
    out
}

/// Feeds a packed log of any content to both readers.
fn check_gzip(input: &[u8]) -> Result<bool, String> {
    let bytes: Arc<[u8]> = input.into();
    let swf = records(SwfReader::from_read(NAME, Cursor::new(Arc::clone(&bytes))))?;
    records(GwfReader::from_read(NAME, Cursor::new(bytes)))?;
    Ok(swf.is_some_and(|(_, is_sound)| is_sound))
}

/// Longest log fed to resampling: logs beyond the clock are refused by the simulation.
const LONGEST: Span = Span::from_secs(2 * 366 * 86_400);

fn check_resampled(input: &[u8]) -> Result<bool, String> {
    let log = SwfReader::from_read(NAME, Cursor::new(input.to_vec()));
    let Ok((log, _)) = log.and_then(|log| HeldLog::read(log, Options::default())) else { return Ok(false) };
    if log.span() > LONGEST {
        return Ok(false);
    }
    let streams = Streams::new(input.len() as u64, 0);
    let mut made = vec![shaken(&log, Span::from_secs(600), &streams), log.denser(1.2)];
    let users = || Users::of(&log).map(|users| users.with_weeks(20).with_users(1.2).redrawn(&streams));
    let drawn = users();
    if drawn != users() {
        return Err("drawn twice, and not the same".to_owned());
    }
    made.extend(drawn.ok());
    // All fields except submission and user.
    let what = |job: &HeldJob| format!("{:?}", HeldJob { submit: Time::ZERO, user: None, ..*job });
    let known: BTreeSet<String> = log.jobs().iter().map(what).collect();
    for made in &made {
        let told = made.with_estimates(Estimates::MeanOfUser(2), 1);
        let as_held = told.iter().map(|job| job.submit).eq(made.jobs().iter().map(|job| job.submit));
        if !made.jobs().is_sorted_by_key(|job| job.submit) || !as_held {
            return Err(format!("not in order: {made:?}"));
        }
        if let Some(job) = made.jobs().iter().map(what).find(|job| !known.contains(job)) {
            return Err(format!("no job of the log: {job}"));
        }
    }
    Ok(true)
}
