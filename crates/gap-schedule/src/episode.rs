//! Single scheduling decisions for learning agents: the next waiting job, or the job that overtakes the head of the queue.

use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// Number of features of a slot of an observation.
pub const FEATURES: usize = 8;

/// Length, in seconds, of a wait or request that an observation shows as one half.
const HALF: f64 = 3600.0;

/// Job of an episode's workload. Times are whole seconds.
#[derive(Copy, Clone, Debug)]
pub struct EpisodeJob {
    /// Submission, in seconds of the log.
    pub submit: i64,
    /// Run time.
    pub run: i64,
    /// Requested time; negative if unknown.
    pub request: i64,
    /// Requested processors.
    pub processors: u32,
    /// User, or a negative number.
    pub user: i64,
}

sim_core::answers! {
    /// Decision of the agent, and order of events.
    pub enum EpisodeRules {
        /// Job that is committed next; it starts as soon as it fits. Ends, then arrivals of an instant, then a look at the queue.
        Order,
        /// Job that overtakes the head of the queue without delaying it, or none until the next event.
        Backfill,
        /// Like `Order`, but arrivals come before ends, and the queue is examined after each single event (Zhang et al., SC'20).
        RlScheduler = "rlscheduler",
    }
}

sim_core::answers! {
    /// Jobs that start behind a committed job that does not fit.
    pub enum Filling {
        /// None.
        None,
        /// Jobs that end before its reservation, or use processors that it leaves; the reservation is computed at each event.
        Easy,
        /// Jobs that end strictly before a bound that is computed once: the backfilling of RLScheduler (Zhang et al., SC'20).
        Bound,
    }
}

sim_core::answers! {
    /// Rule that scores waiting jobs: the smallest score is next, ties by arrival.
    ///
    /// Formulas as RLScheduler computes them, with s the submission, r the requested time, n the processors and w the wait.
    #[derive(PartialOrd, Ord)]
    pub enum Heuristic {
        /// s.
        Fcfs,
        /// r.
        Sjf,
        /// log10(r)·n + 870·log10(s), with 0.1 for values that are not above 0.
        F1,
        /// −(w/r)³·n.
        Wfp3,
        /// −(w + 1e−15)/(log2(n + 1e−15)·r).
        Unicep,
        /// `Wfp3` with −1 − s in place of w, as in the published results.
        Wfp3AsRun,
        /// `Unicep` with −1 − s in place of w, as in the published results.
        UnicepAsRun,
    }
}

impl Heuristic {
    fn score(self, now: i64, job: &EpisodeJob) -> f64 {
        let log = |value: i64| libm::log10(if value > 0 { value as f64 } else { 0.1 });
        let (request, processors) = (job.request as f64, f64::from(job.processors));
        let wait = match self {
            Self::Wfp3AsRun | Self::UnicepAsRun => -1 - job.submit,
            _ => now - job.submit,
        } as f64;
        match self {
            Self::Fcfs => job.submit as f64,
            Self::Sjf => request,
            Self::F1 => log(job.request) * processors + 870.0 * log(job.submit),
            // The same bits on every machine: x³ decides ties.
            Self::Wfp3 | Self::Wfp3AsRun => -libm::pow(wait / request, 3.0) * processors,
            Self::Unicep | Self::UnicepAsRun => -(wait + 1e-15) / (libm::log2(processors + 1e-15) * request),
        }
    }
}

/// Part of an observation that is the same for each waiting job.
#[derive(Copy, Clone, Debug)]
pub struct Surroundings {
    /// Processors of the machine.
    pub processors: u32,
    /// Idle processors.
    pub free: u32,
    /// Waiting jobs.
    pub waiting: usize,
    /// Slots of the observation.
    pub slots: usize,
}

impl Surroundings {
    /// Returns the features, from 0 to 1, of the waiting job at a place of the queue: present, wait, requested time (both as
    /// t / (t + 1 h)), processors, fits now, idle processors, place in the queue, length of the queue. Times are in seconds.
    #[must_use]
    pub fn slot(&self, place: usize, wait: f64, request: Option<f64>, processors: u32) -> [f32; FEATURES] {
        #[expect(clippy::cast_possible_truncation, reason = "an observation has 32 bits")]
        let share = |time: f64| (time / (time + HALF)) as f32;
        let (all, waiting) = (self.processors as f32, self.waiting as f32);
        [
            1.0,
            share(wait),
            request.map_or(1.0, share),
            processors as f32 / all,
            f32::from(processors <= self.free),
            self.free as f32 / all,
            place as f32 / waiting,
            waiting / (waiting + self.slots as f32),
        ]
    }
}

