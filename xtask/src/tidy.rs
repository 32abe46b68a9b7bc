//! `cargo xtask tidy`: size and language of the workspace, against ceilings that only go down.

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab::cli::{Common, Ending, print};
use lab::output::manifest::names_below;
use lab::scenario::workspace;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const ABOUT: &str = "\
xtask/tidy.tsv holds a goal for each count, and a ceiling for those that must not rise: lines of src by crate, lines of
tests, the largest crate's share, public items, those among them that the documentation hides, type names with several
meanings, doc comments that begin like a question, and words that the style guide replaces in doc comments, messages and pages. Exit code 1 if a count exceeds its ceiling. After a count has fallen, --lower writes
it as the new ceiling.";

#[derive(Debug, Args)]
#[command(after_help = ABOUT)]
pub(crate) struct Tidy {
    /// Lower each ceiling to its count, where that has fallen.
    #[arg(long)]
    lower: bool,
}

/// Words of a private dialect, for which the style guide has plain ones.
const WORDS: [&str; 10] =
    ["nobody", "somebody", "whoever", "whom", "anew", "told", "so many", "lest", "in earnest", "for its memory"];

/// Words that begin a question; a doc comment begins with a noun phrase or a verb.
const QUESTIONS: [&str; 9] = ["What", "Who", "Whose", "Whether", "How", "Of", "Where", "Which", "When"];

/// Attribute of what other crates of the workspace need and users do not.
const HIDDEN: &str = "#[doc(hidden)]";

/// Counts by name, in the order of the report.
type Counts = BTreeMap<String, u64>;

/// Ceiling, if there is one, and goal of each count.
type Limits = BTreeMap<String, (Option<u64>, u64)>;

pub(crate) fn tidy(options: &Tidy, common: &Common) -> Result<Ending> {
    let root = workspace();
    let found = counts(&texts(&root)?);
    let file = root.join("xtask/tidy.tsv");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut limits = limits(&text).with_context(|| file.display().to_string())?;
    if options.lower {
        for (name, (ceiling, _)) in &mut limits {
            *ceiling = ceiling.map(|ceiling| ceiling.min(found.get(name).copied().unwrap_or(0)));
        }
        let line = |(name, (ceiling, goal)): (&String, &(Option<u64>, u64))| {
            format!("{name}\t{}\t{goal}\n", ceiling.map_or_else(|| "-".to_owned(), |ceiling| ceiling.to_string()))
        };
        let comments = text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n"));
        std::fs::write(&file, comments.chain(limits.iter().map(line)).collect::<String>())?;
    }
    let (mut report, mut ending) = (format!("{:>8}  {:>8}  {:>8}  count\n", "found", "ceiling", "goal"), Ending::Done);
    for (name, count) in &found {
        let (ceiling, goal) = limits.get(name).map_or((None, None), |(ceiling, goal)| (*ceiling, Some(*goal)));
        let mark = if ceiling.is_some_and(|ceiling| *count > ceiling) { "  EXCEEDED" } else { "" };
        if !mark.is_empty() {
            ending = Ending::Differs;
        }
        let [ceiling, goal] = [ceiling, goal].map(|limit| limit.map_or_else(String::new, |limit| limit.to_string()));
        let _ = writeln!(report, "{count:>8}  {ceiling:>8}  {goal:>8}  {name}{mark}");
    }
    print(&if common.json { format!("{:#}\n", serde_json::json!(found)) } else { report });
    Ok(ending)
}

/// Parses limits by the names of counts, from lines `name<TAB>ceiling<TAB>goal`; `-` is no ceiling.
fn limits(text: &str) -> Result<Limits> {
    let mut limits = Limits::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        ensure!(cells.len() == 3, "expected a name, a ceiling and a goal with tabs between them, found {line:?}");
        let ceiling = if cells[1] == "-" { None } else { Some(cells[1].parse()?) };
        limits.insert(cells[0].to_owned(), (ceiling, cells[2].parse()?));
    }
    Ok(limits)
}

/// A source or a page: its path below the root, and its content.
type Text = (PathBuf, String);

