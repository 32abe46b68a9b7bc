//! Decisions of an agent on one space-shared machine: which waiting job is next, or which one passes the head of the queue.

use metrics::Totals;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sim_core::{Job as SimJob, JobId, JobRecord, SiteId, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// Numbers that describe a slot of the observation.
const FEATURES: usize = 8;

/// Times, in seconds: waits and requests of this length are half way between 0 and 1.
const HALF: f64 = 3600.0;

/// The mean of `ours` − `theirs`, pair by pair, with the bounds of its 95 % interval (Student's t).
#[pyfunction]
pub(crate) fn paired(ours: Vec<f64>, theirs: Vec<f64>) -> PyResult<(f64, Option<f64>, Option<f64>)> {
    if ours.len() != theirs.len() || ours.is_empty() {
        return Err(PyValueError::new_err(format!("{} values cannot be paired with {}", ours.len(), theirs.len())));
    }
    let differences: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours - theirs).collect();
    let interval = metrics::ConfidenceInterval::of(&differences);
    Ok((interval.mean, interval.low, interval.high))
}

/// A job of a workload. Times are whole seconds.
#[derive(Copy, Clone)]
struct Task {
    submit: i64,
    run: i64,
    /// Requested time.
    request: i64,
    processors: u32,
    user: i64,
}

/// The score of a task at an instant; the smallest is next.
type Score = Box<dyn Fn(i64, &Task) -> f64>;

/// The decision that an agent makes.
#[derive(Copy, Clone, PartialEq)]
enum Decision {
    /// The job that is committed next; it starts as soon as it fits.
    Next,
    /// The job that passes the head of the queue, which has the earliest reservation; or none, until the next event.
    Passer,
}

/// The jobs that start behind a committed job that does not fit.
#[derive(Copy, Clone, PartialEq)]
enum Behind {
    None,
    /// EASY: those that end before the reservation, or use processors that it leaves; the reservation is computed at each event.
    Easy,
    /// RLScheduler: those that end strictly before a bound that is computed once.
    Bound,
}

/// One episode: a window of consecutive jobs on a machine that is idle at first.
#[pyclass]
#[derive(Clone)]
pub(crate) struct Environment {
    tasks: Arc<Vec<Task>>,
    processors: u32,
    slots: usize,
    decision: Decision,
    behind: Behind,
    /// Arrivals before ends at one instant, and a look at the queue after each single event; else ends, arrivals, one look.
    by_event: bool,
    /// The window: first job and end.
    window: (usize, usize),
    now: i64,
    arriving: usize,
    free: u32,
    /// Waiting jobs in order of arrival.
    queue: VecDeque<usize>,
    /// Actual ends; of those at one instant, the job that started first ends first.
    ends: BinaryHeap<Reverse<(i64, usize, usize)>>,
    /// Requested ends of running jobs, sorted.
    expected: Vec<(i64, u32)>,
    /// Committed job, and the bound of [`Behind::Bound`].
    pick: Option<(usize, i64)>,
    /// Starts, by position in the window; −1 before.
    starts: Vec<i64>,
    started: usize,
}

#[pymethods]
impl Environment {
    /// `tasks` are `(submit, run, request, processors, user)`, by submission.
    #[new]
    fn new(
        tasks: Vec<(i64, i64, i64, u32, i64)>,
        processors: u32,
        slots: usize,
        rules: &str,
        behind: &str,
    ) -> PyResult<Self> {
        let (decision, by_event) = match rules {
            "order" => (Decision::Next, false),
            "backfill" => (Decision::Passer, false),
            "rlscheduler" => (Decision::Next, true),
            other => {
                return Err(PyValueError::new_err(format!("rules {other:?}: expected order, backfill or rlscheduler")));
            }
        };
        let behind = match behind {
            "none" => Behind::None,
            "easy" => Behind::Easy,
            "bound" => Behind::Bound,
            other => return Err(PyValueError::new_err(format!("behind {other:?}: expected none, easy or bound"))),
        };
        let tasks: Vec<Task> = tasks
            .into_iter()
            .map(|(submit, run, request, processors, user)| Task { submit, run, request, processors, user })
            .collect();
        if let Some(wide) = tasks.iter().position(|task| task.processors > processors || task.processors == 0) {
            let asks = tasks[wide].processors;
            return Err(PyValueError::new_err(format!(
                "job {wide} needs {asks} processors, and the machine has {processors}"
            )));
        }
        if slots == 0 {
            return Err(PyValueError::new_err("slots: expected at least 1"));
        }
        let (queue, ends, expected) = (VecDeque::new(), BinaryHeap::new(), Vec::new());
        Ok(Self {
            tasks: Arc::new(tasks),
            processors,
            slots,
            decision,
            behind,
            by_event,
            window: (0, 0),
            now: 0,
            arriving: 0,
            free: processors,
            queue,
            ends,
            expected,
            pick: None,
            starts: Vec::new(),
            started: 0,
        })
    }

