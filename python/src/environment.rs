//! Decisions of agents: one environment, and many of them in threads.

use gap_schedule::episode::{Episode, EpisodeJob, FEATURES};
use metrics::{Metric, Totals};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyReadwriteArray2,
};
use numpy::{PyReadwriteArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// Environments that one thread steps before another takes over: with fewer, the handover costs more than the steps.
const CHUNK: usize = 8;

fn refused(words: String) -> PyErr {
    PyValueError::new_err(words)
}

/// Returns the mean of `ours` − `theirs`, pair by pair, with the bounds of its 95 % interval (Student's t).
#[pyfunction]
pub(crate) fn paired(ours: Vec<f64>, theirs: Vec<f64>) -> PyResult<(f64, Option<f64>, Option<f64>)> {
    if ours.len() != theirs.len() || ours.is_empty() {
        return Err(refused(format!("{} values cannot be paired with {}", ours.len(), theirs.len())));
    }
    let differences: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours - theirs).collect();
    let interval = metrics::ConfidenceInterval::of(&differences);
    Ok((interval.mean, interval.low, interval.high))
}

/// Returns the jobs of rows `submit, run, request, processors, user`.
fn jobs(rows: &PyReadonlyArray2<'_, i64>) -> PyResult<Arc<[EpisodeJob]>> {
    let (shape, values) = (rows.shape().to_vec(), rows.as_slice()?);
    if shape[1] != 5 {
        return Err(refused(format!("jobs: expected 5 columns, found {}", shape[1])));
    }
    let job = |row: &[i64]| {
        let processors = u32::try_from(row[3]).map_err(|_| refused(format!("a job with {} processors", row[3])))?;
        Ok(EpisodeJob { submit: row[0], run: row[1], request: row[2], processors, user: row[4] })
    };
    values.chunks_exact(5).map(job).collect()
}

fn known(metric: &str) -> PyResult<()> {
    let unknown = || refused(format!("no metric is called {metric:?}; columns.md of a run lists them"));
    Metric::named(metric).map(|_| ()).ok_or_else(unknown)
}

/// One episode: a window of consecutive jobs of a workload on one machine.
#[pyclass]
#[derive(Clone)]
pub(crate) struct Environment {
    episode: Episode,
    processors: u32,
    slots: usize,
}

/// The observation, `(slots, 8)`, and the mask of actions.
pub(crate) type Seen<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<bool>>);

#[pymethods]
impl Environment {
    /// `rows` are `submit, run, request, processors, user`, by submission.
    #[new]
    fn new(
        rows: PyReadonlyArray2<'_, i64>,
        processors: u32,
        slots: usize,
        rules: &str,
        behind: &str,
    ) -> PyResult<Self> {
        let (rules, behind) = (rules.parse().map_err(refused)?, behind.parse().map_err(refused)?);
        let episode = Episode::new(jobs(&rows)?, processors, slots, rules, behind).map_err(refused)?;
        Ok(Self { episode, processors, slots })
    }

    /// Replaces the workload; `reset` comes next.
    fn set_jobs(&mut self, rows: PyReadonlyArray2<'_, i64>) -> PyResult<()> {
        self.episode.set_jobs(jobs(&rows)?).map_err(refused)
    }

    /// Begins an episode with the jobs `first` to `first + count`, on a machine that has scheduled the `warm` jobs before. Returns true if
    /// a decision is due.
    fn reset(&mut self, warm: usize, first: usize, count: usize) -> PyResult<bool> {
        self.episode.reset(warm, first, count).map_err(refused)
    }

    /// Takes a decision. Returns true if another is due.
    fn step(&mut self, action: usize) -> PyResult<bool> {
        self.episode.step(action).map_err(|words| refused(format!("{words}; see info[\"action_mask\"]")))
    }

    /// Plays a whole episode by a rule over all waiting jobs.
    fn play(&mut self, warm: usize, first: usize, count: usize, rule: &str) -> PyResult<()> {
        self.episode.play(warm, first, count, rule.parse().map_err(refused)?).map_err(refused)
    }

    /// Returns the observation and the mask of actions.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Seen<'py>> {
        let seen = PyArray2::zeros(py, [self.slots, FEATURES], false);
        let mask = PyArray1::zeros(py, self.episode.actions(), false);
        self.episode.observe(seen.readwrite().as_slice_mut()?, mask.readwrite().as_slice_mut()?);
        Ok((seen, mask))
    }

    /// Number of actions.
    fn actions(&self) -> usize {
        self.episode.actions()
    }

    /// Present instant, in seconds of the log.
    #[getter]
    fn now(&self) -> i64 {
        self.episode.now()
    }

    /// Positions of the waiting jobs in the workload, in order of arrival.
    #[getter]
    fn queue(&self) -> Vec<usize> {
        self.episode.queue().collect()
    }

    /// Starts of the window's jobs, in seconds of the log; −1 for those that wait.
    #[getter]
    fn starts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, self.episode.starts())
    }

    /// A metric of the catalogue over the window's jobs that have started, as if each ran to its end; `None` if it has no value.
    fn value(&self, metric: &str) -> PyResult<Option<f64>> {
        known(metric)?;
        Ok(self.found(metric))
    }

    /// Returns an independent copy.
    fn fork(&self) -> Self {
        self.clone()
    }
}

