//! The logs and models of an experiment, read once and held.

use crate::design::file::{Log, Method, RepairRule, Source};
use crate::design::{Design, Setting};
use anyhow::{Context, Result, anyhow, bail};
use lab::output::provenance::sha256_of;
use replay::simulate::sites::Sites;
use replay::workload::generate::CompleteModel;
use sim_core::{Job, Streams};
use std::path::{Path, PathBuf};
use workload::model;
use workload::resample::{Blocks, Drawn, Users, shaken};
use workload::swf::Header;
use workload::{Deadlines, Estimates, HeldLog, Options, Repairs, SwfReader};

/// Number in place of a replication: the log itself, under the baseline alone.
pub(crate) const IN_LOG: u32 = u32::MAX;

/// A log that was read, of which every replication is made.
pub(crate) struct Held {
    pub(crate) log: Log,
    origin: SourceOrigin,
    pub(crate) sites: Sites,
    /// Path as found; empty for a model.
    pub(crate) path: PathBuf,
    /// SHA-256 of the file; empty for a model.
    pub(crate) sha256: String,
    pub(crate) repairs: Repairs,
    /// Relative density that gives the requested load, if the log is a file.
    pub(crate) density: f64,
}

enum SourceOrigin {
    Log(HeldLog),
    Blocks(Box<Blocks>),
    Users(HeldLog, Users),
    Model(CompleteModel, u32),
}

/// One workload under one setting, the same for every policy.
pub(crate) struct ReplayInput {
    pub(crate) jobs: Vec<Job>,
    pub(crate) numbers: Vec<u64>,
    pub(crate) estimates: Estimates,
    pub(crate) sites: Sites,
}

impl Held {
    /// Opens the log, and checks that the experiment can run on it. A message names the file and line of its table.
    pub(crate) fn open(log: &Log, design: &Design, source: &Source<'_>, traces: Option<&Path>) -> Result<Self> {
        let find = |name: &Path| found(name, source, traces);
        let opened = || -> Result<Self> {
            let sites = |path| Sites::from_file(&find(path)?, log.inside.unwrap_or_default());
            let given = log.machines.as_deref().map(sites).transpose()?;
            let procs = log.procs.map(|procs| procs.0);
            let Some(name) = &log.model else {
                let file = log.file.as_ref().context("log: needs a file or a model")?;
                // If every setting has its own machine, that of the log is not needed.
                let one = procs.or(design.settings()[0].procs()).map(|procs| Sites::pool(procs, "procs"));
                return Self::of_file(log, design, find(Path::new(file))?, given.or(one));
            };
            let preset = log.preset.as_ref().map(|name| find(Path::new(name))).transpose()?;
            let model = model::named(name).context("the model was checked")?;
            let takes_procs = model.least_processors.is_some() && preset.is_none();
            let made = CompleteModel::new(model, procs.filter(|_| takes_procs), preset.as_deref(), &[])?;
            let sites = given.unwrap_or_else(|| Sites::pool(procs.unwrap_or(made.processors), "the model"));
            let origin = SourceOrigin::Model(made, log.count.map_or(0, |count| count.0));
            Ok(Self::new(origin, log, sites))
        };
        opened().with_context(|| format!("{}:{}", source.path.display(), log.line))
    }

    fn new(origin: SourceOrigin, log: &Log, sites: Sites) -> Self {
        let (log, path, sha256, repairs) = (log.clone(), PathBuf::new(), String::new(), Repairs::default());
        Self { log, origin, sites, path, sha256, repairs, density: 1.0 }
    }