    /// Begins an episode with the jobs `first` to `first + count`; true if a decision is due.
    fn reset(&mut self, first: usize, count: usize) -> PyResult<bool> {
        if count == 0 || first + count > self.tasks.len() {
            let jobs = self.tasks.len();
            return Err(PyValueError::new_err(format!("no window of {count} jobs begins at job {first} of {jobs}")));
        }
        self.window = (first, first + count);
        self.now = self.tasks[first].submit;
        (self.arriving, self.free, self.pick, self.started) = (first, self.processors, None, 0);
        self.queue.clear();
        self.ends.clear();
        self.expected.clear();
        self.starts.clear();
        self.starts.resize(count, -1);
        self.arrive();
        if !self.by_event {
            self.take_instant();
        }
        Ok(self.advance())
    }

    /// Takes a decision: the position of a waiting job, or one past the last slot for none of them. True if another is due.
    fn step(&mut self, action: usize) -> PyResult<bool> {
        if !self.is_allowed(action) {
            let waiting = self.queue.len();
            return Err(PyValueError::new_err(format!(
                "action {action} is masked: {waiting} jobs wait; see info[\"action_mask\"]"
            )));
        }
        match self.decision {
            Decision::Next => self.pick = Some((self.queue[action], i64::MIN)),
            Decision::Passer if action < self.slots => self.start(action),
            Decision::Passer => self.next_event(),
        }
        Ok(self.advance())
    }

    /// Plays a whole episode by a rule over all waiting jobs: the smallest score is next, ties by arrival.
    ///
    /// Scores of RLScheduler (Zhang et al., SC'20), with s the submission, r the requested time, n the processors and w the wait:
    /// `fcfs` s; `sjf` r; `f1` log10(r)·n + 870·log10(s), with 0.1 for values that are not above 0; `wfp3` −(w/r)³·n; `unicep`
    /// −(w + 1e−15)/(log2(n + 1e−15)·r). In `wfp3-as-run` and `unicep-as-run` w is −1 − s, as the published numbers were made.
    fn play(&mut self, first: usize, count: usize, rule: &str) -> PyResult<()> {
        let wait = |now: i64, task: &Task| (now - task.submit) as f64;
        let as_run = |_: i64, task: &Task| (-1 - task.submit) as f64;
        let log = |value: i64| libm::log10(if value > 0 { value as f64 } else { 0.1 });
        let wfp3 = |w: f64, task: &Task| -libm::pow(w / task.request as f64, 3.0) * f64::from(task.processors);
        let unicep =
            |w: f64, task: &Task| -(w + 1e-15) / (libm::log2(f64::from(task.processors) + 1e-15) * task.request as f64);
        let score: Score = match rule {
            "fcfs" => Box::new(|_, task| task.submit as f64),
            "sjf" => Box::new(|_, task| task.request as f64),
            "f1" => Box::new(move |_, task| log(task.request) * f64::from(task.processors) + 870.0 * log(task.submit)),
            "wfp3" => Box::new(move |now, task| wfp3(wait(now, task), task)),
            "unicep" => Box::new(move |now, task| unicep(wait(now, task), task)),
            "wfp3-as-run" => Box::new(move |now, task| wfp3(as_run(now, task), task)),
            "unicep-as-run" => Box::new(move |now, task| unicep(as_run(now, task), task)),
            other => {
                return Err(PyValueError::new_err(format!("there is no rule {other:?}; see gridproof.rl.HEURISTICS")));
            }
        };
        // Equal, not ordered: a job without a wait and one without a request score −0 and 0.
        let order = |one: f64, other: f64| one.partial_cmp(&other).unwrap_or(std::cmp::Ordering::Equal);
        let mut is_due = self.reset(first, count)?;
        while is_due {
            if self.decision == Decision::Next {
                let scores = self.queue.iter().map(|task| score(self.now, &self.tasks[*task]));
                let best = scores.enumerate().min_by(|one, other| order(one.1, other.1).then(one.0.cmp(&other.0)));
                self.pick = best.map(|(place, _)| (self.queue[place], i64::MIN));
            } else {
                let mut choices: Vec<usize> =
                    (1..self.queue.len()).filter(|place| self.may_pass(self.queue[*place])).collect();
                choices.sort_by(|one, other| {
                    let of = |place: usize| score(self.now, &self.tasks[self.queue[place]]);
                    order(of(*one), of(*other))
                });
                match choices.first() {
                    Some(place) => self.start(*place),
                    None => self.next_event(),
                }
            }
            is_due = self.advance();
        }
        Ok(())
    }

