//! EASY of the profile `alea31` in a second implementation: one release time for each processor, sorted, and a search of the
//! whole queue at every query. It keeps its own record of running jobs, so that it shares only the rules with the policy.

#![expect(clippy::float_cmp, reason = "instants are compared to the bit, as that simulator does")]

use alea31::{Clock, GridState, JobIndex, Policy};
use sim_core::SiteId;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct ObviousEasy {
    queue: Vec<JobIndex>,
    /// Cluster and start of the running jobs.
    running: BTreeMap<JobIndex, (SiteId, f64)>,
    /// Job that was sent and has not started, with its cluster.
    sent: Option<(JobIndex, SiteId)>,
}

impl ObviousEasy {
    fn free(&self, cluster: SiteId, state: &GridState) -> u32 {
        let running = self.running.iter().filter(|(_, (other, _))| *other == cluster).map(|(job, _)| *job);
        let sent = self.sent.filter(|(_, other)| *other == cluster).map(|(job, _)| job);
        let held: u32 = running.chain(sent).map(|job| state.request(job).processors).sum();
        state.cluster(cluster).processors - held
    }

    /// Returns the release of each processor, according to limits, in order of time.
    fn releases(&self, cluster: SiteId, now: f64, state: &GridState) -> Vec<f64> {
        let mut releases = Vec::new();
        for (job, (other, start)) in &self.running {
            if *other == cluster {
                let job = state.request(*job);
                releases
                    .extend(vec![now + (job.limit.as_secs_f64() - (now - *start)).max(0.0); job.processors as usize]);
            }
        }
        releases.resize(state.cluster(cluster).processors as usize, now);
        releases.sort_unstable_by(f64::total_cmp);
        if let Some((job, other)) = self.sent
            && other == cluster
        {
            // It waits for the last of the processors that are released first, and then has all of them for its limit.
            let needed = state.request(job).processors as usize;
            let until = releases[needed - 1] + state.request(job).limit.as_secs_f64();
            releases[..needed].fill(until);
            releases.sort_unstable_by(f64::total_cmp);
        }
        releases
    }

    fn send(&mut self, place: usize, cluster: SiteId) -> Option<(JobIndex, SiteId)> {
        let job = self.queue.remove(place);
        self.sent = Some((job, cluster));
        self.sent
    }
}

impl Policy for ObviousEasy {
    fn submit(&mut self, job: JobIndex, _: Clock, _: &GridState) {
        self.queue.push(job);
    }

    fn select(&mut self, now: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        sent.extend(self.next(now, state));
    }

    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, _: &GridState) {
        assert_eq!(self.sent.take(), Some((job, cluster)), "what starts was sent");
        self.running.insert(job, (cluster, now.seconds));
    }

    fn finish(&mut self, job: JobIndex, _: SiteId, _: Clock, _: Clock, _: &GridState) {
        self.running.remove(&job);
    }
}

impl ObviousEasy {
    fn next(&mut self, now: Clock, state: &GridState) -> Option<(JobIndex, SiteId)> {
        let clusters = state.cluster_ids();
        let fits = |cluster: SiteId, job: JobIndex, easy: &Self| {
            state.suits(cluster, job) && state.request(job).processors <= easy.free(cluster, state)
        };
        let head = *self.queue.first()?;
        if let Some(cluster) = clusters.clone().find(|cluster| fits(*cluster, head, self)) {
            return self.send(0, cluster);
        }
        // The earliest instant at which enough are free; of equals, the last cluster, even if the head may not use it.
        let needed = state.request(head).processors as usize;
        let mut promise: Option<(f64, SiteId, usize)> = None;
        for cluster in clusters.clone() {
            let releases = self.releases(cluster, now.seconds, state);
            let Some(&at) = releases.get(needed - 1) else { continue };
            let spare = releases[needed..].iter().filter(|other| **other == at).count();
            if promise.is_none_or(|(best, ..)| at <= best) {
                promise = Some((at, cluster, spare));
            }
        }
        let (shadow, promised, spare) = promise.expect("the head is no wider than some cluster");
        for place in 1..self.queue.len() {
            let job = self.queue[place];
            let mut found = None;
            for cluster in clusters.clone().filter(|cluster| fits(*cluster, job, self)) {
                let is_short = now.seconds + state.request(job).limit.as_secs_f64() < shadow;
                let is_narrow = state.request(job).processors as usize <= spare;
                if cluster != promised || found.is_none() && (is_short || is_narrow) {
                    found = Some(cluster);
                }
            }
            if let Some(cluster) = found {
                return self.send(place, cluster);
            }
        }
        None
    }
}