/// Returns every Rust source of the workspace and of the Python package, README.md and the pages of docs.
fn texts(root: &Path) -> Result<Vec<Text>> {
    let mut files = vec![PathBuf::from("README.md")];
    for folder in ["crates", "xtask", "python/src", "docs"] {
        let below = root.join(folder);
        let names = names_below(&below).with_context(|| format!("cannot read {}", below.display()))?;
        files.extend(names.into_iter().map(|name| Path::new(folder).join(name)));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs" || extension == "md"));
    let text = |file: PathBuf| {
        let path = root.join(&file);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((file, text))
    };
    files.into_iter().map(text).collect()
}

fn counts(texts: &[Text]) -> Counts {
    let mut counts = Counts::new();
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let hidden: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| hidden_modules(path, text)).collect();
    let mut add = |name: &str, count: usize| *counts.entry(name.to_owned()).or_default() += count as u64;
    for (path, text) in texts {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        match parts[..] {
            // Text that a program prints is no code.
            ["crates" | "xtask" | "python", .., file] if parts.contains(&"src") && !file.ends_with(".rs") => {}
            ["python", "src", ..] => {
                add("src lines of python", text.lines().count());
                add("src lines of all crates", text.lines().count());
            }
            ["crates", name, "src", ..] | [name @ "xtask", "src", ..] => {
                add(&format!("src lines of {name}"), text.lines().count());
                add("src lines of all crates", text.lines().count());
                let shipped = shipped(text);
                let is_hidden =
                    hidden.iter().any(|module| path.starts_with(module) || *path == module.with_extension("rs"));
                let (public, of_hidden) = public_items(shipped);
                let (shown, not_shown) = if is_hidden { (0, public + of_hidden) } else { (public, of_hidden) };
                add("public items", shown);
                add("public items without documentation", not_shown);
                for name in shipped.lines().filter_map(type_name) {
                    *types.entry(name).or_default() += 1;
                }
            }
            [_, _, "tests", ..] | ["xtask", "tests", ..] => add("tests lines of all crates", text.lines().count()),
            _ => {}
        }
        let lines = || text.lines().map(doc_comment);
        let begins = |(before, line): &(Option<&str>, Option<&str>)| before.is_none() && line.is_some_and(is_question);
        let questions = std::iter::once(None).chain(lines()).zip(lines()).filter(begins);
        add("doc comments that begin like a question", questions.count());
        for word in WORDS {
            add(&format!("word: {word}"), prose(path, text).iter().map(|line| occurrences(line, word)).sum());
        }
    }
    add("type names with several meanings", types.values().filter(|meanings| **meanings > 1).count());
    let all = counts["src lines of all crates"];
    let of_crate =
        |(name, lines): (&String, &u64)| (!name.ends_with("all crates") && name.starts_with("src")).then_some(*lines);
    let largest = counts.iter().filter_map(of_crate).max().unwrap_or(0);
    counts.insert("largest crate, percent of src".to_owned(), (100 * largest).div_ceil(all.max(1)));
    counts
}

/// Returns a source without its unit tests, which come last.
fn shipped(text: &str) -> &str {
    text.find("\n#[cfg(test)]\nmod ").map_or(text, |end| &text[..end])
}

/// Returns the folders of the modules that a source declares as public and hides from the documentation.
fn hidden_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let is_root = path.file_stem().is_some_and(|stem| stem == "lib");
    let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
    let modules = text.split(HIDDEN).skip(1).filter_map(|after| after.trim_start().strip_prefix("pub mod "));
    modules.filter_map(|module| Some(folder.join(module.split_once(';')?.0))).collect()
}

/// Returns the number of public items of a source, and of those among them that are hidden from the documentation.
fn public_items(text: &str) -> (usize, usize) {
    let (all, mut hidden) = (text.lines().filter(|line| is_public(line)).count(), 0);
    for after in text.split(HIDDEN).skip(1) {
        hidden += usize::from(after.lines().find(|line| line.trim_start().starts_with("pub ")).is_some_and(is_public));
    }
    (all - hidden, hidden)
}

fn is_public(line: &str) -> bool {
    let item = line
        .trim_start()
        .strip_prefix("pub ")
        .map(|item| item.trim_start_matches("const ").trim_start_matches("unsafe "));
    let kinds = ["fn ", "struct ", "enum ", "trait ", "type ", "static ", "mod ", "macro "];
    item.is_some_and(|item| {
        kinds.iter().any(|kind| item.starts_with(kind)) || item.contains(": ") && item.contains(" = ")
    })
}

