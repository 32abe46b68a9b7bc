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
//!         let short = view.job.runtime < sim_core::Span::from_secs(60); // no field `runtime` on type `&Application`
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
//!         let running = view.clusters[0].state.live(); // field `state` of struct `Loras` is private
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
//!         let short = view.job.time < sim_core::Span::from_secs(60); // the profile
//!         short.then(|| Choice::of(sim_core::SiteId(0)))
//!     }
//! }
//! ```
//!
//! Even inside this crate true run times are inaccessible: they are private to the world, which passes only
//! references to `Loras` to the predictor and the policies.

mod plain;
mod ptt;

pub use plain::{Ffit, Rr, Tat};
pub use ptt::{Intrusiveness, Ptt, Weights};

use crate::application::Application;
use crate::config::{Candidates, NoCandidate, Readings};
use crate::loras::Loras;
use crate::loras::predictor::{Prediction, predict};
use sim_core::{SiteId, Time};

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

/// Information that a policy may use.
#[derive(Debug)]
pub struct View<'a> {
    /// The present instant.
    pub now: Time,
    /// The job at the head of the input queue, with its known attributes.
    pub job: &'a Application,
    /// The clusters, by [`SiteId`].
    pub clusters: &'a [Loras],
    pub(crate) overrun: f64,
}

impl View<'_> {
    /// The names of the clusters, in order.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> + Clone + use<> {
        (0..u32::try_from(self.clusters.len()).expect("clusters are numbered by u32")).map(SiteId)
    }

    /// Returns true if the job could run on the cluster without other parallel jobs.
    pub fn fits(&self, cluster: SiteId) -> bool {
        self.clusters[cluster.index()].state.fits(self.job)
    }

    /// Returns true if the job could start on the cluster now.
    pub fn can_start(&self, cluster: SiteId) -> bool {
        self.clusters[cluster.index()].room(self.job).is_some()
    }

    /// Returns the prediction of the cluster's LoRaS for the job: TR, LT and occupancy. `None` if no end is in sight.
    /// If `sees_users` is false, the LoRaS does not see local users (R9).
    pub fn predict(&self, cluster: SiteId, sees_users: bool) -> Option<Prediction> {
        predict(self.now, &self.clusters[cluster.index()], self.job, sees_users, self.overrun)
    }
}

/// Clusters from which a predicting policy chooses, in order, with their predictions: those where the job can start now, or those that it
/// fits (R4, R5).
fn candidates(readings: &Readings, view: &View<'_>, sees_users: bool) -> Vec<Choice> {
    let mut sites = Vec::new();
    if readings.candidates == Candidates::CanStartNow {
        sites.extend(view.sites().filter(|&site| view.can_start(site)));
    }
    if readings.candidates == Candidates::StaticFit
        || sites.is_empty() && readings.no_candidate == NoCandidate::Dispatch
    {
        sites.extend(view.sites().filter(|&site| view.fits(site)));
    }
    sites.into_iter().map(|cluster| Choice { cluster, prediction: view.predict(cluster, sees_users) }).collect()
}

/// Returns the candidates of least score, by their predictions. If no end is in sight on a cluster, it is worse than all others; if there
/// are no others, any queue is equally good.
fn best(candidates: &[Choice], score: impl Fn(SiteId, &Prediction) -> f64) -> impl Iterator<Item = Choice> {
    let score = move |choice: &Choice| {
        choice.prediction.as_ref().map_or(f64::INFINITY, |prediction| score(choice.cluster, prediction))
    };
    let least = candidates.iter().map(&score).fold(f64::INFINITY, f64::min);
    // Scores that differ by less than a billionth are a tie.
    candidates.iter().filter(move |choice| score(choice) <= least * (1.0 + 1e-9)).copied()
}
