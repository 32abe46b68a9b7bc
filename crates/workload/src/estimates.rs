//! Estimates of run times that policies see.

use crate::error::TextError;
use crate::held_job::HeldJob;
use crate::repair::Rule;
use rand::RngExt;
use sim_core::{Job, JobId, Purpose, Request, SiteSet, Span, Streams};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
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
    /// Mean run time of the last K jobs of the user that had ended when this one was submitted; never above the user's
    /// own estimate. K from 1 to 1000.
    ///
    /// Tsafrir, Etsion & Feitelson, "Backfilling Using System-Generated Predictions Rather Than User Runtime
    /// Estimates", IEEE TPDS 18(6), 2007, where K is 2. Ends of jobs follow from the wait and run times of the log
    /// itself, not from the simulated policy, so all policies are compared on the same predictions. A user with fewer
    /// than K ended jobs gets the mean of those; without any, the requested time, or else the run time. The requested
    /// time remains the limit, and jobs are cut there as under [`Estimates::User`]. The prediction is no limit, and a
    /// job may run beyond it.
    MeanOfUser(u32),
}

const F_MODEL: Purpose = Purpose("f-model estimates");

impl Estimates {
    /// Returns true if the parameter is within its range.
    fn is_possible(&self) -> bool {
        match *self {
            Self::Exact | Self::User => true,
            Self::Factor(factor) | Self::RequestFactor(factor) => (1.0..=LARGEST_FACTOR).contains(&factor),
            Self::FModel(factor) => (0.0..=LARGEST_FACTOR).contains(&factor),
            Self::MeanOfUser(jobs) => (1..=1000).contains(&jobs),
        }
    }
}

const LARGEST_FACTOR: f64 = 1e6;

/// Computes the estimates of jobs, in the order of their submission.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    estimates: Estimates,
    seed: u64,
    /// Past jobs, for [`Estimates::MeanOfUser`].
    history: PastJobs,
}

impl Estimator {
    /// # Panics
    ///
    /// If the parameter is out of its range, which [`Estimates::from_str`] rejects.
    pub(crate) fn new(estimates: Estimates, seed: u64) -> Self {
        assert!(estimates.is_possible(), "estimates cannot be {estimates}");
        let window = if let Estimates::MeanOfUser(jobs) = estimates { jobs as usize } else { 1 };
        Self { estimates, seed, history: PastJobs::new(window) }
    }

    /// Returns the next job as a simulation takes it; `note` is called with the rules that are applied. `logged` is its
    /// submission on the log's clock, and `ordered` the same, or that of the previous job if that is later.
    pub(crate) fn job(
        &mut self,
        id: JobId,
        held: &HeldJob,
        [logged, ordered]: [Span; 2],
        mut note: impl FnMut(Rule),
    ) -> Job {
        let HeldJob { submit, runtime, limit, due, processors, user, number, .. } = *held;
        let (runtime, estimate) = match self.estimates {
            Estimates::Exact => (runtime, runtime),
            Estimates::Factor(factor) => (runtime, stretched(runtime, factor)),
            Estimates::FModel(f) => (runtime, f_model(runtime, f, self.seed, number)),
            Estimates::User | Estimates::RequestFactor(_) | Estimates::MeanOfUser(_) => {
                if limit.is_some_and(|limit| limit < runtime) {
                    note(Rule::CutAtEstimate);
                }
                let predicted = match self.estimates {
                    Estimates::MeanOfUser(_) => self.mean_of_user(held, [logged, ordered], &mut note),
                    _ => None,
                };
                if predicted.is_none() && limit.is_none() {
                    note(Rule::EstimateFromRuntime);
                }
                let requested = limit.unwrap_or(runtime);
                let estimate = match (self.estimates, predicted) {
                    (Estimates::RequestFactor(factor), _) => stretched(requested, factor),
                    (_, Some(mean)) => limit.map_or(mean, |limit| mean.min(limit)),
                    (_, None) => requested,
                };
                (held.runtime_within_limit(), estimate)
            }
        };
        let deadline = due.map(|due| submit + due);
        let request = Request { processors, estimate: Some(estimate), deadline, sites: SiteSet::ALL, user };
        Job { id, submit, origin: None, request, runtime }
    }

    /// Returns the mean run time of past jobs of the job's user. Later predictions use this job once it has ended in the log.
    fn mean_of_user(
        &mut self,
        job: &HeldJob,
        [logged, ordered]: [Span; 2],
        mut note: impl FnMut(Rule),
    ) -> Option<Span> {
        let mean = job.user.and_then(|user| self.history.mean_of(user, ordered));
        if mean.is_none() {
            note(Rule::NoPastJob);
        }
        if let Some(user) = job.user {
            if job.wait.is_none() {
                note(Rule::WaitTakenAsZero);
            }
            self.history.submit(user, logged + job.wait.unwrap_or_default() + job.runtime, job.runtime);
        }
        mean
    }
}

/// Returns the f-model's estimate for the job of that number.
fn f_model(runtime: Span, f: f64, seed: u64, number: u64) -> Span {
    let folded = (number ^ (number >> 32)) & u64::from(u32::MAX);
    let index = u32::try_from(folded).expect("masked");
    let share: f64 = Streams::new(seed, 0).stream(F_MODEL, index).random();
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

/// Run times of each user's last jobs, as far as they had ended by the log's own clock.
///
/// Memory follows the users, `window` run times each, and the jobs that the log's machine held at once, not the length
/// of the log.
#[derive(Clone, Debug)]
struct PastJobs {
    /// Number of run times of a user that are kept, at least 1.
    window: usize,
    /// Jobs in flight, the next to end on top; of those that end at once, the one submitted first.
    in_flight: BinaryHeap<Reverse<Flight>>,
    submitted: u64,
    /// Run times of each user's last jobs, in the order in which they ended.
    ended: BTreeMap<u32, VecDeque<Span>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    end: Span,
    /// Position in the log, which makes the order total.
    number: u64,
    user: u32,
    runtime: Span,
}

impl PastJobs {
    const fn new(window: usize) -> Self {
        Self { window, in_flight: BinaryHeap::new(), submitted: 0, ended: BTreeMap::new() }
    }

    /// Returns the mean run time of the last jobs of `user` that had ended at `now`, that instant included; `None` if none had.
    ///
    /// `now` never decreases from call to call.
    fn mean_of(&mut self, user: u32, now: Span) -> Option<Span> {
        while self.in_flight.peek().is_some_and(|next| next.0.end <= now)
            && let Some(Reverse(flight)) = self.in_flight.pop()
        {
            let last = self.ended.entry(flight.user).or_default();
            if last.len() == self.window {
                last.pop_front();
            }
            last.push_back(flight.runtime);
        }
        let last = self.ended.get(&user)?;
        // A thousand run times of 136 years do not fit into a span.
        let sum: u128 = last.iter().map(|runtime| u128::from(runtime.as_nanos())).sum();
        let mean = sum / last.len() as u128;
        Some(Span::from_nanos(u64::try_from(mean).expect("no mean is above the largest value")))
    }

    /// Adds a job of `user` that ends at `end`.
    fn submit(&mut self, user: u32, end: Span, runtime: Span) {
        self.in_flight.push(Reverse(Flight { end, number: self.submitted, user, runtime }));
        self.submitted += 1;
    }
}
