//! EASY backfilling of Alea: [`Easy`].

use crate::state::{Clock, GridState, JobIndex};
use crate::world::Policy;
use sim_core::SiteId;

/// EASY backfilling: the head of the queue starts on the first suitable cluster with room; otherwise it gets a
/// reservation, and other jobs may overtake it if that does not delay it.
///
/// The reservation is the earliest instant at which some cluster has freed enough processors. Ties go to the last, smaller
/// cluster, even if the head may not use it: a job that demands the busy cluster may thus delay jobs on the other one.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    queue: Vec<JobIndex>,
}

#[derive(Copy, Clone, Debug)]
struct HeadReservation {
    cluster: SiteId,
    /// Reserved start in seconds by Alea's clock.
    at: f64,
    /// Further processors that become free at that very instant.
    spare: u32,
}

impl Easy {
    fn reserve(head: JobIndex, now: Clock, state: &GridState) -> Option<HeadReservation> {
        let mut best: Option<HeadReservation> = None;
        let needed = state.request(head).processors;
        for (id, cluster) in state.cluster_ids().zip(state.clusters()) {
            if needed > cluster.processors {
                continue;
            }
            let releases = cluster.releases(now.seconds);
            let mut free = 0;
            let enough = releases.iter().find(|release| {
                free += release.processors;
                free >= needed
            });
            let at = enough.expect("a cluster that is wide enough frees enough processors").at;
            if best.is_none_or(|best| at <= best.at) {
                best = Some(HeadReservation { cluster: id, at, spare: free - needed });
            }
        }
        best
    }

    /// Returns the cluster for backfilling the job: the last suitable one with room that is not reserved, or else the
    /// reserved one, if the job ends in time or takes processors that the head does not need.
    fn backfill(job: JobIndex, reservation: HeadReservation, now: Clock, state: &GridState) -> Option<SiteId> {
        let (needed, limit) = (state.request(job).processors, state.request(job).limit.as_secs_f64());
        let fits = |cluster: SiteId| state.suits(cluster, job) && state.has_room(cluster, job);
        let other = state.cluster_ids().rev().find(|cluster| *cluster != reservation.cluster && fits(*cluster));
        // Alea compares strictly: a job that would end at the very reserved start stays behind.
        let delays_no_job = now.seconds + limit < reservation.at || needed <= reservation.spare;
        other.or_else(|| (delays_no_job && fits(reservation.cluster)).then_some(reservation.cluster))
    }

    fn next(&mut self, now: Clock, state: &GridState) -> Option<(JobIndex, SiteId)> {
        let head = *self.queue.first()?;
        let first = state.cluster_ids().find(|cluster| state.suits(*cluster, head) && state.has_room(*cluster, head));
        if let Some(cluster) = first {
            self.queue.remove(0);
            return Some((head, cluster));
        }
        if self.queue.len() == 1 {
            return None;
        }
        let reservation = Self::reserve(head, now, state)?;
        let (place, cluster) =
            self.queue.iter().enumerate().skip(1).find_map(|(place, job)| {
                Self::backfill(*job, reservation, now, state).map(|cluster| (place, cluster))
            })?;
        Some((self.queue.remove(place), cluster))
    }
}

impl Policy for Easy {
    fn submit(&mut self, job: JobIndex, _: Clock, _: &GridState) {
        self.queue.push(job);
    }

    fn select(&mut self, now: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        sent.extend(self.next(now, state));
    }
}
