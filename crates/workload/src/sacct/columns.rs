//! Columns of the heading, and their roles.

use crate::error::InputError;
use crate::file::shown;
use crate::lines::Lines;

/// Declares the columns that are read, by the names that `sacct` gives them: the first of these that is present is used.
macro_rules! roles {
    ($($role:ident: $name:literal $(or $other:literal)?,)+) => {
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub(super) enum CellRole {
            $($role,)+
        }

        impl CellRole {
            const ALL: [&'static [&'static str]; [$($name),+].len()] = [$(&[$name $(, $other)?]),+];
        }
    };
}

roles! {
    JobId: "JobID",
    JobIdRaw: "JobIDRaw",
    User: "User" or "UID",
    Group: "Group" or "GID",
    Account: "Account",
    Qos: "QOS" or "QOSRAW",
    Partition: "Partition",
    Submit: "Submit",
    Eligible: "Eligible",
    Start: "Start",
    End: "End",
    ElapsedRaw: "ElapsedRaw",
    Elapsed: "Elapsed",
    TimelimitRaw: "TimelimitRaw",
    Timelimit: "Timelimit",
    AllocCpus: "AllocCPUS" or "NCPUS",
    ReqCpus: "ReqCPUS",
    Nodes: "NNodes" or "AllocNodes",
    AllocTres: "AllocTRES",
    ReqTres: "ReqTRES",
    AllocGres: "AllocGRES",
    ReqGres: "ReqGRES",
    ReqMem: "ReqMem",
    TotalCpu: "TotalCPU",
    State: "State",
}

impl CellRole {
    /// Name in `sacct`.
    pub(super) const fn name(self) -> &'static str {
        Self::ALL[self as usize][0]
    }
}

/// Roles that are needed, one of each group.
const NEEDED: [&[CellRole]; 6] = [
    &[CellRole::JobIdRaw, CellRole::JobId],
    &[CellRole::Submit],
    &[CellRole::Start],
    &[CellRole::ElapsedRaw, CellRole::Elapsed, CellRole::End],
    &[CellRole::AllocCpus, CellRole::AllocTres, CellRole::ReqCpus, CellRole::ReqTres],
    &[CellRole::State],
];

/// Columns that list GPUs.
pub(super) const WITH_GPUS: [CellRole; 4] =
    [CellRole::AllocTres, CellRole::ReqTres, CellRole::AllocGres, CellRole::ReqGres];

/// Upper bound of the number of columns of any `sacct`.
const MOST: usize = 255;

/// Column of each role.
#[derive(Clone, Debug)]
pub(super) struct SacctColumns {
    at: [Option<u8>; CellRole::ALL.len()],
    names: Vec<Box<str>>,
}

impl SacctColumns {
    /// Reads the heading, which is the current line.
    pub(super) fn of_heading(lines: &mut Lines) -> Result<Self, InputError> {
        let Ok(text) = std::str::from_utf8(lines.current()) else { return Err(lines.no_text()) };
        let text = text.trim();
        let names: Vec<&str> = text.split('|').map(str::trim).collect();
        let find = |wanted: &[&str]| {
            wanted.iter().find_map(|wanted| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
        };
        let at = CellRole::ALL.map(|wanted| find(wanted).and_then(|at| u8::try_from(at).ok()));
        let columns = Self { at, names: names.iter().map(|name| (*name).into()).collect() };
        let fault = |missing: String| {
            let found = shown(text.as_bytes());
            lines.fault(format!(
                "expected the names of the columns of sacct --parsable2, separated by |, and among them {missing}; found {found:?}; \
                 run sacct without --noheader, with the --format that `workload convert --help` shows"
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

    pub(super) const fn index(&self, role: CellRole) -> Option<u8> {
        self.at[role as usize]
    }

    /// Column of any name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own.eq_ignore_ascii_case(name))
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }
}
