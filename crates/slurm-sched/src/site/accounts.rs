//! Accounts, users, shares, limits and QOS, as printed by `sacctmgr`.
//!
//! The file is the output of `sacctmgr dump CLUSTER file=cluster.cfg`. The dump lacks the definitions of QOS, so the output of
//! `sacctmgr --parsable2 show qos` can be appended to it; a line in the form of the dump (`QOS - 'high':Priority=10`) works, too.

use crate::error::{Collector, Faults};
use crate::site::limit_kinds::{self, Amounts};
use crate::site::text;
use std::collections::BTreeMap;

/// Tree of associations, and QOS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accounts {
    /// Associations; the first is the root account, and a parent precedes its children.
    pub associations: Vec<Association>,
    /// QOS in the order of the file; each file has `normal`.
    pub qos: Vec<Qos>,
    /// Limits and flags that are not modelled, as `cluster.cfg:12: GrpWall`. They matter only if limits are enforced.
    pub not_modelled: Vec<String>,
}

/// Account, or user in an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    /// Account above; `None` for the root.
    pub parent: Option<usize>,
    /// Name of the account, or of the user's account.
    pub account: String,
    /// User; `None` for an account.
    pub user: Option<String>,
    /// Partition, if the association is limited to one.
    pub partition: Option<String>,
    /// `Fairshare`; `None` for `parent`.
    pub shares: Option<u32>,
    /// True if the user's `DefaultAccount` is this one.
    pub is_default: bool,
    /// Allowed `QOS`; empty for those of the account above.
    pub qos: Vec<String>,
    pub(crate) default_qos: Option<String>,
    pub(crate) priority: u32,
    pub(crate) limits: Amounts,
}

/// Quality of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// Name.
    pub name: String,
    pub(crate) usage_factor: f64,
    /// `Flags`, in upper case.
    pub flags: Vec<String>,
    pub(crate) priority: u32,
    pub(crate) limits: Amounts,
}

impl Qos {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), usage_factor: 1.0, ..Self::default() }
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own.eq_ignore_ascii_case(flag))
    }
}

/// Keys that are allowed and do not affect accepted jobs.
const IGNORED: &str = "AdminLevel Coordinator Comment DefaultWCKey Description Fairshare GrpSubmit GrpSubmitJobs Id Name MaxSubmit \
    MaxSubmitJobs MaxSubmitJobsPerAccount MaxSubmitJobsPerUser MaxSubmitPA MaxSubmitPU Organization Parent WCKeys";

/// Limits that are not modelled, and keys of preemption and of usage thresholds.
const LISTED: &str = "GraceTime GrpJobsAccrue GrpTRESMins GrpTRESRunMins GrpWall LimitFactor MaxJobsAccrue MaxJobsAccruePA \
    MaxJobsAccruePU MaxJobsAccruePerAccount MaxJobsAccruePerUser MaxTRESPerNode MaxTRESPN MaxTRESRunMinsPerAccount \
    MaxTRESRunMinsPerUser MinPrioThresh MinPrioThreshold MinTRES MinTRESPerJob Preempt PreemptExemptTime PreemptMode UsageThreshold \
    UsageThres";

/// Flags of QOS that are modelled or have no effect.
const FLAGS: &str = "NODECAY DENYONLIMIT OVERPARTQOS";

impl Accounts {
    /// Reads `text` of the file named `file`.
    ///
    /// # Errors
    ///
    /// Returns all faults with line, key and fix.
    pub fn read(file: &str, text: &str) -> Result<Self, Faults> {
        let root = Association { account: "root".to_owned(), shares: Some(1), ..Association::default() };
        let mut reader = Reader {
            faults: Collector::new(file),
            accounts: Self { associations: vec![root], qos: vec![Qos::new("normal")], not_modelled: Vec::new() },
            parent: 0,
            default_account: BTreeMap::new(),
            heading: Vec::new(),
        };
        let rows = (1..).zip(text.lines().map(str::trim));
        rows.filter(|(_, row)| !row.is_empty() && !row.starts_with('#')).for_each(|(line, row)| reader.row(line, row));
        reader.finish()
    }

