//! Weeks of the whole log, drawn in blocks.

use super::measures::{Measures, WeeklyMoments};
use super::{DRAWS, ResampleError, WEEK, below, weeks_in};
use crate::intake::held::{HeldJob, HeldLog};
use sim_core::{Purpose, Span, Stream, Streams, Time};

/// Log whose weeks are drawn with replacement, all users of a week together: the moving-block bootstrap (H. R. Künsch,
/// "The Jackknife and the Bootstrap for General Stationary Observations", Annals of Statistics 17(3), 1989), circular
/// (D. N. Politis, J. P. Romano, 1992), so that each week is drawn equally often on average.
///
/// A block is up to four consecutive weeks, the cube root of the number of weeks (P. Hall, J. L. Horowitz, B.-Y. Jing, "On
/// Blocking Rules for the Bootstrap with Dependent Data", Biometrika 82(3), 1995). Every job moves by whole weeks, so hours,
/// weekdays, users, groups and queues stay. The log ends where the original ends, in the middle of a week; that part is
/// filled from the beginning of a whole week, and the jobs of the original's own last part of a week are not drawn.
///
/// # Bounds
///
/// Each returned log keeps all of [`BOUNDS`](Self::BOUNDS); a draw outside of one is rejected and replaced by the next.
/// The bounds depend on the jobs alone. No policy is simulated, so no policy is favoured.
///
/// - *Jobs* and *work* (processors × run time) per week, relative to the log's.
/// - *Variance* and *lag-1 correlation* of weekly work, under every way to count: weeks from the first submission or
///   from the log's time 0, with or without the last part of a week, run times as logged or cut at the requested time.
///   Weekly work that varies by less than a tenth is not bounded in these.
/// - *Backlog*: the mean over jobs of the work ahead of each at its submission, on a machine that works on any number
///   of jobs at once at its whole capacity, relative to the log's. Seams between blocks and repeated heavy weeks change
///   it, and mean waits with it (docs/statistics.md has figures).
///
/// # Limits
///
/// - Users reacted to the machine's queue in the log. They do not react here, least at the seams between blocks.
/// - Trends over the months are broken into blocks.
/// - Weeks have 604 800 s: across a change to summer time, local hours are one hour off.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Log that is resampled.
    pub log: HeldLog,
    /// Position of the first job of each whole week, and the end of the last.
    begins: Vec<usize>,
    /// Number of weeks of a block, from one to four.
    pub length: usize,
    /// Number of whole weeks to fill, and the part of one more.
    weeks: usize,
    part: Span,
    /// Processors of the machine, and density to which a resampled log is scaled.
    machine: (u32, f64),
    /// Measures of the original.
    own: Measures,
}

/// Log drawn from another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Jobs.
    pub log: HeldLog,
    /// Number of draws that were rejected before this one.
    pub refused: u32,
}

impl Blocks {
    /// Least number of whole weeks of a log.
    pub const SHORTEST: usize = 8;

    /// Bounds of each resampled log: name, from, to. All are relative to the log, except `lag_one`, which is a difference.
    pub const BOUNDS: [(&str, f64, f64); 5] = [
        ("jobs", 0.85, 1.15),
        ("work", 0.9, 1.1),
        ("variance", 0.83, 1.2),
        ("lag_one", -0.13, 0.13),
        ("backlog", 0.667, 1.5),
    ];

    /// Splits the log into weeks. Its machine has `processors`, and the resampled log is made `density` times as dense
    /// ([`HeldLog::denser`]) before it is simulated: 1 for the log's own load.
    ///
    /// # Errors
    ///
    /// If the log has fewer than [`SHORTEST`](Self::SHORTEST) whole weeks.
    ///
    /// # Panics
    ///
    /// If there are no processors, or `density` is not a positive number.
    pub fn of(log: HeldLog, processors: u32, density: f64) -> Result<Self, ResampleError> {
        assert!(processors > 0, "a machine has processors");
        assert!(density > 0.0 && density.is_finite(), "a log cannot be {density} times as dense");
        let machine = (processors, density);
        let weeks = weeks_in(log.span());
        if weeks < Self::SHORTEST {
            return Err(ResampleError(format!(
                "the log covers {weeks} whole weeks, and blocks of weeks need at least {}; shake it instead",
                Self::SHORTEST
            )));
        }
        let part = log.span() - start(weeks).since(Time::ZERO);
        let begins = (0..=weeks).map(|week| log.jobs().partition_point(|job| job.submit < start(week))).collect();
        let own = Measures::of(log.jobs().iter().map(|job| (job.submit, job)), machine, log.origin());
        // The cube root of the number of weeks, to the nearest whole number.
        let length = (1..4).find(|length| (*length as f64 + 0.5).powi(3) > weeks as f64).unwrap_or(4);
        Ok(Self { log, begins, length, weeks, part, machine, own })
    }

