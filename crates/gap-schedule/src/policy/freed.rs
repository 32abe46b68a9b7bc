//! What has become free in a plan, and who may be able to use it.

use sim_core::{AvailabilityProfile, Span, Time};

/// The stretches of time in which processors of each machine have become free since the compression before the last one began: how
/// many processors, from when on, how long. Whoever is offered whatever becomes free, and takes the earliest start that there is,
/// can only leap to an earlier start in one of these.
///
/// A stretch is measured when it becomes free, with whatever is free before and behind. What is taken of it later makes it
/// shorter than is said here. Widths and instants are rounded down, and lengths up, so that more may be said to be free than
/// is. Where few wait, measuring costs more than it saves: then it is noted between which instants something has become free.
#[derive(Clone, Debug, Default)]
pub(super) struct FreedStretches {
    /// Of each machine, since the last compression has ended, and between the beginning of that before and its end.
    by_rank: Vec<[Lengths; 2]>,
    /// Nobody who waits asks for more time, and nobody for fewer processors.
    longest_asked: Span,
    least_asked: u32,
    /// Kept for its memory.
    open: Vec<(Time, u32)>,
}

/// For each class of widths and each interval of time, the longest stretch in which so many processors are free, or more, and
/// that begins then, or earlier; in units of which a row takes up a cache line, one more than are full.
#[derive(Clone, Debug, Default)]
struct Lengths {
    longest: Vec<[u32; INTERVALS]>,
    /// The classes from this one on have none.
    used: usize,
    /// Between these instants lies what has become free and has not been measured.
    unmeasured: Option<(Time, Time)>,
    /// The first interval begins here, and all are of one length, a power of two; the last lasts for ever.
    origin: Time,
    exponent: u32,
}

/// Intervals of time that are told apart.
const INTERVALS: usize = 16;

/// The full units, of some second each, of a length.
#[inline]
fn units(span: Span) -> u32 {
    u32::try_from(span.as_nanos() >> 30).unwrap_or(u32::MAX - 1)
}

/// Widths below 8 have a class each; above, an octave is cut into four.
const fn class(processors: u32) -> usize {
    if processors < 8 {
        return processors as usize;
    }
    let octave = processors.ilog2();
    (4 * (octave - 1) + (processors >> (octave - 2) & 3)) as usize
}

/// When something has last become free in which interval of time: who starts just behind may be able to start earlier.
///
/// Instants that are far apart share an interval, so that more may be said to be disturbed than is.
#[derive(Clone, Debug)]
pub(super) struct Disturbances {
    last: Vec<u64>,
    /// Counts what has become free.
    clock: u64,
    /// Intervals are of one length, a power of two.
    exponent: u32,
}

impl Default for Disturbances {
    fn default() -> Self {
        Self { last: vec![0; Self::INTERVALS], clock: 0, exponent: 0 }
    }
}

impl Disturbances {
    /// Intervals that are told apart.
    const INTERVALS: usize = 2048;

    /// How much has become free so far.
    pub(super) const fn clock(&self) -> u64 {
        self.clock
    }

    /// Something has become free between two instants.
    pub(super) fn add(&mut self, from: Time, to: Time) {
        self.clock += 1;
        let (first, last) = (from.as_nanos() >> self.exponent, to.as_nanos() >> self.exponent);
        for interval in first..=last.min(first.saturating_add(Self::INTERVALS as u64 - 1)) {
            self.last[Self::place(interval)] = self.clock;
        }
    }

    /// Whether something may have become free just before an instant, since the clock stood so.
    #[inline]
    pub(super) fn touch(&self, at: Time, since: u64) -> bool {
        self.last[Self::place(at.as_nanos() >> self.exponent)] > since
    }

