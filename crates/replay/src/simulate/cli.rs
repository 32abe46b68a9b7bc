//! Options of `simulate`.

use super::name::Registry;
use super::policy::Policy;
use super::{hier, metasched};
use crate::options::{LogOptions, WorldOptions, stem};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use gap_schedule::Order;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn entries<B: Copy>(registry: &Registry<B>) -> String {
    registry.forms().map(|(form, about)| super::policy::entry(form, about)).collect()
}

fn orders() -> String {
    let line = |order: Order| {
        let source = Some(order.source()).filter(|source| *source != "textbooks");
        let source = source.map_or_else(String::new, |source| format!("; {source}"));
        super::policy::entry(order.name(), &format!("{}{source}", order.definition()))
    };
    Order::ALL.map(line).concat()
}

/// Options of `simulate`; `Default` is the command line without any of them. Words in capitals in `help.txt`, which has lines of 80
/// columns, stand for the registries.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = include_str!("help.txt").trim_end()
    .replace("POLICIES", &Policy::help())
    .replace("ORDERS", &orders())
    .replace("METASCHED", &entries(&metasched::POLICIES))
    .replace("HIER_GRID", &entries(&hier::POLICIES)))]
pub struct Simulate {
    /// The log and its reading options.
    #[command(flatten)]
    pub log: LogOptions,
    /// Further logs, each replayed like the first, with results of its own.
    #[arg(value_name = "MORE")]
    pub further: Vec<PathBuf>,
    /// The world and its policies.
    #[command(flatten)]
    pub world: WorldOptions,
    /// Policy that the others are compared with: one of those named by --policy. The default is easy if it is among them, else
    /// the first.
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Write these tables alone, separated by commas; all of them if not given. The manifest is always there.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub tables: Vec<Table>,
    /// Write no page, and no figures with their data.
    #[arg(long)]
    pub no_report: bool,
    /// Output folder; results/simulate/LOG below the current folder if not given. With several logs, each has its own folder LOG there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Tables that a run can write.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// POLICY/jobs.csv, a row for each job.
    Jobs,
    /// POLICY/schedule.swf, the same in the Standard Workload Format.
    Schedule,
    /// summary.csv, a row for each policy.
    Summary,
    /// differences.csv, all pairs of policies.
    Differences,
    /// best.csv, the policies that may be the best.
    Best,
    /// columns.md, the meaning of the columns of the others.
    Columns,
}

impl Simulate {
    /// Returns these options for each log alone. Fails if two logs would have results in one folder.
    pub(super) fn each_log(&self) -> Result<Vec<Self>> {
        if self.further.is_empty() {
            return Ok(vec![self.clone()]);
        }
        let mut names = BTreeSet::new();
        let one = |log: &PathBuf| {
            let name = stem(log);
            ensure!(
                names.insert(name.clone()),
                "{}: two logs are called {name}, and their results would share a folder; rename one",
                log.display()
            );
            let out = self.out.as_ref().map(|out| out.join(name));
            let log = LogOptions { log: Some(log.clone()), ..self.log.clone() };
            Ok(Self { log, further: Vec::new(), out, ..self.clone() })
        };
        self.log.log.iter().chain(&self.further).map(one).collect()
    }

    pub(super) fn writes(&self, table: Table) -> bool {
        self.tables.is_empty() || self.tables.contains(&table)
    }

    /// Wanted files of the jobs of a policy: `jobs.csv`, `schedule.swf`.
    pub(super) fn of_jobs(&self) -> [bool; 2] {
        [Table::Jobs, Table::Schedule].map(|table| self.writes(table))
    }
}
