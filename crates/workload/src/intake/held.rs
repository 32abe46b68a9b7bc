//! Log that is read once and held: [`HeldLog`].
//!
//! [`Intake`] streams, which suits a single replay. An experiment replays one log hundreds of times with small changes
//! ([`resample`](crate::resample)), so it keeps all data that these need: 88 bytes for each job, 28 MB for the 312 826
//! jobs of CEA-Curie.

use crate::error::InputError;
use crate::format::repair::Repairs;
use crate::format::swf::{SwfReader, SwfRecord};
use crate::intake::deadlines::Deadlines;
use crate::intake::estimates::{Estimates, stretched};
pub use crate::intake::held_job::HeldJob;
use crate::intake::{Intake, Options};
use sim_core::{Job, JobId, Span, Time};

/// Jobs of a log, in order of submission. The first of a log that was read is submitted at [`Time::ZERO`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldLog {
    jobs: Vec<HeldJob>,
    /// Time 0 on the log's own clock.
    origin: Span,
}

impl HeldLog {
    /// Reads the log `records`, repaired under the rules of [`Intake`]. The options `estimates` and `seed` are ignored:
    /// [`with_estimates`](Self::with_estimates) makes the estimates for policies. The second part counts the repairs,
    /// except those that depend on estimates.
    ///
    /// # Errors
    ///
    /// A faulty line, with file, line and field.
    ///
    /// # Panics
    ///
    /// If the options contain a number out of range, which options parsed from text never do.
    pub fn read(records: SwfReader, options: Options) -> Result<(Self, Repairs), InputError> {
        Self::read_with(records, options, |_| {})
    }

    /// Like [`read`](Self::read), and passes each record that becomes a job to `each`: for columns that a held job lacks.
    pub fn read_with(
        records: SwfReader,
        options: Options,
        mut each: impl FnMut(SwfRecord),
    ) -> Result<(Self, Repairs), InputError> {
        let mut intake = Intake::new(records, Options { estimates: Estimates::Exact, ..options });
        let mut jobs = Vec::new();
        while let Some(item) = intake.next_record() {
            let (record, job) = item?;
            let Some((_, held)) = job else { continue };
            jobs.push(held);
            each(record);
        }
        jobs.shrink_to_fit();
        Ok((Self { jobs, origin: intake.origin().unwrap_or_default() }, intake.repairs().clone()))
    }

    /// Holds these jobs, sorted by submission; the sort is stable.
    pub fn of(mut jobs: Vec<HeldJob>) -> Self {
        jobs.sort_by_key(|job| job.submit);
        Self { jobs, origin: Span::ZERO }
    }

    /// Jobs, in order.
    pub fn jobs(&self) -> &[HeldJob] {
        &self.jobs
    }

    /// Submission of the first job on the clock of the log that was read (field 2): [`Time::ZERO`] here.
    pub const fn origin(&self) -> Span {
        self.origin
    }

    /// Time from [`Time::ZERO`] to the last submission.
    pub fn span(&self) -> Span {
        self.jobs.last().map_or(Span::ZERO, |job| job.submit.since(Time::ZERO))
    }

    /// Offered load: Σ processors × run time within limits / (processors × span), for a machine of that many
    /// processors. `None` without a span. Jobs wider than the machine are left out, as in a simulation.
    ///
    /// # Panics
    ///
    /// If `processors` is zero.
    pub fn load(&self, processors: u32) -> Option<f64> {
        assert!(processors > 0, "a machine has processors");
        let span = self.span().as_secs_f64();
        let fit = self.jobs.iter().filter(|job| job.processors <= processors);
        (span > 0.0).then(|| fit.map(HeldJob::area).sum::<f64>() / (f64::from(processors) * span))
    }

    /// Returns the same jobs `load` times as dense: every time between arrivals is divided by `load`, which multiplies
    /// the offered load by it. Run times stay. The daily and weekly cycles are scaled too, so that at 1.2 a day has 20
    /// hours. (More or fewer users keep them: [`Users`](crate::resample::Users).)
    ///
    /// # Panics
    ///
    /// If `load` is not a positive number.
    #[must_use]
    pub fn denser(&self, load: f64) -> Self {
        assert!(load > 0.0 && load.is_finite(), "a load cannot be {load} times what it was");
        let submit = |job: &HeldJob| Time::ZERO + job.submit.since(Time::ZERO).scaled(1.0 / load);
        let jobs = self.jobs.iter().map(|job| HeldJob { submit: submit(job), ..*job }).collect();
        Self { jobs, origin: self.origin }
    }

    /// Returns the same jobs, each due `factor` times its limit after its submission ([`Deadlines::Factor`](crate::Deadlines)).
    ///
    /// # Panics
    ///
    /// If `factor` is not above zero and at most a million.
    #[must_use]
    pub fn due_after(mut self, factor: f64) -> Self {
        Deadlines::Factor(factor).assert_possible();
        for job in &mut self.jobs {
            job.due = Some(stretched(job.limit.unwrap_or(job.runtime), factor));
        }
        self
    }

    /// Returns the same jobs, numbered by their positions from 0 instead of by the log.
    #[must_use]
    pub fn renumbered(mut self) -> Self {
        (0..).zip(&mut self.jobs).for_each(|(number, job)| job.number = number);
        self
    }

    /// Share of jobs with a requested time, from 0 to 1.
    pub fn with_limit(&self) -> f64 {
        self.share(|job| job.limit.is_some())
    }

    /// Share of the jobs for which `is_meant` holds, from 0 to 1.
    pub(crate) fn share(&self, is_meant: impl Fn(&HeldJob) -> bool) -> f64 {
        let meant = self.jobs.iter().filter(|job| is_meant(job)).count();
        if self.jobs.is_empty() { 0.0 } else { meant as f64 / self.jobs.len() as f64 }
    }

    /// Returns the jobs as a simulation takes them, numbered 0, 1, 2 … in order: equal to those of [`Intake`] with the
    /// same estimates for the log as it was read. `seed` is that of estimates that are drawn.
    ///
    /// # Panics
    ///
    /// If a parameter of `estimates` is out of range, which estimates parsed from text never are.
    pub fn with_estimates(&self, estimates: Estimates, seed: u64) -> Vec<Job> {
        estimates.assert_possible();
        (0..).zip(&self.jobs).map(|(id, held)| estimates.job(seed, JobId(id), held, |_| {})).collect()
    }
}