    fn of_file(log: &Log, design: &Design, path: PathBuf, given: Option<Sites>) -> Result<Self> {
        let reader = SwfReader::open(&path)?;
        let header = reader.header().clone();
        let max_jobs = log.count.map(|count| count.0.into());
        let options = Options { max_jobs, deadlines: log.deadlines.0, ..Options::default() };
        let (held, repairs) = HeldLog::read(reader, options)?;
        if held.jobs().len() < 2 {
            bail!("{}: has fewer than two jobs that ran; nothing can be compared", path.display());
        }
        if let Some(first) = repairs.iter().next().filter(|_| log.repairs == RepairRule::Refuse) {
            bail!(
                "{}: needs repair ({} under the rule {}), and repairs = \"refuse\" takes none; clean the log, or count repairs",
                path.display(),
                first.count,
                first.rule.name()
            );
        }
        let sites = match given {
            Some(sites) => sites,
            None => Sites::pool(capacity(&header, &path)?, "the log"),
        };
        let density = match log.load {
            Some(load) => {
                let own = held.load(sites.processors()).filter(|own| *own > 0.0);
                load.0 / own.context("the log has no load to scale")?
            }
            None => 1.0,
        };
        let sha256 = sha256_of(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let origin = SourceOrigin::resampled(held, design, (sites.processors(), density));
        let origin = origin.map_err(|error| anyhow!("{}: {error:#}", path.display()))?;
        Ok(Self { path, sha256, repairs, density, ..Self::new(origin, log, sites) })
    }

    /// The jobs of a replication before settings change them; `users` is relative to the log's own. Replication [`IN_LOG`] is the log
    /// itself.
    pub(crate) fn replication(&self, design: &Design, users: f64, replication: u32) -> Result<Drawn> {
        if let Some(log) = self.log().filter(|_| replication == IN_LOG) {
            return Ok(Drawn { log: log.clone(), refused: 0 });
        }
        let streams = Streams::new(design.seed, replication);
        let drawn = match &self.origin {
            SourceOrigin::Blocks(of) => of.redrawn(&streams),
            SourceOrigin::Users(log, of) => {
                of.clone().with_users(users).redrawn_within(log, (self.sites.processors(), self.density), &streams)
            }
            SourceOrigin::Model(model, count) => {
                let log = match self.log.deadlines.0 {
                    Deadlines::Factor(factor) => model.drawn(&streams, *count).due_after(factor),
                    _ => model.drawn(&streams, *count),
                };
                Ok(Drawn { log, refused: 0 })
            }
            SourceOrigin::Log(log) => Ok(Drawn { log: shaken(log, design.replicate.shift(), &streams), refused: 0 }),
        };
        drawn.map_err(|error| anyhow!("{}, replication {replication}: {error}", self.path.display()))
    }

    /// Parts that replications are drawn from; `None` if nothing is drawn from parts.
    pub(crate) fn parts(&self) -> Option<String> {
        match &self.origin {
            SourceOrigin::Blocks(of) => Some(format!("blocks of {} weeks", of.length)),
            SourceOrigin::Users(_, users) => {
                let (temporary, long_term) = users.counts();
                Some(format!("{temporary} temporary and {long_term} long-term users"))
            }
            SourceOrigin::Log(_) | SourceOrigin::Model(..) => None,
        }
    }

    pub(crate) fn input(&self, base: &HeldLog, design: &Design, setting: &Setting, replication: u32) -> ReplayInput {
        let sites = setting.procs().map_or_else(|| self.sites.clone(), |procs| Sites::pool(procs, "procs"));
        let own = match (&self.origin, self.log.load) {
            // Each draw has a load of its own, and is scaled to the requested one.
            (SourceOrigin::Model(..), Some(load)) => {
                base.load(sites.processors()).filter(|own| *own > 0.0).map_or(1.0, |own| load.0 / own)
            }
            _ => self.density,
        };
        let density = own * setting.number("load").unwrap_or(1.0);
        let scaled = ((density - 1.0).abs() > 0.0).then(|| base.denser(density));
        let jobs = scaled.as_ref().unwrap_or(base);
        let estimates = setting.estimates(&self.log);
        // Each replication has estimates of its own.
        let seed = design.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(replication));
        let numbers = if matches!(self.origin, SourceOrigin::Users(..) | SourceOrigin::Blocks(_)) {
            // The same job may occur twice: its number would be ambiguous.
            (1..).take(jobs.jobs().len()).collect()
        } else {
            jobs.jobs().iter().map(|job| job.number).collect()
        };
        ReplayInput { jobs: jobs.with_estimates(estimates, seed), numbers, estimates, sites }
    }

    /// Approximate number of jobs of a run.
    pub(crate) fn jobs(&self) -> u64 {
        match &self.origin {
            SourceOrigin::Model(_, count) => u64::from(*count),
            _ => self.log().map_or(0, |log| log.jobs().len() as u64),
        }
    }

    /// The log as it was read; `None` for a model.
    pub(crate) const fn log(&self) -> Option<&HeldLog> {
        match &self.origin {
            SourceOrigin::Log(log) | SourceOrigin::Users(log, _) => Some(log),
            SourceOrigin::Blocks(of) => Some(&of.log),
            SourceOrigin::Model(..) => None,
        }
    }

    /// Returns true if requested times are known of at least one job.
    pub(crate) fn has_limits(&self) -> bool {
        match &self.origin {
            // A model draws them for every job or for none.
            SourceOrigin::Model(model, count) => model.drawn(&Streams::new(0, 0), (*count).min(100)).with_limit() > 0.0,
            _ => self.log().is_some_and(|log| log.with_limit() > 0.0),
        }
    }
}

impl SourceOrigin {
    /// Parts that replications of a log are drawn from, given the processors of its machine and its relative density.
    fn resampled(log: HeldLog, design: &Design, (processors, density): (u32, f64)) -> Result<Self> {
        let weeks = design.replicate.weeks();
        Ok(match design.replicate.method {
            Method::Blocks => {
                let of = Blocks::of(log, processors, density)?;
                let of = if let Some(weeks) = weeks { of.with_weeks(weeks) } else { of };
                // A log that no draw resembles is refused before the first simulation.
                of.redrawn(&Streams::new(design.seed, 0))?;
                Self::Blocks(Box::new(of))
            }
            Method::Users => {
                let of = Users::of(&log)?;
                let of = if let Some(weeks) = weeks { of.with_weeks(weeks) } else { of };
                Self::Users(log, of)
            }
            Method::Shake | Method::Seeds => Self::Log(log),
        })
    }
}

/// Path of a file that an experiment names: beside it, then here, then among the traces.
fn found(name: &Path, source: &Source<'_>, traces: Option<&Path>) -> Result<PathBuf> {
    let beside = source.path.parent().unwrap_or(Path::new("")).join(name);
    let folders = [Some(beside), Some(name.to_owned()), traces.map(|folder| folder.join(name))];
    folders.into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
        anyhow!("file: {name:?} is neither beside the experiment nor here; name the folder of logs with --traces DIR")
    })
}

fn capacity(header: &Header, path: &Path) -> Result<u32> {
    match workload::capacity(header, path) {
        Ok((processors, _)) => Ok(processors),
        Err(workload::InputError::NoCapacity { widest, .. }) => {
            let widest = widest.map_or_else(String::new, |widest| format!(" (the widest job requests {widest})"));
            bail!(
                "procs: {} does not say how large its machine is; add procs = N or machines = \"FILE\" to its [[log]]{widest}",
                path.display()
            )
        }
        Err(error) => Err(error.into()),
    }
}
