//! `cargo xtask workload convert`: a log in another format.

use super::cli::Convert;
use super::io::{LogBytes, NewFile, failed, printed};
use super::words::counted;
use anyhow::{Result, anyhow, bail, ensure};
use lab::cli::{Common, Ending};
use lab::interrupt::{self, Interrupted};
use workload::convert::{convert_sacct, convert_swf};
use workload::repair::Repair;
use workload::{ConvertError, Converted, Layout, SacctReader, SwfReader};

pub(super) fn convert(options: &Convert, common: &Common) -> Result<Ending> {
    let Convert { file, to, from, zone, procs, out } = options;
    let shown = file.display();
    ensure!(*to != Layout::Sacct, "--to sacct: that format is read and not written; give swf or swf21");
    let from = match from {
        Some(from) => *from,
        None if file.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir()) => {
            bail!(
                "{shown}: is a pipe or a device, whose format cannot be recognized before it is read; give it with --from"
            )
        }
        None => Layout::detect(file)?,
    };
    for (option, is_given) in [("--zone", zone.is_some()), ("--procs", procs.is_some())] {
        ensure!(!is_given || from == Layout::Sacct, "{option} goes with a log from sacct; {shown} is in {from}");
    }
    let mut new = NewFile::create(out)?;
    let source = LogBytes::open(file, "convert", common.quiet).map_err(ConvertError::Log);
    let done = source.and_then(|source| match from {
        Layout::Sacct => {
            let reader = SacctReader::from_read(file, source, zone.clone().unwrap_or_default())?;
            convert_sacct(reader, *procs, *to, &mut new)
        }
        _ => convert_swf(SwfReader::from_read(file, source)?, *to, &mut new),
    });
    let done = done.map_err(|error| match error {
        ConvertError::Log(error) => failed(error),
        ConvertError::Write(_) => anyhow!(error).context(format!("cannot write {}", out.display())),
    })?;
    interrupt::check(Interrupted::Lost)?;
    new.keep()?;
    let answer = serde_json::json!({
        "out": out,
        "from": from.to_string(),
        "to": to.to_string(),
        "records": done.records,
        "lost": done.lost,
        "names": done.names,
        "repairs": done.repairs.iter().map(|Repair { rule, count, first_line }| {
            serde_json::json!({ "rule": rule.name(), "count": count, "first_line": first_line })
        }).collect::<Vec<_>>(),
    });
    Ok(printed(common, &answer, &in_words(&done, from, *to, common.quiet), out))
}

fn in_words(done: &Converted, from: Layout, to: Layout, quiet: bool) -> String {
    let mut text = format!("{} from {from} to {to}\n", counted(done.records, "record"));
    if quiet {
        return text;
    }
    for (column, count) in &done.lost {
        text += &format!("lost: {column} of {}; {to} has no column for it\n", counted(*count, "record"));
    }
    for Repair { rule, count, first_line } in done.repairs.iter() {
        let line = first_line.unwrap_or_default();
        text += &format!("{rule}: {count} (first on line {line}); {}\n", rule.description());
    }
    let names = match done.names {
        0 => String::new(),
        1 => "1 name became a number; a comment before its first job names it\n".to_owned(),
        names => format!("{names} names became numbers; comments before their first jobs list them\n"),
    };
    text + &names
}
