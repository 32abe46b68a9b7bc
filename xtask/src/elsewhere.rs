//! `cargo xtask elsewhere`: the same commands here and on another target, whose results must be the same bytes.

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab::cli::{Common, Ending, print};
use lab::scenario::workspace;
use lab::terminal::tell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `cargo xtask elsewhere --help` ends with.
const EXAMPLES: &str = "\
Examples:
  cargo xtask elsewhere                                     ARM, by an emulator
  cargo xtask elsewhere --target i686-unknown-linux-musl    32 bits
  cargo xtask elsewhere --paper hierarchical                another paper than those it takes by itself

Builds the program for the target and runs it there: logs drawn from models, one of them under several policies, and
papers with --quick and two replications. Tables, schedules, claims, charts and logs must be the same bytes as here;
manifests name the build, and pictures in PNG are left out. Exit code 1 says which file is not. Wants the target,
rustup target add aarch64-unknown-linux-musl, and where the processor is another, an emulator: Debian's qemu-user, or
qemu-user-static under --runner qemu-aarch64-static. Without them it says so and checks nothing.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Elsewhere {
    /// The other target, one of Linux with musl.
    #[arg(long, value_name = "TARGET", default_value = "aarch64-unknown-linux-musl")]
    target: String,
    /// What runs its programs; told from the target if not given.
    #[arg(long, value_name = "PROGRAM")]
    runner: Option<String>,
    /// These papers, with --quick and two replications.
    #[arg(
        long = "paper",
        value_name = "SLUG",
        value_delimiter = ',',
        default_values = ["multi-site", "eg-edf", "metaloras", "predictions"]
    )]
    papers: Vec<String>,
}

/// Builds, runs both, compares.
pub(crate) fn elsewhere(options: &Elsewhere, common: &Common) -> Result<Ending> {
    let runner = options.runner.as_deref().or_else(|| emulator(&options.target));
    if let Some(reason) = reason_not_to(&options.target, runner)? {
        print(&format!("skipped: {reason}\n"));
        return Ok(Ending::Done);
    }
    let there = build(&options.target, common)?;
    let here = std::env::current_exe().context("cannot tell where this program lies")?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (mut seen, mut differing) = (BTreeSet::new(), Vec::new());
    for arguments in commands(&options.papers) {
        tell(&format!("elsewhere: {}", arguments.join(" ")));
        let mut found = Vec::new();
        for (place, program) in [("here", here.as_path()), ("there", there.as_path())] {
            let work = folder.path().join(place);
            std::fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
            let mut command = match runner.filter(|_| place == "there") {
                Some(runner) => Command::new(runner),
                None => Command::new(program),
            };
            if runner.is_some() && place == "there" {
                command.arg(program);
            }
            command.args(&arguments).current_dir(&work).env_remove("GRID_TRACES").stdout(Stdio::null());
            let status = command.status().with_context(|| format!("cannot run {}", program.display()))?;
            ensure!(status.success(), "{} {place}: {status}; its messages are above", arguments.join(" "));
            found.push(results(&work, &seen)?);
        }
        let [here, there] = &found[..] else { unreachable!("two places") };
        ensure!(!there.is_empty(), "{} wrote nothing that can be compared", arguments.join(" "));
        differing.extend(differences(here, there));
        seen.extend(found.into_iter().flat_map(BTreeMap::into_keys));
    }
    print(&summary(&options.target, seen.len(), &differing, common));
    Ok(if differing.is_empty() { Ending::Done } else { Ending::Differs })
}

/// What runs programs of that target on another processor.
fn emulator(target: &str) -> Option<&'static str> {
    match target.split('-').next()? {
        "aarch64" if cfg!(not(target_arch = "aarch64")) => Some("qemu-aarch64"),
        "x86_64" if cfg!(not(target_arch = "x86_64")) => Some("qemu-x86_64"),
        "riscv64gc" => Some("qemu-riscv64"),
        "i686" if cfg!(not(target_arch = "x86_64")) => Some("qemu-i386"),
        _ => None,
    }
}

