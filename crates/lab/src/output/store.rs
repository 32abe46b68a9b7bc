//! Finished replications on disk: no replication is computed twice or lost, and a damaged one is never used.
//!
//! `cells/replications.jsonl` holds one replication on each line: its identity (all that determines it: the paper, the sources of the
//! models, the scenario, the cell, the seed, the replication), its metrics, and a SHA-256 over the bytes before it:
//! `{"identity":…,"metrics":…,"sha256":"…"}`. So every change of the line is detected. A run appends to it and finally sorts
//! it by identity: the same bytes in any order of its threads. A line is used only if its hash is right, and only for the identity that it
//! names, so its position does not matter.
//!
//! A file with a damaged line is copied to `cells/damaged/`; its sound lines are kept, and the others are computed again. A last line
//! without a line end is the trace of a kill in the middle of a write: it is reported as such and computed again.
//!
//! One process at a time writes a file, which the lock of the folder of results ([`OutDir`](crate::output::OutDir)) ensures. Jobs of an
//! array, on many machines and without a lock, have one store each, `cells/units/K` ([`unit()`]). Two jobs that compute the same unit at
//! once end with the same bytes: each renames its sorted file into place, and a line that they damaged is computed again.

use crate::output::{create_folder_of, if_there, remove, write_whole};
use crate::run::terminal::tell;
use anyhow::{Context, Result};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const FILE: &str = "replications.jsonl";

const UNITS: &str = "units";

const ASIDE: &str = "damaged";

pub fn unit(cells: &Path, number: u32) -> PathBuf {
    cells.join(UNITS).join(number.to_string())
}

/// Returns the files of the store in `folder` and of its units, in order of names. A file need not exist.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let units = if_there(fs::read_dir(folder.join(UNITS)).and_then(Iterator::collect::<io::Result<Vec<_>>>));
    let units = units.with_context(|| format!("cannot read {}", folder.display()))?;
    let folders = units.iter().flatten().map(fs::DirEntry::path).chain([folder.to_owned()]);
    let mut files: Vec<PathBuf> = folders.map(|folder| folder.join(FILE)).collect();
    files.sort();
    Ok(files)
}

/// Calls `take` with every sound line of the store in `folder` and of its units, and its file. Fails if it cannot read, and if `take` fails.
pub fn each_stored(folder: &Path, mut take: impl FnMut(&Path, Stored) -> Result<()>) -> Result<()> {
    each_line(folder, |file, line| line.map_or(Ok(()), |(_, stored, _)| take(file, stored)))
}

/// Calls `take` with every line of these files, except one that a kill cut off; `None` is a damaged line.
fn each_line(folder: &Path, mut take: impl FnMut(&Path, Option<Sound<'_>>) -> Result<()>) -> Result<()> {
    for file in files(folder)? {
        let content = read(&file)?;
        lines_of(whole_lines(&content)).try_for_each(|(_, line)| take(&file, line))?;
    }
    Ok(())
}

pub struct Store {
    path: PathBuf,
    /// Number of damaged lines when the store was opened; a line that a kill cut off does not count.
    pub(crate) damaged: u64,
    /// Replications of other stores, which this store only reads.
    borrowed: BTreeMap<Key, String>,
    state: Mutex<StoreState>,
}

struct StoreState {
    lines: BTreeMap<Key, String>,
    /// Opened at the first save: the file then differs from the sorted lines.
    added: Option<File>,
}

#[derive(Serialize)]
pub struct Identity<'a> {
    pub paper: &'a str,
    /// Hash of the sources that determine a result.
    pub models: &'a str,
    /// All parameters that distinguish this cell from others.
    pub cell: &'a Value,
    pub seed: u64,
    pub replication: u32,
}