    /// Sets the length to `weeks` whole weeks, by default that of the log.
    ///
    /// # Panics
    ///
    /// If `weeks` is zero.
    #[must_use]
    pub fn with_weeks(self, weeks: u64) -> Self {
        assert!(weeks > 0, "a log has at least a week");
        Self { weeks: usize::try_from(weeks).expect("weeks of a log"), part: Span::ZERO, ..self }
    }

    /// Draws one log that keeps the bounds.
    ///
    /// # Errors
    ///
    /// If 5 000 draws were rejected.
    pub fn redrawn(&self, streams: &Streams) -> Result<Drawn, ResampleError> {
        let mut broken = [0_u32; Self::BOUNDS.len()];
        for refused in 0..DRAWS {
            let sources = self.draw(&mut streams.stream(Purpose("blocks of weeks"), refused));
            let Some(bound) = self.refused(&sources) else {
                let jobs = self.moved(&sources).map(|(submit, job)| HeldJob { submit, ..*job }).collect();
                return Ok(Drawn { log: HeldLog::of(jobs), refused });
            };
            broken[bound] += 1;
        }
        let worst = (0..broken.len()).max_by_key(|bound| broken[*bound]).expect("there are bounds");
        Err(ResampleError(format!(
            "none of {DRAWS} draws kept the bounds of a resampled log ({}); most were refused for {}. The log changes too much from \
             week to week; shake it instead",
            Self::bounds(),
            Self::BOUNDS[worst].0
        )))
    }

    /// Lists all bounds in words.
    pub fn bounds() -> String {
        Self::BOUNDS.map(|(name, low, high)| format!("{name} {low} to {high}")).join(", ")
    }

    /// Draws weeks of the log, one for each week to fill.
    fn draw(&self, stream: &mut Stream) -> Vec<usize> {
        let (of, slots) = (self.begins.len() - 1, self.weeks + usize::from(self.part > Span::ZERO));
        let mut sources = Vec::with_capacity(slots + self.length);
        while sources.len() < slots {
            let first = below(stream, of);
            sources.extend((first..first + self.length).map(|week| week % of));
        }
        sources.truncate(slots);
        sources
    }

    /// Returns the position of a bound that a draw breaks.
    fn refused(&self, sources: &[usize]) -> Option<usize> {
        let drawn = Measures::of(self.moved(sources), self.machine, self.log.origin());
        let weeks = |span: Span| span.as_secs_f64() / WEEK.as_secs_f64();
        let jobs = drawn.jobs / weeks(WEEK * self.weeks as u64 + self.part);
        let own = self.own.jobs / weeks(self.log.span());
        let backlog = if self.own.backlog > 0.0 { drawn.backlog / self.own.backlog } else { 1.0 };
        let shapes = drawn.shapes.iter().zip(&self.own.shapes);
        let shapes: Vec<(WeeklyMoments, WeeklyMoments)> = if self.part > Span::ZERO {
            shapes.flat_map(|(drawn, own)| drawn.iter().copied().zip(own.iter().copied())).collect()
        } else {
            // Whole weeks alone, against those of the log.
            shapes.take(2).map(|(drawn, own)| (drawn[1], own[0])).collect()
        };
        let moments = shapes.iter().flat_map(|(drawn, own)| drawn.beside(own));
        [(0, jobs / own), (4, backlog)].into_iter().chain(moments).find_map(|(bound, value)| {
            let (_, low, high) = Self::BOUNDS[bound];
            (!(low..=high).contains(&value)).then_some(bound)
        })
    }

    /// Returns the jobs that fill the slots from their sources, with their new submissions, in order.
    fn moved<'a>(&'a self, sources: &'a [usize]) -> impl Iterator<Item = (Time, &'a HeldJob)> {
        sources.iter().enumerate().flat_map(|(slot, &week)| {
            let jobs = &self.log.jobs()[self.begins[week]..self.begins[week + 1]];
            let in_part = |job: &HeldJob| job.submit <= start(week) + self.part;
            let kept = if slot < self.weeks { jobs.len() } else { jobs.partition_point(in_part) };
            jobs[..kept].iter().map(move |job| (start(slot) + job.submit.since(start(week)), job))
        })
    }
}

fn start(week: usize) -> Time {
    Time::ZERO + WEEK * week as u64
}
