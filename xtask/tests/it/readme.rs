//! The README against the verdicts on record.

use crate::program::{names, workspace};
use std::fs;

/// Returns the cells of each row of the first table below the line `heading`.
pub(crate) fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let rows = text.lines().skip_while(|line| *line != heading).skip_while(|line| !line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.take_while(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Counts the reproduced, contradicted and inconclusive claims in one column of a paper's record.
fn counts(record: &[Vec<String>], column: usize) -> [usize; 3] {
    ["reproduced", "contradicted", "inconclusive"]
        .map(|verdict| record.iter().filter(|row| row[column].starts_with(verdict)).count())
}

#[test]
fn the_table_of_papers_counts_the_verdicts_on_record() {
    let readme = read("README.md");
    let (papers, decisions) = (table(&readme, "## Papers"), read("docs/reproduce.md"));
    assert!(!papers.is_empty(), "the README has no table of papers");
    for row in papers {
        let slug = row[0].trim_start_matches('[').split(']').next().expect("a link").to_owned();
        let record = table(&read(&format!("docs/papers/{slug}.md")), "## Verdicts");
        let told = [2, 3, 4].map(|column| row[column].parse::<usize>().expect("a count"));
        assert_eq!(told, counts(&record, 1), "README on {slug}: reproduced, contradicted, inconclusive");

        if record.iter().any(|row| row[2] == "not run") {
            assert!(decisions.contains("It has not been run with `--decide`"), "{slug} should say what was not run");
            continue;
        }
        let [reproduced, contradicted, inconclusive] = counts(&record, 2);
        let decided = format!("{reproduced}, {contradicted} and {inconclusive}");
        assert!(decisions.contains(&decided), "docs/reproduce.md on {slug} --decide should say {decided}");
    }
}

#[test]
fn every_paper_is_in_the_table() {
    let papers = table(&read("README.md"), "## Papers");
    for name in names(&workspace().join("workloads")) {
        if let Some(slug) = name.strip_suffix(".toml").filter(|slug| !slug.contains('/')) {
            assert!(papers.iter().any(|row| row[0].starts_with(&format!("[{slug}]"))), "the README leaves out {slug}");
        }
    }
}

#[test]
fn the_readme_has_at_most_450_words_before_its_links() {
    let readme = read("README.md");
    let front = readme.split("\n## Documentation").next().expect("it has a beginning");
    let words = front.split_whitespace().count();
    assert!(words <= 450, "{words} words");
}
