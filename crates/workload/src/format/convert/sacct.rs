//! Conversion of the output of Slurm's accounting into a log.

use super::{ConvertError, Converted, Layout, fitted};
use crate::format::repair::Repair;
use crate::format::sacct::{SacctJob, SacctReader, SacctRule, WITH_GPUS};
use crate::format::swf::{SwfRecord, SwfWriter};
use sim_core::Span;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Write};

/// Number of jobs that are held to be sorted.
const WINDOW: usize = 1 << 16;

/// Converts output of `sacct`, and writes it to `out`, which should be buffered; `processors` are those of the cluster,
/// which `sacct` does not state. Jobs are sorted by submit time, counted from that of the first, as far as a window of 65 536 jobs
/// can sort them. Comments at the top give that instant and the columns, and those at the end count the repairs.
///
/// # Panics
///
/// If `to` is [`Layout::Sacct`], which is not written.
pub fn convert_sacct(
    mut reader: SacctReader,
    processors: Option<u32>,
    to: Layout,
    out: impl Write,
) -> Result<Converted, ConvertError> {
    let (mut out, mut done) = (SwfWriter::new(out), Converted::default());
    let mut numbers = Numbers::default();
    // By submit time, then by line: `sacct` lists jobs by number, which is nearly that order except for the tasks of arrays.
    let mut window: BTreeMap<(Span, u64), SacctJob> = BTreeMap::new();
    // Beginning of the log and the latest submit time written, since 1970.
    let mut origin_and_last = None;
    loop {
        if let Some(job) = reader.next().transpose()? {
            window.insert((job.record.submit.unwrap_or_default(), reader.line()), job);
            if window.len() <= WINDOW {
                continue;
            }
        }
        let Some(((submit, line), mut job)) = window.pop_first() else { break };
        let (origin, last) = match origin_and_last {
            Some(known) => known,
            None => {
                header(&reader, submit, processors).iter().try_for_each(|line| out.comment(line))?;
                (submit, submit)
            }
        };
        if submit < last {
            reader.repairs.note(SacctRule::OutOfOrder, Some(line));
        }
        origin_and_last = Some((origin, last.max(submit)));
        // A job that was submitted before the log begins waits from its beginning on, so that its start stays the same.
        job.record.wait = job.record.wait.map(|wait| (submit + wait).saturating_sub(origin.max(submit)));
        job.record.submit = Some(submit.saturating_sub(origin));
        if job.has_project {
            *done.lost.entry("Account").or_default() += 1;
        }
        let record = numbered(job, &mut numbers, &mut out)?;
        out.record(&fitted(record, to, &mut done))?;
    }
    for Repair { rule, count, first_line } in reader.repairs.iter() {
        let (line, words) = (first_line.unwrap_or_default(), rule.description());
        out.comment(&format!("Note: {count} x {rule} (first on line {line} of what sacct printed): {words}"))?;
    }
    let names = numbers.iter().map(|names| names.len() as u64).sum();
    Ok(Converted { names, repairs: reader.repairs, ..done })
}

/// Numbers of the names in the columns of users, groups, queues and partitions.
type Numbers = [BTreeMap<Box<str>, u32>; 4];

/// First number for a name without one.
const FIRST_OTHER: u32 = 1_000_000_000;

/// Returns the record of a job with numbers for its names. A plain number keeps its value; other names are numbered from a
/// thousand million on, in the order in which they appear, each with a comment: `User: 1000000000 Jane`.
fn numbered(job: SacctJob, numbers: &mut Numbers, out: &mut SwfWriter<impl Write>) -> io::Result<SwfRecord> {
    let SacctJob { mut record, names, .. } = job;
    let SwfRecord { user, group, queue, partition, .. } = &mut record;
    let columns = [("User", user), ("Group", group), ("Queue", queue), ("Partition", partition)];
    for (((key, number), name), others) in columns.into_iter().zip(names).zip(numbers) {
        let Some(name) = name else { continue };
        // A number with leading zeros is another name than the number without.
        let is_plain = &*name == "0" || !name.starts_with(['0', '+']);
        if let Some(plain) = name.parse().ok().filter(|number| is_plain && *number < FIRST_OTHER) {
            *number = Some(plain);
            continue;
        }
        let next = FIRST_OTHER + u32::try_from(others.len()).expect("fewer than 3 billion names");
        *number = Some(match others.entry(name) {
            Entry::Occupied(other) => *other.get(),
            Entry::Vacant(other) => {
                out.comment(&format!("{key}: {next} {}", other.key()))?;
                *other.insert(next)
            }
        });
    }
    Ok(record)
}

fn header(reader: &SacctReader, origin: Span, processors: Option<u32>) -> Vec<String> {
    let origin = origin.as_nanos() / 1_000_000_000;
    let mut lines = vec!["Version: 2.2".to_owned(), "Conversion: from sacct --parsable2 by Gridproof".to_owned()];
    lines.extend(processors.map(|processors| format!("MaxProcs: {processors}")));
    lines.push(format!("UnixStartTime: {origin}"));
    let ahead = reader.zone.seconds_ahead(i64::try_from(origin).expect("it is before 2106"));
    lines.extend(ahead.map(|seconds| format!("TimeZone: {seconds}")));
    lines.extend(reader.zone.place().map(|name| format!("TimeZoneString: {name}")));
    let numbers = if reader.has("JobIDRaw") {
        "job numbers are those of Slurm (JobIDRaw); where JobID differs, a comment before the record gives it"
    } else {
        "job numbers are counted: there was no column JobIDRaw; a comment before the record gives JobID"
    };
    let has_gpus = WITH_GPUS.into_iter().any(|column| reader.has(column));
    let gpus = "GPUs are unknown: there was no column AllocTRES, ReqTRES, AllocGRES or ReqGRES";
    let notes = [numbers].into_iter().chain((!has_gpus).then_some(gpus)).chain([
        "group is Group, or else Account; queue is QOS; partition is Partition",
        "comments before first jobs tell which names became numbers, those at the end what was left out or repaired",
    ]);
    lines.extend(notes.map(|note| format!("Note: {note}")));
    lines
}
