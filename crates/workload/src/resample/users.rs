//! Users, drawn independently week by week.

use super::measures::Measures;
use super::{Blocks, DRAWS, Drawn, ResampleError, WEEK, below, weeks_in};
use crate::draw;
use crate::intake::held::{HeldJob, HeldLog};
use rand::RngExt as _;
use sim_core::{Purpose, Span, Stream, Streams, Time};
use std::collections::BTreeMap;

const LONG_TERM: Purpose = Purpose("long-term users");

/// Number of weeks from the first to the last job beyond which a user is a long-term user.
const LONG: u64 = 12;

/// Log split into its users, to be recombined: N. Zakay, D. G. Feitelson, "Workload Resampling for Performance
/// Evaluation of Parallel Job Schedulers", ICPE 2013, and Concurrency and Computation: Practice and Experience 26(12),
/// 2014.
///
/// The jobs of a user stay together, in their order, and move by whole weeks. Sessions, nights, weekends and repeated
/// requests within a week are those of the log. The users present in each week are drawn.
///
/// - *Temporary users*, whose jobs all lie within 12 weeks, arrive at the log's mean rate: a Poisson number in each
///   week, each drawn from those of the log with equal probability.
/// - *Long-term users*, all others, occupy as many places as in the log on average. After the last job of a user, another user
///   takes its place from its first job on, drawn with equal probability. At the beginning each place is held by a user in the
///   middle of its stay, drawn with a probability proportional to its length: the process is stationary from the first week.
/// - Each arrival has a user number of its own, so that the same user of the log may be present twice at once, as two users.
/// - A job without a user (field 12 is −1) arrives by itself, as a temporary user of one job.
///
/// A log with 1.2 times the load has more users ([`with_users`](Self::with_users)): times between arrivals and the
/// cycles stay. For replications of a log at its own load use [`Blocks`], which keeps the distribution of weekly work.
///
/// # Limits
///
/// - Users are drawn independently: common causes of their submissions (the deadline of a conference, a broken machine)
///   are lost, and weekly work varies up to twice as much as in the log (coefficient of variation). Mean waits of a
///   loaded machine then grow by factors: 16 656 to 1 751 228 s under EASY in eight logs drawn from SDSC-SP2, against
///   20 576 s in the log. [`redrawn_within`](Self::redrawn_within) rejects such logs by their backlog.
/// - Submissions do not react to the policy: a slow scheduler receives as many jobs as a fast one.
/// - Trends over the months, and the first and the last weeks of the log, are averaged.
#[derive(Clone, Debug)]
pub struct Users {
    temporary: Vec<Subtrace>,
    long_term: Vec<Subtrace>,
    weeks: u64,
    /// Number of users relative to the log's own.
    users: f64,
    log_weeks: f64,
}

/// Jobs of one user, submitted from the beginning of the week of the first on.
#[derive(Clone, Debug)]
struct Subtrace {
    jobs: Vec<HeldJob>,
    /// Number of weeks from the first to the last job, both included.
    weeks: u64,
}

impl Users {
    /// Returns the bounds of a log that is [drawn within them](Self::redrawn_within), in words.
    pub fn bounds() -> String {
        let [.., (name, low, high)] = Blocks::BOUNDS;
        format!("{name} {low} to {high}")
    }

    /// Splits the log into users.
    ///
    /// # Errors
    ///
    /// If the users of fewer than half of the jobs are known, or the log is shorter than four weeks.
    pub fn of(log: &HeldLog) -> Result<Self, ResampleError> {
        let known = log.share(|job| job.user.is_some());
        if known < 0.5 {
            let percent = libm::floor(100.0 * known);
            return Err(ResampleError(format!(
                "{percent} % of the log's jobs have a user, and half are needed to draw users; draw blocks of weeks instead"
            )));
        }
        let span = log.span();
        if span < WEEK * 4 {
            let days = span.as_nanos() / Span::from_secs(86_400).as_nanos();
            return Err(ResampleError(format!(
                "the log covers {days} days, and users are drawn week by week: four weeks at least; shake it instead"
            )));
        }
        let (mut of_user, mut without) = (BTreeMap::<u32, Vec<HeldJob>>::new(), Vec::new());
        for job in log.jobs() {
            match job.user {
                Some(user) => of_user.entry(user).or_default().push(*job),
                None => without.push(vec![*job]),
            }
        }
        let all = of_user.into_values().chain(without).map(Subtrace::of);
        let (long_term, temporary): (Vec<_>, Vec<_>) = all.partition(|one| one.weeks > LONG);
        let log_weeks = span.as_secs_f64() / WEEK.as_secs_f64();
        Ok(Self { temporary, long_term, weeks: weeks_in(span) as u64 + 1, users: 1.0, log_weeks })
    }

    /// Sets the length to `weeks` weeks, by default that of the log.
    ///
    /// # Panics
    ///
    /// If `weeks` is zero.
    #[must_use]
    pub fn with_weeks(self, weeks: u64) -> Self {
        assert!(weeks > 0, "a log has at least a week");
        Self { weeks, ..self }
    }

    /// Sets the number of users to `users` times that of the log, and so the load to about `users` times its load.
    ///
    /// # Panics
    ///
    /// If `users` is not a positive number.
    #[must_use]
    pub fn with_users(self, users: f64) -> Self {
        assert!(users > 0.0 && users.is_finite(), "there cannot be {users} times as many users");
        Self { users, ..self }
    }

    /// Numbers of temporary and of long-term users of the log.
    pub fn counts(&self) -> (usize, usize) {
        (self.temporary.len(), self.long_term.len())
    }

