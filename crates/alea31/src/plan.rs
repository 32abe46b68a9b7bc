//! Plan of all clusters: [`ListPlan`].

pub(crate) mod schedule;
mod slots;
pub(crate) mod usage;

use crate::plan::schedule::ClusterSchedule;
use crate::state::{Clock, GridState, JobIndex};
use sim_core::{SiteId, Span, Time};

#[derive(Clone, Debug, Default)]
pub(crate) struct ListPlan {
    schedules: Vec<ClusterSchedule>,
    /// By job, for those that were sent: the planned end, and the number of updates of the schedule by then.
    sent: Vec<Option<(Time, u64)>>,
}

impl ListPlan {
    /// Makes room for every cluster.
    pub(crate) fn open(&mut self, state: &GridState) {
        self.schedules.resize_with(state.clusters().len(), ClusterSchedule::default);
        self.sent.resize(state.submitted(), None);
    }

    /// Waiting jobs, cluster by cluster in planned order.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = JobIndex> {
        self.schedules.iter().flat_map(ClusterSchedule::jobs)
    }

    pub(crate) fn schedules(&self) -> impl ExactSizeIterator<Item = (SiteId, &ClusterSchedule)> {
        self.schedules.iter().enumerate().map(|(cluster, schedule)| (site(cluster), schedule))
    }

    pub(crate) fn schedule(&self, cluster: SiteId) -> &ClusterSchedule {
        &self.schedules[cluster.index()]
    }

    pub(crate) fn schedule_mut(&mut self, cluster: SiteId) -> &mut ClusterSchedule {
        &mut self.schedules[cluster.index()]
    }

    pub(crate) fn swap(&mut self, cluster: SiteId, schedule: &mut ClusterSchedule) {
        std::mem::swap(self.schedule_mut(cluster), schedule);
    }

    pub(crate) fn find(&self, job: JobIndex) -> (SiteId, usize) {
        let place = |schedule: &ClusterSchedule| schedule.jobs().position(|other| other == job);
        let mut schedules = self.schedules();
        schedules.find_map(|(cluster, schedule)| Some((cluster, place(schedule)?))).expect("the job waits")
    }

    pub(crate) fn update(&mut self, now: Clock, state: &GridState) {
        for (cluster, schedule) in self.schedules.iter_mut().enumerate() {
            schedule.update(site(cluster), now, state);
        }
    }

    /// Removes the first job of the cluster's schedule to send it, if there is one and the cluster has room for it.
    pub(crate) fn take_first(&mut self, cluster: SiteId, state: &GridState) -> Option<JobIndex> {
        let schedule = self.schedules.get(cluster.index())?;
        let (job, start) = schedule.planned().next().filter(|(job, _)| state.has_room(cluster, *job))?;
        let end = Time::ZERO + Span::from_secs_f64(start) + state.request(job).planned_time;
        self.sent[job.index()] = Some((end, schedule.updates()));
        self.schedule_mut(cluster).remove(0);
        self.schedule_mut(cluster).invalidate();
        Some(job)
    }

    /// Returns true if a job that started at `start` has ended more than a minute before its expected end, which was
    /// last recorded when its schedule was updated: before it was sent, or while it ran.
    pub(crate) fn finish(
        &mut self,
        job: JobIndex,
        cluster: SiteId,
        start: Clock,
        now: Clock,
        state: &GridState,
    ) -> bool {
        self.schedule_mut(cluster).invalidate();
        let (end, updates) = self.sent[job.index()].take().expect("a job that ends was sent");
        let is_newer = self.schedule(cluster).updates() > updates;
        let expected = if is_newer { start.time + state.request(job).limit } else { end };
        expected.saturating_since(now.time) > Span::from_secs(60)
    }
}

pub(crate) fn site(cluster: usize) -> SiteId {
    SiteId(u32::try_from(cluster).expect("at most 127 clusters"))
}
