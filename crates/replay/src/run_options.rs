//! What else determines a schedule on space-shared machines: how many processors, failures, when the policy is asked, how long it searches.

use anyhow::Result;
use clap::{Args, ValueEnum};
use gap_schedule::Passes;
use lab::provenance::quoted;
use sim_core::{Outage, Span, Streams};
use workload::{InputError, Outages};

/// What determines a schedule beside the log and the policy: options that `simulate` and `check` share.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub(crate) struct RunOptions {
    /// Processors of the machine; from the log's header if not given. Needed where the header does not tell: the widest job
    /// says little of the machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) procs: Option<u32>,
    /// When machines fail: `mtbf:SPAN,mttr:SPAN` (mean times between failures and to repair of each place, exponential;
    /// spans as 90s, 15m, 4h, 30d), or a CSV file `machine,down,up` in seconds. Jobs that are hit start anew.
    #[arg(long, value_name = "mtbf:SPAN,mttr:SPAN|FILE")]
    pub(crate) outages: Option<Outages>,
    /// Iterations of Tabu search after each arrival, at most.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) tabu_iterations: u32,
    /// When the policy is asked, of several events at one instant.
    #[arg(long, value_enum, default_value_t = PassesName::PerInstant)]
    pub(crate) passes: PassesName,
}

/// Values of `--passes`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PassesName {
    /// Releases, then arrivals, then one scheduling pass.
    PerInstant,
    /// A pass after every single event, as in older simulators.
    PerEvent,
    /// As in the simulator pyss: submissions before ends, a pass after each, and what is expected to end at this instant is
    /// free already. Plain easy makes no pass for a job that does not fit.
    Pyss,
}

impl RunOptions {
    /// The outages of places of these names, in order of failure; none if none were asked for. A function of the seed: the same for
    /// every policy.
    pub(crate) fn outages_of(
        &self,
        names: &[&str],
        seed: u64,
    ) -> Result<impl Iterator<Item = Result<Outage, InputError>> + use<>> {
        let streams = Streams::new(seed, 0);
        let stream = self.outages.as_ref().map(|outages| outages.stream(names, &streams)).transpose()?;
        Ok(stream.into_iter().flatten())
    }

    /// How long a repair is said to take; [`Span::MAX`] if nobody knows.
    pub(crate) fn repair_expected(&self) -> Span {
        self.outages.as_ref().and_then(Outages::repair_expected).unwrap_or(Span::MAX)
    }

    /// `--procs` as on the command line, with a blank before it; empty if it was not given.
    pub(crate) fn processors_as_asked(&self) -> String {
        self.procs.map_or_else(String::new, |procs| format!(" --procs {procs}"))
    }

    /// `--outages` likewise.
    pub(crate) fn outages_as_asked(&self) -> String {
        self.outages.as_ref().map_or_else(String::new, |outages| format!(" --outages {}", quoted(&outages.to_string())))
    }

    /// `--passes` likewise; empty if it is the usual one.
    pub(crate) const fn passes_as_asked(&self) -> &'static str {
        match self.passes {
            PassesName::PerInstant => "",
            PassesName::PerEvent => " --passes per-event",
            PassesName::Pyss => " --passes pyss",
        }
    }
}

impl PassesName {
    /// As the world knows it.
    pub(crate) const fn passes(self) -> Passes {
        match self {
            Self::PerInstant => Passes::PerInstant,
            Self::PerEvent => Passes::PerEvent,
            Self::Pyss => Passes::Pyss,
        }
    }
}
