//! Predictions of run times, which replace the users' estimates, their accuracy, and corrections of those that jobs have
//! outlived.

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

/// Predictions of run times, separate from limits. Policies order queues and place reservations by them instead of the
/// users' requests. See [`MultiCluster::with_predictions`](crate::MultiCluster::with_predictions).
///
/// ```
/// use gap_schedule::{Corrector, Easy, Machine, MeanOfUser, MultiCluster, Predictions};
/// use sim_core::{Job, JobId, Sim, Span, Time};
///
/// let job = |id: u32, runtime| {
///     let submit = Time::from_secs(1_000 * u64::from(id));
///     let mut job = Job::new(JobId(id), submit, 4, Span::from_secs(runtime));
///     job.request.user = Some(7);
///     job.request.estimate = Some(Span::from_secs(3_600));
///     job
/// };
/// let jobs = [job(0, 100), job(1, 300), job(2, 250)];
/// let predictions = Predictions::by(MeanOfUser::tsafrir()).corrected_by(Corrector::tsafrir());
/// let world = MultiCluster::new(vec![Machine::new(4)], Easy::default(), jobs.into_iter()).with_predictions(predictions);
/// let (world, ()) = Sim::new(world, ()).run();
///
/// // The prediction for the third was 200 s, and then a minute more.
/// let counts = world.predictions().expect("they were given").counts;
/// assert_eq!((counts.predicted, counts.expired, counts.corrections), (3, 1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Predictions {
    /// `None` if the run times themselves are the predictions.
    predictor: Option<Box<dyn Predictor>>,
    corrector: Option<Corrector>,
    /// Counts so far.
    pub counts: PredictionCounts,
}

/// Outcomes of predictions.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct PredictionCounts {
    /// Number of jobs that got a prediction when they were submitted.
    pub predicted: u64,
    /// Number of jobs whose prediction expired while they ran.
    pub expired: u64,
    /// Number of corrections: replacements of a prediction by a later one.
    pub corrections: u64,
    /// Number of predicted jobs that have ended.
    pub ended: u64,
    /// Sum of min(p, r) / max(p, r) over the jobs that have ended; p is the prediction at submission, r the run time.
    pub accuracies: f64,
}

impl PredictionCounts {
    /// Mean accuracy of the predictions made at submission, min(p, r) / max(p, r), from 0 to 1; `None` before the first end.
    ///
    /// Source: the accuracy of Tsafrir, Etsion & Feitelson (TPDS 2007), §4.
    pub fn accuracy(&self) -> Option<f64> {
        (self.ended > 0).then(|| self.accuracies / self.ended as f64)
    }
}

impl Predictions {
    /// Names for [`named`](Self::named), for a reader.
    pub const NAMES: &str =
        "requested, clairvoyant, double-requested, tsafrir, or mean-of-user=K with K from 1 to 1000";

    /// Returns the predictions of one of these [`NAMES`](Self::NAMES), without a corrector.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "requested" => Self::by(TimesRequested(1)),
            "clairvoyant" => Self::clairvoyant(),
            "double-requested" => Self::by(TimesRequested(2)),
            "tsafrir" => Self::by(MeanOfUser::tsafrir()),
            _ => {
                let jobs = name.strip_prefix("mean-of-user=")?.parse().ok();
                Self::by(MeanOfUser::new(jobs.filter(|jobs| (1..=1000).contains(jobs))?))
            }
        })
    }

    /// Returns predictions by a predictor that sees requests and the past. Expired predictions are not corrected.
    pub fn by(predictor: impl Predictor + 'static) -> Self {
        Self { predictor: Some(Box::new(predictor)), ..Self::clairvoyant() }
    }

    /// Returns predictions that are the run times themselves: the one predictor that knows the future, for comparison.
    pub fn clairvoyant() -> Self {
        Self { predictor: None, corrector: None, counts: PredictionCounts::default() }
    }

    /// Sets the corrector of predictions that expire; `None` leaves them uncorrected.
    #[must_use]
    pub fn corrected_by(self, corrector: impl Into<Option<Corrector>>) -> Self {
        Self { corrector: corrector.into(), ..self }
    }

    /// Returns the predicted run time, at reference speed, of a job that is submitted now and would run for `runtime`; `None` if unknown.
    pub fn predict(&mut self, request: &Request, runtime: Span) -> Option<Span> {
        let predicted = match &mut self.predictor {
            Some(predictor) => predictor.predict(request),
            None => Some(runtime),
        };
        self.counts.predicted += u64::from(predicted.is_some());
        predicted
    }

    /// Records the end of a job with the prediction `first` at its submission. `request` is that of its user.
    pub fn end(&mut self, request: &Request, first: Option<Span>, ran: Span) {
        if let Some(predictor) = &mut self.predictor {
            predictor.on_completion(request, ran);
        }
        if let Some(first) = first {
            let (less, more) = (first.min(ran).as_secs_f64(), first.max(ran).as_secs_f64());
            self.counts.ended += 1;
            self.counts.accuracies += if more > 0.0 { less / more } else { 1.0 };
        }
    }

    /// Returns the corrected prediction of a job whose prediction has expired; `None` if it is not corrected.
    pub fn correct(&mut self, expired: &Expired) -> Option<Span> {
        self.counts.expired += u64::from(expired.corrections == 0);
        self.corrector.as_ref()?.correct(expired)
    }
}
