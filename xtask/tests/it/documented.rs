//! Commands in README.md and docs: the program parses each, and quick ones run.

use crate::check::named_by_the_help;
use crate::program::{Workdir, texts, workspace, xtask};
use crate::readme::{read, table};
use clap::CommandFactory;
use clap::error::ErrorKind;
use gap_schedule::Order;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Beginnings of commands that are not run here, with the reasons.
const NOT_RUN: [(&str, &str); 14] = [
    ("cargo test", "it is what runs this"),
    (
        "cargo xtask reproduce",
        "whole papers take minutes: the tests of each run it with --quick, and .ci/run all of them",
    ),
    (
        "cargo xtask sensitivity",
        "every answer of a paper takes minutes: tests/it/doubt.rs runs a few, and .ci/run all with --quick",
    ),
    (
        "cargo xtask experiment mine.toml",
        "public logs, or a cluster: tests/it/experiment.rs runs experiments of its own",
    ),
    ("cargo xtask experiment collect", "it follows the one before"),
    ("cargo xtask check", "a schedule of another program: tests/it/check.rs checks those of ours"),
    ("cargo xtask slurm", "a recorded controller: slurm-sched follows several in its own tests"),
    ("cargo xtask workload inspect logs/", "a public log: tests/it/workload.rs looks at others"),
    ("cargo xtask workload resample logs/", "a public log: tests/it/experiment.rs resamples another"),
    ("cargo xtask simulate --trace another.swf.gz", "it follows the one before"),
    ("cargo run --manifest-path examples/outside", "another workspace: .ci/run builds and runs it"),
    ("python python/examples", "minutes of training: .ci/python runs it with --quick"),
    ("pip install", "the Python package: .ci/python builds, installs and tests it"),
    ("maturin", "the Python package: .ci/python builds it from its sources"),
];

/// Returns README.md and every page below docs, at any depth, by their paths.
fn pages() -> BTreeMap<String, String> {
    let docs = texts(&workspace().join("docs"), ".md").into_iter().map(|(name, text)| (format!("docs/{name}"), text));
    let readme = fs::read_to_string(workspace().join("README.md")).expect("a page");
    docs.chain([("README.md".to_owned(), readme)]).collect()
}

/// A command on a page.
#[derive(Debug)]
struct PageCommand {
    page: String,
    /// Text without the comment behind it.
    text: String,
}

/// Returns the lines of the shell blocks.
fn blocks() -> Vec<PageCommand> {
    let mut told = Vec::new();
    for (page, text) in pages() {
        let mut is_shell = false;
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                is_shell = ["sh", "console"].contains(&language);
            } else if is_shell && !line.trim().is_empty() {
                let command = line.split(" #").next().expect("a line has a beginning").trim();
                told.push(PageCommand { page: page.clone(), text: command.trim_start_matches("$ ").to_owned() });
            }
        }
    }
    told
}

/// Returns the commands within sentences that contain no placeholders.
fn spans() -> Vec<PageCommand> {
    let mut told = Vec::new();
    for (page, text) in pages() {
        let prose: String = text.split("```").step_by(2).collect();
        for span in prose.split('`').skip(1).step_by(2) {
            let text = span.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_whole = !text.contains(['…', '|', '<', '>'])
                && !["SLUG", "OUT", "FILE", "DIR", " N"].iter().any(|it| text.contains(it));
            // A command alone is a name, not a call.
            if text.starts_with("cargo xtask ") && is_whole && text.split(' ').count() > 3 {
                told.push(PageCommand { page: page.clone(), text });
            }
        }
    }
    told
}

/// Returns the words of a command as a shell would split them, with quotation marks, up to a redirection or a pipe.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), None);
    for letter in command.chars() {
        match (quoted, letter) {
            (None, '\'' | '"') => quoted = Some(letter),
            (Some(mark), _) if mark == letter => quoted = None,
            (None, '>' | '|') => break,
            (None, ' ') if word.is_empty() => {}
            (None, ' ') => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[test]
fn every_command_of_a_page_is_read_by_the_program() {
    let mut read = 0;
    for PageCommand { page, text } in blocks().into_iter().chain(spans()) {
        let words = words(&text);
        let arguments = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cargo", "xtask", "bench" | "ci" | "tidy", ..]
            | ["cargo", "test" | "install" | "doc", ..]
            | ["pip", "install", ..]
            | ["maturin", ..]
            | ["python", "python/examples/train.py", ..] => {
                continue;
            }
            ["cargo", "xtask", ..] => &words[2..],
            ["cargo", "run", ..] => match words.iter().position(|word| word == "--") {
                Some(end) if text.contains("examples/outside") => &words[end + 1..],
                _ => continue,
            },
            _ => panic!("{page}: {text}: not a command of this workspace; teach this test to read it"),
        };
        let command = gridproof::Cli::command().name("xtask");
        let read_as =
            command.try_get_matches_from(std::iter::once("xtask").chain(arguments.iter().map(String::as_str)));
        if let Err(error) = read_as {
            // In a sentence, required arguments may be left out.
            let is_enough = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::MissingRequiredArgument);
            assert!(is_enough, "{page}: {text}\n{error}");
        }
        read += 1;
    }
    assert!(read > 40, "only {read} commands were found: the blocks are called otherwise");
}

