//! Faults of input files, each with its place and its fix.

use std::fmt;

/// Fault of an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// File that contains it, or the option that replaces a value of the file.
    pub file: String,
    /// Line, counted from 1; 0 for an option and for missing input.
    pub line: usize,
    /// Key, column or option.
    pub key: String,
    /// Problem and fix.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, problem } = self;
        match line {
            0 => write!(f, "{file}: {key}: {problem}"),
            _ => write!(f, "{file}:{line}: {key}: {problem}"),
        }
    }
}

/// All faults of an input, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        let shown: Vec<String> = self.0.iter().take(SHOWN).map(Fault::to_string).collect();
        f.write_str(&shown.join("\n"))?;
        let more = self.0.len().saturating_sub(SHOWN);
        if more > 0 { write!(f, "\nand {more} more of this kind") } else { Ok(()) }
    }
}

impl std::error::Error for Faults {}

/// Collector of faults, so that a reader reports all of them at once.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) file: String,
    faults: Vec<Fault>,
}

impl Collector {
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), faults: Vec::new() }
    }

    /// Adds a fault of a line, counted from 1 (0 for missing input), and of a key or column there.
    pub(crate) fn push(&mut self, line: usize, key: &str, problem: impl fmt::Display) {
        self.push_in(&self.file.clone(), line, key, problem);
    }

    pub(crate) fn push_in(&mut self, file: &str, line: usize, key: &str, problem: impl fmt::Display) {
        let [key, problem] = [(key.to_owned(), 60), (problem.to_string(), 400)]
            .map(|(text, most)| text.chars().take(most).collect::<String>());
        // A file that is another one altogether has a fault on each line.
        if self.faults.len() < 1_000 {
            self.faults.push(Fault { file: file.to_owned(), line, key, problem });
        }
    }

    /// Returns the value, or adds a fault and returns `None`.
    pub(crate) fn take<T, E: fmt::Display>(&mut self, line: usize, key: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|problem| self.push(line, key, problem)).ok()
    }

    pub(crate) fn finish<T>(self, value: T) -> Result<T, Faults> {
        if self.faults.is_empty() { Ok(value) } else { Err(Faults(self.faults)) }
    }
}

/// Error of a log that cannot be followed. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The log cannot be read.
    #[error("line {0}: the log cannot be read on; copy the file again")]
    Read(u64, #[source] std::io::Error),
    /// A line cannot be read, or contradicts the other files: fault and fix.
    #[error("line {0}: {1}")]
    Wrong(u64, String),
    /// The log has no event.
    #[error("no line that decides; record the log with SlurmctldDebug=debug and DebugFlags=Backfill")]
    Empty,
}