    /// Draws one log whose backlog lies within the [bound of `Blocks`](Blocks::BOUNDS), 0.667 to 1.5 times that of `log` when
    /// all its times are divided by the relative number of users. A draw outside is rejected and replaced by the next.
    ///
    /// The machine has `processors`, and the resampled log is made `density` times as dense before it is simulated.
    ///
    /// # Errors
    ///
    /// If 5 000 draws were rejected.
    pub fn redrawn_within(
        &self,
        log: &HeldLog,
        (processors, density): (u32, f64),
        streams: &Streams,
    ) -> Result<Drawn, ResampleError> {
        let backlog = |log: &HeldLog, density: f64| {
            let jobs = log.jobs().iter().map(|job| (job.submit, job));
            Measures::of(jobs, (processors, density), log.origin()).backlog
        };
        let [.., (_, low, high)] = Blocks::BOUNDS;
        let own = backlog(log, density * self.users);
        let kept = low * own..=high * own;
        let draw = |refused: u32| match refused {
            0 => self.redrawn(streams),
            _ => self.redrawn(&Streams::new(streams.stream(Purpose("redraws of users"), refused).random(), 0)),
        };
        (0..DRAWS)
            .map(|refused| Drawn { log: draw(refused), refused })
            .find(|drawn| kept.contains(&backlog(&drawn.log, density)))
            .ok_or_else(|| {
                let (users, bounds) = (self.users, Self::bounds());
                ResampleError(format!(
                    "none of {DRAWS} draws of {users} times the log's users kept the bounds of a resampled log ({bounds}); draw \
                     blocks of weeks instead, or another number of users"
                ))
            })
    }

    /// Draws one log, without bounds.
    pub fn redrawn(&self, streams: &Streams) -> HeldLog {
        let mut jobs = Vec::new();
        let mut next_user = 0;
        self.draw_temporary(&mut streams.stream(Purpose("temporary users"), 0), &mut next_user, &mut jobs);
        self.draw_long_term(streams, &mut next_user, &mut jobs);
        HeldLog::of(jobs)
    }

    fn draw_temporary(&self, stream: &mut Stream, next_user: &mut u32, jobs: &mut Vec<HeldJob>) {
        if self.temporary.is_empty() {
            return;
        }
        let rate = self.users * self.temporary.len() as f64 / self.log_weeks;
        // Users that arrived up to twelve weeks before the first week may still be present.
        let mut at = -(LONG as f64);
        let end = self.weeks as f64;
        loop {
            at += draw::exponential(stream) / rate;
            if at >= end {
                break;
            }
            let one = &self.temporary[below(stream, self.temporary.len())];
            #[expect(clippy::cast_possible_truncation, reason = "within the weeks of a log")]
            one.put(libm::floor(at) as i64, self.weeks, next_user, jobs);
        }
    }

    fn draw_long_term(&self, streams: &Streams, next_user: &mut u32, jobs: &mut Vec<HeldJob>) {
        let taken: f64 = self.long_term.iter().map(|one| one.weeks as f64).sum();
        let places = self.users * taken / self.log_weeks;
        let mut number = streams.stream(LONG_TERM, 0);
        // A fractional number of places is met on average.
        let whole = libm::floor(places);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of users")]
        let places = whole as u32 + u32::from(draw::unit(&mut number) < places - whole);
        for place in 0..places {
            let mut stream = streams.stream(LONG_TERM, place + 1);
            let lengths = self.long_term.iter().map(|one| one.weeks as f64);
            let mut one = &self.long_term[draw::pick(&mut stream, lengths)];
            let stay = usize::try_from(one.weeks).expect("weeks of a log");
            let mut week = -i64::try_from(below(&mut stream, stay)).expect("weeks of a log");
            let end = i64::try_from(self.weeks).expect("a log has fewer than 2^63 weeks");
            while week < end {
                one.put(week, self.weeks, next_user, jobs);
                week += i64::try_from(one.weeks).expect("a log has fewer than 2^63 weeks");
                one = &self.long_term[below(&mut stream, self.long_term.len())];
            }
        }
    }
}

impl Subtrace {
    fn of(mut jobs: Vec<HeldJob>) -> Self {
        let first = jobs.first().map_or(Span::ZERO, |job| job.submit.since(Time::ZERO));
        let begin = WEEK * weeks_in(first) as u64;
        jobs.iter_mut().for_each(|job| job.submit = Time::ZERO + (job.submit.since(Time::ZERO) - begin));
        let last = jobs.last().map_or(Span::ZERO, |job| job.submit.since(Time::ZERO));
        Self { jobs, weeks: weeks_in(last) as u64 + 1 }
    }

    /// Adds the jobs that fall into the first `weeks` weeks if the user begins in week `first`.
    fn put(&self, first: i64, weeks: u64, next_user: &mut u32, jobs: &mut Vec<HeldJob>) {
        let before = WEEK * u64::try_from(-first).unwrap_or(0);
        let behind = WEEK * u64::try_from(first).unwrap_or(0);
        let end = Time::ZERO + WEEK * weeks;
        let user = Some(*next_user);
        let were = jobs.len();
        let shifted = self.jobs.iter().filter(|job| job.submit >= Time::ZERO + before);
        jobs.extend(
            shifted
                .map(|job| HeldJob { submit: job.submit - before + behind, user: job.user.and(user), ..*job })
                .take_while(|job| job.submit < end),
        );
        *next_user += u32::from(jobs.len() > were);
    }
}
