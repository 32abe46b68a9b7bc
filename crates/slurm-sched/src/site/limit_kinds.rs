//! Kinds of limits on running jobs: one table for reading, checks and reasons.

use crate::site::text;

/// Limits of an association or QOS, one row for each kind: `GrpJobs`, `MaxJobsPerUser`, `MaxJobsPerAccount`, `MaxWall` (seconds),
/// `GrpTRES`, `MaxTRESPerUser`, `MaxTRESPerAccount`, `MaxTRESPerJob`, `MaxTRESMinsPerJob`.
///
/// A row of TRES has amounts of CPUs, memory in MiB, and nodes; the others have only the first. `None` is no limit.
pub(crate) type Amounts = [[Option<u64>; 3]; KINDS.len()];

#[derive(Clone, Copy)]
pub(crate) enum Measure {
    Jobs,
    Seconds,
    Tres,
    TresMinutes,
}

/// Jobs that share a limit.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Over {
    Group,
    User,
    Account,
    Job,
}

/// Kinds of limits in the order in which slurmctld tests them, with their names in files of sacctmgr. `MaxJobs` of an
/// association is the limit of each of its users.
pub(crate) const KINDS: [(&str, Measure, Over); 9] = [
    ("GrpJobs", Measure::Jobs, Over::Group),
    ("MaxJobs MaxJobsPU MaxJobsPerUser", Measure::Jobs, Over::User),
    ("MaxJobsPA MaxJobsPerAccount", Measure::Jobs, Over::Account),
    ("MaxWall MaxWallDurationPJ MaxWallDurationPerJob", Measure::Seconds, Over::Job),
    ("GrpTRES", Measure::Tres, Over::Group),
    ("MaxTRESPU MaxTRESPerUser", Measure::Tres, Over::User),
    ("MaxTRESPA MaxTRESPerAccount", Measure::Tres, Over::Account),
    ("MaxTRES MaxTRESPerJob", Measure::Tres, Over::Job),
    ("MaxTRESMins MaxTRESMinsPerJob", Measure::TresMinutes, Over::Job),
];

/// Number of kinds that are tested before nodes are selected: those without TRES.
pub(crate) const BEFORE_SELECTION: usize = 4;

/// Names of TRES in reasons.
pub(crate) const NAMES: [&str; 3] = ["Cpu", "Mem", "Node"];

/// Sets the limit that `key` names; `None` if it names no limit.
pub(crate) fn set(limits: &mut Amounts, key: &str, value: &str) -> Option<Result<(), &'static str>> {
    let at = KINDS.iter().position(|(keys, ..)| text::is_among(keys, key))?;
    let single = match KINDS[at].1 {
        Measure::Tres | Measure::TresMinutes => return Some(tres(value).map(|amounts| limits[at] = amounts)),
        _ if value == "-1" || value.is_empty() => Ok(None),
        Measure::Jobs => {
            value.parse().map_err(|_| "expected a whole number, or -1 for no limit").map(|n: u32| Some(n.into()))
        }
        Measure::Seconds => text::limit(value).map(|limit| limit.map(i64::unsigned_abs)),
    };
    Some(single.map(|amount| limits[at] = [amount, None, None]))
}

/// Parses `cpu=100,mem=4G,node=8`. Resources that no modelled job requests, such as GRES, are skipped.
fn tres(text: &str) -> Result<[Option<u64>; 3], &'static str> {
    let mut tres = [None; 3];
    for part in text::list(text) {
        let (name, amount) = part.split_once('=').ok_or("expected amounts such as cpu=100,mem=4G,node=8")?;
        let Some(at) = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)) else { continue };
        let read = if at == 1 { text::mebibytes(amount) } else { amount.parse().ok() };
        tres[at] = if amount == "-1" { None } else { Some(read.ok_or("expected an amount")?) };
    }
    Ok(tres)
}
