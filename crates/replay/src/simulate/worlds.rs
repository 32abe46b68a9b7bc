//! The worlds that there are. A new one is a file of its own, and its name here.

use super::own::Own;
use super::world::{Entry, Opened, Wanted};
use crate::asked::Asked;
use crate::given::Given;
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// The world that was chosen, and its policies.
#[derive(Clone, Debug, Args)]
pub(crate) struct Chosen {
    /// Policies to compare, separated by commas: see the list below.
    #[arg(long = "policy", value_name = "a,b,…", value_delimiter = ',', required = true)]
    pub(crate) named: Vec<String>,
    /// What the log is replayed on.
    #[arg(long, default_value = "gap-schedule", value_parser = PossibleValuesParser::new(models()))]
    pub(crate) model: String,
    /// Whose rules hold: see below.
    #[arg(long, default_value = "clean", value_parser = PossibleValuesParser::new(profiles()))]
    pub(crate) profile: String,
}

macro_rules! worlds {
    ($($world:ident),* $(,)?) => {
        /// The options of every world.
        #[derive(Clone, Debug, Args)]
        pub(crate) struct Worlds {
            $(#[command(flatten)] $world: Given<super::$world::Options>,)*
        }

        impl Worlds {
            const ALL: &[Entry] = &[$(super::$world::ENTRY),*];

            /// Opens the world that was asked for.
            pub(crate) fn open(&self, asked: &Asked, chosen: &Chosen, own: &[&'static Own]) -> Result<Opened> {
                let here = entry(asked, chosen)?;
                let is_here = |world: &Entry| (world.model, world.profile) == (here.model, here.profile);
                for (world, given) in Self::ALL.iter().zip([$(&self.$world.given),*]).filter(|(world, _)| !is_here(world)) {
                    refuse(given, here, Some(world))?;
                }
                let wanted = Wanted { named: &chosen.named, own, here, all: Self::ALL };
                $(
                    if is_here(&super::$world::ENTRY) {
                        return Opened::new(here, super::$world::open(asked, &self.$world.options, &wanted)?);
                    }
                )*
                unreachable!("the chosen world is one of these")
            }
        }
    };
}

worlds! { space_shared, alea31, metasched, hier }

fn entry(asked: &Asked, chosen: &Chosen) -> Result<&'static Entry> {
    let Chosen { model, profile, .. } = chosen;
    let found = Worlds::ALL.iter().find(|world| world.model == *model && world.profile == *profile);
    let found = found.ok_or_else(|| {
        let its = Worlds::ALL.iter().find(|world| world.profile == *profile).map_or("", |world| world.model);
        anyhow!("--profile {profile} goes with --model {its}; leave it out with --model {model}")
    })?;
    if !found.takes_machines {
        refuse(&asked.machine_file.given, found, None)?;
    }
    Ok(found)
}

/// Refuses options that are not of the world that was chosen.
fn refuse(given: &[String], chosen: &Entry, theirs: Option<&Entry>) -> Result<()> {
    let whose = theirs.map_or_else(
        || {
            Worlds::ALL
                .iter()
                .filter(|world| world.takes_machines)
                .map(Entry::chosen_by)
                .collect::<Vec<_>>()
                .join(" and ")
        },
        Entry::chosen_by,
    );
    ensure!(
        given.is_empty(),
        "{} does not go with {}, which takes {}: it is an option of {whose}; leave it out",
        given[0],
        chosen.chosen_by(),
        chosen.place,
    );
    Ok(())
}

fn models() -> Vec<PossibleValue> {
    let usual = Worlds::ALL.iter().filter(|world| world.profile == "clean");
    usual.map(|world| PossibleValue::new(world.model).help(world.about)).collect()
}

fn profiles() -> Vec<PossibleValue> {
    let clean = PossibleValue::new("clean").help("Those of the policies, as their authors describe them");
    let others = Worlds::ALL.iter().filter(|world| world.profile != "clean");
    std::iter::once(clean).chain(others.map(|world| PossibleValue::new(world.profile).help(world.about))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Chosen, Worlds};
    use crate::asked::Asked;
    use crate::simulate::own::Own;
    use clap::Parser;
    use gap_schedule::Fcfs;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        asked: Asked,
        #[command(flatten)]
        chosen: Chosen,
        #[command(flatten)]
        worlds: Worlds,
    }

    const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

    /// What is said of a command line that no world runs.
    fn refused(words: &[&str], own: &[&'static Own]) -> String {
        let line = ["simulate", "--trace", LOG].iter().chain(words);
        let Line { asked, chosen, worlds } = Line::try_parse_from(line).expect("clap takes it");
        format!("{:#}", worlds.open(&asked, &chosen, own).err().expect("it makes no sense"))
    }

    #[test]
    fn an_option_of_another_world_is_refused_and_its_world_named_even_where_it_says_the_usual() {
        let told = refused(&["--policy", "fcfs", "--tree", "4-2-5"], &[]);
        assert!(told.starts_with("--tree does not go with --model gap-schedule"), "{told}");
        assert!(told.contains("an option of --model hier-grid; leave it out"), "{told}");
        let told = refused(&["--model", "metasched", "--policy", "rr", "--passes", "per-instant"], &[]);
        assert!(told.starts_with("--passes does not go with --model metasched, which takes --clusters FILE"), "{told}");
        let told = refused(&["--model", "hier-grid", "--policy", "p2p", "--machines", "m"], &[]);
        assert!(told.contains("an option of --model gap-schedule and --profile alea31"), "{told}");
        let told = refused(&["--policy", "easy", "--startup", "0s"], &[]);
        assert!(told.contains("an option of --profile alea31"), "{told}");
    }

    #[test]
    fn a_policy_of_another_world_is_told_by_that_world_and_a_typing_error_by_what_was_meant() {
        let told = refused(&["--policy", "ptt+w=0.5"], &[]);
        assert_eq!(told, "--policy ptt+w=0.5 is one of --model metasched, and not of --model gap-schedule");
        let told = refused(&["--policy", "eazy"], &[]);
        assert!(told.contains("no policy is called \"eazy\"; did you mean \"easy\"?"), "{told}");
        let told = refused(&["--policy", "easy+reserv=1"], &[]);
        assert!(told.contains("did you mean \"reserve\"?"), "{told}");
    }

    #[test]
    fn a_policy_that_is_named_twice_is_refused_in_any_spelling() {
        for (model, policies, expected) in [
            ("gap-schedule", "easy,fcfs,easy", "--policy easy: is named twice; leave one out"),
            (
                "gap-schedule",
                "easy:8,easy+reserve=8",
                "--policy easy+reserve=8: is named twice: easy:8 and easy+reserve=8 are both easy+reserve=8; leave one out",
            ),
            (
                "metasched",
                "ptt+w=0.5,rr,ptt+w=0.50",
                "--policy ptt+w=0.50: is named twice: ptt+w=0.5 and ptt+w=0.50 are both ptt+w=0.5; leave one out",
            ),
        ] {
            assert_eq!(refused(&["--model", model, "--policy", policies], &[]), expected);
        }
    }

    #[test]
    fn a_policy_that_the_program_adds_is_known_by_its_name_and_told_where_no_name_fits() {
        let own: &'static Own = Box::leak(Box::new(Own::new("mine", "", || Box::new(Fcfs::default()))));
        // Its name is taken; what is wrong is the log.
        assert!(refused(&["--policy", "mine"], &[own]).contains("Cargo.toml"));
        assert!(refused(&["--policy", "yours"], &[own]).ends_with("; this program adds mine"));
        assert!(!refused(&["--policy", "yours"], &[]).contains("adds"));
        let told = refused(&["--model", "metasched", "--policy", "mine"], &[own]);
        assert_eq!(told, "--policy mine is one of --model gap-schedule, and not of --model metasched");
    }
}
