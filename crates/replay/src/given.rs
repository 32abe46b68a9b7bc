//! Options of which it is known whether they were given.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// Options, and which of them were given on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Given<O> {
    pub(crate) options: O,
    /// As they are written: `--tree`.
    pub(crate) given: Vec<String>,
}

impl<O: Args> FromArgMatches for Given<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        // Reading an option takes it out of the matches: what was given is asked first.
        let names = O::augment_args(Command::new("options"));
        let was_given =
            |arg: &&clap::Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let given =
            names.get_arguments().filter(was_given).map(|arg| format!("--{}", arg.get_long().unwrap_or_default()));
        let given = given.collect();
        Ok(Self { given, options: O::from_arg_matches_mut(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<O: Args> Args for Given<O> {
    fn augment_args(command: Command) -> Command {
        O::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        O::augment_args_for_update(command)
    }
}
