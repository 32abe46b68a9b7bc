//! Policies by the names they have on the command line.

use crate::cli;
use crate::scenario::did_you_mean;
use gap_schedule::{EgEdf, FlexibleBackfill, GridEasy, GridFcfs, Halt, Planner, Scheduler, Tabu};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A policy of gap-schedule.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Fcfs,
    Easy,
    Flex,
    EgEdf,
    EgEdfTabu,
}

impl Policy {
    /// Every policy by its name.
    const ALL: [(&str, Self); 5] = [
        ("fcfs", Self::Fcfs),
        ("easy", Self::Easy),
        ("flex", Self::Flex),
        ("eg-edf", Self::EgEdf),
        ("eg-edf-tabu", Self::EgEdfTabu),
    ];

    /// As on the command line, and as the folder of its results is called.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, policy)| *policy == self).expect("every policy has a name").0
    }

    /// The policy at work: a scheduler to whom nothing has happened yet.
    pub(super) fn scheduler(self, options: &cli::Simulate) -> Box<dyn Scheduler> {
        match self {
            Self::Fcfs => Box::new(GridFcfs::default()),
            Self::Easy => Box::new(GridEasy::default()),
            Self::Flex => Box::new(FlexibleBackfill::default()),
            Self::EgEdf => Box::new(Planner::new(EgEdf::new(), None)),
            Self::EgEdfTabu => {
                let planner = Planner::new(EgEdf::new(), Some(Tabu::new().with_iterations(options.tabu_iterations)));
                match options.time_limit {
                    None => Box::new(planner),
                    Some(limit) => Box::new(planner.halted_by(WallClock { limit, until: None })),
                }
            }
        }
    }

    /// Whether `--time-limit` concerns it.
    pub(super) fn searches(self) -> bool {
        self == Self::EgEdfTabu
    }
}

/// Ends a search after some time.
struct WallClock {
    limit: Duration,
    until: Option<Instant>,
}

impl WallClock {
    #[expect(clippy::disallowed_methods, reason = "only where --time-limit is given, which marks the results")]
    fn now() -> Instant {
        Instant::now()
    }
}

impl Halt for WallClock {
    fn begin(&mut self) {
        self.until = Some(Self::now() + self.limit);
    }

    fn is_due(&mut self) -> bool {
        self.until.is_some_and(|until| Self::now() >= until)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, policy)) = Self::ALL.into_iter().find(|(name, _)| *name == text) {
            return Ok(policy);
        }
        let names = Self::ALL.map(|(name, _)| name);
        Err(format!(
            "no policy is called {text:?}{}; there are {}",
            did_you_mean(text, names.into_iter()),
            names.join(", ")
        ))
    }
}
