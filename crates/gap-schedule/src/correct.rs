//! Corrections of predictions that jobs have outlived.

use dyn_clone::DynClone;
use sim_core::{JobId, Request, Span};
use std::fmt::Debug;

/// Corrects predictions: called at the instant at which a job outlives its prediction.
///
/// Without a correction, the scheduler expects such a job to end at any moment, rests reservations on that, and is
/// wrong at each pass. On KTH-SP2, uncorrected predictions multiply EASY's mean wait by 6.9 (mean of a user's last two
/// jobs) or by 3.9 (last five); corrected to the request, those of two jobs lower it by a sixth.
pub trait Corrector: Debug + DynClone + Send + Sync {
    /// Returns the new expected run time from the start of the job, at reference speed. `None`, or a run time that has passed
    /// already, leaves the job without a prediction: it is expected to end at any moment, and the corrector is not called again.
    fn correct(&mut self, expired: &Expired) -> Option<Span>;
}

dyn_clone::clone_trait_object!(Corrector);

/// Job that has outlived its prediction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Expired {
    /// Id of the job.
    pub job: JobId,
    /// Request of its user.
    pub request: Request,
    /// Prediction at its submission.
    pub first: Span,
    /// Prediction that has now expired: `first`, or the last correction.
    pub prediction: Span,
    /// Number of earlier corrections.
    pub corrections: u32,
}

/// Correction to the request of the user.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ToRequested;

impl Corrector for ToRequested {
    fn correct(&mut self, expired: &Expired) -> Option<Span> {
        expired.request.estimate
    }
}

/// Correction to twice the expired prediction. It may exceed the request.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Doubling;

impl Corrector for Doubling {
    fn correct(&mut self, expired: &Expired) -> Option<Span> {
        Some(Span::from_nanos(expired.prediction.as_nanos().saturating_mul(2)))
    }
}

/// Correction to the first prediction plus an increment that grows from correction to correction, at most the request.
/// After the last increment, the request.
///
/// Source: Tsafrir, Etsion & Feitelson (TPDS 2007), §4: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours
/// ([`tsafrir`](Self::tsafrir)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Increments(
    /// Increments in order of use, each added to the first prediction.
    pub Vec<Span>,
);

impl Increments {
    /// Returns the increments of EASY++.
    pub fn tsafrir() -> Self {
        const MINUTES: [u64; 11] = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_000, 6_000];
        Self(MINUTES.map(|minutes| Span::from_secs(60 * minutes)).to_vec())
    }
}

impl Corrector for Increments {
    fn correct(&mut self, expired: &Expired) -> Option<Span> {
        let asked = expired.request.estimate;
        // The published rule removes the last increment and adds the next: all count from the first prediction. A
        // correction that was cut at the request is the last one, since the next is cut there too.
        let Some(next) = self.0.get(expired.corrections as usize) else { return asked };
        let corrected = Span::from_nanos(expired.first.as_nanos().saturating_add(next.as_nanos()));
        Some(asked.map_or(corrected, |asked| corrected.min(asked)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Job, Time};

    fn expired(first: u64, prediction: u64, corrections: u32, asked: Option<u64>) -> Expired {
        let mut request = Job::new(JobId(3), Time::ZERO, 1, Span::ZERO).request;
        request.estimate = asked.map(Span::from_secs);
        let (first, prediction) = (Span::from_secs(first), Span::from_secs(prediction));
        Expired { job: JobId(3), request, first, prediction, corrections }
    }

    /// Lists the corrections of a job that never ends, in seconds.
    fn all(corrector: &mut dyn Corrector, first: u64, asked: Option<u64>) -> Vec<u64> {
        let mut found = Vec::new();
        let mut now = first;
        for corrections in 0..20 {
            let next = corrector.correct(&expired(first, now, corrections, asked)).map(Span::as_nanos);
            match next.map(|nanos| nanos / 1_000_000_000).filter(|next| *next > now) {
                Some(next) => now = next,
                None => break,
            }
            found.push(now);
        }
        found
    }

    #[test]
    fn increments_count_from_the_first_prediction_and_end_at_the_request() {
        assert_eq!(all(&mut Increments::tsafrir(), 100, Some(3_000)), [160, 400, 1_000, 1_900, 3_000]);
        assert_eq!(all(&mut Increments::tsafrir(), 100, Some(1_900)), [160, 400, 1_000, 1_900]);
        let request = 1_000_000;
        let hours = |hours: u64| 100 + 3_600 * hours;
        let long = all(&mut Increments::tsafrir(), 100, Some(request));
        let expected =
            [160, 400, 1_000, 1_900, hours(1), hours(2), hours(5), hours(10), hours(20), hours(50), hours(100)];
        assert_eq!(long[..11], expected);
        assert_eq!(long[11..], [request], "after the last of them");
        assert_eq!(all(&mut Increments::tsafrir(), 100, None), expected);
        assert_eq!(all(&mut Increments(vec![Span::from_secs(7)]), 1, Some(90)), [8, 90], "a list of one");
    }
}
