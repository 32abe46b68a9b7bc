//! `cargo xtask ci`: what CI runs. If it passes here, it passes there.

use anyhow::{Context, Result};
use lab::cli::Ending;
use lab::doubt;
use lab::registry::Entry;
use lab::reproduce::Request;
use lab::scenario::workspace;
use lab::terminal::tell;
use std::process::Command;

/// Runs every step, stops at the first that fails.
pub(crate) fn ci(papers: &[Entry]) -> Result<Ending> {
    crate::skips::clear()?;
    let steps = [
        ("format", "fmt --all --check"),
        ("lints", "clippy --workspace --all-targets -- -D warnings"),
        ("tests", "test --workspace"),
        ("documentation", "doc --workspace --no-deps"),
    ];
    for (name, arguments) in steps {
        tell(&format!("ci: {name}: cargo {arguments}"));
        let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(arguments.split(' '))
            .env("RUSTDOCFLAGS", "-D warnings")
            .current_dir(workspace())
            .status()
            .context("cannot run cargo")?;
        if !status.success() {
            tell(&format!("ci: {name} failed"));
            return Ok(Ending::Differs);
        }
    }
    for paper in papers {
        let slug = paper.about.slug;
        tell(&format!("ci: {slug}, quick, against the verdicts on record"));
        let out = tempfile::tempdir().context("cannot make a temporary folder")?;
        let outcome = paper.reproduce(&Request::quick(out.path().to_owned()))?;
        for (judged, recorded) in outcome.surprises() {
            tell(&format!("ci: {slug} {}: {}, but {recorded} is on record", judged.id, judged.in_words()));
        }
        if outcome.surprises().next().is_some() {
            return Ok(Ending::Differs);
        }
    }
    for paper in papers {
        let slug = paper.about.slug;
        tell(&format!("ci: {slug}, what other readings make of its verdicts"));
        let out = tempfile::tempdir().context("cannot make a temporary folder")?;
        let request = doubt::Request { run: Request::quick(out.path().to_owned()), ..doubt::Request::default() };
        let outcome = paper.doubt(&request)?;
        for (claim, recorded) in outcome.surprises() {
            tell(&format!("ci: {slug} {} {}, but on record is: {recorded}", claim.judged.id, claim.told));
        }
        if outcome.surprises().next().is_some() {
            return Ok(Ending::Differs);
        }
    }
    tell(crate::skips::summary(&crate::skips::noted()?, false).trim_end());
    tell("ci: all passed");
    Ok(Ending::Done)
}
