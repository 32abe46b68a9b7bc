//! EASY of the profile `alea31` written once more: one release time for each processor, sorted, and the whole queue looked
//! through at every question. It keeps its own books of what runs, so that it shares nothing with the policy but the rules.

use gap_schedule::alea31::{Floor, Policy};
use sim_core::Time;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct ObviousEasy {
    queue: Vec<usize>,
    /// Cluster and start of the jobs that run.
    running: BTreeMap<usize, (usize, Time)>,
    /// The job that was sent and has not started, with its cluster.
    sent: Option<(usize, usize)>,
}

impl ObviousEasy {
    fn free(&self, cluster: usize, floor: &Floor) -> u32 {
        let running = self.running.iter().filter(|(_, (other, _))| *other == cluster).map(|(job, _)| *job);
        let sent = self.sent.filter(|(_, other)| *other == cluster).map(|(job, _)| job);
        let held: u32 = running.chain(sent).map(|job| floor.job(job).processors()).sum();
        floor.clusters()[cluster].processors() - held
    }

    /// When each processor is released, as far as limits tell; in order of time.
    fn releases(&self, cluster: usize, now: Time, floor: &Floor) -> Vec<Time> {
        let mut releases = Vec::new();
        for (job, (other, start)) in &self.running {
            if *other == cluster {
                let job = floor.job(*job);
                releases.extend(vec![(*start + job.limit()).max(now); job.processors() as usize]);
            }
        }
        releases.resize(floor.clusters()[cluster].processors() as usize, now);
        releases.sort_unstable();
        if let Some((job, other)) = self.sent
            && other == cluster
        {
            // It waits for the last of the processors that are released first, and then has all of them for its limit.
            let needed = floor.job(job).processors() as usize;
            let until = releases[needed - 1] + floor.job(job).limit();
            releases[..needed].fill(until);
            releases.sort_unstable();
        }
        releases
    }

    fn send(&mut self, place: usize, cluster: usize) -> Option<(usize, usize)> {
        let job = self.queue.remove(place);
        self.sent = Some((job, cluster));
        self.sent
    }
}

impl Policy for ObviousEasy {
    fn arrive(&mut self, job: usize, _: Time, _: &Floor) {
        self.queue.push(job);
    }

    fn select(&mut self, now: Time, floor: &Floor) -> Option<(usize, usize)> {
        let clusters = 0..floor.clusters().len();
        let fits = |cluster: usize, job: usize, easy: &Self| {
            floor.suits(cluster, job) && floor.job(job).processors() <= easy.free(cluster, floor)
        };
        let head = *self.queue.first()?;
        if let Some(cluster) = clusters.clone().find(|cluster| fits(*cluster, head, self)) {
            return self.send(0, cluster);
        }
        // The earliest instant at which enough are free; of equals, the last cluster. May the head use it? Nobody asks.
        let needed = floor.job(head).processors() as usize;
        let mut promise: Option<(Time, usize, usize)> = None;
        for cluster in clusters.clone() {
            let releases = self.releases(cluster, now, floor);
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
                let is_short = now + floor.job(job).limit() < shadow;
                let is_narrow = floor.job(job).processors() as usize <= spare;
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

    fn begin(&mut self, job: usize, cluster: usize, now: Time, _: &Floor) {
        assert_eq!(self.sent.take(), Some((job, cluster)), "what starts was sent");
        self.running.insert(job, (cluster, now));
    }

    fn end(&mut self, job: usize, _: usize, _: Time, _: Time, _: &Floor) {
        self.running.remove(&job);
    }
}
