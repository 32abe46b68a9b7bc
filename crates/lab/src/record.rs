//! The verdicts on record: the table under "## Verdicts" in `docs/papers/SLUG.md`.

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
    /// The name of the column; `kind` tells records of one paper apart, as `stand-in` and `stand-in --quick`.
    fn column(self, kind: Option<&str>) -> String {
        match (self, kind) {
            (Self::Default, None) => "verdict".to_owned(),
            (Self::Default, Some(kind)) => kind.to_owned(),
            (Self::Decide, kind) => format!("{} --decide", kind.unwrap_or_default()).trim_start().to_owned(),
            (Self::Quick, kind) => format!("{} --quick", kind.unwrap_or_default()).trim_start().to_owned(),
        }
    }
}

/// Verdicts by claim.
#[derive(Debug)]
pub(crate) struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// Reads the record in the page of a paper; of the `kind` of run, where the paper has several.
    pub(crate) fn read(page: &str, mode: Mode, kind: Option<&str>) -> Result<Self> {
        if page.is_empty() {
            return Ok(Self(BTreeMap::new()));
        }
        Self::parse(page, &mode.column(kind))
    }

    fn parse(text: &str, column: &str) -> Result<Self> {
        let mut rows = text
            .lines()
            .skip_while(|line| *line != "## Verdicts")
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect::<Vec<_>>()
            });
        let header = rows.next().context("no table under \"## Verdicts\"")?;
        let position = header.iter().position(|name| *name == column);
        let position = position.with_context(|| format!("the table of verdicts has no column {column:?}"))?;
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
        let record = Recorded::parse(TEXT, &Mode::Default.column(None)).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("inconclusive"));
        let record = Recorded::parse(TEXT, &Mode::Decide.column(None)).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("reproduced at 40 replications"));
        assert_eq!(record.verdict("P2"), None);
    }

    #[test]
    fn a_kind_of_run_has_columns_of_its_own() {
        let columns = [Mode::Default, Mode::Decide, Mode::Quick].map(|mode| mode.column(Some("stand-in")));
        assert_eq!(columns, ["stand-in", "stand-in --decide", "stand-in --quick"]);
    }

    #[test]
    fn a_missing_column_is_named() {
        let error = Recorded::parse(TEXT, &Mode::Quick.column(None)).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
