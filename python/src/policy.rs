//! A policy written in Python, and its view of the system.

use crate::environment::Seen;
use crate::failure::Failure;
use gap_schedule::episode::{FEATURES, Surroundings};
use gap_schedule::{Machine, Policy, PolicyError, QueuedJob, RunningJob, Starts};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use sim_core::{JobId, SiteId, Time};
use std::collections::VecDeque;
use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

/// Waiting jobs by arrival. Each is one object of Python as long as it waits.
type WaitingJobs = Arc<VecDeque<Py<Job>>>;

/// A waiting job.
#[pyclass(frozen, get_all)]
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
pub(crate) struct Running {
    /// The job's number.
    id: u32,
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
    /// The present instant, in seconds from the first submission.
    #[pyo3(get)]
    now: f64,
    /// Processors of each machine.
    #[pyo3(get)]
    processors: Vec<u32>,
    /// Idle processors of each machine.
    #[pyo3(get)]
    free: Vec<u32>,
    /// The waiting jobs, in order of arrival.
    #[pyo3(get)]
    queue: Queue,
    running: Vec<(usize, RunningJob)>,
}

/// The waiting jobs, in order of arrival: a sequence.
#[pyclass(frozen, sequence)]
#[derive(Clone)]
pub(crate) struct Queue(WaitingJobs);

#[pymethods]
impl Queue {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __iter__(&self) -> Jobs {
        Jobs { queue: Arc::clone(&self.0), next: 0 }
    }

    /// Returns a job, or a list of the jobs of a slice.
    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let count = isize::try_from(self.0.len())?;
        let at = |place: isize| usize::try_from(place).ok().and_then(|place| self.0.get(place));
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(count)?;
            let places = std::iter::successors(Some(range.start), |place| Some(place + range.step));
            let jobs: Vec<&Py<Job>> = places.take(range.slicelength).filter_map(at).collect();
            return Ok(PyList::new(py, jobs)?.into_any());
        }
        let place: isize = index.extract()?;
        let job = at(if place < 0 { place + count } else { place });
        let job = job.ok_or_else(|| PyIndexError::new_err(format!("{place}: {count} jobs wait")))?;
        Ok(job.bind(py).clone().into_any())
    }
}

/// Iterator over the waiting jobs.
#[pyclass]
pub(crate) struct Jobs {
    queue: WaitingJobs,
    next: usize,
}

#[pymethods]
impl Jobs {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> Option<Py<Job>> {
        self.next += 1;
        self.queue.get(self.next - 1).map(|job| job.clone_ref(py))
    }
}

#[pymethods]
impl View {
    /// Returns the observation of an environment after the jobs `started` have started: an array `(slots, 8)` of the jobs that have waited
    /// longest, and the mask of those.
    #[pyo3(signature = (slots, started = Vec::new()))]
    fn observe<'py>(&self, py: Python<'py>, slots: usize, started: Vec<u32>) -> PyResult<Seen<'py>> {
        let (seen, mask) = (PyArray2::zeros(py, [slots, FEATURES], false), PyArray1::zeros(py, slots, false));
        let (taken, queue): (Vec<&Job>, Vec<&Job>) =
            self.queue.0.iter().map(Py::get).partition(|job| started.contains(&job.id));
        let taken: u32 = taken.iter().map(|job| job.processors).sum();
        let (processors, free) = (self.processors.iter().sum(), self.free.iter().sum::<u32>().saturating_sub(taken));
        let surroundings = Surroundings { processors, free, waiting: queue.len(), slots };
        let (mut values, mut flags) = (seen.readwrite(), mask.readwrite());
        let rows = values.as_slice_mut()?.chunks_exact_mut(FEATURES).zip(flags.as_slice_mut()?);
        for (place, ((row, flag), job)) in rows.zip(queue).enumerate() {
            row.copy_from_slice(&surroundings.slot(place, self.now - job.submit, job.requested, job.processors));
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
            id: job.0,
            processors,
            expected_end: (expected_end != Time::MAX).then(|| expected_end.as_secs_f64()),
            start: start.as_secs_f64(),
            user,
            machine,
        }
    }
}

