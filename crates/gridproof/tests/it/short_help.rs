//! `-h` of every command: a line of 80 columns for each option and each command.

use clap::CommandFactory;
use gridproof::{Cli, Lab};

/// Wrapped text begins in the column of the descriptions.
fn check(command: &mut clap::Command) {
    let help = command.clone().term_width(80).render_help().to_string();
    let mut sections = help.split("\n\n").skip_while(|part| !part.starts_with("Usage")).skip(1).flat_map(str::lines);
    let wrapped = sections.find(|line| line.starts_with("       ") || line.chars().count() > 80);
    assert_eq!(wrapped, None, "{}:\n{help}", command.get_name());
    command.get_subcommands_mut().for_each(check);
}

#[test]
fn the_short_help_has_a_line_for_each_option_and_command() {
    let mut program = Lab::standard().explained(Cli::command());
    program.build();
    check(&mut program);
}
