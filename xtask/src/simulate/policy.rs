//! Policies by the names they have on the command line.

use crate::scenario::did_you_mean;
use gap_schedule::{EgEdf, FlexibleBackfill, GridEasy, GridFcfs, Planner, Scheduler, Tabu};
use std::fmt;
use std::str::FromStr;

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
    pub(super) fn scheduler(self) -> Box<dyn Scheduler> {
        match self {
            Self::Fcfs => Box::new(GridFcfs::default()),
            Self::Easy => Box::new(GridEasy::default()),
            Self::Flex => Box::new(FlexibleBackfill::default()),
            Self::EgEdf => Box::new(Planner::new(EgEdf::new(), None)),
            Self::EgEdfTabu => Box::new(Planner::new(EgEdf::new(), Some(Tabu::new()))),
        }
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