/// Scheduling of a window of consecutive jobs on one machine of space-shared processors, decision by decision.
///
/// ```
/// use gap_schedule::episode::{Episode, EpisodeJob, EpisodeRules, Filling};
///
/// let job = |submit, run, processors| EpisodeJob { submit, run, request: run, processors, user: 0 };
/// let jobs = vec![job(0, 100, 3), job(1, 10, 4), job(2, 50, 1)];
/// let mut episode = Episode::new(jobs.into(), 4, 8, EpisodeRules::Order, Filling::None).unwrap();
/// let mut is_due = episode.reset(0, 0, 3).unwrap();
/// while is_due {
///     is_due = episode.step(0).unwrap(); // the job that has waited longest
/// }
/// assert_eq!(episode.starts(), [0, 100, 110]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Episode {
    jobs: Arc<[EpisodeJob]>,
    processors: u32,
    slots: usize,
    rules: EpisodeRules,
    filling: Filling,
    /// Positions in `jobs`: the first job on the machine, the first that counts, and the end.
    begin: usize,
    first: usize,
    end: usize,
    now: i64,
    arriving: usize,
    free: u32,
    /// Waiting jobs in order of arrival.
    queue: VecDeque<usize>,
    /// Actual ends; at one instant, the job that started first ends first.
    ends: BinaryHeap<Reverse<(i64, usize, usize)>>,
    /// Requested ends of running jobs, sorted.
    expected: Vec<(i64, u32)>,
    /// Job that the agent has committed, and its bound of [`Filling::Bound`], once it is computed.
    pick: Option<usize>,
    bound: Option<i64>,
    /// Starts by position after `begin`; −1 before the start.
    starts: Vec<i64>,
    started: usize,
}

impl Episode {
    /// Returns an episode over `jobs`, which are sorted by submission. An observation shows `slots` waiting jobs.
    ///
    /// # Errors
    ///
    /// A message if a job needs no processor or more than there are, or if there is no slot.
    pub fn new(
        jobs: Arc<[EpisodeJob]>,
        processors: u32,
        slots: usize,
        rules: EpisodeRules,
        filling: Filling,
    ) -> Result<Self, String> {
        if let Some(wide) = jobs.iter().position(|job| job.processors > processors || job.processors == 0) {
            let needed = jobs[wide].processors;
            return Err(format!("job {wide} needs {needed} processors, and the machine has {processors}"));
        }
        if slots == 0 {
            return Err("slots: expected at least 1".to_owned());
        }
        Ok(Self { jobs, processors, slots, rules, filling, free: processors, ..Self::default() })
    }

    /// Replaces the workload; call [`Self::reset`] next.
    ///
    /// # Errors
    ///
    /// Same as [`Self::new`].
    pub fn set_jobs(&mut self, jobs: Arc<[EpisodeJob]>) -> Result<(), String> {
        *self = Self::new(jobs, self.processors, self.slots, self.rules, self.filling)?;
        Ok(())
    }

    /// Begins an episode with the jobs `first` to `first + count`. Returns true if a decision is due.
    ///
    /// The `warm` jobs before them come first, on an idle machine, and are scheduled in order of arrival until job `first` is
    /// submitted. They do not count in [`Self::starts`] and [`Self::records`].
    ///
    /// # Errors
    ///
    /// A message if there are no such jobs.
    pub fn reset(&mut self, warm: usize, first: usize, count: usize) -> Result<bool, String> {
        if count == 0 || first + count > self.jobs.len() {
            return Err(format!("no window of {count} jobs begins at job {first} of {}", self.jobs.len()));
        }
        if warm > first {
            return Err(format!("only {first} jobs come before job {first}, fewer than the {warm} of warm"));
        }
        let Self { jobs, processors, slots, rules, filling, .. } = std::mem::take(self);
        let (begin, now) = (first - warm, jobs[first - warm].submit);
        let new = Self { jobs, processors, slots, rules, filling, free: processors, ..Self::default() };
        *self = Self { begin, first, end: first + count, now, arriving: begin, starts: vec![-1; warm + count], ..new };
        self.arrive();
        if self.rules != EpisodeRules::RlScheduler {
            self.take_instant();
        }
        let mut is_due = self.advance();
        while is_due && self.arriving <= first {
            self.decide(Heuristic::Fcfs);
            is_due = self.advance();
        }
        Ok(is_due)
    }

    /// Takes a decision: the position of a waiting job, or one past the last slot for none. Returns true if another is due.
    ///
    /// # Errors
    ///
    /// A message if the action is masked.
    pub fn step(&mut self, action: usize) -> Result<bool, String> {
        if !self.allowed().any(|allowed| allowed == action) {
            return Err(format!("action {action} is masked: {} jobs wait", self.queue.len()));
        }
        self.take(Some(action).filter(|place| *place < self.slots));
        Ok(self.advance())
    }

