//! Estimates of run times that policies see.

use crate::error::TextError;
use crate::format::repair::Rule;
use crate::intake::held_job::HeldJob;
use rand::RngExt;
use sim_core::{Job, JobId, Purpose, Request, SiteSet, Span, Streams};
use std::fmt;
use std::str::FromStr;

/// Estimates of run times that policies see.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Estimates {
    /// Run time itself; no job is cut.
    #[default]
    Exact,
    /// Requested time (field 9). It is also the limit: a job that ran beyond it is cut there, as by a machine that
    /// enforces its limits. Where it is missing, the run time replaces it.
    User,
    /// F times the run time; F from 1 to a million. No job is cut.
    Factor(f64),
    /// F times the requested time, or the run time where that is missing; F from 1 to a million. The requested time itself
    /// remains the limit, and jobs are cut there as under [`Estimates::User`]: run times stay, only expectations change.
    ///
    /// With F = 2 these are the doubled estimates of Zotkin & Keleher, "Job-Length Estimation and Performance in Backfilling
    /// Schedulers", HPDC 1999, and of Tsafrir, Etsion & Feitelson, IEEE TPDS 18(6), 2007.
    RequestFactor(f64),
    /// The f-model: uniform between the run time and F + 1 times the run time; F from 0, which is exact, to a million. No
    /// job is cut.
    ///
    /// Mu'alem & Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2
    /// with Backfilling", IEEE TPDS 12(6), 2001; Zhang et al. (2001). Each job has a stream of its own, addressed by
    /// [`Options::seed`](crate::Options::seed) and its number in the log, so it does not depend on how much of the log
    /// is read. Two jobs with one number, an error of the log, share their draw.
    FModel(f64),
    /// As under [`Estimates::User`]. A simulation that can predict then expects the mean run time of the last K jobs of the user
    /// that have ended in it, and never more than the request; K from 1 to 1000.
    ///
    /// Tsafrir, Etsion & Feitelson, "Backfilling Using System-Generated Predictions Rather Than User Runtime
    /// Estimates", IEEE TPDS 18(6), 2007, where K is 2.
    MeanOfUser(u32),
}

impl Estimates {
    fn is_possible(&self) -> bool {
        match *self {
            Self::Exact | Self::User => true,
            Self::Factor(factor) | Self::RequestFactor(factor) => (1.0..=LARGEST_FACTOR).contains(&factor),
            Self::FModel(factor) => (0.0..=LARGEST_FACTOR).contains(&factor),
            Self::MeanOfUser(jobs) => (1..=1000).contains(&jobs),
        }
    }

    /// Panics if the parameter is out of its range, which text of an option never is.
    pub(crate) fn assert_possible(self) {
        assert!(self.is_possible(), "estimates cannot be {self}");
    }

    /// Returns a job as a simulation takes it; `note` is called with the rules that are applied. `seed` is that of drawn estimates.
    pub(crate) fn job(self, seed: u64, id: JobId, held: &HeldJob, mut note: impl FnMut(Rule)) -> Job {
        let HeldJob { submit, runtime, limit, due, processors, user, number, .. } = *held;
        let requested = limit.unwrap_or(runtime);
        let estimate = match self {
            Self::Exact => runtime,
            Self::User | Self::MeanOfUser(_) => requested,
            Self::Factor(factor) => stretched(runtime, factor),
            Self::RequestFactor(factor) => stretched(requested, factor),
            Self::FModel(f) => f_model(runtime, f, seed, number),
        };
        let is_enforced = matches!(self, Self::User | Self::RequestFactor(_) | Self::MeanOfUser(_));
        match limit {
            Some(limit) if is_enforced && limit < runtime => note(Rule::CutAtEstimate),
            None if is_enforced => note(Rule::EstimateFromRuntime),
            _ => {}
        }
        let runtime = if is_enforced { held.runtime_within_limit() } else { runtime };
        let deadline = due.map(|due| submit + due);
        let request = Request { processors, estimate: Some(estimate), deadline, sites: SiteSet::ALL, user };
        Job { id, submit, origin: None, request, runtime }
    }
}

const LARGEST_FACTOR: f64 = 1e6;

fn f_model(runtime: Span, f: f64, seed: u64, number: u64) -> Span {
    let index = u32::try_from((number ^ (number >> 32)) & u64::from(u32::MAX)).expect("masked");
    let share: f64 = Streams::new(seed, 0).stream(Purpose("f-model estimates"), index).random();
    stretched(runtime, 1.0 + f * share)
}

/// Returns `runtime` times `factor`, at most 136 years, the limit of a log's own estimates: sums of estimates must stay
/// within the range of time.
pub(crate) fn stretched(runtime: Span, factor: f64) -> Span {
    let longest = Span::from_secs(u64::from(u32::MAX));
    if runtime.as_secs_f64() * factor < longest.as_secs_f64() { runtime.scaled(factor) } else { longest.max(runtime) }
}

impl FromStr for Estimates {
    type Err = TextError;

    /// Parses `exact`, `user`, `factor:2.5`, `request-factor:2`, `f-model:4`, or `mean-of-user:2`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let known = match text.split_once(':') {
            None if text == "exact" => Some(Self::Exact),
            None if text == "user" => Some(Self::User),
            Some(("factor", factor)) => factor.parse().ok().map(Self::Factor),
            Some(("request-factor", factor)) => factor.parse().ok().map(Self::RequestFactor),
            Some(("f-model", factor)) => factor.parse().ok().map(Self::FModel),
            Some(("mean-of-user", jobs)) => jobs.parse().ok().map(Self::MeanOfUser),
            _ => None,
        };
        known.filter(Self::is_possible).ok_or_else(|| {
            let expected = "estimates: expected exact, user, factor:F (times the run time) or request-factor:F (times the request) \
                            with F from 1 to 1000000, f-model:F with F from 0 to 1000000, or mean-of-user:K with K from 1 to 1000,";
            TextError::new(expected, text)
        })
    }
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::User => f.write_str("user"),
            Self::Factor(factor) => write!(f, "factor:{factor}"),
            Self::RequestFactor(factor) => write!(f, "request-factor:{factor}"),
            Self::FModel(factor) => write!(f, "f-model:{factor}"),
            Self::MeanOfUser(jobs) => write!(f, "mean-of-user:{jobs}"),
        }
    }
}
