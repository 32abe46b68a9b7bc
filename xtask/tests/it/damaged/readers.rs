//! Every reader of a file, and its promise: a refusal is a message about the file, and what is written can be read.

use slurm_sched::accounts::Accounts;
use slurm_sched::conf::Conf;
use slurm_sched::error::Faults;
use slurm_sched::workload::SubmittedJob;
use slurm_sched::{Site, Version, follow, read_csv, version_of};
use std::fmt::{Debug, Display};
use std::io::Cursor;
use std::sync::OnceLock;
use workload::convert::{Layout, convert_sacct, convert_swf};
use workload::sacct::{SacctReader, Zone};
use workload::{ConvertError, Converted, Inspection, Intake, Machines, Options, SwfReader, SwfWriter, Validation};

/// Name of the file in messages.
pub(crate) const NAME: &str = "damaged.log";

pub(crate) const CONF: &str = include_str!("samples/slurm.conf");
pub(crate) const ACCOUNTS: &str = include_str!("samples/cluster.cfg");

/// Returns false for a refusal. Fails if its message does not begin with the file's name, or is too long to read.
fn refused(message: impl Display) -> Result<bool, String> {
    let message = message.to_string();
    if !message.starts_with(NAME) || message.len() > 2_000 {
        return Err(format!("a message that leads nowhere, or is too long: {message:?}"));
    }
    Ok(false)
}

/// Returns the sound records of a log, and true if all records are sound; none if the log is refused as a whole.
fn records<R, E: Display>(log: Result<impl Iterator<Item = Result<R, E>>, E>) -> Result<(Vec<R>, bool), String> {
    let (mut sound, mut is_sound) = (Vec::new(), true);
    let log = match log {
        Err(error) => return refused(error).map(|is_sound| (sound, is_sound)),
        Ok(log) => log,
    };
    // A decompression bomb has millions of faulty lines.
    for record in log.take(100_000) {
        match record {
            Ok(record) => sound.push(record),
            Err(error) => is_sound = refused(error)?,
        }
    }
    Ok((sound, is_sound))
}

/// Fails if records that were written are not the same when they are read again.
fn same<R: PartialEq + Debug, E: Display>(
    records: &[R],
    again: Result<impl Iterator<Item = Result<R, E>>, E>,
) -> Result<(), String> {
    let again = again.map_err(|error| error.to_string())?.collect::<Result<Vec<R>, E>>();
    match again.map_err(|error| error.to_string())? {
        again if again == records => Ok(()),
        again => Err(format!("read {records:?}\nwritten and read again {again:?}")),
    }
}

/// Fails if a sound log cannot be converted, or the result has not all records. Returns true if it was converted.
fn converted(
    to: Layout,
    is_sound: bool,
    convert: impl FnOnce(&mut Vec<u8>) -> Result<Converted, ConvertError>,
) -> Result<bool, String> {
    let mut out = Vec::new();
    let done = match convert(&mut out) {
        Ok(done) if done.records == 0 => return Ok(false),
        Ok(done) => done,
        Err(ConvertError::Log(error)) if !is_sound => return refused(error),
        Err(error) => return Err(format!("a sound log cannot be converted to {to:?}: {error}")),
    };
    match SwfReader::from_read(NAME, Cursor::new(out)).map(|log| log.filter(Result::is_ok).count()) {
        Ok(read) if read as u64 == done.records => Ok(true),
        read => Err(format!("of {} records converted to {to:?}, {read:?} can be read", done.records)),
    }
}

