//! What is on record in `docs/papers/SLUG.md`: the table of verdicts under "## Verdicts", and under "## Doubt" what becomes of
//! each under other readings.

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

impl Mode {
    /// The name of the column that tells under how many seeds a verdict stays.
    fn seeds(self, seeds: usize, kind: Option<&str>) -> String {
        let of = if self == Self::Default { kind.map_or_else(String::new, str::to_owned) } else { self.column(kind) };
        format!("{of} --seeds {seeds}").trim_start().to_owned()
    }
}

/// The cells of a row.
type Cells<'a> = Vec<&'a str>;

/// Stands in the table for a verdict of a kind of run that nobody has run to its end: a check has nothing to hold it against.
pub(crate) const NOT_RUN: &str = "not run";

/// The heading above the table of verdicts.
const VERDICTS: &str = "## Verdicts";
/// The heading above the table of what other readings make of them.
const DOUBT: &str = "## Doubt";

/// Verdicts, or what else is on record, by claim.
#[derive(Debug)]
pub(crate) struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// Reads the record in the page of a paper; of the `kind` of run, where the paper has several.
    pub(crate) fn read(page: &str, mode: Mode, kind: Option<&str>) -> Result<Self> {
        if page.is_empty() {
            return Ok(Self(BTreeMap::new()));
        }
        Self::parse(page, VERDICTS, &mode.column(kind))
    }

    /// Reads what other readings make of each verdict; `None` where that is not on record.
    ///
    /// # Errors
    ///
    /// If a row has another number of cells than the header.
    pub(crate) fn doubt(page: &str, mode: Mode, kind: Option<&str>) -> Result<Option<Self>> {
        let column = mode.column(kind);
        match Self::rows(page, DOUBT) {
            Ok((header, _)) if header.contains(&column.as_str()) => Self::parse(page, DOUBT, &column).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads under how many of so many seeds each verdict stays; `None` where that is not on record.
    ///
    /// # Errors
    ///
    /// If there is no table, or a row has another number of cells.
    pub(crate) fn seeds(page: &str, seeds: usize, mode: Mode, kind: Option<&str>) -> Result<Option<Self>> {
        let column = mode.seeds(seeds, kind);
        let (header, _) = Self::rows(page, VERDICTS)?;
        if !header.contains(&column.as_str()) {
            return Ok(None);
        }
        Self::parse(page, VERDICTS, &column).map(Some)
    }

    fn parse(text: &str, heading: &str, column: &str) -> Result<Self> {
        let (header, rows) = Self::rows(text, heading)?;
        let position = header.iter().position(|name| *name == column);
        let position = position.with_context(|| format!("the table under {heading:?} has no column {column:?}"))?;
        let mut verdicts = BTreeMap::new();
        for row in rows {
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

    /// The header of the table and the rows below it.
    fn rows<'a>(text: &'a str, heading: &str) -> Result<(Cells<'a>, Vec<Cells<'a>>)> {
        let mut rows = text
            .lines()
            .skip_while(|line| *line != heading)
            .skip(1)
            .take_while(|line| !line.starts_with("## "))
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect::<Cells<'a>>()
            });
        let header = rows.next().with_context(|| format!("no table under {heading:?}"))?;
        Ok((header, rows.skip(1).collect()))
    }

    /// The verdict of a claim, in words; [`NOT_RUN`] where nobody has run that kind of run to its end.
    pub(crate) fn verdict(&self, claim: &str) -> Option<&str> {
        self.0.get(claim).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# P\n\n## Verdicts\n\nSome words.\n\n| claim | verdict | `--decide` | `--seeds 10` |\n|---|---|---|---|\n\
        | P1 | inconclusive | reproduced at 40 replications | 9 of 10 |\n\nAfter.\n";

    #[test]
    fn each_kind_of_run_has_its_column() {
        let record = Recorded::parse(TEXT, VERDICTS, &Mode::Default.column(None)).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("inconclusive"));
        let record = Recorded::parse(TEXT, VERDICTS, &Mode::Decide.column(None)).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("reproduced at 40 replications"));
        assert_eq!(record.verdict("P2"), None);
    }

    #[test]
    fn a_kind_of_run_has_columns_of_its_own() {
        let columns = [Mode::Default, Mode::Decide, Mode::Quick].map(|mode| mode.column(Some("stand-in")));
        assert_eq!(columns, ["stand-in", "stand-in --decide", "stand-in --quick"]);
    }

    #[test]
    fn how_many_seeds_a_verdict_stays_under_has_a_column_too() {
        let record = Recorded::parse(TEXT, VERDICTS, &Mode::Default.seeds(10, None)).expect("a good table");
        assert_eq!(record.verdict("P1"), Some("9 of 10"));
        assert_eq!(Mode::Quick.seeds(10, None), "--quick --seeds 10");
        assert_eq!(Mode::Default.seeds(10, Some("stand-in")), "stand-in --seeds 10");
    }

    #[test]
    fn a_missing_column_is_named() {
        let error = Recorded::parse(TEXT, VERDICTS, &Mode::Quick.column(None)).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
