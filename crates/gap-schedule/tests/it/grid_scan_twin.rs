//! EASY and Flexible backfilling on several machines in their most obvious form.

use gap_schedule::{
    BackfillReadings, BackfillRule, FlexibleConfig, Machine, Minext, Placement, Policy, QueuedJob, RunningJob, Starts,
    View,
};
use sim_core::{JobId, Request, SiteId, Span, Time};

/// Sorts the whole queue at each pass, and then tries every machine for every job.
#[derive(Clone)]
pub(crate) struct ObviousScan {
    readings: BackfillReadings,
    /// Constants of Flexible backfilling; EASY if absent.
    config: Option<FlexibleConfig>,
    /// Waiting jobs in order of arrival.
    queue: Vec<(Time, QueuedJob)>,
    head: Option<JobId>,
}

/// Reservation of the head of the queue.
#[derive(Copy, Clone)]
struct Reservation {
    machine: usize,
    at: Time,
    extra: u32,
}

fn may_use(request: &Request, machine: usize) -> bool {
    request.sites.contains(SiteId(u32::try_from(machine).expect("few machines")))
}

impl ObviousScan {
    pub(crate) fn easy(readings: BackfillReadings) -> Self {
        Self { readings, config: None, queue: Vec::new(), head: None }
    }

    pub(crate) fn flexible(config: FlexibleConfig, readings: BackfillReadings) -> Self {
        Self { config: Some(config), ..Self::easy(readings) }
    }

    /// Computes the paper's formulas (§3.1), one after the other.
    fn priority(&self, config: &FlexibleConfig, submit: Time, job: &QueuedJob, view: &View<'_>) -> f64 {
        let fastest = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed)).expect("a machine");
        let request = &job.request;
        let aging = config.age_factor * view.now.since(submit).as_secs_f64();

        let next = fastest.expects(request);
        let end = view.now.saturating_add(next);
        let urgency = match request.deadline {
            Some(deadline) if end <= deadline => {
                let beyond = config.k * next.as_secs_f64() - deadline.since(end).as_secs_f64();
                let slope = (config.max - config.min) / (config.k * next.as_secs_f64());
                if beyond <= 0.0 { config.min } else { slope * beyond + config.min }
            }
            _ => config.min,
        };

        let shortest = match config.minext {
            Minext::Queue => self.queue.iter().filter_map(|(_, job)| job.request.estimate).min(),
            Minext::Job => request.estimate.map(|estimate| fastest.takes(estimate)),
        };
        let shortness = match (request.estimate, shortest) {
            (Some(Span::ZERO), _) => config.boost,
            (Some(estimate), Some(shortest)) => config.boost * shortest.as_secs_f64() / estimate.as_secs_f64(),
            _ => 0.0,
        };
        aging + urgency + shortness
    }

    fn in_order(&self, view: &View<'_>) -> Vec<QueuedJob> {
        let Some(config) = self.config else {
            return self.queue.iter().map(|(_, job)| *job).collect();
        };
        let mut ranked: Vec<(bool, f64, QueuedJob)> = self
            .queue
            .iter()
            .map(|(submit, job)| (Some(job.job) == self.head, self.priority(&config, *submit, job, view), *job))
            .collect();
        // The sort is stable: ties stay in order of arrival.
        ranked.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
        ranked.into_iter().map(|(_, _, job)| job).collect()
    }

    fn choose(
        &self,
        free: &[u32],
        request: &Request,
        machines: &[Machine],
        allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut chosen: Option<usize> = None;
        for machine in 0..machines.len() {
            if free[machine] < request.processors || !may_use(request, machine) || !allowed(machine) {
                continue;
            }
            if self.readings.placement == Placement::FirstFit {
                return Some(machine);
            }
            if chosen.is_none_or(|other| machines[machine].speed > machines[other].speed) {
                chosen = Some(machine);
            }
        }
        chosen
    }

    fn reserve(&self, free: &[u32], head: &QueuedJob, running: &[Vec<RunningJob>], view: &View<'_>) -> Reservation {
        let need = head.request.processors;
        let mut promises = Vec::new();
        for (machine, place) in view.machines.iter().enumerate() {
            if place.processors < need || !may_use(&head.request, machine) {
                continue;
            }
            let soonest = view.now + Span::from_nanos(1);
            let end = |job: &RunningJob| job.expected_end.max(soonest);
            let free_at = |at: Time| {
                let released = running[machine].iter().filter(|job| end(job) <= at).map(|job| job.processors);
                free[machine] + released.sum::<u32>()
            };
            let at =
                running[machine].iter().map(end).filter(|at| free_at(*at) >= need).min().expect("it is wide enough");
            promises.push(Reservation { machine, at, extra: free_at(at) - need });
        }
        let speed = |promise: &Reservation| match self.readings.placement {
            Placement::Fastest => view.machines[promise.machine].speed,
            Placement::FirstFit => 0.0,
        };
        let first = |one: &&Reservation, other: &&Reservation| {
            one.at.cmp(&other.at).then(speed(other).total_cmp(&speed(one))).then(one.machine.cmp(&other.machine))
        };
        *promises.iter().min_by(first).expect("admission rejects jobs that no machine suits")
    }

    fn scan(&self, view: &View<'_>, starts: &mut Starts) -> Option<JobId> {
        let mut free = view.free.to_vec();
        let mut running: Vec<Vec<RunningJob>> =
            view.running.iter().map(|jobs| jobs.iter().copied().collect()).collect();
        let mut start = |job: &QueuedJob, machine: usize, free: &mut [u32]| {
            free[machine] -= job.request.processors;
            starts.push((job.job, SiteId(u32::try_from(machine).expect("few machines"))));
        };
        let mut queue = self.in_order(view).into_iter();
        let head = loop {
            let next = queue.next()?;
            let Some(machine) = self.choose(&free, &next.request, view.machines, |_| true) else {
                break next;
            };
            start(&next, machine, &mut free);
            running[machine].push(view.machines[machine].running(next.job, &next.request, view.now));
        };
        let mut promise = self.reserve(&free, &head, &running, view);
        for next in queue {
            let need = next.request.processors;
            // A job without an estimate ends by no instant, not even by "never".
            let in_time = |machine: usize| {
                let end = view.now.saturating_add(view.machines[machine].expects(&next.request));
                end <= promise.at && end < Time::MAX
            };
            let harmless = |machine: usize| match self.readings.rule {
                BackfillRule::Strict => in_time(machine),
                BackfillRule::MachineAware => machine != promise.machine || need <= promise.extra || in_time(machine),
            };
            let allowed: Vec<bool> = (0..view.machines.len()).map(harmless).collect();
            let late = !in_time(promise.machine);
            if let Some(machine) = self.choose(&free, &next.request, view.machines, |machine| allowed[machine]) {
                start(&next, machine, &mut free);
                if machine == promise.machine && late {
                    promise.extra -= need;
                }
            }
        }
        Some(head.job)
    }
}

impl Policy for ObviousScan {
    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.queue.push((job.submit, *job));
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.head = self.scan(view, starts);
        self.queue.retain(|(_, job)| starts.iter().all(|(started, _)| *started != job.job));
    }
}
