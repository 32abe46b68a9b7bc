//! `slurm+conf=FILE`: Slurm's controller as a policy of one machine.

use super::exec::shared;
use super::name::PolicyName;
use crate::slurm::input::{WholeNodes, ZERO, seconds, site, terms};
use anyhow::{Result, anyhow, bail, ensure};
use gap_schedule::{ForkablePolicy, Machine, Policy, PolicyError, QueuedJob, RunningJob, Starts, View};
use sim_core::{JobId, SiteId, Time};
use slurm_sched::{Report, Site, Slurmctld, Version};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct SlurmCluster {
    site: Arc<Site>,
    nodes: WholeNodes,
    pub(super) files: Vec<PathBuf>,
}

impl SlurmCluster {
    /// Takes all settings of a name, and reads the files; other settings are those of slurm.conf.
    pub(super) fn read(name: &mut PolicyName) -> Result<Self, String> {
        let path = |text: &str| Some(PathBuf::from(text));
        let conf = name.take("conf", "a file", path)?.ok_or_else(|| {
            format!("{name}: needs conf=FILE, a slurm.conf or its nodes alone (.toml), as in slurm+conf=./slurm.conf")
        })?;
        let accounts = name.take("accounts", "a file", path)?;
        let version = name.take("version", "22.05, 24.11 or nearest:VERSION", |text| text.parse().ok())?;
        let overlays = name.rest();
        let read = || {
            let overlays: Vec<&str> = overlays.iter().map(String::as_str).collect();
            let site = site(&conf, accounts.as_deref(), version.unwrap_or(Version::V24_11), &overlays)?;
            let files = [&conf].into_iter().chain(&site.conf.included).chain(&accounts).cloned().collect();
            Ok(Self { nodes: WholeNodes::of(&site.conf)?, site: Arc::new(site), files })
        };
        read().map_err(|error: anyhow::Error| format!("{error:#}"))
    }

    pub(super) fn assumptions(&self) -> String {
        let Site { conf, accounts, .. } = &*self.site;
        let all = conf.not_modelled.iter().chain(&accounts.not_modelled);
        let without: String = all.map(|what| format!("; without effect: {what}")).collect();
        format!(
            "jobs go to the default partition, on as many whole nodes (CPUs of a node: {}) as their processors fill, with their \
             estimates in whole minutes as limits; the log cuts them there, and not slurmctld; the phases of the loops are drawn from the \
             seed; second 0 is {ZERO} s since 1970{without}",
            self.nodes.cpus
        )
    }

    /// The policy before its first job; the seed determines the phases of the loops.
    pub(super) fn at_work(self: Arc<Self>, seed: u64) -> impl ForkablePolicy + use<> {
        let terms = terms(&self.site, None, seed, 0);
        let slurmctld = Slurmctld::new(Arc::clone(&self.site), terms, None);
        let (ended, submitted) = Default::default();
        Controlled { passed: terms.start, slurmctld, cluster: self, ended, submitted, error: None }
    }
}

#[derive(Clone)]
struct Controlled {
    cluster: Arc<SlurmCluster>,
    slurmctld: Slurmctld,
    /// Last second whose passes are decided, since 1970.
    passed: i64,
    /// Events of the present instant, which the passes of its second do not see.
    ended: Vec<JobId>,
    submitted: Vec<QueuedJob>,
    error: Option<PolicyError>,
}

impl Controlled {
    /// Decides the passes up to the second `now`, and then gives the events of that second to the controller.
    fn decide(&mut self, view: &View<'_>, starts: &mut Starts) -> Result<()> {
        // Whole seconds since 1970.
        let now = ZERO + seconds(view.now.since(Time::ZERO));
        self.ended.sort_unstable();
        let ending: Vec<u32> = self.ended.drain(..).map(number).collect();
        while self.passed < now {
            self.passed = self.slurmctld.next(self.passed).min(now);
            let mut is_cut = false;
            let mut note = |report| is_cut |= matches!(report, Report::Ended(_));
            let passed = self.passed;
            let is_ending = |job| passed == now && ending.contains(&job);
            let started = self.slurmctld.step(passed, &is_ending, &mut note);
            ensure!(
                !is_cut,
                "at {} s slurmctld stops a job at its limit, which a policy cannot; give the jobs requested times, or use the command slurm",
                self.passed - ZERO
            );
            starts.extend(started.into_iter().map(|job| (JobId(job - 1), SiteId(0))));
        }
        for job in ending {
            self.slurmctld.end(job, now, false);
        }
        for QueuedJob { job, request, submit } in self.submitted.drain(..) {
            let own = self.cluster.nodes.job(number(job), &request, request.estimate);
            let own =
                own.ok_or_else(|| anyhow!("the job submitted at {submit} s is wider than the default partition"))?;
            self.slurmctld.submit(&own, now);
        }
        if let Some(QueuedJob { job, request, submit }) = view.queue.iter().next()
            && self.slurmctld.is_stuck(now)
        {
            let why = self.slurmctld.why(number(*job)).map_or_else(String::new, |why| format!(" ({})", why.words));
            bail!(
                "the job submitted at {submit} s for {} processors never starts on the idle cluster{why}; change the setting, or \
                 leave the job out of the log",
                request.processors
            );
        }
        Ok(())
    }

    fn fail(&mut self, error: anyhow::Error) {
        self.error.get_or_insert_with(|| shared(error));
    }
}

/// The job's number for the controller, where numbers count from 1.
fn number(job: JobId) -> u32 {
    job.0 + 1
}

impl Policy for Controlled {
    fn begin(&mut self, view: &View<'_>) {
        let WholeNodes { count, processors, .. } = self.cluster.nodes;
        if *view.machines != [Machine::new(processors)] {
            let found: Vec<String> =
                view.machines.iter().map(|one| format!("{} (speed {})", one.processors, one.speed)).collect();
            self.fail(anyhow!(
                "the {count} nodes of slurm.conf's default partition have {processors} processors, and the machine {}; give one \
                 machine with --procs {processors}, or change the nodes",
                found.join(" + ")
            ));
        }
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        if self.error.is_none() {
            self.error = self.decide(view, starts).map_err(shared).err();
        }
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.submitted.push(*job);
    }

    fn on_completion(&mut self, job: &RunningJob, _: SiteId, _: &View<'_>) {
        self.ended.push(job.job);
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, _: SiteId, _: &View<'_>) {
        self.fail(anyhow!("slurmctld plans by limits, which no job outlives; leave predictions of run times out"));
    }

    fn next_wakeup(&self) -> Option<Time> {
        // Passes over an idle cluster are made up for at the next event.
        let next = (!self.slurmctld.is_stuck(self.passed)).then(|| self.slurmctld.next(self.passed) - ZERO)?;
        Some(Time::from_secs(next.unsigned_abs()))
    }

    fn wants_every_event(&self) -> bool {
        true
    }

    fn error(&self) -> Option<PolicyError> {
        self.error.clone()
    }
}