fn type_name(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let item = item.strip_prefix("pub(crate) ").or_else(|| item.strip_prefix("pub(super) ")).unwrap_or(item);
    let item = item.strip_prefix("pub ").unwrap_or(item);
    let name = ["struct ", "enum ", "trait "].iter().find_map(|kind| item.strip_prefix(kind))?;
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim_start)
}

fn is_question(comment: &str) -> bool {
    let first = comment.split(|letter: char| !letter.is_alphabetic()).next();
    first.is_some_and(|first| QUESTIONS.contains(&first))
}

/// Returns the prose lines: all lines of a page, doc comments and string literals of a source.
fn prose(path: &Path, text: &str) -> Vec<String> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    // This file has the list of words itself.
    if parts[..] == ["xtask", "src", "tidy.rs"] {
        return Vec::new();
    }
    if path.extension().is_some_and(|extension| extension == "md") {
        return text.lines().map(str::to_owned).collect();
    }
    if !parts.contains(&"src") {
        return Vec::new();
    }
    let mut found = Vec::new();
    literals(shipped(text).parse().unwrap_or_default(), &mut found);
    found
}

/// Collects the literals of a source. Comments in front of items are literals of the attribute `doc`.
fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => found.push(literal.to_string()),
            _ => {}
        }
    }
}

/// Counts the occurrences of a whole word in a line.
fn occurrences(line: &str, word: &str) -> usize {
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
    let lower = line.to_lowercase();
    let matches = lower.match_indices(word);
    matches
        .filter(|(at, _)| is_edge(lower[..*at].chars().next_back()) && is_edge(lower[at + word.len()..].chars().next()))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_doc_comments_literals_and_pages_and_nowhere_else() {
        let source = "//! Nobody.\n// nobody\nfn nobody() { say(\"nobody, \\\"whom\\\"\\\n    nobody\"); }\nlet x = nobody; // nobody\n\
                      \n#[cfg(test)]\nmod tests {\n/// nobody\n";
        let count = |path: &str| -> usize {
            prose(Path::new(path), source).iter().map(|line| occurrences(line, "nobody")).sum()
        };
        assert_eq!((count("crates/a/src/b.rs"), count("crates/a/tests/b.rs"), count("docs/a.md")), (3, 0, 8));
        assert_eq!(occurrences("So many jobs; foretold, told.", "told"), 1);
    }

    #[test]
    fn items_and_types_are_those_that_a_line_declares() {
        let source = "pub struct A<T>;\npub(crate) enum B {\n    pub fn c() {}\n    pub field: u32,\npub const fn d() {}\nuse e::F;\n";
        assert_eq!(source.lines().filter(|line| is_public(line)).count(), 3);
        assert_eq!(source.lines().filter_map(type_name).collect::<Vec<_>>(), ["A", "B"]);
    }

    #[test]
    fn items_without_documentation_are_counted_apart() {
        let source = "#[doc(hidden)]\npub mod a;\npub mod b;\n#[doc(hidden)]\n#[must_use]\npub fn c() {}\n";
        assert_eq!(public_items(source), (1, 2));
        let inside = |file: &str, text: &str| (PathBuf::from(file), text.to_owned());
        let texts = [
            inside("crates/x/src/lib.rs", source),
            inside("crates/x/src/a.rs", "pub fn d() {}\n"),
            inside("crates/x/src/a/e.rs", "pub fn f() {}\n"),
            inside("crates/x/src/b.rs", "pub fn g() {}\n"),
        ];
        let counts = counts(&texts);
        assert_eq!((counts["public items"], counts["public items without documentation"]), (2, 4));
    }

    #[test]
    fn a_doc_comment_begins_no_question() {
        let text = "/// What?\n/// How many.\nx\n/// Hows.\n// Who\n//! Of all.\n";
        let texts = [("crates/a/src/b.rs".into(), text.to_owned())];
        assert_eq!(counts(&texts)["doc comments that begin like a question"], 2);
    }

    #[test]
    fn every_limit_is_of_a_count() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
        let found = counts(&texts(root).expect("sources"));
        let limits = limits(include_str!("../tidy.tsv")).expect("three cells in each line");
        let unknown: Vec<_> = limits.keys().filter(|name| !found.contains_key(*name)).collect();
        assert!(unknown.is_empty(), "no such count: {unknown:?}");
    }
}