impl Store {
    /// Opens the store below `folder`, which need not exist. Damaged replications are reported on standard error and set aside. Fails if a file
    /// cannot be read or set aside.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let all = read(&path)?;
        let content = whole_lines(&all);
        let (mut lines, mut bad) = (BTreeMap::new(), Vec::new());
        for (number, line) in lines_of(content) {
            match line {
                None => bad.push(number),
                Some((key, _, line)) => drop(lines.insert(key, line.to_owned())),
            }
        }
        if !bad.is_empty() {
            let which = match bad[..] {
                [line] => format!("line {line} is damaged"),
                _ => format!("{} lines are damaged, {} to {}", bad.len(), bad[0], bad[bad.len() - 1]),
            };
            set_aside(&path, &folder.join(ASIDE), &which)?;
        }
        if content.len() < all.len() {
            tell(&format!(
                "note: {}: an earlier run was killed while it wrote the last line; that replication is computed again, the others \
                 are kept",
                path.display()
            ));
        }
        let sorted = text_of(&lines);
        if sorted.as_bytes() != all {
            // Otherwise the next line would be appended to the remains of a torn one.
            write_whole(&path, sorted.as_bytes())?;
        }
        let state = Mutex::new(StoreState { lines, added: None });
        Ok(Self { path, damaged: bad.len() as u64, borrowed: BTreeMap::new(), state })
    }

    /// Adds the finished replications of another store, below `folder`, and of its units. Nothing is written there: a damaged line is
    /// skipped, because its process may still be writing it.
    #[must_use]
    pub fn borrowing_from(mut self, folder: &Path) -> Self {
        // A file that cannot be read lends nothing.
        let _ = each_line(folder, |file, line| {
            let lent = line.filter(|_| file != self.path);
            self.borrowed.extend(lent.map(|(key, _, line)| (key, line.to_owned())));
            Ok(())
        });
        self
    }

    /// Returns the metrics of a finished replication, in the order of `names`. A replication that lacks a metric counts as not finished.
    pub(crate) fn load(&self, identity: &Identity<'_>, names: &[String]) -> Option<Vec<f64>> {
        let metrics: BTreeMap<String, Option<f64>> = self.get(identity)?;
        names.iter().map(|name| metrics.get(name).map(|value| value.unwrap_or(f64::NAN))).collect()
    }

    /// Returns the value [put](Self::put) under an identity; none if it is not a `T`.
    pub fn get<T: DeserializeOwned>(&self, identity: &Identity<'_>) -> Option<T> {
        let key = key_of(identity);
        let own = self.state().lines.get(&key).cloned();
        let line = own.or_else(|| self.borrowed.get(&key).cloned())?;
        serde_json::from_str(&line).map(|Stored::<IgnoredAny, T> { metrics, .. }| metrics).ok()
    }

    /// Saves a finished replication; fails if it cannot be written, for example because the disk is full.
    pub(crate) fn save(&self, identity: &Identity<'_>, names: &[String], metrics: &[f64]) -> Result<()> {
        let metrics = metrics.iter().map(|value| value.is_finite().then_some(*value));
        self.put(identity, &names.iter().zip(metrics).collect::<BTreeMap<_, _>>())
    }

    /// Saves the result of a replication, or of a batch that was computed together; fails if it cannot be written.
    pub fn put(&self, identity: &Identity<'_>, metrics: &impl Serialize) -> Result<()> {
        let (key, line) = line(identity, metrics);
        let describe = || format!("cannot write {}", self.path.display());
        let mut state = self.state();
        let file = if let Some(file) = &mut state.added {
            file
        } else {
            create_folder_of(&self.path)?;
            let file = OpenOptions::new().append(true).create(true).open(&self.path).with_context(describe)?;
            state.added.insert(file)
        };
        let before = file.metadata().with_context(describe)?.len();
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            // Half a line would spoil the next one. If this fails as well, both are reported as damaged and computed again.
            let _ = file.set_len(before);
            return Err(error).with_context(describe);
        }
        state.lines.insert(key, line);
        Ok(())
    }

    /// Writes the file of all finished replications in sorted order; if it cannot be written, the store is unchanged.
    pub fn settle(&self) -> Result<()> {
        let mut state = self.state();
        if state.added.is_some() {
            write_whole(&self.path, text_of(&state.lines).as_bytes())?;
            state.added = None;
        }
        Ok(())
    }

    /// Deletes the finished replications below `folder` and in its units, and no other file; fails if one cannot be removed.
    pub fn forget(folder: &Path) -> Result<()> {
        files(folder)?.iter().try_for_each(|file| remove(file))
    }

    /// Counts the sound and the damaged lines below `folder` and in its units; a line that a kill cut off is neither. Fails if it cannot read.
    pub fn census(folder: &Path) -> Result<(u64, u64)> {
        let (mut sound, mut damaged) = (0, 0);
        each_line(folder, |_, line| {
            *if line.is_some() { &mut sound } else { &mut damaged } += 1;
            Ok(())
        })?;
        Ok((sound, damaged))
    }

    fn state(&self) -> MutexGuard<'_, StoreState> {
        // A panicking thread leaves the state consistent: lines enter when they are written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text_of(lines: &BTreeMap<Key, String>) -> String {
    lines.values().flat_map(|line| [line, "\n"]).collect()
}