    /// Plays a whole episode by a rule that sees all waiting jobs.
    ///
    /// # Errors
    ///
    /// Same as [`Self::reset`].
    pub fn play(&mut self, warm: usize, first: usize, count: usize, rule: Heuristic) -> Result<(), String> {
        let mut is_due = self.reset(warm, first, count)?;
        while is_due {
            self.decide(rule);
            is_due = self.advance();
        }
        Ok(())
    }

    fn decide(&mut self, rule: Heuristic) {
        let scored = self.choices(usize::MAX).map(|place| (place, rule.score(self.now, &self.jobs[self.queue[place]])));
        // Equal, not ordered: a job without a wait and a job without a request score −0 and 0. `min_by` keeps the first of equals.
        let best = scored.min_by(|one, other| one.1.partial_cmp(&other.1).unwrap_or(Ordering::Equal));
        self.take(best.map(|(place, _)| place));
    }

    /// Commits or starts the job at a place of the queue, or goes on to the next event.
    fn take(&mut self, choice: Option<usize>) {
        match choice {
            Some(place) if self.rules != EpisodeRules::Backfill => self.pick = Some(self.queue[place]),
            Some(place) => self.start(place),
            None => self.next_event(),
        }
    }

    /// Number of actions.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.slots + usize::from(self.rules == EpisodeRules::Backfill)
    }

    fn allowed(&self) -> impl Iterator<Item = usize> {
        self.choices(self.slots).chain((self.rules == EpisodeRules::Backfill).then_some(self.slots))
    }

    /// Places, among the first of the queue, of the jobs that the next decision may take.
    fn choices(&self, among: usize) -> impl Iterator<Item = usize> {
        let head = self.queue.front().filter(|_| self.rules == EpisodeRules::Backfill);
        let shadow = head.map(|head| self.shadow(*head));
        let places = 0..among.min(self.queue.len());
        places.filter(move |place| shadow.is_none_or(|shadow| *place > 0 && self.may_pass(self.queue[*place], shadow)))
    }

    /// Writes the observation, `slots` × [`FEATURES`] numbers from 0 to 1, and the mask of [`Self::actions`] flags.
    ///
    /// A slot is that of [`Surroundings::slot`]; the slots show the first jobs of the queue.
    ///
    /// # Panics
    ///
    /// If a slice has another length.
    pub fn observe(&self, seen: &mut [f32], mask: &mut [bool]) {
        assert_eq!(
            (seen.len(), mask.len()),
            (self.slots * FEATURES, self.actions()),
            "lengths of observation and mask"
        );
        let Self { processors, free, slots, .. } = *self;
        let surroundings = Surroundings { processors, free, waiting: self.queue.len(), slots };
        let shown = slots.min(self.queue.len());
        let (present, absent) = seen.split_at_mut(shown * FEATURES);
        for (place, (slot, job)) in present.chunks_exact_mut(FEATURES).zip(&self.queue).enumerate() {
            let EpisodeJob { submit, request, processors, .. } = self.jobs[*job];
            let request = (request >= 0).then_some(request as f64);
            slot.copy_from_slice(&surroundings.slot(place, (self.now - submit) as f64, request, processors));
        }
        absent.fill(0.0);
        mask.fill(false);
        self.allowed().for_each(|action| mask[action] = true);
    }

    /// Present instant, in seconds of the log.
    #[must_use]
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Positions of the waiting jobs in the workload, in order of arrival.
    pub fn queue(&self) -> impl Iterator<Item = usize> {
        self.queue.iter().copied()
    }

    /// Starts of the window's jobs, in seconds of the log; −1 for waiting jobs.
    #[must_use]
    pub fn starts(&self) -> &[i64] {
        &self.starts[self.first - self.begin..]
    }

    /// Records of the window's jobs that have started, as if each ran to its end. Time 0 is the submission of the first job.
    pub fn records(&self) -> impl Iterator<Item = JobRecord> {
        let zero = self.jobs[self.first].submit;
        let at = move |time: i64| Time::from_secs(u64::try_from(time - zero).unwrap_or(0));
        let started = (0..).zip(self.starts()).filter(|(_, start)| **start >= 0);
        started.map(move |(place, start)| {
            let EpisodeJob { submit, run, request, processors, user } = self.jobs[self.first + place as usize];
            let run = Span::from_secs(u64::try_from(run).unwrap_or(0));
            let mut job = Job::new(JobId(place), at(submit), processors, run);
            job.request.user = u32::try_from(user).ok();
            job.request.estimate = u64::try_from(request).ok().map(Span::from_secs);
            JobRecord { job, start: at(*start), finish: at(*start) + run, site: SiteId(0), processors }
        })
    }

    /// Runs until a decision is due. Returns false if every job has started.
    fn advance(&mut self) -> bool {
        loop {
            match self.pick {
                None if self.started == self.starts.len() => return false,
                None if self.queue.is_empty() => self.next_event(),
                None if self.rules != EpisodeRules::Backfill => return true,
                // The head needs no decision: it starts by itself.
                None if self.fits(self.queue[0]) => self.start(0),
                None if self.choices(self.slots).next().is_some() => return true,
                None => self.next_event(),
                Some(job) if self.fits(job) => {
                    let place = self.queue.iter().position(|waiting| *waiting == job).expect("it waits");
                    self.start(place);
                    (self.pick, self.bound) = (None, None);
                }
                Some(job) => {
                    let bound = self.bound.unwrap_or_else(|| self.shadow(job).0);
                    self.bound = Some(bound);
                    self.fill(job, bound);
                    self.next_event();
                }
            }
        }
    }

    fn fits(&self, job: usize) -> bool {
        self.jobs[job].processors <= self.free
    }

    /// Returns the first requested end at which enough processors are idle for a job, and the processors beyond its need.
    fn shadow(&self, job: usize) -> (i64, u32) {
        let (mut free, need) = (self.free, self.jobs[job].processors);
        for (position, (end, processors)) in self.expected.iter().enumerate() {
            free += processors;
            // Releases of one instant count together.
            let is_last = self.expected.get(position + 1).is_none_or(|next| next.0 > *end);
            if free >= need && (is_last || self.rules == EpisodeRules::RlScheduler) {
                return (*end, free - need);
            }
        }
        (i64::MAX, free.saturating_sub(need))
    }

    /// Returns true if the job may overtake another one that has the reservation `(at, extra)`.
    fn may_pass(&self, job: usize, (at, extra): (i64, u32)) -> bool {
        let EpisodeJob { request, processors, .. } = self.jobs[job];
        self.fits(job) && ((request >= 0 && self.now + request <= at) || processors <= extra)
    }

    /// Starts the jobs that may start behind the committed one, in order of arrival.
    fn fill(&mut self, pick: usize, bound: i64) {
        let mut place = 0;
        while place < self.queue.len() && self.filling != Filling::None {
            let job = self.queue[place];
            let is_harmless = || match self.filling {
                Filling::Bound => self.now + self.jobs[job].request < bound,
                _ => self.may_pass(job, self.shadow(pick)),
            };
            if job != pick && self.fits(job) && is_harmless() { self.start(place) } else { place += 1 }
        }
    }

    /// Returns the expected end of a job that starts at `start`. RLScheduler takes an unknown request, −1, as it is.
    fn expected_end(&self, job: usize, start: i64) -> i64 {
        let request = self.jobs[job].request;
        if request < 0 && self.rules != EpisodeRules::RlScheduler { i64::MAX } else { start + request }
    }

    fn start(&mut self, place: usize) {
        let job = self.queue.remove(place).expect("it waits");
        let EpisodeJob { run, processors, .. } = self.jobs[job];
        self.free -= processors;
        self.starts[job - self.begin] = self.now;
        self.ends.push(Reverse((self.now + run, self.started, job)));
        self.started += 1;
        let end = self.expected_end(job, self.now);
        let at = self.expected.partition_point(|other| other.0 <= end);
        self.expected.insert(at, (end, processors));
    }

    fn arrive(&mut self) {
        self.queue.push_back(self.arriving);
        self.arriving += 1;
    }

    fn end(&mut self) {
        let Some(Reverse((_, _, job))) = self.ends.pop() else { return };
        let processors = self.jobs[job].processors;
        self.free += processors;
        let end = self.expected_end(job, self.starts[job - self.begin]);
        let at = self.expected.iter().position(|other| *other == (end, processors)).expect("it runs");
        self.expected.remove(at);
    }

    /// Processes the next event, or all events of the next instant.
    fn next_event(&mut self) {
        let arrival = (self.arriving < self.end).then(|| self.jobs[self.arriving].submit);
        let end = self.ends.peek().map(|Reverse((end, ..))| *end);
        let Some(next) = [arrival, end].into_iter().flatten().min() else { return };
        self.now = self.now.max(next);
        if self.rules != EpisodeRules::RlScheduler {
            self.take_instant();
        } else if arrival == Some(next) {
            self.arrive();
        } else {
            self.end();
        }
    }

    /// Processes the ends, then the arrivals, of the present instant.
    fn take_instant(&mut self) {
        while self.ends.peek().is_some_and(|Reverse((end, ..))| *end <= self.now) {
            self.end();
        }
        while self.arriving < self.end && self.jobs[self.arriving].submit <= self.now {
            self.arrive();
        }
    }
}
