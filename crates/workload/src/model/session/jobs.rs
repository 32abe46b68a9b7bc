//! Jobs of a session model.

use super::{SessionModel, SizeShare};
use crate::draw;
use crate::model::{ModelJob, at_second};
use sim_core::{Purpose, Span, Stream, Streams};
use std::collections::BTreeMap;

/// Memory follows the open sessions. Each session has its own streams, so sessions do not affect each other's draws.
#[derive(Clone, Debug)]
pub(super) struct SessionJobs {
    model: SessionModel,
    streams: Streams,
    starts: SessionStarts,
    next_start: f64,
    sessions: u32,
    /// Open sessions, keyed by the submission time of the next job (the bits of a non-negative float sort like its value), then by
    /// the order in which they began.
    open: BTreeMap<(u64, u32), OpenSession>,
    drawn: u32,
}

impl SessionJobs {
    pub(super) fn new(model: SessionModel, streams: &Streams) -> Self {
        let mut starts = SessionStarts::new(&model, streams.stream(Purpose("session starts"), 0));
        let next_start = starts.next_start();
        Self { model, streams: *streams, starts, next_start, sessions: 0, open: BTreeMap::new(), drawn: 0 }
    }

    fn begin(&mut self) {
        let number = self.sessions;
        self.sessions = number.checked_add(1).expect("fewer than 4 billion sessions");
        let mut session = self.streams.stream(Purpose("session"), number);
        let user = draw::pick(&mut session, self.model.users.iter().copied());
        let jobs = self.model.session_jobs.at(draw::unit(&mut session));
        self.insert(OpenSession {
            at: self.next_start,
            number,
            user: u32::try_from(user).expect("fewer than 4 billion users"),
            left: u32::try_from(whole(jobs)).expect("at most a million"),
            gaps: session,
            requests: self.streams.stream(Purpose("session requests"), number),
            runtimes: self.streams.stream(Purpose("session runtimes"), number),
            request: None,
            score: None,
        });
        self.next_start = self.starts.next_start();
    }

    fn insert(&mut self, session: OpenSession) {
        self.open.insert((session.at.to_bits(), session.number), session);
    }
}

impl Iterator for SessionJobs {
    type Item = ModelJob;

    fn next(&mut self) -> Option<ModelJob> {
        while self.open.first_key_value().is_none_or(|(_, session)| self.next_start < session.at) {
            self.begin();
        }
        let (_, mut session) = self.open.pop_first()?;
        let before = self.drawn;
        self.drawn = self.drawn.checked_add(1).expect("a run has fewer than 4 billion jobs");
        let job = session.job(before, &self.model);
        if session.left > 0 {
            session.at += self.model.session_gap.at(draw::unit(&mut session.gaps));
            self.insert(session);
        }
        Some(job)
    }
}

#[derive(Clone, Debug)]
struct OpenSession {
    /// Submission of its next job, in seconds.
    at: f64,
    number: u32,
    user: u32,
    /// Number of jobs yet to come.
    left: u32,
    gaps: Stream,
    requests: Stream,
    runtimes: Stream,
    request: Option<SessionRequest>,
    /// Normal score of the last fraction.
    score: Option<f64>,
}

#[derive(Clone, Debug)]
struct SessionRequest {
    processors: u32,
    nodes: Box<str>,
    estimate: u32,
}

