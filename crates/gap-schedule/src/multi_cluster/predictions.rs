//! Predictions of run times in a world, and their accuracy.

use crate::correct::{Corrector, Expired};
use crate::predict::Predictor;
use crate::queue::QueuedJob;
use sim_core::{Request, Span};

/// Predictions of run times, divided from limits: what policies order queues by and rest reservations on, in place of what
/// users requested. See [`MultiCluster::with_predictions`](crate::MultiCluster::with_predictions).
///
/// ```
/// use gap_schedule::{Easy, Increments, Machine, MeanOfUser, MultiCluster, Predictions};
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
/// let predictions = Predictions::by(MeanOfUser::tsafrir()).corrected_by(Increments::tsafrir());
/// let world = MultiCluster::new(vec![Machine::new(4)], Easy::default(), jobs.into_iter()).with_predictions(predictions);
/// let (world, ()) = Sim::new(world, ()).run();
///
/// // The third was predicted to run for 200 s, and then for a minute more.
/// let counts = world.predictions().expect("they were given").counts();
/// assert_eq!((counts.predicted, counts.expired, counts.corrections), (3, 1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Predictions {
    /// `None` if the run times themselves are the predictions.
    predictor: Option<Box<dyn Predictor>>,
    corrector: Option<Box<dyn Corrector>>,
    counts: PredictionCounts,
}

/// How predictions fared.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct PredictionCounts {
    /// Jobs that were given a prediction when they were submitted.
    pub predicted: u64,
    /// Those whose prediction expired while they ran. A job that lost its machine and runs again may be counted again.
    pub expired: u64,
    /// How often a prediction was replaced by a later one.
    pub corrections: u64,
    /// Those that have ended.
    pub ended: u64,
    /// Of those that have ended, the sum of min(p, r) / max(p, r); p is what was predicted at the submission, r the run time.
    pub accuracies: f64,
}

impl PredictionCounts {
    /// The mean accuracy of the predictions made at submission, min(p, r) / max(p, r), from 0 to 1; `None` before the first end.
    ///
    /// Source: Tsafrir, Etsion & Feitelson (TPDS 2007), §4, whose accuracy this is.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
    pub fn accuracy(&self) -> Option<f64> {
        (self.ended > 0).then(|| self.accuracies / self.ended as f64)
    }
}

impl Predictions {
    /// By a predictor that sees requests and the past. Predictions that expire are not corrected.
    pub fn by(predictor: impl Predictor + 'static) -> Self {
        Self { predictor: Some(Box::new(predictor)), ..Self::clairvoyant() }
    }

    /// The run times themselves: the one predictor that knows the future, for comparison.
    pub fn clairvoyant() -> Self {
        Self { predictor: None, corrector: None, counts: PredictionCounts::default() }
    }

    /// The same, where this corrector answers when a prediction expires.
    #[must_use]
    pub fn corrected_by(self, corrector: impl Corrector + 'static) -> Self {
        Self { corrector: Some(Box::new(corrector)), ..self }
    }

    /// How they have fared so far.
    pub const fn counts(&self) -> PredictionCounts {
        self.counts
    }

    /// What is expected of a job that is submitted now and would run for `runtime`, at reference speed; `None` if that is unknown.
    pub fn predict(&mut self, request: &Request, runtime: Span) -> Option<Span> {
        let predicted = match &mut self.predictor {
            Some(predictor) => predictor.predict(request),
            None => Some(runtime),
        };
        self.counts.predicted += u64::from(predicted.is_some());
        predicted
    }

    /// A job has ended that was predicted, at its submission, to run for `first`. `request` is what its user asked for.
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

    /// What is expected of a job whose prediction has expired; `None` if it is not corrected.
    pub fn correct(&mut self, expired: &Expired) -> Option<Span> {
        self.counts.expired += u64::from(expired.corrections == 0);
        self.corrector.as_mut()?.correct(expired)
    }

    /// A prediction has been replaced.
    pub(super) const fn note_correction(&mut self) {
        self.counts.corrections += 1;
    }
}

/// What the user of a job asked for, whose request a policy is shown with a prediction in it.
pub(super) fn as_requested(queued: &QueuedJob, requested: Option<Span>) -> Request {
    Request { estimate: requested, ..queued.request }
}