    /// The observation, `slots` × 8 numbers of 32 bits: present, wait, requested time, processors, fits now, idle processors,
    /// place in the queue, length of the queue; each from 0 to 1. And the mask of actions.
    fn observe<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let mut seen = vec![0_f32; self.slots * FEATURES];
        let share = |value: f64| (value / (value + HALF)) as f32;
        let idle = self.free as f32 / self.processors as f32;
        let waiting = self.queue.len() as f32;
        let slots = seen.chunks_exact_mut(FEATURES).zip(&self.queue).enumerate();
        for (place, (slot, task)) in slots {
            let Task { submit, request, processors, .. } = self.tasks[*task];
            let request = if request < 0 { 1.0 } else { share(request as f64) };
            let width = processors as f32 / self.processors as f32;
            let fits = f32::from(processors <= self.free);
            let length = waiting / (waiting + self.slots as f32);
            slot.copy_from_slice(&[
                1.0,
                share((self.now - submit) as f64),
                request,
                width,
                fits,
                idle,
                place as f32 / waiting,
                length,
            ]);
        }
        let mask: Vec<u8> = (0..self.actions()).map(|action| u8::from(self.is_allowed(action))).collect();
        (
            PyBytes::new(py, &seen.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>()),
            PyBytes::new(py, &mask),
        )
    }

    /// Number of actions.
    fn actions(&self) -> usize {
        self.slots + usize::from(self.decision == Decision::Passer)
    }

    /// Present instant, in seconds of the log.
    #[getter]
    fn now(&self) -> i64 {
        self.now
    }

    /// The waiting jobs in order of arrival: `(position in the workload, submit, request, processors)`.
    #[getter]
    fn queue(&self) -> Vec<(usize, i64, i64, u32)> {
        let shown = |task: &usize| {
            let Task { submit, request, processors, .. } = self.tasks[*task];
            (*task, submit, request, processors)
        };
        self.queue.iter().map(shown).collect()
    }

    /// Starts of the window's jobs, in seconds of the log; −1 for those that wait.
    #[getter]
    fn starts(&self) -> Vec<i64> {
        self.starts.clone()
    }

    /// A metric of the catalogue over the jobs that have started, as if each ran to its end; `None` if it has no value.
    fn value(&self, metric: &str) -> PyResult<Option<f64>> {
        if metrics::Metric::named(metric).is_none() {
            return Err(PyValueError::new_err(format!(
                "no metric is called {metric:?}; columns.md of a run lists them"
            )));
        }
        let mut totals = Totals::new(self.processors, &[]);
        let zero = self.tasks[self.window.0].submit;
        let at = |time: i64| Time::from_secs(u64::try_from(time - zero).unwrap_or(0));
        for (place, start) in self.starts.iter().enumerate().filter(|(_, start)| **start >= 0) {
            let task = self.tasks[self.window.0 + place];
            let run = Span::from_secs(u64::try_from(task.run).unwrap_or(0));
            let id = JobId(u32::try_from(place).expect("fewer than 2^32 jobs"));
            let mut job = SimJob::new(id, at(task.submit), task.processors, run);
            job.request.user = u32::try_from(task.user).ok();
            job.request.estimate = u64::try_from(task.request).ok().map(Span::from_secs);
            let start = at(*start);
            totals.add(&JobRecord { job, start, finish: start + run, site: SiteId(0), processors: task.processors });
        }
        Ok(totals.value(metric))
    }

    /// A copy that goes its own way.
    fn fork(&self) -> Self {
        self.clone()
    }
}

impl Environment {
    fn is_allowed(&self, action: usize) -> bool {
        match (self.decision, self.queue.get(action)) {
            (Decision::Next, waiting) => action < self.slots && waiting.is_some(),
            (Decision::Passer, _) if action == self.slots => true,
            // The head itself is no choice: it starts by itself.
            (Decision::Passer, waiting) => {
                action > 0 && action < self.slots && waiting.is_some_and(|task| self.may_pass(*task))
            }
        }
    }