    /// Index of the association for a job; without an account, that of the user's default account.
    pub fn association(&self, account: Option<&str>, user: &str, partition: Option<&str>) -> Option<usize> {
        let is_of_user = |own: &Association| {
            own.user.as_deref() == Some(user) && account.map_or(own.is_default, |account| own.account == account)
        };
        let of = |wanted: Option<&str>| {
            self.associations.iter().position(|own| is_of_user(own) && own.partition.as_deref() == wanted)
        };
        partition.and_then(|partition| of(Some(partition))).or_else(|| of(None))
    }

    /// Iterates over an association and the accounts above it, the root last.
    pub(crate) fn above(&self, association: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(association, |&at| self.associations[at].parent)
    }

    pub(crate) fn qos(&self, name: &str) -> Option<usize> {
        self.qos.iter().position(|qos| qos.name.eq_ignore_ascii_case(name))
    }

    /// Index of the QOS of a job that names none: the default of the association or of an account above, else `normal`.
    pub fn default_qos(&self, association: usize) -> Option<usize> {
        let named = |at: usize| match &self.associations[at] {
            Association { default_qos: Some(name), .. } => Some(name),
            Association { qos, .. } => qos.first().filter(|_| qos.len() == 1),
        };
        self.qos(self.above(Some(association)).find_map(named).map_or("normal", |name| name))
    }
}