pub(crate) fn swf(input: &[u8]) -> Result<bool, String> {
    let open = || SwfReader::from_read(NAME, Cursor::new(input.to_vec()));
    let (good, is_sound) = records(open())?;
    let Ok(log) = open() else { return Ok(false) };
    if !good.is_empty() {
        let mut out = SwfWriter::new(Vec::new());
        good.iter().try_for_each(|record| out.record(record)).map_err(|error| error.to_string())?;
        same(&good, SwfReader::from_read(NAME, Cursor::new(out.into_inner())))?;
    }
    let mut intake = Intake::new(log, Options { capacity: Some(64), ..Options::default() });
    let accounted = intake.by_ref().filter(Result::is_ok).count() as u64 + intake.repairs().skipped();
    if accounted != good.len() as u64 {
        return Err(format!("of {} records {accounted} became jobs or were skipped", good.len()));
    }
    drop(open().map(|log| Validation::new(log, Some(64)).count()));
    drop(open().map(|log| Inspection::of(log, None, None)));
    for to in [Layout::Swf, Layout::Swf21] {
        converted(to, is_sound, |out| convert_swf(open()?, to, out))?;
    }
    Ok(is_sound)
}

pub(crate) fn packed(input: &[u8]) -> Result<bool, String> {
    let (good, is_sound) = records(SwfReader::from_read(NAME, Cursor::new(input.to_vec())))?;
    Ok(is_sound && !good.is_empty())
}

pub(crate) fn sacct(input: &[u8]) -> Result<bool, String> {
    let zone = ["-11:00", "Europe/Berlin"].get(input.len() % 3);
    let zone = zone.map_or_else(Zone::default, |text| text.parse().expect("a zone"));
    let open = || SacctReader::from_read(NAME, Cursor::new(input.to_vec()), Zone::clone(&zone));
    let (_, mut is_sound) = records(open())?;
    for to in [Layout::Swf, Layout::Swf21] {
        is_sound &= converted(to, false, |out| convert_sacct(open()?, None, to, out))?;
    }
    Ok(is_sound)
}

/// Returns true if a text is accepted. The message of a refusal must have a reasonable length.
pub(crate) fn parsed<T>(input: &[u8], parse: fn(&str) -> anyhow::Result<T>) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    match parse(text).map_err(|error| format!("{error:#}")) {
        Ok(_) => Ok(true),
        Err(message) if message.is_empty() || message.len() > 20_000 => Err(format!("{} bytes", message.len())),
        Err(_) => Ok(false),
    }
}

pub(crate) fn machines(input: &[u8]) -> Result<bool, String> {
    match Machines::from_read(NAME, Cursor::new(input.to_vec())) {
        Err(error) => refused(error),
        Ok(machines) if machines.total_processors() == 0 => Err(format!("no processors in {machines:?}")),
        Ok(_) => Ok(true),
    }
}

pub(crate) fn slurm_conf(input: &[u8]) -> Result<bool, String> {
    let version = Version::ALL[input.len() % 2];
    faultless(input, |text| Conf::read(NAME, text, version, &[]).map(drop))
}

/// Returns true if a text is accepted. Each fault of a refusal must begin with the file's name.
pub(crate) fn faultless(input: &[u8], read: impl Fn(&str) -> Result<(), Faults>) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let Err(faults) = read(text) else { return Ok(true) };
    faults.0.iter().try_for_each(|fault| refused(fault).map(drop)).map(|()| false)
}

pub(crate) fn slurm_log(input: &[u8]) -> Result<bool, String> {
    static SAMPLES: OnceLock<(Site, Vec<SubmittedJob>)> = OnceLock::new();
    let (site, jobs) = SAMPLES.get_or_init(|| {
        // Eight jobs that the log names.
        let row = |id| format!("{id},{},{},{id},--uid ann -N {} --exclusive\n", 40 * id, 700 - 80 * id, 1 + id * 5 % 4);
        let jobs = read_csv(NAME, &(1..9).map(row).collect::<String>()).expect("it is sound");
        let version = Version::ALL[0];
        let conf = Conf::read(NAME, CONF, version, &[]).expect("it is sound");
        (Site { conf, accounts: Accounts::read(NAME, ACCOUNTS).expect("it is sound"), version }, jobs)
    });
    if let Err(error) = version_of(input) {
        refused(format!("{NAME}: {error}"))?;
    }
    match follow(site, jobs, input) {
        Err(error) => refused(format!("{NAME}: {error}")),
        Ok(found) if found.is_equal() == found.first_difference.is_some() => {
            Err(format!("it contradicts itself: {found:?}"))
        }
        Ok(_) => Ok(true),
    }
}
