//! The verdicts on record: the table under "## Verdicts" in `docs/papers/SLUG.md`.

use crate::scenario::workspace;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// Which kind of run a verdict is on record for; each has a column of the table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Default,
    Decide,
    Quick,
}

impl Mode {
    const fn column(self) -> &'static str {
        match self {
            Self::Default => "verdict",
            Self::Decide => "--decide",
            Self::Quick => "--quick",
        }
    }
}

/// Verdicts by claim.
#[derive(Debug)]
pub(crate) struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// Reads the record of the paper `slug`.
    pub(crate) fn read(slug: &str, mode: Mode) -> Result<Self> {
        let path = workspace().join("docs/papers").join(format!("{slug}.md"));
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text, mode).with_context(|| path.display().to_string())
    }

    fn parse(text: &str, mode: Mode) -> Result<Self> {
        let mut rows = text
            .lines()
            .skip_while(|line| *line != "## Verdicts")
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect::<Vec<_>>()
            });
        let header = rows.next().context("no table under \"## Verdicts\"")?;
        let position = header.iter().position(|name| *name == mode.column());
        let position = position.with_context(|| format!("the table of verdicts has no column {:?}", mode.column()))?;
        let mut verdicts = BTreeMap::new();
        for row in rows.skip(1) {
            ensure!(
                row.len() == header.len(),
                "the row of claim {} has {} cells, not {}",
                row[0],
                row.len(),
                header.len()
            );
            verdicts.insert(row[0].to_owned(), row[position].to_owned());
        }
        Ok(Self(verdicts))
    }

    /// The verdict of a claim, in words.
    pub(crate) fn verdict(&self, claim: &str) -> Option<&str> {
        self.0.get(claim).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# P\n\n## Verdicts\n\nSome words.\n\n| claim | verdict | `--decide` |\n|---|---|---|\n\
        | P1 | inconclusive | reproduced at 40 replications |\n\nAfter.\n";

    #[test]
    fn each_kind_of_run_has_its_column() {
        let record = Recorded::parse(TEXT, Mode::Default).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("inconclusive"));
        let record = Recorded::parse(TEXT, Mode::Decide).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("reproduced at 40 replications"));
        assert_eq!(record.verdict("P2"), None);
    }

    #[test]
    fn a_missing_column_is_named() {
        let error = Recorded::parse(TEXT, Mode::Quick).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
