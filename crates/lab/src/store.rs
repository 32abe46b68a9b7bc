//! Finished replications on disk, so that nothing is computed twice, nothing is lost, and nothing damaged is believed.
//!
//! `cells/replications.jsonl` holds one replication on each line: its identity (all that determines it: the paper, the
//! sources of the models, the scenario, the cell, the seed, the replication), its metrics, and a SHA-256 over both. A run
//! appends to it, and when it is done sorts it by identity: the same bytes in whatever order its threads were. A line is believed only
//! if its hash is right, and it counts for nothing but the identity that it names: a line in another's place is no danger.
//!
//! A file with a line that is not as it was written is copied to `cells/damaged/`; its sound lines are kept, and the others are
//! computed again. A last line without an end is what a kill leaves in the middle of a write: it is reported as that, and computed
//! again.
//!
//! One process at a time: the lock of the folder of results ([`OutDir`](crate::output::OutDir)) sees to that.

pub mod sealed;
mod segment;

use crate::output::{is_missing, remove, write_whole};
use crate::terminal::tell;
use anyhow::{Context, Result};
use segment::{Key, Stored};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that is finished.
const FILE: &str = "replications.jsonl";

/// Where the units of an experiment are.
pub const UNITS: &str = "units";

/// Where damaged files are kept.
pub const ASIDE: &str = "damaged";

/// Finished replications below one folder.
pub struct Store {
    path: PathBuf,
    damaged: u64,
    /// What others have finished and this store only reads.
    borrowed: BTreeMap<Key, String>,
    state: Mutex<State>,
}

struct State {
    lines: BTreeMap<Key, String>,
    /// Opened at the first replication that is saved.
    added: Option<File>,
    /// Whether the file is another than the sorted lines.
    is_unsettled: bool,
}

/// All that determines one replication.
#[derive(Serialize)]
pub struct Identity<'a> {
    /// Its name.
    pub paper: &'a str,
    /// Hash of the sources that determine a result.
    pub models: &'a str,
    /// All that tells this cell from others.
    pub cell: &'a serde_json::Value,
    /// The seed.
    pub seed: u64,
    /// The number of the replication.
    pub replication: u32,
}

impl Store {
    /// What is finished below `folder`, which need not exist. Damaged replications are reported on standard error, set aside and
    /// forgotten.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or one that cannot be set aside.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let all = read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let content = segment::whole_lines(&all);
        let (mut lines, mut bad) = (BTreeMap::new(), Vec::new());
        for (number, line) in segment::lines(content) {
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
            let which = format!("{which}; the file as it was is kept as");
            set_aside(&path, &folder.join(ASIDE), &which, "and the replications that it lost are computed again")?;
        }
        if content.len() < all.len() {
            tell(&format!(
                "note: {}: an earlier run was killed while it wrote the last line; that replication is computed again, the others \
                 are kept",
                path.display()
            ));
        }
        let is_unsettled = text_of(&lines).as_bytes() != all;
        let state = Mutex::new(State { lines, added: None, is_unsettled });
        let store = Self { path, damaged: bad.len() as u64, borrowed: BTreeMap::new(), state };
        // Else the next line would be appended to what is left of the torn one.
        store.settle()?;
        Ok(store)
    }

    /// The same store, which also finds what is finished below `folder`, another one's. Nothing is written there, and a line
    /// that is not sound, such as one that its process is just writing, is left to that process.
    #[must_use]
    pub fn borrowing_from(mut self, folder: &Path) -> Self {
        let content = fs::read(folder.join(FILE)).unwrap_or_default();
        let sound = segment::lines(&content).filter_map(|(_, line)| line);
        self.borrowed.extend(sound.map(|(key, _, line)| (key, line.to_owned())));
        self
    }

    /// How many lines were damaged when the store was opened; one that a kill cut off is none of them.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The metrics of a finished replication, in the order of `names`. One that lacks a metric counts as not finished.
    pub fn load(&self, identity: &Identity<'_>, names: &[String]) -> Option<Vec<f64>> {
        let key = segment::key_of(identity);
        let own = self.state().lines.get(&key).cloned();
        let line = own.or_else(|| self.borrowed.get(&key).cloned())?;
        let Stored { metrics, .. } = serde_json::from_str(&line).expect("it was read before");
        names.iter().map(|name| metrics.get(name).map(|value| value.unwrap_or(f64::NAN))).collect()
    }

    /// Keeps a finished replication.
    ///
    /// # Errors
    ///
    /// It cannot be written: the disk is full, say.
    pub fn save(&self, identity: &Identity<'_>, names: &[String], metrics: &[f64]) -> Result<()> {
        let metrics = names.iter().cloned().zip(metrics.iter().map(|value| value.is_finite().then_some(*value)));
        let (key, line) = segment::line(identity, metrics.collect());
        let describe = || format!("cannot write {}", self.path.display());
        let mut state = self.state();
        let file = if let Some(file) = &mut state.added {
            file
        } else {
            let folder = self.path.parent().expect("a file in a folder");
            fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
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
        state.is_unsettled = true;
        Ok(())
    }

    /// Sorts the file of all that is finished.
    ///
    /// # Errors
    ///
    /// It cannot be written; nothing is lost then.
    pub fn settle(&self) -> Result<()> {
        let mut state = self.state();
        if state.is_unsettled {
            write_whole(&self.path, text_of(&state.lines).as_bytes())?;
            (state.added, state.is_unsettled) = (None, false);
        }
        Ok(())
    }

    /// Forgets what is finished below `folder`; touches no other file there.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub fn forget(folder: &Path) -> Result<()> {
        remove(&folder.join(FILE))
    }

    /// How many sound and how many damaged lines there are below `folder`; one that a kill cut off is neither. What is below its
    /// `units`, [sealed] files, is counted with them, a damaged file as one. Changes nothing.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn census(folder: &Path) -> io::Result<(u64, u64)> {
        let (mut sound, mut damaged) = sealed::census(&folder.join(UNITS))?;
        for (_, line) in segment::lines(segment::whole_lines(&read(&folder.join(FILE))?)) {
            *if line.is_some() { &mut sound } else { &mut damaged } += 1;
        }
        Ok((sound, damaged))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panicking thread leaves is whole: lines enter when they are written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text_of(lines: &BTreeMap<Key, String>) -> String {
    lines.values().flat_map(|line| [line, "\n"]).collect()
}

/// The content of a file; nothing if there is none.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).or_else(|error| if is_missing(&error) { Ok(Vec::new()) } else { Err(error) })
}

/// Copies a damaged file to a name of its own in the folder `aside`, and reports it: `warning: PATH: WHAT NAME, LOST`. `--quiet` does
/// not silence it: the disk may be failing.
fn set_aside(path: &Path, aside: &Path, what: &str, lost: &str) -> Result<()> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let free = (1_u32..).map(|number| aside.join(format!("{stem}-{number}.jsonl"))).find(|path| !path.exists());
    let kept = free.expect("there are more numbers than files");
    let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    write_whole(&kept, &content)?;
    tell(&format!("warning: {}: {what} {}, {lost}", path.display(), kept.display()));
    Ok(())
}

#[cfg(test)]
mod tests;
