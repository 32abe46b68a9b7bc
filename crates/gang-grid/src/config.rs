//! Parameters of the world, and the readings of what the paper leaves open.

use serde::{Deserialize, Serialize};
use sim_core::Span;

/// A grid of sites and the policy that runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The sites, in the order in which the grid scheduler tries them (§2: two of 16 processors).
    pub sites: Vec<Site>,
    /// Which gangs may span sites (§3.1).
    pub approach: Approach,
    /// T ≥ 0: how long a backfilled local may delay a gang (§3.2, equation 1).
    pub threshold: Span,
    /// Added to the service time of a gang that spans sites, as a fraction of it (§4.3: 0.10 and 0.05).
    pub overhead: f64,
    /// What the paper leaves open.
    pub readings: Readings,
}

/// One site.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Number of processors, at least 1.
    pub processors: u32,
    /// Speed relative to the reference, above 0: a task takes its service time divided by this.
    pub speed: f64,
}

/// The grid scheduler's approach to gangs (§3.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approach {
    /// A gang runs inside one site.
    One,
    /// A gang may also begin at once on idle processors of several sites.
    Two,
    /// A gang may also wait in empty queues of several sites.
    Three,
}

/// The readings that concern the world, named as in the specification. [`Readings::default`] takes the first value of
/// each. R1 concerns the workload; R15 and R16 concern the measurement.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Readings {
    /// R2: when a gang's processor is released.
    pub release: Release,
    /// R3: what an empty queue is when a gang arrives.
    pub empty_on_arrival: EmptyOnArrival,
    /// R4: what an empty queue is in steps 1 and 2 of the scan.
    pub empty_in_scan: EmptyInScan,
    /// R5: what an empty queue is in step 4 of the scan. By default step 4 finds nothing that step 3 has not found,
    /// and approach 3 differs from approach 2 only when a gang arrives.
    pub empty_in_step_4: EmptyInScan,
    /// R6: whether an idle processor that is kept for a waiting gang counts as idle for another gang.
    pub reserved_is_idle: bool,
    /// R7: which of the eligible processors a gang's tasks go to.
    pub placement: Placement,
    /// R8: the order in which sites are tried.
    pub site_order: SiteOrder,
    /// R9: what makes a queue the shortest.
    pub shortest_queue: ShortestQueue,
    /// R10: which of the processors that can start a local at once it goes to.
    pub startable: Startable,
    /// R11: whether an arriving local may backfill at once.
    pub backfill_on_arrival: BackfillOnArrival,
    /// R12: whether an arriving gang is tried before it joins the GS queue.
    pub gang_arrival: GangArrival,
    /// R13: what makes the grid scheduler scan its queue.
    pub scan_trigger: ScanTrigger,
    /// R14: which gang of the GS queue is next.
    pub gang_order: GangOrder,
    /// R17: what the threshold is measured from.
    pub threshold_from: ThresholdFrom,
    /// R18: how the tasks of a gang that may span sites are divided among them.
    pub split: Split,
}

