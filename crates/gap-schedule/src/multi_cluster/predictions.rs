//! Predictions of run times in a world, and their accuracy.

use crate::predict::{Corrector, Expired, MeanOfUser, Predictor, TimesRequested};
use sim_core::{Request, Span};

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
