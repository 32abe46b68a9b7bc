//! The counts on record, and how a new one compares.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::path::Path;

/// Instructions by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    by_name: BTreeMap<String, u64>,
}

/// A count against the one on record.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Comparison {
    /// There is none on record.
    New,
    /// Within 3 %; the difference in percent.
    Same(f64, u64),
    /// More than 3 % fewer.
    Faster(f64, u64),
    /// More than 3 % more.
    Slower(f64, u64),
}

impl Counts {
    /// A difference up to this, in percent, is none: other versions of the C library allocate a little differently.
    const TOLERANCE: u64 = 3;

    /// Those in a file of lines `path<TAB>instructions`; lines that begin with `#` are comments.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has another form.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut by_name = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
            let place = || format!("{}:{number}", file.display());
            let Some((name, count)) = line.split_once('\t') else {
                bail!("{}: a line is a path, a tab and a count, but this is '{line}'", place());
            };
            let count = count.parse().with_context(|| format!("{}: '{count}' is not a count", place()))?;
            by_name.insert(name.to_owned(), count);
        }
        Ok(Self { by_name })
    }

    /// Writes them, by name.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let mut text = String::from("# Instructions, by `cargo run -p hot-paths -- --record`: see docs/testing.md.\n");
        for (name, count) in &self.by_name {
            let _ = writeln!(text, "{name}\t{count}");
        }
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    pub(crate) fn insert(&mut self, name: &str, count: u64) {
        self.by_name.insert(name.to_owned(), count);
    }

    /// By name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_name.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// A new count of a path.
    #[expect(clippy::cast_precision_loss, reason = "a ratio of counts far below 2^53")]
    pub(crate) fn compare(&self, name: &str, count: u64) -> Comparison {
        let Some(known) = self.by_name.get(name).copied() else { return Comparison::New };
        let more = 100.0 * (count as f64 / known as f64 - 1.0);
        if 100 * count > (100 + Self::TOLERANCE) * known {
            Comparison::Slower(more, known)
        } else if 100 * count < (100 - Self::TOLERANCE) * known {
            Comparison::Faster(more, known)
        } else {
            Comparison::Same(more, known)
        }
    }
}

impl Comparison {
    /// Whether the path is on record, and has not become slower.
    pub(crate) const fn holds(self) -> bool {
        matches!(self, Self::Same(..) | Self::Faster(..))
    }

    /// Whether it has become faster.
    pub(crate) const fn is_faster(self) -> bool {
        matches!(self, Self::Faster(..))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (more, known, word) = match self {
            Self::New => return write!(f, "{:>16}  {:>8}  NOT ON RECORD:", "", ""),
            Self::Same(more, known) => (more, known, ""),
            Self::Faster(more, known) => (more, known, " faster:"),
            Self::Slower(more, known) => (more, known, " SLOWER:"),
        };
        write!(f, "{known:>16}  {more:>+6.1} %{word}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::PATHS;

    fn on_record() -> Counts {
        Counts::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.tsv")).expect("it is in the repository")
    }

    #[test]
    fn every_path_is_on_record_and_nothing_else() {
        let mut names = PATHS.map(|path| path.name);
        names.sort_unstable();
        assert_eq!(on_record().iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn what_is_written_is_read() {
        let file = std::env::temp_dir().join(format!("hot-paths-{}.tsv", std::process::id()));
        on_record().write(&file).expect("it can be written");
        assert_eq!(Counts::read(&file).expect("it can be read"), on_record());
        std::fs::write(&file, "easy 12\n").expect("it can be written");
        let error = format!("{:#}", Counts::read(&file).expect_err("there is no tab"));
        assert!(error.ends_with(":1: a line is a path, a tab and a count, but this is 'easy 12'"), "{error}");
        std::fs::remove_file(&file).expect("it is there");
    }

    #[test]
    fn three_percent_more_hold_and_a_bit_more_does_not() {
        let mut counts = Counts::default();
        counts.insert("easy", 1_000);
        assert!(counts.compare("easy", 1_030).holds());
        assert!(!counts.compare("easy", 1_031).holds());
        assert!(counts.compare("easy", 500).holds() && counts.compare("easy", 500).is_faster());
        assert!(!counts.compare("cons", 1).holds(), "what is not on record cannot hold");
        assert_eq!(counts.compare("easy", 1_050).to_string(), "            1000    +5.0 % SLOWER:");
    }
}
