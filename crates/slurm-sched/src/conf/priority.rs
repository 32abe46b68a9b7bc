//! `Priority*`: settings of priorities.

use super::Globals;
use crate::text;
use crate::version::Version;

/// Settings of the priority plugin. Times are seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PrioritySettings {
    /// True for `priority/multifactor`; otherwise `priority/basic`, first come, first served.
    pub(crate) multifactor: bool,
    /// True if the decay thread runs, which needs `AccountingStorageType=accounting_storage/slurmdbd`. Without it
    /// priorities stay as they were at submission, and age and fair share have no weight.
    pub(crate) decays: bool,
    /// `PriorityWeight*` in the order of [`WEIGHTS`].
    pub(crate) weights: [u32; 6],
    /// `PriorityWeightTRES`, as (TRES in lower case, weight).
    pub(crate) tres: Vec<(String, f64)>,
    /// `PriorityDecayHalfLife` (7 days); 0 is no decay.
    pub(crate) half_life: i64,
    /// `PriorityCalcPeriod` (5 minutes).
    pub calc_period: i64,
    /// `PriorityMaxAge` (7 days).
    pub(crate) max_age: i64,
    pub(crate) favor_small: bool,
    pub(crate) flags: PriorityFlags,
    pub(crate) reset: UsageReset,
    pub(crate) dampening: f64,
}

/// Names of factors in `PriorityWeight*`, in the order in which Slurm sums them.
const WEIGHTS: [&str; 6] = ["Age", "Assoc", "Fairshare", "JobSize", "Partition", "QOS"];

/// `PriorityFlags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PriorityFlags {
    /// True if age counts from submission.
    pub accrue_always: bool,
    /// True if running jobs also get new priorities.
    pub calculate_running: bool,
    /// True if the classic formula depends less on depth.
    pub depth_oblivious: bool,
    /// True for the classic formula instead of fair tree.
    pub no_fair_tree: bool,
    /// True if priorities never fall.
    pub incr_only: bool,
    /// True if billing takes the greatest TRES of a node, not the sum.
    pub max_tres: bool,
    /// True if the factor of the association is its raw priority.
    pub no_normal_assoc: bool,
    /// True if the factor of the partition is its raw PriorityJobFactor.
    pub no_normal_part: bool,
    /// True if the factor of the QOS is its raw priority.
    pub no_normal_qos: bool,
    /// True if the factors of TRES are raw amounts.
    pub no_normal_tres: bool,
    /// True if the factor of size is divided by the time limit.
    pub small_relative_to_time: bool,
}

/// `PriorityUsageResetPeriod`, at midnights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageReset {
    None,
    /// At the first tick alone.
    Now,
    Daily,
    /// Each Sunday.
    Weekly,
    Monthly,
    Quarterly,
    Yearly,
}

/// Keys without effect if priorities are not computed again, in lower case.
const NEED_DATABASE: &str =
    "priorityweightage priorityweightfairshare prioritydecayhalflife prioritymaxage priorityusageresetperiod";

pub(super) fn read(globals: &mut Globals<'_>, version: Version, not_modelled: &mut Vec<String>) -> PrioritySettings {
    let mut weights = WEIGHTS.map(|name| {
        globals.parsed(&format!("PriorityWeight{name}"), 0, |text| {
            text.parse::<u32>().map_err(|_| "expected a whole number up to 4294967295")
        })
    });
    let tres = globals.parsed("PriorityWeightTRES", Vec::new(), |text| Globals::tres_weights(text, false));
    let multifactor = globals.parsed("PriorityType", version >= Version::V24_11, |text| {
        match text.trim_start_matches("priority/").to_ascii_lowercase().as_str() {
            "multifactor" => Ok(true),
            "basic" => Ok(false),
            _ => Err("expected priority/multifactor or priority/basic"),
        }
    });
    let has_database =
        globals.text("AccountingStorageType").is_some_and(|value| value.to_ascii_lowercase().ends_with("slurmdbd"));
    if !has_database {
        (weights[0], weights[2]) = (0, 0);
        let idle = NEED_DATABASE.split(' ').filter_map(|key| globals.settings.get(key));
        let needs = "needs AccountingStorageType=accounting_storage/slurmdbd";
        not_modelled.extend(idle.map(|setting| format!("{}: {} ({needs})", setting.place(), setting.key)));
    }
    let span =
        |text: &str| text::span(text)?.filter(|seconds| *seconds > 0).ok_or("expected a span above 0, such as 7-0");
    PrioritySettings {
        multifactor,
        decays: multifactor && has_database,
        weights,
        tres,
        half_life: globals
            .parsed("PriorityDecayHalfLife", 7 * 86_400, |text| Ok::<_, &str>(text::span(text)?.unwrap_or(0))),
        calc_period: globals.parsed("PriorityCalcPeriod", 300, span),
        max_age: globals.parsed("PriorityMaxAge", 7 * 86_400, span),
        favor_small: globals.switch("PriorityFavorSmall", false),
        flags: globals.parsed("PriorityFlags", PriorityFlags::default(), flags),
        reset: globals.parsed("PriorityUsageResetPeriod", UsageReset::None, reset),
        dampening: globals.parsed("FairShareDampeningFactor", 1.0, |text| {
            let factor = text.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor > 0.0);
            factor.ok_or("expected a number above 0")
        }),
    }
}

fn flags(text: &str) -> Result<PriorityFlags, String> {
    let mut flags = PriorityFlags::default();
    for word in text::list(text) {
        match word.to_ascii_uppercase().as_str() {
            "ACCRUE_ALWAYS" => flags.accrue_always = true,
            "CALCULATE_RUNNING" => flags.calculate_running = true,
            "DEPTH_OBLIVIOUS" => (flags.depth_oblivious, flags.no_fair_tree) = (true, true),
            "NO_FAIR_TREE" => flags.no_fair_tree = true,
            "INCR_ONLY" => flags.incr_only = true,
            "MAX_TRES" => flags.max_tres = true,
            "NO_NORMAL_ASSOC" => flags.no_normal_assoc = true,
            "NO_NORMAL_PART" => flags.no_normal_part = true,
            "NO_NORMAL_QOS" => flags.no_normal_qos = true,
            "NO_NORMAL_TRES" => flags.no_normal_tres = true,
            "NO_NORMAL_ALL" => {
                (flags.no_normal_assoc, flags.no_normal_part) = (true, true);
                (flags.no_normal_qos, flags.no_normal_tres) = (true, true);
            }
            "SMALL_RELATIVE_TO_TIME" => flags.small_relative_to_time = true,
            "FAIR_TREE" | "NONE" => {}
            _ => return Err(format!("{word:?} is not modelled; remove it")),
        }
    }
    Ok(flags)
}

fn reset(text: &str) -> Result<UsageReset, &'static str> {
    Ok(match text.to_ascii_uppercase().as_str() {
        "NONE" => UsageReset::None,
        "NOW" => UsageReset::Now,
        "DAILY" => UsageReset::Daily,
        "WEEKLY" => UsageReset::Weekly,
        "MONTHLY" => UsageReset::Monthly,
        "QUARTERLY" => UsageReset::Quarterly,
        "YEARLY" => UsageReset::Yearly,
        _ => return Err("expected NONE, NOW, DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY"),
    })
}
