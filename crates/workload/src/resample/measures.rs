//! Measures of a log that are bounded in a resampled log.

use super::{WEEK, weeks_in};
use crate::intake::held::HeldJob;
use sim_core::{Span, Time};

#[derive(Copy, Clone, Debug)]
pub(super) struct WeeklyMoments {
    mean: f64,
    variance: f64,
    /// Σ (xᵢ − x̄)(xᵢ₊₁ − x̄) / Σ (xᵢ − x̄)²; zero where the values are equal.
    pub(super) lag_one: f64,
    /// Pearson's correlation of neighbours, which differs from `lag_one` in few weeks with a trend.
    pairs: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Measures {
    pub(super) jobs: f64,
    /// Moments by way of counting: see [`Blocks`](super::Blocks). The first of each pair omits the last part of a week.
    pub(super) shapes: [[WeeklyMoments; 2]; 4],
    pub(super) backlog: f64,
}

impl Measures {
    /// Measures jobs in order, on a machine that works on any number of them at once, at its whole capacity. The log is scaled to
    /// `density` afterwards; `origin` is time 0 on its own clock.
    pub(super) fn of<'a>(
        jobs: impl Iterator<Item = (Time, &'a HeldJob)>,
        (processors, density): (u32, f64),
        origin: Span,
    ) -> Self {
        let phase = Span::from_nanos(origin.as_nanos() % WEEK.as_nanos());
        let rate = f64::from(processors) / density;
        let mut weekly = [const { Vec::new() }; 4];
        let (mut count, mut fit, mut ahead, mut seen) = (0.0, 0.0, 0.0_f64, 0.0);
        let (mut first, mut last) = (None, Time::ZERO);
        for (submit, job) in jobs {
            count += 1.0;
            // A program that reads the log counts its weeks from the first submission, or from the log's own time 0.
            let countings = [submit.since(*first.get_or_insert(submit)), submit.since(Time::ZERO) + phase];
            let areas = [job.area(), f64::from(job.processors) * job.runtime.as_secs_f64()];
            for (at, since) in countings.into_iter().enumerate() {
                areas.into_iter().zip(&mut weekly[2 * at..]).for_each(|(area, weekly)| add(weekly, since, area));
            }
            if job.processors <= processors {
                ahead = (ahead - submit.since(last).as_secs_f64()).max(0.0);
                seen += ahead;
                fit += 1.0;
                ahead += areas[0] / rate;
                last = submit;
            }
        }
        let shapes = weekly
            .map(|weekly| [WeeklyMoments::of(&weekly[..weekly.len().saturating_sub(1)]), WeeklyMoments::of(&weekly)]);
        Self { jobs: count, shapes, backlog: if fit > 0.0 { seen / fit } else { 0.0 } }
    }
}

/// Adds to the sum of the week that contains the instant `since` after the first week's beginning.
pub(super) fn add(weekly: &mut Vec<f64>, since: Span, work: f64) {
    let week = weeks_in(since);
    weekly.resize(weekly.len().max(week + 1), 0.0);
    weekly[week] += work;
}

impl WeeklyMoments {
    pub(super) fn of(weekly: &[f64]) -> Self {
        let [(mean, squares), (before, of_before), (behind, of_behind)] =
            [weekly, &weekly[..weekly.len().saturating_sub(1)], weekly.get(1..).unwrap_or_default()].map(|part| {
                let mean = part.iter().sum::<f64>() / part.len() as f64;
                (mean, part.iter().map(|work| (work - mean).powi(2)).sum::<f64>())
            });
        let products = |a: f64, b: f64| weekly.windows(2).map(|pair| (pair[0] - a) * (pair[1] - b)).sum::<f64>();
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Self {
            mean,
            variance: squares / weekly.len() as f64,
            lag_one: ratio(products(mean, mean), squares),
            pairs: ratio(products(before, behind), (of_before * of_behind).sqrt()),
        }
    }

    pub(super) fn variation(&self) -> f64 {
        self.variance.sqrt() / self.mean
    }

    /// Returns true if weekly work varies by less than a tenth (coefficient of variation). Its moments then depend on where weeks begin.
    fn is_even(&self) -> bool {
        self.variance.sqrt() < 0.1 * self.mean
    }

    /// Returns the bounded values, with the positions of their bounds.
    pub(super) fn beside(&self, log: &Self) -> [(usize, f64); 4] {
        let work = self.mean / log.mean;
        if self.is_even() && log.is_even() {
            return [(1, work); 4];
        }
        let variance = self.variance / log.variance;
        [(1, work), (2, variance), (3, self.lag_one - log.lag_one), (3, self.pairs - log.pairs)]
    }
}
