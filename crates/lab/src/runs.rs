//! How often a paper is run, and from which seed: what the laboratory itself reads of a scenario.

use crate::paper::Effort;
use crate::scenario::Scenario;
use anyhow::{Result, ensure};
use serde::Deserialize;
use toml_edit::{Document, Item};

/// Of the table `run` of every scenario. A paper does not read these keys: [`Scenario::typed`] leaves them out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Runs {
    /// Replications of each cell, if nobody asks for another number.
    replications: u32,
    /// The same with `--quick`, if it is another number.
    quick_replications: Option<u32>,
    /// The seed, if nobody asks for another.
    pub seed: u64,
}

/// The keys of [`Runs`].
const KEYS: [&str; 3] = ["replications", "quick_replications", "seed"];

impl Runs {
    /// Replications of each cell.
    pub fn replications(&self, effort: Effort) -> u32 {
        match effort {
            Effort::Full => self.replications,
            Effort::Quick => self.quick_replications.unwrap_or(self.replications),
        }
    }
}

impl Scenario {
    /// How often the paper is run, and from which seed.
    ///
    /// # Errors
    ///
    /// A key that is missing, one of the wrong type, or no replication.
    pub fn runs(&self) -> Result<Runs> {
        #[derive(Deserialize)]
        struct Whole {
            run: Runs,
        }
        let Whole { run } = self.read(&self.text())?;
        for (key, value) in [("replications", Some(run.replications)), ("quick_replications", run.quick_replications)] {
            ensure!(value != Some(0), "run.{key} is 0; at least 1 is needed");
        }
        Ok(run)
    }
}

/// A scenario without the keys of [`Runs`], and without their table where it holds nothing else. What is left stands on the
/// lines where it stood.
pub(crate) fn without(text: &str) -> String {
    let mut left = text.to_owned();
    let mut blank = |from: usize, to: usize| left.replace_range(from..to, &" ".repeat(to - from));
    let Ok(document) = Document::parse(text) else { return left };
    let Some(Item::Table(run)) = document.as_table().get("run") else { return left };
    for key in KEYS {
        let Some((key, value)) = run.get_key_value(key) else { continue };
        if let Some((key, value)) = key.span().zip(value.span()) {
            blank(key.start, value.end);
        }
    }
    if run.iter().all(|(key, _)| KEYS.contains(&key))
        && let Some(head) = run.span()
    {
        blank(head.start, head.start + text[head.start..].find(']').map_or(0, |end| end + 1));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "[grid]\nsites = 2 # §3\n\n[run]\nreplications = 20 # §4\nseed = 7\njobs = 400\nquick_replications = 4\n";

    fn scenario(text: &str) -> Scenario {
        Scenario::of_paper("p", text).expect("good TOML")
    }

    #[test]
    fn a_quick_run_has_replications_of_its_own_where_the_scenario_says_so() {
        let runs = scenario(TEXT).runs().expect("good");
        assert_eq!((runs.replications(Effort::Full), runs.replications(Effort::Quick), runs.seed), (20, 4, 7));
        let runs = scenario(&TEXT.replace("quick_replications = 4\n", "")).runs().expect("good");
        assert_eq!(runs.replications(Effort::Quick), 20);
    }

    #[test]
    fn what_is_left_for_the_paper_stands_on_its_lines() {
        let left = without(TEXT);
        assert_eq!(left.lines().map(str::trim).collect::<Vec<_>>()[3..], ["[run]", "# §4", "", "jobs = 400", ""]);
        assert_eq!(left.len(), TEXT.len());
        let alone = without("[run]\nreplications = 20\nseed = 7\n[grid]\nsites = 2\n");
        assert_eq!(alone.lines().map(str::trim).collect::<Vec<_>>(), ["", "", "", "[grid]", "sites = 2"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_key() {
        let error = |assignment: &str| {
            let mut scenario = scenario(TEXT);
            scenario.set(assignment).expect("a parameter");
            scenario.runs().expect_err(assignment).to_string()
        };
        assert_eq!(error("run.quick_replications=0"), "run.quick_replications is 0; at least 1 is needed");
        assert!(error("run.seed=no").starts_with("line 6: run.seed: invalid type"), "{}", error("run.seed=no"));
        let missing = scenario("[run]\nseed = 7\n").runs().expect_err("none are given").to_string();
        assert!(missing.contains("missing field `replications`"), "{missing}");
    }
}
