//! Completion scripts of shells, for the program under its own name and, where that is a command of cargo, as one types it.

use anyhow::Result;
use clap::Command;
use clap_complete::Shell;
use lab::terminal::print;

/// What `cargo xtask` needs beside the script for `cargo-xtask`: cargo's own completion stays, and is asked about
/// everything else. zsh's completion of cargo asks `_cargo-xtask` by itself.
const BASH: &str = r#"
# `cargo NAME …`: hands the words behind NAME to the completion of cargo-NAME, and all others to that of cargo.
if ! declare -F _cargo-NAME_within_cargo >/dev/null; then
    # Completions of bash-completion are loaded when first used; once ours is there, cargo's would never be.
    if declare -F _comp_load >/dev/null; then _comp_load cargo
    elif declare -F _completion_loader >/dev/null; then _completion_loader cargo
    fi 2>/dev/null
    _cargo_NAME_before=$(complete -p cargo 2>/dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
fi
_cargo_NAME_own=$(complete -p cargo-NAME | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
_cargo-NAME_within_cargo() {
    local at=1
    [[ ${COMP_WORDS[1]} == +* ]] && at=2 # the toolchain, as in cargo +nightly NAME
    if [[ ${COMP_WORDS[at]} == NAME && $COMP_CWORD -gt $at ]]; then
        COMP_WORDS=(cargo-NAME "${COMP_WORDS[@]:at+1}")
        COMP_CWORD=$((COMP_CWORD - at))
        "$_cargo_NAME_own" cargo-NAME "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    elif [[ -n $_cargo_NAME_before ]]; then
        "$_cargo_NAME_before" "$@"
    elif [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "NAME" -- "$2"))
    fi
}
complete -o bashdefault -o default -F _cargo-NAME_within_cargo cargo
"#;

const FISH: &str = r#"
# `cargo NAME …`: the words behind NAME are completed as those of cargo-NAME.
function __cargo_NAME_within_cargo
    set -l words (commandline -opc)
    complete -C (string join ' ' -- cargo-NAME (string escape -- $words[3..-1]) (commandline -ct))
end
complete -c cargo -n 'set -l words (commandline -opc); test (count $words) -ge 2; and test "$words[2]" = NAME' -f -a '(__cargo_NAME_within_cargo)'
"#;

/// Prints the script of a shell.
pub(crate) fn completions(shell: Shell, program: &mut Command) -> Result<()> {
    print(&script(shell, program)?);
    Ok(())
}

fn script(shell: Shell, program: &mut Command) -> Result<String> {
    let name = program.get_name().to_owned();
    // Into a buffer: a pipe that closes early is no reason to panic.
    let mut script = Vec::new();
    clap_complete::generate(shell, program, &name, &mut script);
    let mut script = String::from_utf8(script)?;
    let within_cargo = match shell {
        Shell::Bash => BASH,
        Shell::Fish => FISH,
        _ => "",
    };
    if let Some(command) = name.strip_prefix("cargo-") {
        // The program is called `cargo NAME` in its help: clap_complete takes that for a command below `cargo` where it lists
        // options, and for `cargo-NAME` where it walks along the words. They must meet.
        script = script.replace(&format!("cargo__subcmd__{command}"), &format!("cargo__{command}"));
        script += &within_cargo.replace("NAME", command);
    }
    Ok(script)
}