macro_rules! reading {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident $(, $(#[$other_doc:meta])* $other:ident)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$first_doc])* #[default] $first,
            $($(#[$other_doc])* $other,)*
        }
    };
}

reading! {
    /// R2.
    Release {
        /// At the end of the task that it ran.
        TaskEnd,
        /// At the end of the gang: the processor is held until the last task is done.
        GangEnd,
    }
}
reading! {
    /// R3.
    EmptyOnArrival {
        /// No job waits; the processor may be busy.
        NoneWaiting,
        /// No job waits and none runs.
        Idle,
    }
}
reading! {
    /// R4, R5.
    EmptyInScan {
        /// No job waits and none runs.
        Idle,
        /// No job waits; the processor may be busy.
        NoneWaiting,
    }
}
reading! {
    /// R7.
    Placement {
        /// Idle processors first, then busy ones, at random among equals.
        IdleFirst,
        /// Those that will be free soonest, by index among equals.
        SoonestFree,
        /// At random among all that are eligible.
        Random,
        /// Those of lowest index.
        LowestIndex,
    }
}
reading! {
    /// R8.
    SiteOrder {
        /// Site 1 before site 2.
        Fixed,
        /// A new random order at each attempt.
        Random,
    }
}
reading! {
    /// R9.
    ShortestQueue {
        /// Fewest jobs, waiting and in service.
        Jobs,
        /// Fewest jobs waiting.
        Waiting,
        /// Least work left, of the jobs waiting and in service.
        Work,
        /// None: every local joins a processor of its site at random, idle or not. No reading of the paper, but a
        /// check: with gangs off, each processor is then a queue M/M/1.
        Random,
    }
}
reading! {
    /// R10.
    Startable {
        /// One of them at random.
        Random,
        /// One with an empty queue, if there is one.
        PreferEmpty,
        /// One kept for a waiting gang, if there is one.
        PreferReserved,
    }
}
reading! {
    /// R11.
    BackfillOnArrival {
        /// It may: such a processor can start it at once.
        Yes,
        /// Only when a processor is freed.
        No,
    }
}
reading! {
    /// R12.
    GangArrival {
        /// It is tried at once, in the order of the conditions of its approach.
        TriedAtOnce,
        /// It joins the GS queue first, and the queue is scanned.
        JoinsQueue,
    }
}
reading! {
    /// R13.
    ScanTrigger {
        /// A job (a local, or a whole gang) has left, and an empty queue at a processor that it used.
        ExitLeavesEmptyQueue,
        /// Any processor is released.
        AnyRelease,
        /// The last job that waited at a processor begins. This may leave gangs in the GS queue for ever: when the last jobs
        /// in the grid have nobody behind them, no queue becomes empty any more. Under the other two the last job to leave
        /// has the queue scanned, and in an idle grid every gang fits.
        QueueBecomesEmpty,
    }
}
reading! {
    /// R14.
    GangOrder {
        /// The largest that fits, the oldest among equals.
        LargestThatFits,
        /// The largest, if it fits. Others wait for it, but not for ever: it fits an idle grid.
        LargestOnly,
        /// The oldest that fits.
        OldestThatFits,
    }
}
reading! {
    /// R17.
    ThresholdFrom {
        /// The gang's start as it stands now: delays may add up.
        PresentStart,
        /// The start that the gang was promised when it was routed: its whole delay is at most T, if estimates are exact and
        /// no other gang may begin on its processors (R6).
        PromisedStart,
    }
}

reading! {
    /// R18.
    Split {
        /// As if the sites were one: R7 looks at the processors of all of them together.
        Pooled,
        /// As many tasks as have room at site 1, then as many as have room at site 2, and so on.
        SiteBySite,
        /// A task for each site in turn, as long as it has room.
        Even,
    }
}

/// Why a [`Config`] cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// There is nowhere to run.
    #[error("sites: at least one site is needed")]
    NoSite,
    /// A site without processors.
    #[error("sites: site {site} has no processors; give it at least 1")]
    NoProcessor {
        /// Counted from 1.
        site: usize,
    },
    /// A speed that is not a positive number.
    #[error("sites: site {site} has speed {speed}; a speed is above 0")]
    Speed {
        /// Counted from 1.
        site: usize,
        /// As given.
        speed: f64,
    },
    /// An overhead that is not a fraction.
    #[error("overhead: {0} is no fraction of a service time; 0.1 means 10 %")]
    Overhead(f64),
}

impl Config {
    /// `sites` equal sites of `processors` processors at reference speed, under `approach`, with the paper's first
    /// setting: T = 0, overhead 10 %, default readings.
    pub fn uniform(sites: usize, processors: u32, approach: Approach) -> Self {
        let sites = vec![Site { processors, speed: 1.0 }; sites];
        Self { sites, approach, threshold: Span::ZERO, overhead: 0.10, readings: Readings::default() }
    }

    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first field that makes no sense, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.sites.is_empty() {
            return Err(ConfigError::NoSite);
        }
        for (i, Site { processors, speed }) in self.sites.iter().enumerate() {
            if *processors == 0 {
                return Err(ConfigError::NoProcessor { site: i + 1 });
            }
            if !(speed.is_finite() && *speed > 0.0) {
                return Err(ConfigError::Speed { site: i + 1, speed: *speed });
            }
        }
        if !(self.overhead.is_finite() && self.overhead >= 0.0) {
            return Err(ConfigError::Overhead(self.overhead));
        }
        Ok(())
    }

    /// Processors of all sites together.
    pub fn processors(&self) -> u32 {
        self.sites.iter().map(|site| site.processors).sum()
    }
}
