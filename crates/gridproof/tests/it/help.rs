//! The help: `-h` of every command has a line of 80 columns for each option and each command, `--help` the program's name and policies.

use clap::CommandFactory;
use gap_schedule::Fcfs;
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

fn own(lab: Lab, name: &str) -> Lab {
    lab.policy(name, "by my own hands", || Box::new(Fcfs::default()))
}

#[test]
fn the_help_calls_the_program_by_its_name_and_lists_the_policies_that_were_added() {
    let program = own(Lab::standard().called("my-lab"), "my-fcfs").explained(Cli::command());
    let simulate = program.find_subcommand("simulate").and_then(clap::Command::get_after_long_help);
    let help = simulate.expect("it teaches by example").to_string();
    assert!(help.contains("  my-lab simulate ") && !help.contains("cargo xtask"), "{help}");
    assert!(help.contains("\n  my-fcfs\n      by my own hands\n"), "{help}");
}

#[test]
#[should_panic(expected = "two policies are called \"twice\"")]
fn two_policies_of_one_name_are_refused() {
    let _ = own(own(Lab::standard(), "twice"), "twice");
}
