//! EASY backfilling, as Alea has it: [`Easy`].

use super::floor::{Floor, Release};
use super::world::Policy;
use sim_core::Time;

/// The head of the queue starts on the first suitable cluster with room; else it is promised a start, and others may go
/// before it if that does not delay it.
///
/// The promise is the earliest instant at which some cluster has freed enough processors. Ties go to the last, smaller
/// cluster, and nobody asks whether the head may use it: a job that demands the busy cluster may thus hold up the other.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    queue: Vec<usize>,
    /// Kept for its memory only.
    releases: Vec<Release>,
}

/// What the head of the queue was promised.
#[derive(Copy, Clone, Debug)]
struct Promise {
    cluster: usize,
    at: Time,
    /// Further processors that become free at that very instant.
    spare: u32,
}

impl Easy {
    fn promise(&mut self, head: usize, now: Time, floor: &Floor) -> Option<Promise> {
        let mut best: Option<Promise> = None;
        let needed = floor.job(head).processors();
        for (index, cluster) in floor.clusters().iter().enumerate() {
            if needed > cluster.processors() {
                continue;
            }
            cluster.releases(now, &mut self.releases);
            let mut free = 0;
            let enough = self.releases.iter().find(|release| {
                free += release.processors;
                free >= needed
            });
            let at = enough.expect("a cluster that is wide enough frees enough processors").at;
            if best.is_none_or(|best| at <= best.at) {
                best = Some(Promise { cluster: index, at, spare: free - needed });
            }
        }
        best
    }

    /// Where the job may go before the head: on the last suitable cluster with room that is not promised, or else on the
    /// promised one.
    fn room_before(job: usize, promise: Promise, now: Time, floor: &Floor) -> Option<usize> {
        let (needed, limit) = (floor.job(job).processors(), floor.job(job).limit());
        let has_room = |cluster: usize| floor.suits(cluster, job) && needed <= floor.clusters()[cluster].free();
        let other = (0..floor.clusters().len()).rev().find(|cluster| *cluster != promise.cluster && has_room(*cluster));
        let delays_nobody = now + limit < promise.at || needed <= promise.spare;
        other.or_else(|| (delays_nobody && has_room(promise.cluster)).then_some(promise.cluster))
    }
}

impl Policy for Easy {
    fn arrive(&mut self, job: usize, _: Time, _: &Floor) {
        self.queue.push(job);
    }

    fn select(&mut self, now: Time, floor: &Floor) -> Option<(usize, usize)> {
        let head = *self.queue.first()?;
        let needed = floor.job(head).processors();
        let first = (0..floor.clusters().len())
            .find(|cluster| floor.suits(*cluster, head) && needed <= floor.clusters()[*cluster].free());
        if let Some(cluster) = first {
            self.queue.remove(0);
            return Some((head, cluster));
        }
        if self.queue.len() == 1 {
            return None;
        }
        let promise = self.promise(head, now, floor)?;
        let (place, cluster) =
            self.queue.iter().enumerate().skip(1).find_map(|(place, job)| {
                Self::room_before(*job, promise, now, floor).map(|cluster| (place, cluster))
            })?;
        Some((self.queue.remove(place), cluster))
    }
}