    /// Runs until a decision is due; false if every job has started.
    fn advance(&mut self) -> bool {
        loop {
            match self.pick {
                None if self.started == self.starts.len() => return false,
                None if self.decision == Decision::Next && !self.queue.is_empty() => return true,
                None if self.decision == Decision::Passer && !self.queue.is_empty() => {
                    if self.fits(self.queue[0]) {
                        self.start(0);
                        continue;
                    }
                    if (1..self.slots.min(self.queue.len())).any(|place| self.may_pass(self.queue[place])) {
                        return true;
                    }
                    self.next_event();
                }
                None => self.next_event(),
                Some((task, _)) if self.fits(task) => {
                    let place = self.queue.iter().position(|waiting| *waiting == task).expect("it waits");
                    self.start(place);
                    self.pick = None;
                }
                Some((task, bound)) => {
                    if bound == i64::MIN {
                        self.pick = Some((task, self.shadow(task).0));
                    }
                    self.backfill();
                    self.next_event();
                }
            }
        }
    }

    fn fits(&self, task: usize) -> bool {
        self.tasks[task].processors <= self.free
    }

    /// The first requested end at which enough processors are idle for a job, and the processors beyond its need.
    fn shadow(&self, task: usize) -> (i64, u32) {
        let (mut free, need) = (self.free, self.tasks[task].processors);
        for (position, (end, processors)) in self.expected.iter().enumerate() {
            free += processors;
            // Releases of one instant count together.
            let is_last = self.expected.get(position + 1).is_none_or(|next| next.0 > *end);
            if free >= need && (is_last || self.by_event) {
                return (*end, free - need);
            }
        }
        (i64::MAX, free.saturating_sub(need))
    }

    /// Whether a job may pass the head under EASY.
    fn may_pass(&self, task: usize) -> bool {
        self.fits(task) && self.is_harmless(task, self.shadow(self.queue[0]))
    }

    fn is_harmless(&self, task: usize, (at, extra): (i64, u32)) -> bool {
        let Task { request, processors, .. } = self.tasks[task];
        (request >= 0 && self.now + request <= at) || processors <= extra
    }

    /// Starts the jobs that may start behind the committed one, in order of arrival.
    fn backfill(&mut self) {
        let Some((pick, bound)) = self.pick else { return };
        let mut place = 0;
        while place < self.queue.len() && self.behind != Behind::None {
            let task = self.queue[place];
            let may_start = task != pick
                && self.fits(task)
                && match self.behind {
                    Behind::None => false,
                    Behind::Bound => self.now + self.tasks[task].request < bound,
                    Behind::Easy => self.is_harmless(task, self.shadow(pick)),
                };
            if may_start { self.start(place) } else { place += 1 }
        }
    }

    fn start(&mut self, place: usize) {
        let task = self.queue.remove(place).expect("it waits");
        let Task { run, request, processors, .. } = self.tasks[task];
        self.free -= processors;
        self.starts[task - self.window.0] = self.now;
        self.ends.push(Reverse((self.now + run, self.started, task)));
        self.started += 1;
        let end = if request < 0 && !self.by_event { i64::MAX } else { self.now + request };
        let at = self.expected.partition_point(|other| other.0 <= end);
        self.expected.insert(at, (end, processors));
    }

    fn arrive(&mut self) {
        self.queue.push_back(self.arriving);
        self.arriving += 1;
    }

    fn end(&mut self) {
        let Some(Reverse((_, _, task))) = self.ends.pop() else { return };
        let Task { run: _, request, processors, .. } = self.tasks[task];
        self.free += processors;
        let start = self.starts[task - self.window.0];
        let end = if request < 0 && !self.by_event { i64::MAX } else { start + request };
        let at = self.expected.iter().position(|other| *other == (end, processors)).expect("it runs");
        self.expected.remove(at);
    }

    /// Lets the next event happen, or all events of the next instant.
    fn next_event(&mut self) {
        let arrival = (self.arriving < self.window.1).then(|| self.tasks[self.arriving].submit);
        let end = self.ends.peek().map(|Reverse((end, ..))| *end);
        let Some(next) = [arrival, end].into_iter().flatten().min() else { return };
        self.now = self.now.max(next);
        if !self.by_event {
            self.take_instant();
        } else if arrival == Some(next) {
            self.arrive();
        } else {
            self.end();
        }
    }

    /// Ends, then arrivals of the present instant.
    fn take_instant(&mut self) {
        while self.ends.peek().is_some_and(|Reverse((end, ..))| *end <= self.now) {
            self.end();
        }
        while self.arriving < self.window.1 && self.tasks[self.arriving].submit <= self.now {
            self.arrive();
        }
    }
}
