//! Completion in shells. A script calls the program for each word, so names of papers and policies are completed, too.

use crate::Lab;
use anyhow::{Context, Result};
use clap::Command;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use lab::cli::{Ending, print};
use std::ffi::OsStr;

/// Variable by which a script calls the program.
const VARIABLE: &str = "COMPLETE";

pub(crate) fn completions(shell: Shell, program: &Command) -> Result<Ending> {
    let name = program.get_name();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).context("no such shell")?;
    let path = lab::output::provenance::executable().to_string_lossy();
    // Into a buffer: a pipe that closes early must not cause a panic.
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, name, name, &path, &mut script)?;
    // For `cargo xtask` beside `cargo-xtask`: cargo's own completion stays, and completes everything else.
    let within_cargo = match shell {
        Shell::Bash => include_str!("completions.bash"),
        Shell::Fish => include_str!("completions.fish"),
        _ => "",
    };
    let within_cargo = name.strip_prefix("cargo-").map(|command| within_cargo.replace("NAME", command));
    print(&(String::from_utf8(script)? + &within_cargo.unwrap_or_default()));
    Ok(Ending::Done)
}

impl Lab {
    /// Handles the call of a completion script and ends the process; returns for other calls. Call first in `main`.
    pub fn complete(&self, program: &Command) {
        CompleteEnv::with_factory(|| self.with_names(program.clone())).var(VARIABLE).complete();
    }

    fn with_names(&self, command: Command) -> Command {
        let command = command.mut_subcommands(|below| self.with_names(below));
        command.mut_args(|argument| match argument.get_id().as_str() {
            "slug" => {
                let papers =
                    self.papers.iter().map(|paper| (paper.about.slug.to_owned(), paper.about.title.to_owned()));
                let papers: Vec<_> = papers.chain([("all".to_owned(), "all papers".to_owned())]).collect();
                argument.add(ArgValueCompleter::new(move |typed: &OsStr| beginning_with(typed, &papers)))
            }
            "policy" | "policies" | "baseline" => {
                let added = self.added.clone();
                argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
                    beginning_with(typed, &replay::simulate::policy_names(&added, &typed.to_string_lossy()))
                }))
            }
            _ => argument,
        })
    }
}

fn beginning_with(typed: &OsStr, names: &[(String, String)]) -> Vec<CompletionCandidate> {
    let candidates = names.iter().filter(|(name, _)| name.starts_with(&*typed.to_string_lossy()));
    candidates.map(|(name, about)| CompletionCandidate::new(name).help(Some(about.clone().into()))).collect()
}
