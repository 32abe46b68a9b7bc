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
//! One process at a time writes a file: the lock of the folder of results ([`OutDir`](crate::output::OutDir)) sees to that. Jobs of
//! an array, on many machines and without a lock, have a store each, `cells/units/K` ([`unit()`]). Two that compute the same unit at once
//! end with the same bytes: each puts its sorted file in place by a rename, and a line that they spoilt for each other is computed again.

mod segment;

use crate::output::{is_missing, remove, write_whole};
use crate::terminal::tell;
use anyhow::{Context, Result};
use segment::Key;
pub use segment::Stored;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that is finished.
const FILE: &str = "replications.jsonl";

/// The stores of units of an experiment.
const UNITS: &str = "units";

/// Where damaged files are kept.
const ASIDE: &str = "damaged";

/// The folder of the store of one unit, below the folder `cells`.
pub fn unit(cells: &Path, number: u32) -> PathBuf {
    cells.join(UNITS).join(number.to_string())
}

/// The files of the store in `folder` and of its units, in order of names. A file need not exist.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let units = match fs::read_dir(folder.join(UNITS)) {
        Err(error) if is_missing(&error) => Vec::new(),
        entries => entries?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?,
    };
    let mut files: Vec<PathBuf> =
        units.into_iter().chain([folder.to_owned()]).map(|folder| folder.join(FILE)).collect();
    files.sort();
    Ok(files)
}

/// Calls `take` with every sound line of the store in `folder` and of its units, and with its file. Changes nothing.
///
/// # Errors
///
/// A file that cannot be read, or an error of `take`.
pub fn each_stored(folder: &Path, mut take: impl FnMut(&Path, Stored) -> Result<()>) -> Result<()> {
    for file in files(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let content = read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for (_, stored, _) in segment::lines(&content).filter_map(|(_, line)| line) {
            take(&file, stored)?;
        }
    }
    Ok(())
}

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
            set_aside(&path, &folder.join(ASIDE), &which)?;
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

    /// The same store, which also finds what is finished below `folder`, another store's, and in its units. Nothing is written there:
    /// a damaged line is skipped, because its process may still be writing it.
    #[must_use]
    pub fn borrowing_from(mut self, folder: &Path) -> Self {
        for file in files(folder).unwrap_or_default().into_iter().filter(|file| *file != self.path) {
            let content = fs::read(file).unwrap_or_default();
            let sound = segment::lines(&content).filter_map(|(_, line)| line);
            self.borrowed.extend(sound.map(|(key, _, line)| (key, line.to_owned())));
        }
        self
    }

    /// How many lines were damaged when the store was opened; one that a kill cut off is none of them.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The metrics of a finished replication, in the order of `names`. One that lacks a metric counts as not finished.
    pub fn load(&self, identity: &Identity<'_>, names: &[String]) -> Option<Vec<f64>> {
        let metrics: BTreeMap<String, Option<f64>> = self.get(identity)?;
        names.iter().map(|name| metrics.get(name).map(|value| value.unwrap_or(f64::NAN))).collect()
    }

    /// What was [put](Self::put) under an identity; none where it is no `T`.
    pub fn get<T: DeserializeOwned>(&self, identity: &Identity<'_>) -> Option<T> {
        #[derive(Deserialize)]
        struct MetricsAlone<T> {
            metrics: T,
        }
        let key = segment::key_of(identity);
        let own = self.state().lines.get(&key).cloned();
        let line = own.or_else(|| self.borrowed.get(&key).cloned())?;
        serde_json::from_str(&line).map(|MetricsAlone { metrics }| metrics).ok()
    }

    /// Keeps a finished replication.
    ///
    /// # Errors
    ///
    /// It cannot be written: the disk is full, say.
    pub fn save(&self, identity: &Identity<'_>, names: &[String], metrics: &[f64]) -> Result<()> {
        let metrics = metrics.iter().map(|value| value.is_finite().then_some(*value));
        self.put(identity, &names.iter().zip(metrics).collect::<BTreeMap<_, _>>())
    }

    /// Keeps what a replication yielded, or a batch that was computed together.
    ///
    /// # Errors
    ///
    /// It cannot be written: the disk is full, say.
    pub fn put(&self, identity: &Identity<'_>, metrics: &impl Serialize) -> Result<()> {
        let (key, line) = segment::line(identity, metrics);
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

    /// Forgets what is finished below `folder` and in its units; touches no other file there.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub fn forget(folder: &Path) -> Result<()> {
        files(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .iter()
            .try_for_each(|file| remove(file))
    }

    /// How many sound and how many damaged lines there are below `folder` and in its units; one that a kill cut off is neither. Changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn census(folder: &Path) -> io::Result<(u64, u64)> {
        let (mut sound, mut damaged) = (0, 0);
        for file in files(folder)? {
            for (_, line) in segment::lines(segment::whole_lines(&read(&file)?)) {
                *if line.is_some() { &mut sound } else { &mut damaged } += 1;
            }
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

/// Copies a damaged file to a name of its own in the folder `aside`, and reports it. `--quiet` does not silence it: the disk may be
/// failing.
fn set_aside(path: &Path, aside: &Path, which: &str) -> Result<()> {
    let free = (1_u32..).map(|number| aside.join(format!("replications-{number}.jsonl"))).find(|path| !path.exists());
    let kept = free.expect("there are more numbers than files");
    let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    write_whole(&kept, &content)?;
    tell(&format!(
        "warning: {}: {which}; the file as it was is kept as {}, and the replications that it lost are computed again",
        path.display(),
        kept.display()
    ));
    Ok(())
}

#[cfg(test)]
mod tests;
