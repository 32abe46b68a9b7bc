//! Finished replications on disk, so that nothing is computed twice, nothing is lost, and nothing damaged is believed.
//!
//! `cells/replications.jsonl` holds one replication on each line: its identity (all that determines it: the paper, the
//! sources of the models, the scenario, the cell, the seed, the replication), its metrics, and a SHA-256 over both. A run
//! appends to `cells/replications-new.jsonl`, and when it is done both become one file, sorted by identity: the same bytes
//! in whatever order its threads were. What a line says is believed only if its hash is right, and it counts for nothing
//! but the identity that it names: a line in another's place is no danger.
//!
//! A file with a line that is not as it was written goes to `cells/damaged/`, for whoever wants to know why; its sound
//! lines are kept, and the others are computed again. A last line without an end, in the file that a run appends to, is what
//! a kill leaves in the middle of a write: it is told as that, and computed again.
//!
//! One process at a time: the lock of the folder of results ([`OutDir`](crate::output::OutDir)) sees to that.

pub mod sealed;
mod segment;

use crate::output::write_whole;
use crate::terminal::tell;
use anyhow::{Context, Result};
use segment::{Key, Stored};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that is finished, sorted.
const SETTLED: &str = "replications.jsonl";
/// What the present run, or one that was stopped, has added.
const ADDED: &str = "replications-new.jsonl";

/// Where the units of an experiment are.
pub const UNITS: &str = "units";

/// Where damaged files are kept.
pub const ASIDE: &str = "damaged";

/// Finished replications below one folder.
pub struct Store {
    folder: PathBuf,
    damaged: u64,
    /// What others have finished and this store only reads.
    borrowed: BTreeMap<Key, String>,
    state: Mutex<State>,
}