    /// Nobody who waits starts later than `last`: intervals are to be of a length that fits.
    pub(super) fn span(&mut self, now: Time, last: Time) {
        let bits = u64::BITS - last.since(now.min(last)).as_nanos().leading_zeros();
        let exponent = bits.saturating_sub(Self::INTERVALS.ilog2());
        if exponent > self.exponent || exponent + 1 < self.exponent {
            self.exponent = exponent;
            self.clock += 1;
            self.last.fill(self.clock);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the number of intervals is a power of two")]
    const fn place(interval: u64) -> usize {
        interval as usize % Self::INTERVALS
    }
}

impl FreedStretches {
    /// Of machines of so many processors each, where nothing has become free.
    pub(super) fn new(machines: impl Iterator<Item = u32>) -> Self {
        let lengths =
            |processors| Lengths { longest: vec![[0; INTERVALS]; class(processors) + 1], ..Lengths::default() };
        Self {
            by_rank: machines.map(|processors| [lengths(processors), lengths(processors)]).collect(),
            ..Self::default()
        }
    }

    /// Somebody asks for so many processors for so long.
    pub(super) fn expect(&mut self, processors: u32, span: Span) {
        self.longest_asked = self.longest_asked.max(span);
        self.least_asked = self.least_asked.min(processors);
    }

    /// Processors have become free on a machine, where this is the plan now.
    pub(super) fn add(&mut self, rank: usize, plan: &AvailabilityProfile, interval: (Time, Time), now: Time) {
        let Self { by_rank, longest_asked, least_asked, open } = self;
        let lengths = &mut by_rank[rank][0];
        plan.overlapping_stretches(now, interval, (*least_asked, *longest_asked), open, |processors, since, span| {
            lengths.note(class(processors), since, span);
        });
    }

    /// The same, but it is not worth measuring.
    pub(super) fn add_unmeasured(&mut self, rank: usize, (from, to): (Time, Time)) {
        let [new, _] = &mut self.by_rank[rank];
        let (first, last) = new.unmeasured.unwrap_or((from, to));
        new.unmeasured = Some((first.min(from), last.max(to)));
    }

    /// Whether so many processors may now be free for so long, where they were not, from an instant earlier than `before` on: if
    /// not, there is no [window](Self::window).
    #[inline]
    pub(super) fn may_hold(&self, rank: usize, processors: u32, span: Span, before: Time) -> bool {
        let (class, units) = (class(processors), units(span));
        self.by_rank[rank].iter().any(|lengths| {
            let longest = || lengths.longest.get(class).map_or(0, |longest| longest[lengths.interval(before)]);
            lengths.unmeasured.is_some() || class < lengths.used && longest() > units
        })
    }

    /// Between which instants so many processors may now be free for so long from, where they were not, if there may be such an
    /// instant earlier than `before`. From `until` on they have been free all along.
    #[inline]
    pub(super) fn window(
        &self,
        rank: usize,
        processors: u32,
        span: Span,
        (before, until): (Time, Time),
    ) -> Option<(Time, Time)> {
        let (class, units) = (class(processors), units(span));
        let end = before.saturating_add(span).min(until);
        let mut window: Option<(Time, Time)> = None;
        let mut widen = |from: Time, to: Time| {
            window = Some(window.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
        };
        for lengths in &self.by_rank[rank] {
            if let Some((from, to)) = lengths.unmeasured.filter(|(from, _)| *from < end) {
                widen(Time::from_nanos(from.as_nanos().saturating_sub(span.as_nanos())), to);
            }
            if let Some(from) = lengths.may_begin(class, units, before) {
                widen(from, Time::MAX);
            }
        }
        window
    }

    /// A compression has ended: what it has made free has not been offered to those who had their turns before. Nobody who waits
    /// starts later than `last`.
    pub(super) fn end_compression(&mut self, now: Time, last: Time, (least, longest): (u32, Span)) {
        self.least_asked = least;
        if self.by_rank.len() == 1 {
            self.longest_asked = longest;
        }
        for [new, old] in &mut self.by_rank {
            std::mem::swap(new, old);
            new.begin(now, last);
        }
    }

    /// All has been offered to everybody.
    pub(super) fn clear(&mut self) {
        self.by_rank.as_flattened_mut().iter_mut().for_each(Lengths::clear);
    }
}

impl Lengths {
    /// The interval of an instant.
    #[expect(clippy::cast_possible_truncation, reason = "there are few intervals")]
    fn interval(&self, at: Time) -> usize {
        let interval = at.as_nanos().saturating_sub(self.origin.as_nanos()) >> self.exponent;
        interval.min(INTERVALS as u64 - 1) as usize
    }

    fn note(&mut self, class: usize, since: Time, span: Span) {
        let (first, span) = (self.interval(since), units(span) + 1);
        self.used = self.used.max(class + 1);
        // Where many are free, fewer are too; and what is known already is known of all that are fewer or later.
        for narrower in self.longest[..=class].iter_mut().rev() {
            if narrower[first] >= span {
                break;
            }
            narrower[first..].iter_mut().for_each(|later| *later = (*later).max(span));
        }
    }

    /// Since when a stretch of more than so many units may have begun, if that may be `before`.
    #[inline]
    fn may_begin(&self, class: usize, units: u32, before: Time) -> Option<Time> {
        if class >= self.used {
            return None;
        }
        let longest = &self.longest.get(class)?[..=self.interval(before)];
        if *longest.last()? <= units {
            return None;
        }
        let first = longest.partition_point(|longest| *longest <= units) as u64;
        Some(self.origin.saturating_add(Span::from_nanos(first << self.exponent)))
    }

    fn clear(&mut self) {
        self.unmeasured = None;
        self.longest[..self.used].fill([0; INTERVALS]);
        self.used = 0;
    }

    /// Forgets all, and divides time anew.
    fn begin(&mut self, now: Time, last: Time) {
        self.clear();
        let bits = u64::BITS - last.since(now.min(last)).as_nanos().leading_zeros();
        (self.origin, self.exponent) = (now, bits.saturating_sub(INTERVALS.ilog2()));
    }
}