/// Association or QOS that the keys of a line set.
enum Own<'a> {
    Association(&'a mut Association),
    Qos(&'a mut Qos),
}

struct Reader {
    faults: Collector,
    accounts: Accounts,
    parent: usize,
    default_account: BTreeMap<String, String>,
    /// Columns of a table of QOS, once its heading has been read.
    heading: Vec<String>,
}

impl Reader {
    fn row(&mut self, line: usize, row: &str) {
        if row.contains('|') {
            return self.table_row(line, row);
        }
        let Some((kind, rest)) = row.split_once(" - ") else {
            return self.faults.push(line, "row", "expected a line such as Account - 'physics':Fairshare=10");
        };
        let (fields, _) = text::fields(rest.trim(), &['\''], |c| c == ':');
        let mut fields = fields.into_iter().map(Option::unwrap_or_default);
        let name = fields.next().unwrap_or_default();
        let mut options = Vec::new();
        for field in fields.filter(|field| !field.is_empty()) {
            match field.split_once('=') {
                Some((key, value)) => options.push((key.trim().to_owned(), value.to_owned())),
                None => self.faults.push(line, &field, "expected Key=Value between colons"),
            }
        }
        match kind.trim().to_ascii_lowercase().as_str() {
            _ if name.is_empty() => self.faults.push(line, kind, "expected a name in quotes after it"),
            "cluster" => {
                let mut root = std::mem::take(&mut self.accounts.associations[0]);
                self.set(line, &mut Own::Association(&mut root), &options);
                self.accounts.associations[0] = root;
            }
            "parent" => {
                let known =
                    self.account(&name).ok_or_else(|| format!("no account {name:?} above this line; add it before"));
                self.parent = self.faults.take(line, "Parent", known).unwrap_or(self.parent);
            }
            "account" => {
                if self.account(&name).is_some() {
                    self.faults.push(line, "Account", "the account is there already; remove one of the lines");
                }
                self.associate(line, name, None, &options);
            }
            "user" => {
                let account = self.accounts.associations[self.parent].account.clone();
                self.associate(line, account, Some(name), &options);
            }
            "qos" => self.qos(line, &name, &options),
            _ => self.faults.push(line, kind, "expected Cluster, Parent, Account, User or QOS"),
        }
    }

    /// Index of the last account called `name`.
    fn account(&self, name: &str) -> Option<usize> {
        self.accounts.associations.iter().rposition(|own| own.user.is_none() && own.account == name)
    }

    fn associate(&mut self, line: usize, account: String, user: Option<String>, options: &[(String, String)]) {
        let parent = Some(self.parent);
        let mut own = Association { parent, account, user, shares: Some(1), ..Association::default() };
        self.set(line, &mut Own::Association(&mut own), options);
        self.accounts.associations.push(own);
    }

    /// Reads a row of `sacctmgr --parsable2 show qos`.
    fn table_row(&mut self, line: usize, row: &str) {
        let cells: Vec<&str> = row.split('|').collect();
        if cells[0].eq_ignore_ascii_case("Name") {
            self.heading = cells.into_iter().map(str::to_owned).collect();
        } else if self.heading.is_empty() {
            const HEADING: &str = "expected the heading Name|Priority|… of `sacctmgr --parsable2 show qos` before it";
            self.faults.push(line, "row", HEADING);
        } else {
            let options = self.heading.iter().cloned().zip(cells.iter().map(|cell| (*cell).to_owned())).skip(1);
            let given: Vec<_> = options.filter(|(key, cell)| !key.is_empty() && !cell.is_empty()).collect();
            self.qos(line, cells[0], &given);
        }
    }

    fn qos(&mut self, line: usize, name: &str, options: &[(String, String)]) {
        let at = self.accounts.qos(name).unwrap_or_else(|| {
            self.accounts.qos.push(Qos::new(name));
            self.accounts.qos.len() - 1
        });
        let mut qos = Qos::new(name);
        self.set(line, &mut Own::Qos(&mut qos), options);
        self.accounts.qos[at] = qos;
    }

    fn set(&mut self, line: usize, own: &mut Own<'_>, options: &[(String, String)]) {
        for (key, value) in options {
            let result = self.set_one(line, own, key, value);
            self.faults.take(line, key, result);
        }
    }

    fn set_one(&mut self, line: usize, own: &mut Own<'_>, key: &str, value: &str) -> Result<(), &'static str> {
        let mut listed = |what: &str| self.accounts.not_modelled.push(format!("{}:{line}: {what}", self.faults.file));
        match (key.to_ascii_lowercase().as_str(), &mut *own) {
            ("usagefactor", Own::Qos(qos)) => {
                let factor = value.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor >= 0.0);
                qos.usage_factor = factor.ok_or("expected a number of at least 0")?;
            }
            ("flags", Own::Qos(qos)) => {
                qos.flags = text::list(value).map(str::to_ascii_uppercase).collect();
                let unknown = qos.flags.iter().filter(|flag| !text::is_among(FLAGS, flag));
                unknown.for_each(|flag| listed(&format!("Flags={flag}")));
            }
            ("fairshare" | "shares", Own::Association(own)) => {
                let is_lifted = ["parent", "2147483647"].contains(&value);
                let shares = || value.parse().map_err(|_| "expected a number or parent");
                own.shares = if is_lifted { None } else { Some(shares()?) };
            }
            ("defaultaccount", Own::Association(own)) => {
                self.default_account.insert(own.user.clone().unwrap_or_default(), value.to_owned());
            }
            ("qos" | "qoslevel", Own::Association(own)) => {
                own.qos = text::list(value).map(|name| name.trim_start_matches('+').to_owned()).collect();
            }
            ("defaultqos", Own::Association(own)) => own.default_qos = Some(value.to_owned()),
            ("partition", Own::Association(own)) => own.partition = Some(value.to_owned()),
            ("priority", Own::Association(Association { priority, .. }) | Own::Qos(Qos { priority, .. })) => {
                let number = if matches!(value, "" | "-1") { Ok(0) } else { value.parse() };
                *priority = number.map_err(|_| "expected a whole number, or -1 for no limit")?;
            }
            _ if text::is_among(IGNORED, key) => {}
            _ if text::is_among(LISTED, key) => match value {
                "" | "-1" | "0" | "cluster" | "00:00:00" => {}
                _ => listed(key),
            },
            (_, Own::Association(Association { limits, .. }) | Own::Qos(Qos { limits, .. })) => {
                limit_kinds::set(limits, key, value).unwrap_or(Err("unknown key; remove it"))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Accounts, Faults> {
        for own in &mut self.accounts.associations {
            let default = own.user.as_ref().and_then(|user| self.default_account.get(user));
            own.is_default = default.is_some_and(|account| *account == own.account);
            // A list of names without definitions: the QOS exist, without limits.
            for name in own.qos.iter().chain(&own.default_qos) {
                if self.accounts.qos.iter().all(|qos| !qos.name.eq_ignore_ascii_case(name)) {
                    self.accounts.qos.push(Qos::new(name));
                }
            }
        }
        self.faults.finish(self.accounts)
    }
}
