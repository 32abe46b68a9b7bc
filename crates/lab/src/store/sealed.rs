//! Files of results that are written whole and never change: a head, lines, and on the last line the SHA-256 of all before it,
//! `{"sha256":"…"}`.
//!
//! An experiment's units have this form: any number of processes on any number of machines may write them at once. The
//! replications of a paper are lines of one file instead, each with its own hash (the [store](super)): different runs need
//! different ones, and a run that is killed loses one line and not a file.

use super::{segment, set_aside};
use crate::output::{is_missing, remove, write_whole};
use anyhow::{Context, Result};
use std::fs;
use std::io;
use std::path::Path;

const BEFORE_HASH: &str = "\n{\"sha256\":\"";

/// Extension of files of this form.
const ENDING: &str = "jsonl";

/// Writes `text`, lines without the end of the last one, in one step.
///
/// # Errors
///
/// It cannot be written; nothing is left of it then.
pub fn write(path: &Path, text: &str) -> Result<()> {
    write_whole(path, sealed(text).as_bytes())
}

/// Parses a file that is as it was written; `None` if there is no file. A file that is damaged, or of which `parse` makes nothing, is
/// reported on standard error and moved to the folder `aside`.
///
/// # Errors
///
/// It cannot be read, or not be set aside.
pub fn read<T>(path: &Path, aside: &Path, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
    let content = match fs::read(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        content => content.with_context(|| format!("cannot read {}", path.display()))?,
    };
    if let Some(found) = unsealed(&content).and_then(parse) {
        return Ok(Some(found));
    }
    set_aside(path, aside, "is damaged; it is kept as", "and what it held is computed again")?;
    // Another process may have been first.
    remove(path)?;
    Ok(None)
}

/// How many lines sound files of `folder` hold behind their heads, and how many files are damaged.
pub(super) fn census(folder: &Path) -> io::Result<(u64, u64)> {
    let (mut sound, mut damaged) = (0, 0);
    let entries = match fs::read_dir(folder) {
        Err(error) if is_missing(&error) => return Ok((0, 0)),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            match unsealed(&fs::read(path)?) {
                Some(text) => sound += text.lines().count() as u64 - 1,
                None => damaged += 1,
            }
        }
    }
    Ok((sound, damaged))
}

fn sealed(text: &str) -> String {
    segment::seal(text, BEFORE_HASH) + "\n"
}

fn unsealed(content: &[u8]) -> Option<&str> {
    segment::unsealed(content.strip_suffix(b"\n")?, BEFORE_HASH).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_of_a_byte_and_no_lost_end_goes_unnoticed() {
        let whole = sealed("{\"unit\":0}\n{\"metrics\":[1.5,null]}").into_bytes();
        assert_eq!(unsealed(&whole), Some("{\"unit\":0}\n{\"metrics\":[1.5,null]}"));
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(unsealed(&changed).is_none(), "byte {at}");
            assert!(unsealed(&whole[..at]).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn a_damaged_file_is_counted_set_aside_and_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, aside) = (folder.path().join("units/one.jsonl"), folder.path().join("damaged"));
        write(&path, "head\nline").expect("it can be written");
        let units = path.parent().expect("a folder");
        assert_eq!(census(units).expect("it can be read"), (1, 0));
        assert_eq!(read(&path, &aside, |text| Some(text.len())).expect("it can be read"), Some(9));
        for kept in ["one-1.jsonl", "one-2.jsonl"] {
            fs::write(&path, "head\nline").expect("it can be written");
            assert_eq!(census(units).expect("it can be read"), (0, 1));
            assert_eq!(read(&path, &aside, |text| Some(text.len())).expect("it can be read"), None);
            assert!(!path.exists() && aside.join(kept).exists(), "{kept}");
        }
        assert_eq!(read(&path, &aside, |text| Some(text.len())).expect("there is none"), None);
    }
}