struct State {
    /// Each line with its file, [`SETTLED`] or [`ADDED`].
    lines: BTreeMap<Key, (String, &'static str)>,
    /// Opened at the first replication that is saved.
    added: Option<File>,
    /// Whether there is more than a sorted file.
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
    /// What is finished below `folder`, which need not exist. Damaged replications are told on standard error, set aside and
    /// forgotten.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or one that cannot be set aside.
    pub fn open(folder: PathBuf) -> Result<Self> {
        let mut lines: BTreeMap<Key, (String, &'static str)> = BTreeMap::new();
        let mut bad: BTreeMap<&'static str, BTreeSet<usize>> = BTreeMap::new();
        let mut contradicted = BTreeSet::new();
        let mut is_unsettled = false;
        let mut is_torn = false;
        for name in [SETTLED, ADDED] {
            let path = folder.join(name);
            let all = match fs::read(&path) {
                Ok(content) => content,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // A file in the place of the folder is told by whoever writes there.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => continue,
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
            };
            is_unsettled |= name == ADDED;
            let content = if name == ADDED { segment::whole_lines(&all) } else { &all };
            is_torn |= content.len() < all.len();
            for (number, line) in segment::lines(content) {
                match line {
                    None => {
                        bad.entry(name).or_default().insert(number);
                    }
                    Some((key, stored, line)) => {
                        if let Some((other, file)) = lines.get(&key)
                            && segment::contradict(other, &stored)
                        {
                            bad.entry(name).or_default().insert(number);
                            bad.entry(file).or_default();
                            contradicted.insert(key);
                        }
                        lines.insert(key, (line.to_owned(), name));
                    }
                }
            }
        }
        // Which of two is right cannot be known.
        contradicted.iter().for_each(|key| drop(lines.remove(key)));
        let damaged = bad.values().map(|lines| lines.len() as u64).sum();
        let is_damaged = !bad.is_empty();
        let borrowed = BTreeMap::new();
        let store = Self { folder, damaged, borrowed, state: Mutex::new(State { lines, added: None, is_unsettled }) };
        if is_damaged {
            for (name, lines) in &bad {
                store.copy_aside(name, lines)?;
            }
            store.state().is_unsettled = true;
        }
        if is_torn {
            store.tell_torn();
        }
        if is_damaged || is_torn {
            // Else the next line would be appended to what is left of the torn one.
            store.settle()?;
        }
        Ok(store)
    }

    /// The same store, which also finds what is finished below `folder`, another one's. Nothing is written there, and a line
    /// that is not sound, such as one that its process is just writing, is passed over: it is that one's to tell.
    #[must_use]
    pub fn borrowing_from(mut self, folder: &Path) -> Self {
        for name in [SETTLED, ADDED] {
            let Ok(content) = fs::read(folder.join(name)) else { continue };
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
        let key = segment::key_of(identity);
        let own = self.state().lines.get(&key).map(|(line, _)| line.clone());
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
        let path = self.folder.join(ADDED);
        let describe = || format!("cannot write {}", path.display());
        let mut state = self.state();
        let file = if let Some(file) = &mut state.added {
            file
        } else {
            fs::create_dir_all(&self.folder)
                .with_context(|| format!("cannot create the folder {}", self.folder.display()))?;
            let file = OpenOptions::new().append(true).create(true).open(&path).with_context(describe)?;
            state.added.insert(file)
        };
        let before = file.metadata().with_context(describe)?.len();
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            // Half a line would spoil the next one. If this fails as well, both are told as damaged and computed again.
            let _ = file.set_len(before);
            return Err(error).with_context(describe);
        }
        state.lines.insert(key, (line, ADDED));
        state.is_unsettled = true;
        Ok(())
    }

    /// Makes one sorted file of all that is finished.
    ///
    /// # Errors
    ///
    /// It cannot be written; nothing is lost then.
    pub fn settle(&self) -> Result<()> {
        let mut state = self.state();
        if !state.is_unsettled {
            return Ok(());
        }
        let text: String = state.lines.values().flat_map(|(line, _)| [line, "\n"]).collect();
        write_whole(&self.folder.join(SETTLED), text.as_bytes())?;
        state.added = None;
        remove(&self.folder.join(ADDED))?;
        state.is_unsettled = false;
        Ok(())
    }

    /// Forgets what is finished below `folder`; touches no other file there.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub fn forget(folder: &Path) -> Result<()> {
        [SETTLED, ADDED].iter().try_for_each(|name| remove(&folder.join(name)))
    }

    /// How many sound and how many damaged lines there are below `folder`; one that a kill cut off is neither. What is below its
    /// `units`, [sealed] files, is counted with them, a damaged file as one. Changes nothing.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn census(folder: &Path) -> io::Result<(u64, u64)> {
        let (mut sound, mut damaged) = sealed::census(&folder.join(UNITS))?;
        for name in [SETTLED, ADDED] {
            let all = match fs::read(folder.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                content => content?,
            };
            let content = if name == ADDED { segment::whole_lines(&all) } else { &all };
            for (_, line) in segment::lines(content) {
                *if line.is_some() { &mut sound } else { &mut damaged } += 1;
            }
        }
        Ok((sound, damaged))
    }

    /// Keeps a damaged file under another name, and says which lines it is about.
    fn copy_aside(&self, name: &str, lines: &BTreeSet<usize>) -> Result<()> {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let which = match &lines[..] {
            [] => "contradicts another file".to_owned(),
            [line] => format!("line {line} is damaged"),
            [first, .., last] => format!("{} lines are damaged, {first} to {last}", lines.len()),
        };
        let which = format!("{which}; the file as it was is kept as");
        let lost = "and the replications that it lost are computed again";
        set_aside(&self.folder.join(name), &self.folder.join(ASIDE), &which, lost)
    }

    /// Says that a kill has cut off the last line. Nothing is wrong with the disk.
    fn tell_torn(&self) {
        tell(&format!(
            "note: {}: an earlier run was killed while it wrote the last line; that replication is computed again, the others \
             are kept",
            self.folder.join(ADDED).display()
        ));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panicking thread leaves is whole: lines enter when they are written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies a damaged file to a name of its own in the folder `aside`, and says so: `warning: PATH: WHAT NAME, LOST`. `--quiet` does
/// not silence it: somebody's disk may be failing.
fn set_aside(path: &Path, aside: &Path, what: &str, lost: &str) -> Result<()> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let free = (1_u32..).map(|number| aside.join(format!("{stem}-{number}.jsonl"))).find(|path| !path.exists());
    let kept = free.expect("there are more numbers than files");
    let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    write_whole(&kept, &content)?;
    tell(&format!("warning: {}: {what} {}, {lost}", path.display(), kept.display()));
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if ![io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
