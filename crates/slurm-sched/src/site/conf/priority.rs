//! `Priority*`: settings of priorities.

use super::{Globals, tres_weights};
use crate::site::text;
use crate::site::version::Version;

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
    /// `PriorityFlags`, in upper case.
    pub(crate) flags: Vec<String>,
    /// `PriorityUsageResetPeriod`, one of [`RESETS`].
    pub(crate) reset: &'static str,
    pub(crate) dampening: f64,
}

/// Names of factors in `PriorityWeight*`, in the order in which Slurm sums them.
const WEIGHTS: [&str; 6] = ["Age", "Assoc", "Fairshare", "JobSize", "Partition", "QOS"];

/// `PriorityFlags`, of which `FAIR_TREE` and `NONE` are the default.
const FLAGS: &str = "ACCRUE_ALWAYS CALCULATE_RUNNING DEPTH_OBLIVIOUS NO_FAIR_TREE INCR_ONLY MAX_TRES NO_NORMAL_ASSOC NO_NORMAL_PART \
    NO_NORMAL_QOS NO_NORMAL_TRES NO_NORMAL_ALL SMALL_RELATIVE_TO_TIME FAIR_TREE NONE";

const RESETS: [&str; 7] = ["NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"];

impl PrioritySettings {
    /// Returns true if `PriorityFlags` has `flag`, or one that implies it.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| match own.as_str() {
            "NO_NORMAL_ALL" => flag.starts_with("NO_NORMAL_"),
            "DEPTH_OBLIVIOUS" => ["DEPTH_OBLIVIOUS", "NO_FAIR_TREE"].contains(&flag),
            own => own == flag,
        })
    }
}

/// Keys without effect if priorities are not computed again, in lower case.
const NEED_DATABASE: &str =
    "priorityweightage priorityweightfairshare prioritydecayhalflife prioritymaxage priorityusageresetperiod";

pub(super) fn read(globals: &mut Globals<'_>, version: Version) -> PrioritySettings {
    let mut weights = WEIGHTS.map(|name| {
        globals.parsed(&format!("PriorityWeight{name}"), 0, |text| {
            text.parse::<u32>().map_err(|_| "expected a whole number up to 4294967295")
        })
    });
    let tres = globals.parsed("PriorityWeightTRES", Vec::new(), |text| tres_weights(text, false));
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
        globals.not_modelled.extend(idle.map(|setting| format!("{}: {} ({needs})", setting.place(), setting.key)));
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
        favor_small: globals.parsed("PriorityFavorSmall", false, text::switch),
        flags: globals.parsed("PriorityFlags", Vec::new(), |text| {
            match text::list(text).find(|word| !text::is_among(FLAGS, word)) {
                Some(word) => Err(format!("{word:?} is not modelled; remove it")),
                None => Ok(text::list(text).map(str::to_ascii_uppercase).collect()),
            }
        }),
        reset: globals.parsed("PriorityUsageResetPeriod", RESETS[0], |text| {
            let known = RESETS.into_iter().find(|name| name.eq_ignore_ascii_case(text));
            known.ok_or("expected NONE, NOW, DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY")
        }),
        dampening: globals.parsed("FairShareDampeningFactor", 1.0, |text| {
            let factor = text.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor > 0.0);
            factor.ok_or("expected a number above 0")
        }),
    }
}