#[test]
fn every_reason_not_to_run_a_command_is_about_one() {
    let blocks = blocks();
    for (beginning, why) in NOT_RUN {
        let of_it = blocks.iter().chain(&spans()).filter(|told| told.text.starts_with(beginning)).count();
        assert!(of_it > 0, "no page tells {beginning:?} any more ({why})");
    }
}

#[test]
fn rust_that_a_page_shows_stands_in_a_file_that_is_built() {
    let trimmed = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<String>>();
    let sources = ["examples/outside/src", "crates"].map(|folder| texts(&workspace().join(folder), ".rs"));
    let sources: Vec<Vec<String>> = sources.iter().flat_map(BTreeMap::values).map(|text| trimmed(text)).collect();
    let mut shown = 0;
    for (page, text) in pages() {
        for block in text.split("```rust\n").skip(1) {
            let block = trimmed(block.split("```").next().expect("a block has an end").trim());
            let is_built = sources.iter().any(|source| source.windows(block.len()).any(|lines| lines == block));
            assert!(is_built, "{page}: no file has these lines any more: {}", block.join("\n"));
            shown += 1;
        }
    }
    assert!(shown > 3, "only {shown} blocks were found: they are called otherwise");
}

#[test]
fn the_page_about_policies_has_those_of_the_help_and_defines_every_order() {
    let (page, names) = (read("docs/policies.md"), named_by_the_help());
    let policies = table(&page, "## Space-shared machines");
    assert!(policies.iter().all(|row| row.len() == 8 && row.iter().all(|cell| !cell.is_empty())));
    let listed: BTreeSet<&str> = policies.iter().map(|row| row[0].trim_matches('`')).collect();
    let bases = names.iter().map(String::as_str).filter(|name| !name.contains('+') || *name == "slurm+conf=FILE");
    assert_eq!((listed.len(), listed), (policies.len(), bases.chain(["exec+PROGRAM"]).collect()));
    let order = |order: Order| vec![format!("`{}`", order.name()), order.definition().into(), order.source().into()];
    assert_eq!(table(&page, "### Orders"), Order::ALL.map(order));
    for row in table(&page, "### Settings of queues") {
        let (key, _) = row[0].trim_matches('`').split_once('=').expect("KEY=VALUE");
        for base in row[1].split(", ").map(|base| base.trim_matches('`')) {
            let is_one = |name: &String| name.starts_with(&format!("{base}+")) && name.contains(&format!("+{key}="));
            assert!(names.iter().any(is_one), "{base} has no setting {key}");
        }
    }
}

/// Returns a log of jobs with one processor each, for worlds of servers that run one job.
fn narrow_log() -> String {
    let job = |number: u32| format!("{number} {} -1 30 1 -1 -1 1 60 -1 1 7 1 -1 -1 -1 -1 -1\n", 10 * number);
    "; MaxProcs: 8\n".to_owned() + &(1..=20).map(job).collect::<String>()
}

#[test]
#[cfg(unix)]
fn quick_commands_of_the_pages_run() {
    let dir = Workdir::with("log.swf", narrow_log());
    for shared in ["examples", "workloads"] {
        std::os::unix::fs::symlink(workspace().join(shared), dir.path(shared)).expect("a link");
    }
    dir.file("nodes.toml", "[[nodes]]\ncount = 100\ncpus = 1\n");
    let log = "KTH-SP2-1996-2.1-cln.swf.gz";
    dir.run(&format!("workload generate lublin --procs 100 --count 200 --seed 1 --quiet --out {log}"), 0);
    let mut ran = 0;
    for PageCommand { page, text } in blocks() {
        if NOT_RUN.iter().any(|(beginning, _)| text.starts_with(beginning)) {
            continue;
        }
        let words = words(&text);
        assert_eq!(words[..2], ["cargo", "xtask"], "{page}: {text}");
        let output = xtask().args(&words[2..]).current_dir(&dir.0).output().expect("the program starts");
        assert!(output.status.success(), "{page}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        if let Some((_, file)) = text.split_once(" > ") {
            dir.file(file.trim(), &output.stdout);
        }
        ran += 1;
    }
    assert!(ran > 5, "only {ran} commands ran");
}