/// Environments that take their decisions together, in threads.
#[pyclass]
pub(crate) struct Environments {
    all: Vec<Environment>,
    metric: String,
    pool: rayon::ThreadPool,
}

#[pymethods]
impl Environments {
    /// Copies environments that have been reset. `metric` is the value of an ended episode.
    #[new]
    fn new(all: Vec<PyRef<'_, Environment>>, metric: String, threads: usize) -> PyResult<Self> {
        known(&metric)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
        let pool = pool.map_err(|error| refused(format!("threads: {error}")))?;
        Ok(Self { all: all.into_iter().map(|one| one.clone()).collect(), metric, pool })
    }

    /// Replaces the workload of one environment; `reset` comes next.
    fn set_jobs(&mut self, index: usize, rows: PyReadonlyArray2<'_, i64>) -> PyResult<()> {
        self.all[index].set_jobs(rows)
    }

    /// Begins an episode in one environment.
    fn reset(&mut self, index: usize, warm: usize, first: usize, count: usize) -> PyResult<bool> {
        self.all[index].reset(warm, first, count)
    }

    /// Takes one decision in each environment. A decision that the mask forbids is replaced by the first allowed one.
    ///
    /// Writes the observation after it, true if the episode has ended, and then the metric, otherwise 0.
    fn step(
        &mut self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        mut seen: PyReadwriteArray3<'_, f32>,
        mut mask: PyReadwriteArray2<'_, bool>,
        mut values: PyReadwriteArray1<'_, f64>,
        mut ended: PyReadwriteArray1<'_, bool>,
    ) -> PyResult<()> {
        let (actions, metric) = (actions.as_slice()?, self.metric.as_str());
        let (seen, mask) = (seen.as_slice_mut()?, mask.as_slice_mut()?);
        let (values, ended) = (values.as_slice_mut()?, ended.as_slice_mut()?);
        let (all, pool) = (&mut self.all, &self.pool);
        let count = all.len();
        if [actions.len(), values.len(), ended.len()] != [count; 3] {
            return Err(refused(format!("expected {count} actions, found {}", actions.len())));
        }
        let (slot, choices) = (seen.len() / count.max(1), mask.len() / count.max(1));
        py.detach(|| {
            let each = all.par_iter_mut().zip(actions).zip(seen.par_chunks_mut(slot)).zip(mask.par_chunks_mut(choices));
            let each = each.zip(values).zip(ended).with_min_len(CHUNK);
            pool.install(|| {
                each.for_each(|(((((one, action), seen), mask), value), ended)| {
                    // The mask is the one before the decision.
                    let asked = usize::try_from(*action).ok().filter(|action| mask.get(*action) == Some(&true));
                    let action = asked.or_else(|| mask.iter().position(|allowed| *allowed));
                    *ended = !action.is_some_and(|action| one.episode.step(action).unwrap_or(false));
                    *value = if *ended { one.found(metric).unwrap_or(0.0) } else { 0.0 };
                    one.episode.observe(seen, mask);
                });
            });
        });
        Ok(())
    }

    /// Writes the observations of the environments.
    fn observe(&self, mut seen: PyReadwriteArray3<'_, f32>, mut mask: PyReadwriteArray2<'_, bool>) -> PyResult<()> {
        let (seen, mask) = (seen.as_slice_mut()?, mask.as_slice_mut()?);
        let count = self.all.len().max(1);
        let (slot, choices) = (seen.len() / count, mask.len() / count);
        for ((one, seen), mask) in self.all.iter().zip(seen.chunks_mut(slot)).zip(mask.chunks_mut(choices)) {
            one.episode.observe(seen, mask);
        }
        Ok(())
    }

    /// Starts of the jobs of one environment's window.
    fn starts<'py>(&self, py: Python<'py>, index: usize) -> Bound<'py, PyArray1<i64>> {
        self.all[index].starts(py)
    }
}

impl Environment {
    /// Returns a metric of the catalogue over the jobs that have started; `None` if it has no value.
    fn found(&self, metric: &str) -> Option<f64> {
        let mut totals = Totals::new(self.processors, &[]);
        self.episode.records().for_each(|record| totals.add(&record));
        totals.value(metric)
    }
}
