//! Errors of input: the place, the problem, and the fix.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const FOLDER: &str = "is a folder, not a file; name one file in it";

/// Error of a log, a machine file or another file of input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The operating system or the medium fails.
    #[error("{}: cannot be read; check its permissions and the disk it is on", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system or the medium.
        source: io::Error,
    },
    /// There is no such file, or its content is not as expected.
    #[error("{}{}: {problem}", path.display(), line.map_or_else(String::new, |line| format!(":{line}")))]
    Faulty {
        /// Path of the file.
        path: PathBuf,
        /// Line, counted from 1; `None` if it concerns the file as a whole.
        line: Option<u64>,
        /// Problem and fix.
        problem: String,
        /// Error of the gzip decoder.
        source: Option<io::Error>,
    },
    /// The header has no `MaxProcs`, nor a `MaxNodes` that could be the number of processors.
    #[error(
        "{path}: the log does not say how many processors its machine has{}; give their number{}",
        nodes.map_or_else(String::new, |nodes| format!(", only that it has {nodes} nodes")),
        widest.map_or_else(String::new, |widest| format!(" (the widest job requests {widest})")),
        path = path.display()
    )]
    NoCapacity {
        /// Path of the file.
        path: PathBuf,
        /// `MaxNodes`, where some job is wider: nodes then have several processors.
        nodes: Option<u32>,
        /// Processors of the widest job; `None` if no record has any.
        widest: Option<u32>,
    },
}

impl InputError {
    /// Returns `true` if the system failed (the input may be fine), `false` if the input is at fault.
    ///
    /// A file that does not exist also counts as bad input, since the command is wrong.
    pub const fn is_io(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }

    /// Returns the error for a failure to read the file at `path`.
    pub fn reading(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            // `a.swf/b.swf` where a.swf is a file: no such file, either.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::of_file(path, "there is no such file; check the name and the folder")
            }
            io::ErrorKind::IsADirectory => Self::of_file(path, FOLDER),
            _ => Self::Unreadable { path: path.to_owned(), source },
        }
    }

    pub(crate) fn of_file(path: &Path, problem: impl Into<String>) -> Self {
        Self::Faulty { path: path.to_owned(), line: None, problem: problem.into(), source: None }
    }

    pub(crate) fn no_record(path: &Path, fix: &str) -> Self {
        Self::of_file(path, format!("there is no job record in the file; {fix}"))
    }
}

/// Parameters that describe no workload: the first field at fault, its expected range, and its value.
pub use sim_core::ConfigError as ParameterError;

pub(crate) fn check(
    is_good: bool,
    field: impl Display,
    expected: impl Display,
    found: impl Display,
) -> Result<(), ParameterError> {
    ParameterError::check(is_good, || format!("{field}: expected {expected}, found {found}"))
}

/// Returns true if the weights are numbers up to 10¹², one of them above zero.
pub(crate) fn are_weights(mut weights: impl Iterator<Item = f64>) -> bool {
    let sum = weights.try_fold(0.0, |sum, weight| (0.0..=1e12).contains(&weight).then_some(sum + weight));
    sum.is_some_and(|sum| sum > 0.0)
}

pub(crate) const WEIGHTS: &str = "weights from 0 to 1e12, one of them above 0";

/// Text that is no value of an option: the expected ones, and the text, shortened if it is long.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TextError(String);

impl TextError {
    pub(crate) fn new(expected: &str, text: &str) -> Self {
        Self(format!("{expected} found {:?}", shown(text.as_bytes())))
    }
}

/// Formats `bytes` for an error message: one line, at most 40 characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    // Enough bytes for that many characters of any length: a huge token is never converted as a whole.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST + 4)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
