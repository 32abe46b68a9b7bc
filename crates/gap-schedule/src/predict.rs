//! Predictions of run times, which replace the users' estimates, and corrections of those that jobs have outlived.

use dyn_clone::DynClone;
use sim_core::{Request, Span};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

/// Predicts run times: called for each job when it is submitted, and for each job that ends.
///
/// A prediction orders queues and places reservations. The limit of a job remains the user's request, and no job is
/// killed by a prediction. A job that outlives its prediction gets another one from a [`Corrector`].
///
/// A predictor sees requests, and run times of the past. The only exception,
/// [`Predictions::clairvoyant`](crate::Predictions::clairvoyant), implements no trait.
///
/// ```
/// use gap_schedule::{MeanOfUser, Predictor};
/// use sim_core::{Request, SiteSet, Span};
///
/// let hour = Span::from_secs(3_600);
/// let request = Request { processors: 4, estimate: Some(hour), deadline: None, sites: SiteSet::ALL, user: Some(7) };
/// let mut tsafrir = MeanOfUser::tsafrir();
/// assert_eq!(tsafrir.predict(&request), Some(hour)); // nothing is known of this user yet
/// tsafrir.on_completion(&request, Span::from_secs(100));
/// tsafrir.on_completion(&request, Span::from_secs(201));
/// assert_eq!(tsafrir.predict(&request), Some(Span::from_secs(150)));
/// ```
#[expect(unused_variables, reason = "a method with a default body documents its arguments")]
pub trait Predictor: Debug + DynClone + Send + Sync {
    /// Returns the expected run time at reference speed of a job that is submitted now; `None` if it is unknown, even to its user.
    ///
    /// [`Request::estimate`] is the estimate of the user.
    fn predict(&mut self, request: &Request) -> Option<Span>;

    /// Called when a job has ended, at its own end or at its limit, after `ran` at reference speed.
    fn on_completion(&mut self, request: &Request, ran: Span) {}
}

dyn_clone::clone_trait_object!(Predictor);

/// Multiple of the user's estimate: with a factor of 1, the prediction of EASY. A larger one exceeds the limit and is no credible
/// prediction; it makes room for short jobs.
///
/// Sources: twice the request improves backfilling (P. Zotkin and J. Keleher, "Job-length estimation and performance in
/// backfilling schedulers", HPDC 1999; Mu'alem & Feitelson 2001); with a queue sorted by it, nothing else changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimesRequested(
    /// Factor.
    pub u32,
);

impl Predictor for TimesRequested {
    fn predict(&mut self, request: &Request) -> Option<Span> {
        request.estimate.map(|asked| Span::from_nanos(asked.as_nanos().saturating_mul(u64::from(self.0))))
    }
}

/// Mean run time of the last jobs of the same user *to end*, in whole seconds, rounded down, at least one, and at most the
/// request. The request, if too few jobs have ended or the user is unknown.
///
/// Source: D. Tsafrir, Y. Etsion and D. G. Feitelson, "Backfilling Using System-Generated Predictions Rather Than User Runtime
/// Estimates", IEEE TPDS 18(6), 2007, §4: the last two ([`tsafrir`](Self::tsafrir)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeanOfUser {
    /// Number of jobs of a user that are averaged, at least 1.
    window: u32,
    /// Number of jobs that must have ended before the mean is used, at least 1.
    at_least: u32,
    /// Last run times of each user, the latest at the back.
    ended: BTreeMap<u32, VecDeque<Span>>,
}

impl MeanOfUser {
    /// Returns the mean of the last `window` jobs, or of those there are.
    ///
    /// # Panics
    ///
    /// If `window` is zero.
    pub const fn new(window: u32) -> Self {
        assert!(window > 0, "a mean over no jobs");
        Self { window, at_least: 1, ended: BTreeMap::new() }
    }

    /// Returns the mean of the last two jobs, once two have ended: the predictor of EASY++.
    pub fn tsafrir() -> Self {
        Self { at_least: 2, ..Self::new(2) }
    }

    fn mean_of(&self, user: u32) -> Option<Span> {
        let last = self.ended.get(&user).filter(|last| last.len() >= self.at_least as usize)?;
        // Two run times of 500 years do not fit into a span.
        let sum: u128 = last.iter().map(|ran| u128::from(ran.as_nanos())).sum();
        let seconds = u64::try_from(sum / last.len() as u128 / 1_000_000_000).expect("no longer than the longest");
        Some(Span::from_secs(seconds.max(1)))
    }
}

impl Predictor for MeanOfUser {
    fn predict(&mut self, request: &Request) -> Option<Span> {
        let mean = request.user.and_then(|user| self.mean_of(user));
        [mean, request.estimate].into_iter().flatten().min()
    }

    fn on_completion(&mut self, request: &Request, ran: Span) {
        let Some(user) = request.user else { return };
        let last = self.ended.entry(user).or_default();
        while last.len() >= self.window as usize {
            last.pop_front();
        }
        last.push_back(ran);
    }
}

/// Rule that corrects a prediction at the instant at which a job outlives it.
///
/// Without a correction, the scheduler expects such a job to end at any moment, rests reservations on that, and is
/// wrong at each pass. On KTH-SP2, uncorrected predictions multiply EASY's mean wait by 6.9 (mean of a user's last two
/// jobs) or by 3.9 (last five); corrected to the request, those of two jobs lower it by a sixth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Corrector {
    /// To the request of the user.
    ToRequested,
    /// To twice the expired prediction. It may exceed the request.
    Doubling,
    /// To the first prediction plus an increment that grows from correction to correction, at most the request. After the
    /// last increment, to the request.
    Increments(Vec<Span>),
}

/// Prediction that a job has outlived.
#[derive(Copy, Clone, Debug)]
pub struct Expired {
    /// Run time that its user requested.
    pub requested: Option<Span>,
    /// Prediction at its submission.
    pub first: Span,
    /// Prediction that has now expired: `first`, or the last correction.
    pub prediction: Span,
    /// Number of earlier corrections.
    pub corrections: u32,
}

impl Corrector {
    /// Returns the corrector of a name: `requested`, `doubling` or `tsafrir`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "requested" => Self::ToRequested,
            "doubling" => Self::Doubling,
            "tsafrir" => Self::tsafrir(),
            _ => return None,
        })
    }

    /// Returns the increments of EASY++: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours.
    ///
    /// Source: Tsafrir, Etsion & Feitelson (TPDS 2007), §4.
    pub fn tsafrir() -> Self {
        const MINUTES: [u64; 11] = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_000, 6_000];
        Self::Increments(MINUTES.map(|minutes| Span::from_secs(60 * minutes)).to_vec())
    }

    /// Returns the new expected run time from the start of the job, at reference speed. `None`, or a run time that has passed
    /// already, leaves the job without a prediction: it is expected to end at any moment, and is not corrected again.
    pub(crate) fn correct(&self, expired: &Expired) -> Option<Span> {
        let Expired { requested, first, prediction, corrections } = *expired;
        let increment = match self {
            Self::ToRequested => None,
            Self::Doubling => return Some(Span::from_nanos(prediction.as_nanos().saturating_mul(2))),
            Self::Increments(increments) => increments.get(corrections as usize),
        };
        // The published rule removes the last increment and adds the next: all count from the first prediction. A
        // correction that was cut at the request is the last one, since the next is cut there too.
        let increased = increment.map(|next| Span::from_nanos(first.as_nanos().saturating_add(next.as_nanos())));
        [increased, requested].into_iter().flatten().min()
    }
}
