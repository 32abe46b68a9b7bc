//! A policy written in Python, and its view of the system.

use crate::added::Failure;
use crate::environment::Seen;
use gap_schedule::episode::{FEATURES, Surroundings};
use gap_schedule::{Machine, Policy, QueuedJob, RunningJob, Starts};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use sim_core::{JobId, SiteId, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// A waiting job.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub(crate) struct Job {
    /// Number by which the policy's answer names the job: its position in the log.
    id: u32,
    /// Processors requested.
    processors: u32,
    /// Requested time, or its prediction, in seconds; `None` if unknown.
    requested: Option<f64>,
    /// Submission, in seconds from the first one.
    submit: f64,
    /// Number of the user; `None` if unknown.
    user: Option<u32>,
}

/// A running job.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub(crate) struct Running {
    /// The job's number; `None` for an outage, which holds all processors of its machine.
    id: Option<u32>,
    /// Processors held.
    processors: u32,
    /// Start plus requested time, in seconds; `None` if unknown.
    expected_end: Option<f64>,
    /// Start, in seconds.
    start: f64,
    /// Number of the user; `None` if unknown.
    user: Option<u32>,
    /// Index of the machine.
    machine: usize,
}

/// View of a policy: everything except run times.
#[pyclass(frozen)]
pub(crate) struct View {
    now: f64,
    processors: Vec<u32>,
    free: Vec<u32>,
    queue: Arc<VecDeque<QueuedJob>>,
    running: Vec<(usize, RunningJob)>,
}

/// The waiting jobs, in order of arrival: a sequence that creates a job when it is read.
#[pyclass(frozen, sequence)]
pub(crate) struct Queue(Arc<VecDeque<QueuedJob>>);

#[pymethods]
impl Queue {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns a job, or a list of the jobs of a slice.
    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let count = isize::try_from(self.0.len())?;
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(count)?;
            let places =
                (0..range.slicelength).map(|step| range.start + isize::try_from(step).unwrap_or(0) * range.step);
            let jobs: Vec<Job> =
                places.filter_map(|place| self.0.get(usize::try_from(place).ok()?)).map(Job::of).collect();
            return Ok(PyList::new(py, jobs)?.into_any());
        }
        let place: isize = index.extract()?;
        let place = if place < 0 { place + count } else { place };
        let job = usize::try_from(place).ok().and_then(|place| self.0.get(place));
        let job = job.ok_or_else(|| PyIndexError::new_err(format!("{place}: {count} jobs wait")))?;
        Ok(Bound::new(py, Job::of(job))?.into_any())
    }
}

#[pymethods]
impl View {
    /// The present instant, in seconds from the first submission.
    #[getter]
    fn now(&self) -> f64 {
        self.now
    }

    /// Processors of each machine.
    #[getter]
    fn processors(&self) -> Vec<u32> {
        self.processors.clone()
    }

    /// Idle processors of each machine.
    #[getter]
    fn free(&self) -> Vec<u32> {
        self.free.clone()
    }

    /// The waiting jobs, in order of arrival.
    #[getter]
    fn queue(&self) -> Queue {
        Queue(Arc::clone(&self.queue))
    }

    /// Returns the observation of an environment after the jobs `started` have started: an array `(slots, 8)` of the jobs that have waited
    /// longest, and the mask of those.
    #[pyo3(signature = (slots, started = Vec::new()))]
    fn observe<'py>(&self, py: Python<'py>, slots: usize, started: Vec<u32>) -> PyResult<Seen<'py>> {
        let (seen, mask) = (PyArray2::zeros(py, [slots, FEATURES], false), PyArray1::zeros(py, slots, false));
        let (taken, queue): (Vec<&QueuedJob>, Vec<&QueuedJob>) =
            self.queue.iter().partition(|job| started.contains(&job.job.0));
        let taken: u32 = taken.iter().map(|job| job.request.processors).sum();
        let (processors, free) = (self.processors.iter().sum(), self.free.iter().sum::<u32>().saturating_sub(taken));
        let surroundings = Surroundings { processors, free, waiting: queue.len(), slots };
        let (mut values, mut flags) = (seen.readwrite(), mask.readwrite());
        let rows = values.as_slice_mut()?.chunks_exact_mut(FEATURES).zip(flags.as_slice_mut()?);
        for (place, ((row, flag), job)) in rows.zip(queue).enumerate() {
            let QueuedJob { request, submit, .. } = job;
            let wait = self.now - submit.as_secs_f64();
            let estimate = request.estimate.map(|estimate| estimate.as_secs_f64());
            row.copy_from_slice(&surroundings.slot(place, wait, estimate, request.processors));
            *flag = true;
        }
        drop((values, flags));
        Ok((seen, mask))
    }

    /// The running jobs, by machine and expected end.
    #[getter]
    fn running(&self) -> Vec<Running> {
        self.running.iter().map(|(machine, job)| Running::of(*machine, job)).collect()
    }
}

impl Job {
    fn of(queued: &QueuedJob) -> Self {
        let QueuedJob { job, request, submit } = queued;
        Self {
            id: job.0,
            processors: request.processors,
            requested: request.estimate.map(|estimate| estimate.as_secs_f64()),
            submit: submit.as_secs_f64(),
            user: request.user,
        }
    }
}

impl Running {
    fn of(machine: usize, running: &RunningJob) -> Self {
        let RunningJob { expected_end, job, processors, user, start } = *running;
        Self {
            id: (job != RunningJob::OUTAGE).then_some(job.0),
            processors,
            expected_end: (expected_end != Time::MAX).then(|| expected_end.as_secs_f64()),
            start: start.as_secs_f64(),
            user,
            machine,
        }
    }
}

