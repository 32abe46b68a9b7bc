//! Parameters of the world, and the readings of questions that the paper leaves open.

mod readings;

pub use readings::{
    BackfillOnArrival, EmptyInScan, EmptyOnArrival, GangArrival, GangOrder, Placement, Readings, Release, ScanTrigger,
    ServiceTime, ShortestQueue, SiteOrder, SlowdownBase, Split, Startable, StopAfter, ThresholdFrom,
};

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