/// Returns the content of a file; empty if there is none.
fn read(path: &Path) -> Result<Vec<u8>> {
    let content = if_there(fs::read(path)).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(content.unwrap_or_default())
}

/// Copies a damaged file to a name of its own in the folder `aside`, and reports it even with `--quiet`, since the disk may be failing.
fn set_aside(path: &Path, aside: &Path, which: &str) -> Result<()> {
    let free = (1_u32..).map(|number| aside.join(format!("replications-{number}.jsonl"))).find(|path| !path.exists());
    let kept = free.expect("there are more numbers than files");
    write_whole(&kept, &read(path)?)?;
    tell(&format!(
        "warning: {}: {which}; the file as it was is kept as {}, and the replications that it lost are computed again",
        path.display(),
        kept.display()
    ));
    Ok(())
}

type Key = [u8; 32];

/// A finished replication: the content of a line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored<I = Value, M = Value> {
    /// Serialized [`Identity`].
    pub identity: I,
    /// Its metrics by name, null if undefined, or the runs of a batch.
    pub metrics: M,
}

const BEFORE_HASH: &str = ",\"sha256\":\"";
const BEHIND_HASH: &[u8] = b"\"}";

fn key_of(identity: &impl Serialize) -> Key {
    Sha256::digest(serde_json::to_vec(identity).expect("an identity is plain data")).into()
}

/// Returns the key of a replication and its line, without a line end.
fn line(identity: &Identity<'_>, metrics: &impl Serialize) -> (Key, String) {
    let mut line = serde_json::to_string(&Stored { identity, metrics }).expect("metrics are plain data");
    assert_eq!(line.pop(), Some('}'), "an object ends with a brace");
    let hash = hex::encode(Sha256::digest(&line));
    (key_of(identity), format!("{line}{BEFORE_HASH}{hash}\"}}"))
}

/// A line with the right hash: its key, its content, and its text.
type Sound<'a> = (Key, Stored, &'a str);

/// Returns the file without an unfinished last line, which a run was writing when it was killed.
fn whole_lines(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    &content[..end]
}

/// Returns the lines of a file, numbered from 1; `None` if a line is damaged.
fn lines_of(content: &[u8]) -> impl Iterator<Item = (usize, Option<Sound<'_>>)> {
    // A last line without its end was cut off, even if the rest is complete.
    let pieces = content.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n"));
    pieces.enumerate().map(|(i, line)| (i + 1, line.and_then(sound)))
}

fn sound(line: &[u8]) -> Option<Sound<'_>> {
    let (text, hash) = line.strip_suffix(BEHIND_HASH)?.split_last_chunk::<64>()?;
    let text = text.strip_suffix(BEFORE_HASH.as_bytes())?;
    if hex::encode(Sha256::digest(text)).as_bytes() != hash {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?;
    let stored: Stored = serde_json::from_str(line).ok()?;
    Some((key_of(&stored.identity), stored, line))
}

#[cfg(test)]
mod tests;