impl View {
    /// Copies what may be seen, but for the queue, which the policy keeps. Under a long queue, its copy would be most of the work of a pass.
    fn of(view: &gap_schedule::View<'_>, queue: &Arc<VecDeque<QueuedJob>>) -> Self {
        debug_assert!(queue.iter().eq(view.queue.iter()), "the queue kept is the queue");
        let running = view.running.iter().enumerate();
        Self {
            now: view.now.as_secs_f64(),
            processors: view.machines.iter().map(|machine: &Machine| machine.processors).collect(),
            free: view.free.to_vec(),
            queue: Arc::clone(queue),
            running: running.flat_map(|(machine, jobs)| jobs.iter().map(move |job| (machine, *job))).collect(),
        }
    }
}

/// A policy in Python: an object with `schedule(view)`, and optionally `on_submit(job, view)` and `on_completion(job, view)`.
pub(crate) struct PythonPolicy {
    policy: Py<PyAny>,
    hears_submissions: bool,
    hears_completions: bool,
    /// Waiting jobs by arrival; copied at a change only while Python holds a view.
    queue: Arc<VecDeque<QueuedJob>>,
    failure: Failure,
    /// Python's number of the thread that calls it.
    thread: u64,
}

impl PythonPolicy {
    /// Creates the policy by calling `make`.
    pub(crate) fn make(make: &Py<PyAny>, failure: &Failure) -> Self {
        let made = Python::attach(|py| {
            let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
            let policy = failure.call(thread, || make.call0(py))?;
            let hears = |name| policy.bind(py).hasattr(name);
            let (hears_submissions, hears_completions) = (hears("on_submit")?, hears("on_completion")?);
            let (queue, failure) = (Arc::default(), failure.clone());
            Ok(Self { policy, hears_submissions, hears_completions, queue, failure, thread })
        });
        made.unwrap_or_else(|error| failure.stop(error))
    }

    /// Reads the answer: each item is a job's number, a job, or a pair of one of these and a machine's index.
    fn answer(&self, view: &gap_schedule::View<'_>, starts: &mut Starts) -> PyResult<()> {
        let mut free = view.free.to_vec();
        Python::attach(|py| {
            let shown = Bound::new(py, View::of(view, &self.queue))?;
            let answer = self.policy.bind(py).call_method1("schedule", (shown,))?;
            if answer.is_none() {
                return Ok(());
            }
            for item in answer.try_iter()? {
                let item = item?;
                let pair =
                    item.cast::<PyTuple>().ok().and_then(|pair| pair.extract::<(Bound<'_, PyAny>, usize)>().ok());
                let (item, machine) = pair.map_or((item, None), |(item, machine)| (item, Some(machine)));
                let id = match item.cast::<Job>() {
                    Ok(job) => job.get().id,
                    Err(_) => item.extract()?,
                };
                let wrong = |why: String| {
                    PyValueError::new_err(format!("schedule() answered job {id} at {} s: {why}", view.now))
                };
                let Some(queued) = view.queue.get(JobId(id)).filter(|_| starts.iter().all(|start| start.0.0 != id))
                else {
                    return Err(wrong("it does not wait".to_owned()));
                };
                let width = queued.request.processors;
                let has_room = |machine: usize| {
                    free.get(machine).is_some_and(|free| *free >= width) && view.suits(machine, &queued.request)
                };
                let place = machine
                    .map_or_else(|| (0..free.len()).find(|one| has_room(*one)), |one| has_room(one).then_some(one));
                let Some(place) = place else {
                    let free: Vec<String> = free.iter().map(u32::to_string).collect();
                    return Err(wrong(format!("it needs {width} processors, and {} are idle", free.join(", "))));
                };
                free[place] -= width;
                starts.push((JobId(id), SiteId(u32::try_from(place).expect("few machines"))));
            }
            Ok(())
        })
    }

    fn call(
        &self,
        method: &str,
        job: impl for<'py> FnOnce(Python<'py>) -> PyResult<Py<PyAny>>,
        view: &gap_schedule::View<'_>,
    ) {
        let called = self.failure.call(self.thread, || {
            Python::attach(|py| {
                self.policy.call_method1(py, method, (job(py)?, Bound::new(py, View::of(view, &self.queue))?))
            })
        });
        if let Err(error) = called {
            self.failure.stop(error);
        }
    }
}

impl Policy for PythonPolicy {
    fn schedule(&mut self, view: &gap_schedule::View<'_>, starts: &mut Starts) {
        if let Err(error) = self.failure.call(self.thread, || self.answer(view, starts)) {
            self.failure.stop(error);
        }
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &gap_schedule::View<'_>) {
        Arc::make_mut(&mut self.queue).push_back(*job);
        if self.hears_submissions {
            self.call("on_submit", |py| Ok(Bound::new(py, Job::of(job))?.into_any().unbind()), view);
        }
    }

    fn on_start(&mut self, job: &RunningJob, _: SiteId, _: &gap_schedule::View<'_>) {
        let queue = Arc::make_mut(&mut self.queue);
        let place = queue.iter().position(|waiting| waiting.job == job.job);
        queue.remove(place.expect("a job that starts has waited"));
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &gap_schedule::View<'_>) {
        if self.hears_completions {
            let running = Running::of(machine.index(), job);
            self.call("on_completion", |py| Ok(Bound::new(py, running)?.into_any().unbind()), view);
        }
    }
}
