//! Names of the worlds, for options, messages and help.

use clap::builder::PossibleValue;

/// The values of `--model` and `--profile` that choose a world.
pub(crate) struct WorldName {
    pub(crate) model: &'static str,
    pub(crate) profile: &'static str,
    /// Description for the help: of the model, or of the profile if that is not the usual one.
    about: &'static str,
}

/// The usual profile.
pub(crate) const CLEAN: &str = "clean";

pub(crate) static SPACE_SHARED: WorldName = WorldName {
    model: "gap-schedule",
    profile: CLEAN,
    about: "Space-shared machines or clusters, each processor to one job at a time",
};
pub(crate) static ALEA31: WorldName = WorldName {
    model: "gap-schedule",
    profile: "alea31",
    about: "Those of the simulator Alea 3.1, rule for rule: needs --machines",
};
pub(crate) static METASCHED: WorldName = WorldName {
    model: "metasched",
    profile: CLEAN,
    about: "Time-shared clusters with local users, under a metascheduler: needs --clusters",
};
pub(crate) static HIER_GRID: WorldName = WorldName {
    model: "hier-grid",
    profile: CLEAN,
    about: "Servers that run one job at a time, among peers or below trees of schedulers, message by message: needs --tree",
};

static ALL: [&WorldName; 4] = [&SPACE_SHARED, &ALEA31, &METASCHED, &HIER_GRID];

/// Values of `--model` for the help.
pub(crate) fn models() -> Vec<PossibleValue> {
    let usual = ALL.iter().filter(|world| world.profile == CLEAN);
    usual.map(|world| PossibleValue::new(world.model).help(world.about)).collect()
}

/// Values of `--profile` for the help.
pub(crate) fn profiles() -> Vec<PossibleValue> {
    let clean = PossibleValue::new(CLEAN).help("Those of the policies, as their authors describe them");
    let others = ALL.iter().filter(|world| world.profile != CLEAN);
    std::iter::once(clean).chain(others.map(|world| PossibleValue::new(world.profile).help(world.about))).collect()
}