impl View {
    /// Copies what may be seen, but for the queue, which the policy keeps.
    fn of(view: &gap_schedule::View<'_>, queue: &WaitingJobs) -> Self {
        let running = view.running.iter().enumerate();
        Self {
            now: view.now.as_secs_f64(),
            processors: view.machines.iter().map(|machine: &Machine| machine.processors).collect(),
            free: view.free.to_vec(),
            queue: Queue(Arc::clone(queue)),
            running: running.flat_map(|(machine, jobs)| jobs.iter().map(move |job| (machine, *job))).collect(),
        }
    }
}

/// A change of the queue.
enum Change {
    Submission(QueuedJob),
    Start(JobId),
}

/// A policy in Python: an object with `schedule(view)`, and optionally `on_submit(job, view)` and `on_completion(job, view)`.
pub(crate) struct PythonPolicy {
    name: String,
    policy: Py<PyAny>,
    schedule: Py<PyAny>,
    hears_submissions: bool,
    hears_completions: bool,
    /// Waiting jobs at the last call of Python, and the changes since.
    queue: WaitingJobs,
    changes: Vec<Change>,
    failure: Failure,
    has_failed: bool,
    /// Python's number of the thread that calls it.
    thread: u64,
    _state: ThreadState,
}

impl Drop for PythonPolicy {
    fn drop(&mut self) {
        let starts = self.changes.iter().filter(|change| matches!(change, Change::Start(_))).count();
        let waiting = self.queue.len() + self.changes.len() - 2 * starts;
        if waiting > 0 {
            self.failure.add_waiting(&self.name, waiting);
        }
    }
}

/// Python's state of this thread, kept between calls: to create it for each call costs more than most answers.
struct ThreadState(ffi::PyGILState_STATE, PhantomData<*const ()>);

impl ThreadState {
    fn keep(_: Python<'_>) -> Self {
        // SAFETY: the thread is attached. This raises the count of attachments, which `drop` lowers on the same thread: the type is not `Send`.
        Self(unsafe { ffi::PyGILState_Ensure() }, PhantomData)
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        // SAFETY: as in `keep`.
        Python::attach(|_| unsafe { ffi::PyGILState_Release(self.0) });
    }
}

impl PythonPolicy {
    /// Creates the policy by calling `make`.
    pub(crate) fn make(name: &str, make: &Py<PyAny>, failure: &Failure) -> Box<dyn Policy> {
        let made: PyResult<Self> = Python::attach(|py| {
            let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
            let policy = failure.call(thread, || make.call0(py))?;
            let hears = |name| policy.bind(py).hasattr(name);
            Ok(Self {
                name: name.to_owned(),
                schedule: policy.getattr(py, "schedule")?,
                hears_submissions: hears("on_submit")?,
                hears_completions: hears("on_completion")?,
                policy,
                queue: Arc::default(),
                changes: Vec::new(),
                failure: failure.clone(),
                has_failed: false,
                thread,
                _state: ThreadState::keep(py),
            })
        });
        match made {
            Ok(policy) => Box::new(policy),
            Err(error) => {
                failure.keep(error);
                Box::new(Unmade)
            }
        }
    }

    /// Returns the view, with the queue brought up to date; the queue is copied only while Python holds an earlier view.
    fn view<'py>(&mut self, py: Python<'py>, view: &gap_schedule::View<'_>) -> PyResult<Bound<'py, View>> {
        if !self.changes.is_empty() && Arc::get_mut(&mut self.queue).is_none() {
            self.queue = Arc::new(self.queue.iter().map(|job| job.clone_ref(py)).collect());
        }
        if let Some(queue) = Arc::get_mut(&mut self.queue) {
            for change in self.changes.drain(..) {
                match change {
                    Change::Submission(job) => queue.push_back(Py::new(py, Job::of(&job))?),
                    Change::Start(id) => {
                        let place = queue.iter().position(|job| job.get().id == id.0);
                        queue.remove(place.expect("a job that starts has waited"));
                    }
                }
            }
        }
        debug_assert!(self.queue.iter().map(|job| job.get().id).eq(view.queue.iter().map(|job| job.job.0)));
        Bound::new(py, View::of(view, &self.queue))
    }

