//! Cluster selection policies (§2.3, §3): each returns a choice, which the [world](crate::MetaLoras) carries out.
//!
//! A policy sees a [`View`]: the job at the head of the input queue as an [`Application`], and the clusters as their
//! [`Loras`] know them. Neither contains true run times. Types guarantee this; code that reads one does not
//! compile:
//!
//! ```compile_fail,E0609
//! use metasched::{Choice, SelectCluster, View};
//!
//! struct Clairvoyant;
//!
//! impl SelectCluster for Clairvoyant {
//!     fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
//!         let short = view.job().runtime < sim_core::Span::from_secs(60); // no field `runtime` on type `&Application`
//!         short.then(|| Choice::of(sim_core::SiteId(0)))
//!     }
//! }
//! ```
//!
//! ```compile_fail,E0616
//! use metasched::{Choice, SelectCluster, View};
//!
//! struct Clairvoyant;
//!
//! impl SelectCluster for Clairvoyant {
//!     fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
//!         let running = view.clusters()[0].state.live(); // field `state` of struct `Loras` is private
//!         running.is_empty().then(|| Choice::of(sim_core::SiteId(0)))
//!     }
//! }
//! ```
//!
//! The same policy without clairvoyance does compile:
//!
//! ```
//! use metasched::{Choice, SelectCluster, View};
//!
//! struct ShortJobsFirst;
//!
//! impl SelectCluster for ShortJobsFirst {
//!     fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
//!         let short = view.job().time < sim_core::Span::from_secs(60); // the profile
//!         short.then(|| Choice::of(sim_core::SiteId(0)))
//!     }
//! }
//! ```
//!
//! Even inside this crate true run times are inaccessible: they are private to the world, which passes only
//! references to `Loras` to the predictor and the policies.

// Each policy implements the trait below, and is re-exported here: a circle of imports, so that readers find all of them in one
// place.
mod ffit;
mod ptt;
mod rr;
mod tat;

pub use ffit::Ffit;
pub use ptt::{Intrusiveness, Ptt, Weights};
pub use rr::Rr;
pub use tat::Tat;

use crate::application::Application;
use crate::cluster_state::TurnaroundBounds;
use crate::config::{Candidates, NoCandidate, Readings};
use crate::loras::Loras;
use crate::predictor::{LorasPredictor, Prediction};
use sim_core::{SiteId, Span, Time};

/// Chooses the cluster for the job at the head of the input queue.
pub trait SelectCluster {
    /// Returns the cluster whose LoRaS queue the job joins now; `None` if it waits in the input queue, and with it all others. The
    /// next call follows when a job has ended.
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice>;
}

impl<S: SelectCluster + ?Sized> SelectCluster for Box<S> {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        (**self).select(view)
    }
}

/// Choice of a policy.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Choice {
    /// Cluster that the job goes to.
    pub cluster: SiteId,
    /// Prediction for the job there, if the policy has requested it.
    pub prediction: Option<Prediction>,
}

impl Choice {
    /// A cluster chosen without prediction.
    pub const fn of(cluster: SiteId) -> Self {
        Self { cluster, prediction: None }
    }
}

/// Estimate of a job that starts on a cluster now: bounds of TR, and LT, without a simulation.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The cluster.
    pub cluster: SiteId,
    /// Bounds of TR.
    pub turnaround: TurnaroundBounds,
    /// LT: as in [`Prediction::local_nodes`].
    pub local_nodes: u32,
    /// Occupancy: see [`Prediction::occupancy`].
    pub occupancy: f64,
}

/// Information that a policy may use.
#[derive(Debug)]
pub struct View<'a> {
    pub(crate) now: Time,
    pub(crate) job: &'a Application,
    pub(crate) clusters: &'a [Loras],
    pub(crate) predictor: &'a mut LorasPredictor,
    pub(crate) places: &'a mut Vec<u32>,
    pub(crate) fastest: f64,
}

impl<'a> View<'a> {
    /// The present instant.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The job at the head of the input queue, with its known attributes.
    pub const fn job(&self) -> &'a Application {
        self.job
    }

    /// The clusters, by [`SiteId`].
    pub const fn clusters(&self) -> &'a [Loras] {
        self.clusters
    }

    /// The names of the clusters, in order.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> + Clone + use<> {
        (0..u32::try_from(self.clusters.len()).expect("clusters are numbered by u32")).map(SiteId)
    }

    /// Returns true if the job could run on the cluster without other parallel jobs.
    pub fn fits(&self, cluster: SiteId) -> bool {
        self.clusters[cluster.index()].fits(self.job)
    }

    /// Returns true if the job could start on the cluster now.
    pub fn can_start(&mut self, cluster: SiteId) -> bool {
        self.clusters[cluster.index()].can_start(self.job, self.places)
    }

    /// Returns the prediction of the cluster's LoRaS for the job: TR, LT and occupancy. `None` if no end is in sight.
    pub fn predict(&mut self, cluster: SiteId) -> Option<Prediction> {
        self.predict_within(cluster, true, Span::MAX)
    }

    /// Returns the same, or `None` if TR is above `limit`; if `sees_users` is false, the LoRaS does not see local users (R9).
    pub fn predict_within(&mut self, cluster: SiteId, sees_users: bool, limit: Span) -> Option<Prediction> {
        let startable = self.can_start(cluster);
        let Self { now, job, clusters, predictor, places, .. } = self;
        predictor.predict(*now, &clusters[cluster.index()], job, startable.then_some(places), sees_users, limit)
    }

    /// Returns bounds without a simulation for a cluster where the job can start now; `None` elsewhere. With it a
    /// policy need not simulate all clusters.
    pub fn estimate(&mut self, cluster: SiteId, sees_users: bool) -> Option<Estimate> {
        if !self.can_start(cluster) {
            return None;
        }
        let Self { now, job, clusters, predictor, places, .. } = self;
        let loras = &clusters[cluster.index()];
        let (local_nodes, occupancy) = LorasPredictor::intrusion(loras, places);
        let turnaround = predictor.bound(*now, loras, job, Some(places), sees_users);
        Some(Estimate { cluster, turnaround, local_nodes, occupancy })
    }

    /// Lower bound of the turnaround on any cluster, within a nanosecond: the job's profile at the highest speed.
    pub(crate) fn shortest_turnaround(&self) -> Span {
        self.job.time.scaled(1.0 / self.fastest)
    }

    fn sites_that_fit(&self) -> impl Iterator<Item = SiteId> {
        self.sites().filter(|&site| self.fits(site))
    }
}

/// R4 and R5.
#[derive(Copy, Clone, Debug)]
struct CandidateReadings {
    candidates: Candidates,
    no_candidate: NoCandidate,
}

impl CandidateReadings {
    const fn of(readings: &Readings) -> Self {
        Self { candidates: readings.candidates, no_candidate: readings.no_candidate }
    }

    /// Returns true if a predicting policy looks for clusters where the job can start now.
    fn looks_for_room(self) -> bool {
        self.candidates == Candidates::CanStartNow
    }

    /// Returns true if it chooses from the queues of all clusters that the job fits.
    fn takes_any_queue(self, found_room: bool) -> bool {
        self.candidates == Candidates::StaticFit || !found_room && self.no_candidate == NoCandidate::Dispatch
    }
}

/// Numbers that differ by less than this, relative to the smaller, are a tie.
const TIE: f64 = 1e-9;

/// Returns true if `score` equals `least` or exceeds it by no more than a tie.
fn ties_with(score: f64, least: f64) -> bool {
    score <= least * (1.0 + TIE)
}