impl OpenSession {
    fn job(&mut self, before: u32, model: &SessionModel) -> ModelJob {
        self.left -= 1;
        let repeats = draw::unit(&mut self.requests) < model.repeat;
        let request = match self.request.take() {
            Some(request) if repeats => request,
            _ => SessionRequest::draw(model, &mut self.requests),
        };
        let fresh = draw::normal(&mut self.runtimes);
        let score = match self.score {
            None => fresh,
            Some(last) => model.persistence * last + libm::sqrt(1.0 - model.persistence * model.persistence) * fresh,
        };
        self.score = Some(score);
        // Probability that a standard normal variate lies below the score.
        let share = 0.5 * libm::erfc(-score / std::f64::consts::SQRT_2);
        let parts = entry(&model.runtimes, request.estimate, |entry| entry.up_to).parts;
        let runtime = parts.at(share) * f64::from(request.estimate) * model.runtime_factor;
        // To the nearest second: a fraction of six digits is 1 s of two hours, and not a millionth more.
        let runtime = Span::from_secs(whole(runtime).min(u32::MAX.into()));
        let estimate = Span::from_secs(request.estimate.into());
        let mut job = ModelJob::new(before, at_second(self.at), request.processors, runtime);
        job.job.limit = Some(estimate);
        job.job.user = Some(self.user);
        job.further = Some(format!("-1 {}", request.nodes).into());
        self.request = Some(request);
        job
    }
}

impl SessionRequest {
    fn draw(model: &SessionModel, stream: &mut Stream) -> Self {
        let size = &model.sizes[draw::pick(stream, model.sizes.iter().map(|size| size.weight))];
        let nodes = nodes(size, stream);
        let estimates = &entry(&model.estimates, size.processors, |entry| entry.up_to).values;
        let estimate = estimates[draw::pick(stream, estimates.iter().map(|(_, weight)| *weight))].0;
        Self { processors: size.processors, nodes, estimate }
    }
}

/// Draws the requested nodes, in the form of column 21 of a log of MetaCentrum.
fn nodes(size: &SizeShare, stream: &mut Stream) -> Box<str> {
    if size.shapes.is_empty() {
        return format!("{}:ppn=1", size.processors).into();
    }
    let shape = &size.shapes[draw::pick(stream, size.shapes.iter().map(|shape| shape.weight))];
    let nodes = size.processors / shape.ppn;
    match &shape.cluster {
        None => format!("{nodes}:ppn={}", shape.ppn).into(),
        Some(cluster) => format!("{nodes}:ppn={}:cl_{cluster}", shape.ppn).into(),
    }
}

/// Returns the first entry that includes `value`, or else the last.
fn entry<T>(entries: &[T], value: u32, up_to: impl Fn(&T) -> u32) -> &T {
    let at = entries.partition_point(|entry| up_to(entry) < value);
    &entries[at.min(entries.len() - 1)]
}

/// Returns the nearest whole number, at least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
pub(super) fn whole(number: f64) -> u64 {
    ((number + 0.5) as u64).max(1)
}

/// Beginnings of sessions, in seconds: a Poisson process whose rate is constant within each hour of the week.
#[derive(Clone, Debug)]
struct SessionStarts {
    /// Number of sessions per hour, in each hour of the week.
    rates: Box<[f64]>,
    stream: Stream,
    start_hour: u32,
    /// Hours since the beginning of the first week.
    hour: u64,
    /// Seconds of that hour that have passed.
    seconds: f64,
}

impl SessionStarts {
    fn new(model: &SessionModel, stream: Stream) -> Self {
        let (hours, days): (f64, f64) = (model.by_hour.iter().sum(), model.by_weekday.iter().sum());
        let rate = |hour: usize| {
            7.0 * model.sessions_per_day * model.by_weekday[hour / 24] / days * model.by_hour[hour % 24] / hours
        };
        let rates = (0..168).map(rate).collect();
        Self { rates, stream, start_hour: model.start_hour, hour: model.start_hour.into(), seconds: 0.0 }
    }

    fn next_start(&mut self) -> f64 {
        let mut left = draw::exponential(&mut self.stream);
        loop {
            let rate = self.rates[usize::try_from(self.hour % 168).expect("below 168")] / 3_600.0;
            let passes = (3_600.0 - self.seconds) * rate;
            if left < passes {
                self.seconds += left / rate;
                break;
            }
            left -= passes;
            self.hour += 1;
            self.seconds = 0.0;
        }
        let hours = (self.hour - u64::from(self.start_hour)) as f64;
        3_600.0 * hours + self.seconds
    }
}