/// Why it cannot be done on this machine, if so.
fn reason_not_to(target: &str, runner: Option<&str>) -> Result<Option<String>> {
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(workspace())
        .stderr(Stdio::null())
        .output()
        .context("cannot run rustc")?;
    ensure!(libraries.status.success(), "rustc knows no target {target}; `rustc --print target-list` names all");
    let libraries = PathBuf::from(String::from_utf8_lossy(&libraries.stdout).trim());
    if !libraries.is_dir() {
        return Ok(Some(format!("the target is not installed: rustup target add {target}")));
    }
    let runs = |runner: &str| {
        let status = Command::new(runner).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    Ok(runner
        .filter(|runner| !runs(runner))
        .map(|runner| format!("{runner} does not run; Debian has it in the package qemu-user")))
}

/// The program for that target. Without optimisation worth mentioning: that must not change results either.
fn build(target: &str, common: &Common) -> Result<PathBuf> {
    let folder = workspace().join("target/elsewhere");
    let upper = target.to_uppercase().replace('-', "_");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--package", "xtask", "--no-default-features", "--target", target, "--target-dir"])
        .arg(&folder)
        .current_dir(workspace())
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // What Rust brings is enough to link; no other compiler is needed.
        .env(format!("CARGO_TARGET_{upper}_LINKER"), "rust-lld")
        .env(format!("CARGO_TARGET_{upper}_RUSTFLAGS"), "-C link-self-contained=yes");
    if common.quiet || common.json {
        command.arg("--quiet");
    }
    let status = command.status().context("cannot run cargo build")?;
    ensure!(status.success(), "the program cannot be built for {target}; cargo's messages are above");
    Ok(folder.join(target).join("debug/xtask"))
}

/// What is run, all in one folder: results go to folders of their own, logs stay beside them.
fn commands(papers: &[String]) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut all = vec![
        words("workload generate lublin --procs 128 --count 1500 --seed 1 --out lublin.swf"),
        words("workload generate downey --procs 128 --count 1500 --seed 2 --out downey.swf"),
        words("workload generate jann --count 1500 --seed 3 --out jann.swf"),
        words(
            "simulate --trace lublin.swf --policy fcfs,easy,cons,flex,easy+order=wfp3,easy+order=f1 --out simulated --quiet",
        ),
    ];
    all.extend(papers.iter().map(|slug| words(&format!("reproduce {slug} --quick --reps 2 --out {slug} --quiet"))));
    all
}

/// Files whose bytes are promised, by their names, but for those that were `seen` before.
fn results(folder: &Path, seen: &BTreeSet<PathBuf>) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                // Replications are stored with a hash of the build.
                if path.file_name().is_some_and(|name| name != "cells") {
                    folders.push(path);
                }
            } else if path
                .extension()
                .is_some_and(|extension| ["csv", "svg", "swf"].iter().any(|known| extension == *known))
            {
                let name = path.strip_prefix(folder).expect("below it").to_owned();
                if !seen.contains(&name) {
                    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                    found.insert(name, bytes);
                }
            }
        }
    }
    Ok(found)
}

/// The names of files that are not the same, or there in one place alone.
fn differences(here: &BTreeMap<PathBuf, Vec<u8>>, there: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let names = here.keys().chain(there.keys().filter(|name| !here.contains_key(*name)));
    let say = |name: &PathBuf| match (here.get(name), there.get(name)) {
        (Some(here), Some(there)) if here == there => None,
        (Some(here), Some(there)) => {
            let at =
                here.iter().zip(there).position(|(one, other)| one != other).unwrap_or(here.len().min(there.len()));
            let line = 1 + here[..at].iter().filter(|byte| **byte == b'\n').count();
            Some(format!("{}: line {line} differs", name.display()))
        }
        (Some(_), None) => Some(format!("{}: only here", name.display())),
        _ => Some(format!("{}: only there", name.display())),
    };
    names.filter_map(say).collect()
}

fn summary(target: &str, files: usize, differing: &[String], common: &Common) -> String {
    if common.json {
        return format!("{:#}\n", serde_json::json!({ "target": target, "files": files, "differing": differing }));
    }
    let mut text: String = differing.iter().map(|one| format!("{one}\n")).collect();
    text += &match differing.len() {
        0 => format!("{files} files, the same bytes on {target}\n"),
        many => format!("{many} of {files} files differ on {target}\n"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_with_its_first_line() {
        let files = |pairs: &[(&str, &str)]| -> BTreeMap<PathBuf, Vec<u8>> {
            pairs.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect()
        };
        let here = files(&[("a.csv", "1\n2\n3\n"), ("b.csv", "1\n"), ("c.csv", "1\n"), ("d.csv", "1\n2")]);
        let there = files(&[("a.csv", "1\n2\n4\n"), ("b.csv", "1\n"), ("d.csv", "1\n"), ("e.csv", "")]);
        let expected = ["a.csv: line 3 differs", "c.csv: only here", "d.csv: line 2 differs", "e.csv: only there"];
        assert_eq!(differences(&here, &there), expected);
        assert!(differences(&here, &here).is_empty());
    }

    #[test]
    fn results_are_found_in_folders_and_what_names_the_build_is_not_among_them() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "out/data/a.csv",
            "out/figures/f.svg",
            "out/figures/f.png",
            "out/cells/replications.csv",
            "out/manifest.json",
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, name).expect("written");
        }
        let found = results(folder.path(), &BTreeSet::new()).expect("files");
        assert_eq!(found.keys().collect::<Vec<_>>(), [Path::new("out/data/a.csv"), Path::new("out/figures/f.svg")]);
        let seen = BTreeSet::from([PathBuf::from("out/data/a.csv")]);
        let rest = results(folder.path(), &seen).expect("files");
        assert_eq!(rest.into_keys().collect::<Vec<_>>(), [Path::new("out/figures/f.svg")], "no file is compared twice");
    }

    #[test]
    fn a_target_that_nobody_knows_is_bad_usage() {
        assert!(reason_not_to("pdp11-unknown-unix", None).expect_err("no such target").to_string().contains("pdp11"));
    }
}
