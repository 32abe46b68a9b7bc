//! Parameters of the world, and the readings of questions that the paper leaves open.

use serde::{Deserialize, Serialize};
use sim_core::{ConfigError, Span};

/// A grid of sites and the policy that runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The sites, in the order in which the grid scheduler tries them (§2: two of 16 processors).
    pub sites: Vec<Site>,
    /// Sites that a gang may span (§3.1).
    pub approach: Approach,
    /// T ≥ 0: largest delay of a gang by a backfilled local (§3.2, equation 1).
    pub threshold: Span,
    /// Added to the service time of a gang that spans sites, as a fraction of it (§4.3: 0.10 and 0.05).
    pub overhead: f64,
    /// Answers to the questions that the paper leaves open.
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
    /// The first invalid field, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::check(!self.sites.is_empty(), || "sites: at least one site is needed".to_owned())?;
        for (site, Site { processors, speed }) in (1..).zip(&self.sites) {
            let (is_wide, is_fast) = (*processors > 0, speed.is_finite() && *speed > 0.0);
            ConfigError::check(is_wide, || format!("sites: site {site} has no processors; give it at least 1"))?;
            ConfigError::check(is_fast, || format!("sites: site {site} has speed {speed}; a speed is above 0"))?;
        }
        ConfigError::check(self.overhead.is_finite() && self.overhead >= 0.0, || {
            format!("overhead: {} is no fraction of a service time; 0.1 means 10 %", self.overhead)
        })
    }

    /// Number of processors of all sites together.
    pub fn processors(&self) -> u32 {
        self.sites.iter().map(|site| site.processors).sum()
    }
}

sim_core::readings! {
    /// R1 … R18 of the specification, in the same order. [`Readings::default`] takes the first value of each.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Readings {
        /// Affects only the workload.
        R1 service_time: enum ServiceTime "Does each task of a gang have its own service time?" {
            /// Yes.
            PerTask,
            /// All tasks of a gang take equally long.
            PerGang,
        }
        R2 release: enum Release "When is a gang's processor released?" {
            /// At the end of the task that it ran.
            TaskEnd,
            /// At the end of the gang: the processor is held until the last task is done.
            GangEnd,
        }
        R3 empty_on_arrival: enum EmptyOnArrival "What is an empty queue when a gang arrives?" {
            /// No job waits; the processor may be busy.
            NoneWaiting,
            /// No job waits and none runs.
            Idle,
        }
        R4 empty_in_scan: enum EmptyInScan "What is an empty queue in steps 1 and 2 of the scan?" {
            /// No job waits and none runs.
            Idle,
            /// No job waits; the processor may be busy.
            NoneWaiting,
        }
        /// By default step 4 finds nothing that step 3 has not found, and approach 3 differs from approach 2 only when a gang arrives.
        R5 empty_in_step_4: type EmptyInScan "What is an empty queue in step 4 of the scan?"
        R6 reserved_is_idle: bool "Does an idle processor that is kept for a gang count as idle for another?" { false, true }
        R7 placement: enum Placement "Which eligible processors does a gang take?" {
            /// Idle processors first, then busy ones, at random among equals.
            IdleFirst,
            /// The processors that will be free soonest, by index among equals.
            SoonestFree,
            /// At random among all eligible processors.
            Random,
            /// The processors of lowest index.
            LowestIndex,
        }
        R8 site_order: enum SiteOrder "In which order are sites tried?" {
            /// Site 1 before site 2.
            Fixed,
            /// A new random order at each attempt.
            Random,
        }
        R9 shortest_queue: enum ShortestQueue "What makes a queue the shortest?" {
            /// Fewest jobs, waiting and in service.
            Jobs,
            /// Fewest jobs waiting.
            Waiting,
            /// Least work left of the jobs waiting and in service.
            Work,
            /// None: every local joins a processor of its site at random, idle or not. This is a check and no reading of
            /// the paper: without gangs, each processor is then a queue M/M/1.
            Random,
        }
        R10 startable: enum Startable "Which processor that can start a local at once does it take?" {
            /// One of them at random.
            Random,
            /// One with an empty queue, if there is one.
            PreferEmpty,
            /// One kept for a waiting gang, if there is one.
            PreferReserved,
        }
        R11 backfill_on_arrival: enum BackfillOnArrival "May an arriving local backfill at once?" {
            /// Yes: such a processor can start it at once.
            Yes,
            /// No: only when a processor is freed.
            No,
        }
        R12 gang_arrival: enum GangArrival "Is an arriving gang tried before it joins the queue?" {
            /// It is tried at once, in the order of the conditions of its approach.
            TriedAtOnce,
            /// It joins the GS queue first, and the queue is scanned.
            JoinsQueue,
        }
        R13 scan_trigger: enum ScanTrigger "What makes the grid scheduler scan its queue?" {
            /// A job (a local, or a whole gang) has left, and an empty queue at a processor that it used.
            ExitLeavesEmptyQueue,
            /// Any processor is released.
            AnyRelease,
            /// The last job that waited at a processor begins. This may leave gangs in the GS queue forever: when the last jobs
            /// in the grid have no job behind them, no queue becomes empty any more. Under the other two the last job that leaves
            /// causes a scan, and in an idle grid every gang fits.
            QueueBecomesEmpty,
        }
        R14 gang_order: enum GangOrder "Which gang of the queue is next?" {
            /// The largest that fits, the oldest among equals.
            LargestThatFits,
            /// The largest, if it fits. Others wait for it, but not forever: it fits an idle grid.
            LargestOnly,
            /// The oldest that fits.
            OldestThatFits,
        }
        /// Affects only the measurement.
        R15 stop_after: enum StopAfter "What is counted until the run stops?" {
            /// Locals and gangs.
            Jobs,
            /// Locals.
            Locals,
            /// Locals and the tasks of gangs.
            Tasks,
        }
        /// Affects only the measurement.
        R16 slowdown_base: enum SlowdownBase "Is a gang's slowdown relative to its service time before or after the overhead?" {
            /// Before.
            BeforeOverhead,
            /// After.
            AfterOverhead,
        }
        R17 threshold_from: enum ThresholdFrom "From which start of the gang is the threshold measured?" {
            /// The gang's present start: delays may add up.
            PresentStart,
            /// The start promised to the gang when it was routed: its whole delay is at most T, if estimates are exact and
            /// no other gang may begin on its processors (R6).
            PromisedStart,
        }
        R18 split: enum Split "How are the tasks of a gang that spans sites divided among them?" {
            /// All sites as one: R7 considers the processors of all of them together.
            Pooled,
            /// Site by site: as many tasks as have room at site 1, then as many as have room at site 2, and so on.
            SiteBySite,
            /// One task for each site in turn, as long as it has room.
            Even,
        }
    }
}