    /// Reads the answer: each item is a job's number, a job, or a pair of one of these and a machine's index.
    fn answer(&mut self, view: &gap_schedule::View<'_>, starts: &mut Starts) -> PyResult<()> {
        Python::attach(|py| {
            let shown = self.view(py, view)?;
            let answer = self.schedule.bind(py).call1((shown,))?;
            if answer.is_none() {
                return Ok(());
            }
            let wrong = |item: &Bound<'_, PyAny>, why: String| {
                let item = item.cast::<Job>().map_or_else(|_| item.to_string(), |job| job.get().id.to_string());
                PyValueError::new_err(format!("schedule() answered job {item} at {} s: {why}", view.now))
            };
            let mut free = view.free.to_vec();
            let no_list = |error: PyErr| {
                let expected = "expected jobs, their numbers, or pairs of these and a machine's index".to_owned();
                if error.is_instance_of::<PyTypeError>(py) { wrong(&answer, expected) } else { error }
            };
            for item in answer.try_iter().map_err(no_list)? {
                let item = item?;
                let pair =
                    item.cast::<PyTuple>().ok().and_then(|pair| pair.extract::<(Bound<'_, PyAny>, usize)>().ok());
                let (item, machine) = pair.map_or((item, None), |(item, machine)| (item, Some(machine)));
                let id = item.cast::<Job>().map_or_else(|_| item.extract::<u32>().ok(), |job| Some(job.get().id));
                let is_new = |id: &u32| starts.iter().all(|start| start.0.0 != *id);
                let Some(queued) = id.filter(is_new).and_then(|id| view.queue.get(JobId(id))) else {
                    return Err(wrong(&item, "it does not wait".to_owned()));
                };
                let width = queued.request.processors;
                let has_room = |machine: usize| {
                    free.get(machine).is_some_and(|free| *free >= width) && view.suits(machine, &queued.request)
                };
                let place = machine
                    .map_or_else(|| (0..free.len()).find(|one| has_room(*one)), |one| has_room(one).then_some(one));
                let Some(place) = place else {
                    let free: Vec<String> = free.iter().map(u32::to_string).collect();
                    return Err(wrong(&item, format!("it needs {width} processors, and {} are idle", free.join(", "))));
                };
                free[place] -= width;
                starts.push((queued.job, SiteId(u32::try_from(place).expect("few machines"))));
            }
            Ok(())
        })
    }

    /// Calls the method for the job that has ended, or for the one that has just been submitted.
    fn call(&mut self, method: &str, ended: Option<Running>, view: &gap_schedule::View<'_>) {
        self.guarded(|this| {
            Python::attach(|py| {
                let shown = this.view(py, view)?;
                let job = match ended {
                    Some(ended) => Py::new(py, ended)?.into_any(),
                    None => this.queue.back().expect("it waits").clone_ref(py).into_any(),
                };
                this.policy.call_method1(py, method, (job, shown)).map(drop)
            })
        });
    }

    /// Calls Python, unless the policy has failed. Keeps an exception.
    fn guarded(&mut self, call: impl FnOnce(&mut Self) -> PyResult<()>) {
        if self.has_failed {
            return;
        }
        let failure = self.failure.clone();
        if let Err(error) = failure.call(self.thread, || call(self)) {
            failure.keep(error);
            self.has_failed = true;
        }
    }
}

impl Policy for PythonPolicy {
    fn schedule(&mut self, view: &gap_schedule::View<'_>, starts: &mut Starts) {
        self.guarded(|this| this.answer(view, starts));
    }

    fn error(&self) -> Option<PolicyError> {
        self.has_failed.then(kept_exception)
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &gap_schedule::View<'_>) {
        self.changes.push(Change::Submission(*job));
        if self.hears_submissions {
            self.call("on_submit", None, view);
        }
    }

    fn on_start(&mut self, job: &RunningJob, _: SiteId, _: &gap_schedule::View<'_>) {
        self.changes.push(Change::Start(job.job));
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &gap_schedule::View<'_>) {
        if self.hears_completions {
            self.call("on_completion", Some(Running::of(machine.index(), job)), view);
        }
    }
}

/// Returns the error of a policy whose exception is kept.
fn kept_exception() -> PolicyError {
    Box::<dyn Error + Send + Sync>::from("the policy raised an exception").into()
}

/// A policy whose class could not be called.
struct Unmade;

impl Policy for Unmade {
    fn schedule(&mut self, _: &gap_schedule::View<'_>, _: &mut Starts) {}

    fn error(&self) -> Option<PolicyError> {
        Some(kept_exception())
    }
}
