//! Which column tells what: the heading.

use crate::error::InputError;
use crate::file::shown;
use crate::lines::Lines;

/// What is read, by the names that `sacct` has for it: the first that is there tells.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    JobId,
    JobIdRaw,
    User,
    Group,
    Account,
    Qos,
    Partition,
    Submit,
    Start,
    End,
    ElapsedRaw,
    Elapsed,
    TimelimitRaw,
    Timelimit,
    AllocCpus,
    ReqCpus,
    Nodes,
    AllocTres,
    ReqTres,
    AllocGres,
    ReqGres,
    ReqMem,
    TotalCpu,
    State,
}

impl Role {
    const ALL: [(Self, &'static [&'static str]); 24] = [
        (Self::JobId, &["JobID"]),
        (Self::JobIdRaw, &["JobIDRaw"]),
        (Self::User, &["User", "UID"]),
        (Self::Group, &["Group", "GID"]),
        (Self::Account, &["Account"]),
        (Self::Qos, &["QOS", "QOSRAW"]),
        (Self::Partition, &["Partition"]),
        (Self::Submit, &["Submit"]),
        (Self::Start, &["Start"]),
        (Self::End, &["End"]),
        (Self::ElapsedRaw, &["ElapsedRaw"]),
        (Self::Elapsed, &["Elapsed"]),
        (Self::TimelimitRaw, &["TimelimitRaw"]),
        (Self::Timelimit, &["Timelimit"]),
        (Self::AllocCpus, &["AllocCPUS", "NCPUS"]),
        (Self::ReqCpus, &["ReqCPUS"]),
        (Self::Nodes, &["NNodes", "AllocNodes"]),
        (Self::AllocTres, &["AllocTRES"]),
        (Self::ReqTres, &["ReqTRES"]),
        (Self::AllocGres, &["AllocGRES"]),
        (Self::ReqGres, &["ReqGRES"]),
        (Self::ReqMem, &["ReqMem"]),
        (Self::TotalCpu, &["TotalCPU"]),
        (Self::State, &["State"]),
    ];

    /// As `sacct` calls it.
    pub(super) const fn name(self) -> &'static str {
        Self::ALL[self as usize].1[0]
    }
}

/// What cannot be done without; one of each group.
const NEEDED: [&[Role]; 6] = [
    &[Role::JobIdRaw, Role::JobId],
    &[Role::Submit],
    &[Role::Start],
    &[Role::ElapsedRaw, Role::Elapsed, Role::End],
    &[Role::AllocCpus, Role::AllocTres, Role::ReqCpus, Role::ReqTres],
    &[Role::State],
];

/// Columns that tell GPUs.
pub(super) const WITH_GPUS: [Role; 4] = [Role::AllocTres, Role::ReqTres, Role::AllocGres, Role::ReqGres];

/// No `sacct` has more columns.
const MOST: usize = 255;

/// Where each role stands.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    at: [Option<u8>; Role::ALL.len()],
    count: usize,
}

impl Columns {
    /// Reads the heading, which is the current line.
    pub(super) fn of_heading(lines: &mut Lines) -> Result<Self, InputError> {
        let Ok(text) = std::str::from_utf8(lines.current()) else { return Err(lines.no_text()) };
        let text = text.trim();
        let names: Vec<&str> = text.split('|').map(str::trim).collect();
        let find = |wanted: &[&str]| {
            wanted.iter().find_map(|wanted| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
        };
        let at = Role::ALL.map(|(_, wanted)| find(wanted).and_then(|at| u8::try_from(at).ok()));
        let columns = Self { at, count: names.len() };
        let fault = |missing: String| {
            let found = shown(text.as_bytes());
            lines.fault(format!(
                "expected the names of the columns of sacct --parsable2, separated by |, and among them {missing}; found {found:?}; \
                 ask sacct without --noheader, with the --format that `workload convert --help` shows"
            ))
        };
        if names.len() > MOST {
            return Err(fault(format!("at most {MOST} columns")));
        }
        for needed in NEEDED {
            if needed.iter().all(|role| columns.index(*role).is_none()) {
                let names: Vec<&str> = needed.iter().map(|role| role.name()).collect();
                return Err(fault(names.join(" or ")));
            }
        }
        Ok(columns)
    }

    pub(super) const fn index(&self, role: Role) -> Option<u8> {
        self.at[role as usize]
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_listed_in_the_order_of_declaration() {
        for (position, (role, _)) in Role::ALL.into_iter().enumerate() {
            assert_eq!(role as usize, position, "{role:?}");
        }
    }
}
