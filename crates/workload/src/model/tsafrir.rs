//! Model of users' estimates by Tsafrir, Etsion and Feitelson.

use super::ModelJob;
use crate::error::{ParameterError, check};
use rand::RngExt;
use sim_core::{Purpose, Span, Stream, Streams};
use std::collections::BTreeSet;

/// Estimates as users choose them, which repeat a few round values: Tsafrir, Etsion & Feitelson, "Modeling User Runtime
/// Estimates", JSSPP 2005.
///
/// Twenty values, the longest allowed one among them, are used by 89 % of the jobs; the number of all values follows
/// the number of jobs. The parameters, the tables and the order of the steps are those of the program that the authors
/// published with the model (`est_model.cc`, 2005); its random choices are drawn here from separate streams.
///
/// ```
/// use sim_core::Streams;
/// use workload::model::{Lublin, Tsafrir, WorkloadModel};
///
/// let streams = Streams::new(1, 0);
/// let mut jobs: Vec<_> = Lublin::default().jobs(&streams).take(2000).collect();
/// let cut = Tsafrir(48 * 3600).assign(&mut jobs, &streams)?;
/// assert_eq!(cut, 0); // no job ran for longer than 48 hours
/// assert!(jobs.iter().all(|job| job.job.limit >= Some(job.job.runtime)));
/// # Ok::<(), workload::ParameterError>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tsafrir(
    /// Longest estimate allowed, in seconds; at least an hour.
    pub u32,
);

/// Share of the jobs that use one of the popular values.
const HEAD_SHARE: f64 = 0.89;

/// Parameters a, b, c of the popular values: the value of popularity rank x from 2 to 20 is used by a · exp(b · x) + c
/// per cent of the jobs; the longest, of rank 1, by the rest of [`HEAD_SHARE`].
const HEAD: [f64; 3] = [14.0491, -0.177_531, 0.462_513];

/// Exponent of the tail: the value of rank x above 20 is used by a share proportional to x to this power.
const TAIL_POWER: f64 = -2.267;

/// Parameters p and q: the x-th shortest of K values is (a − 1) x' / (a − x') of the longest, with x' = x/K and a = 1 + p K^q.
const TIMES: [f64; 2] = [12.1039, -0.6026];

const POPULAR: usize = 20;

/// Popularity rank of each of the twenty popular values (first the longest, then from short to long) in each of the four logs
/// from which the model was made: SDSC SP2, CTC SP2, KTH SP2, SDSC Blue (`TIMRNK_TO_POPRNK`).
const RANKS: [[usize; POPULAR]; 4] = [
    [3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20],
    [1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19],
    [1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11],
    [1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12],
];

const MINUTE: u32 = 60;
const HOUR: u32 = 3_600;

/// Values that were popular in all four logs, in minutes (`EST_JOINT`).
const JOINT: [u32; 15] = [5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1_080];

/// Values that complete the twenty: multiples of these minutes, from the longest estimate downwards (`EST_ROUND`).
const ROUND: [u32; 10] = [12_000, 6_000, 3_000, 600, 300, 120, 60, 20, 10, 5];

/// Number of values by number of jobs, linear in between (`BINUM_LINEAR`).
const VALUES: [(u32, u32); 7] = [(0, 0), (20, 10), (200, 20), (1_000, 35), (10_000, 90), (70_000, 340), (250_000, 565)];

impl Tsafrir {
    /// Checks the longest estimate.
    ///
    /// # Errors
    ///
    /// If it is shorter than an hour.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check(self.0 >= HOUR, "max_estimate", "at least 3600 seconds", self.0)
    }

    /// Returns the number of jobs by estimate, from the shortest on.
    ///
    /// # Panics
    ///
    /// If [`Tsafrir::validate`] finds fault with the parameters.
    pub fn distribution(&self, jobs: u32, streams: &Streams) -> Vec<(Span, u32)> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        let values = values_of(jobs) as usize;
        let head = self.head_times();
        let tail = self.tail_times(values.saturating_sub(head.len()), &head);
        let head_shares = head_shares(head.len(), &mut streams.stream(Purpose("tsafrir popularity"), 0));
        let tail_shares = tail_shares(tail.len(), &mut streams.stream(Purpose("tsafrir tail"), 0));
        let mut shares: Vec<(u32, f64)> =
            head.into_iter().zip(head_shares).chain(tail.into_iter().zip(tail_shares)).collect();
        shares.sort_by_key(|(time, _)| *time);
        let counts = apportioned(jobs, &shares.iter().map(|(_, share)| *share).collect::<Vec<_>>());
        let times = shares.iter().map(|(time, _)| Span::from_secs(u64::from(*time)));
        times.zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    /// Gives every job an estimate that is not below its run time, as its requested time.
    /// All such assignments are equally likely. Run times above the longest estimate are cut there; returns their number.
    ///
    /// # Errors
    ///
    /// If run times are so long that there are not enough estimates above them.
    ///
    /// # Panics
    ///
    /// If [`Tsafrir::validate`] finds fault with the parameters, or there are more than 4 billion jobs.
    pub fn assign(&self, jobs: &mut [ModelJob], streams: &Streams) -> Result<u32, ParameterError> {
        let count = u32::try_from(jobs.len()).expect("fewer than 4 billion jobs");
        let distribution = self.distribution(count, streams);
        let mut estimates: Vec<Span> =
            distribution.iter().rev().flat_map(|(time, count)| std::iter::repeat_n(*time, *count as usize)).collect();
        let longest = Span::from_secs(u64::from(self.0));
        // From the longest run time down; the sort is stable.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|job| std::cmp::Reverse(jobs[*job].job.runtime));
        for (rank, (job, estimate)) in order.iter().zip(&estimates).enumerate() {
            let runtime = jobs[*job].job.runtime.min(longest);
            ParameterError::check(runtime <= *estimate, || {
                format!(
                    "{} jobs run for {runtime} s or longer, but the model has {rank} estimates as long; give a longer \
                     max_estimate",
                    rank + 1
                )
            })?;
        }
        let mut stream = streams.stream(Purpose("tsafrir assignment"), 0);
        let (mut cut, mut end) = (0, 0);
        for (rank, job) in order.into_iter().enumerate() {
            let job = &mut jobs[job];
            if job.job.runtime > longest {
                job.job.runtime = longest;
                cut += 1;
            }
            // The estimates up to `end` are long enough for this job, and not assigned to longer ones.
            end = end.max(rank);
            while end + 1 < estimates.len() && estimates[end + 1] >= job.job.runtime {
                end += 1;
            }
            estimates.swap(rank, stream.random_range(rank..=end));
            job.job.limit = Some(estimates[rank]);
        }
        Ok(cut)
    }

    /// Returns the popular values: first the longest, then from short to long.
    fn head_times(&self) -> Vec<u32> {
        let longest = self.0;
        let joint = JOINT.map(|minutes| minutes * MINUTE).into_iter();
        let mut times: BTreeSet<u32> = joint.filter(|time| *time < longest).collect();
        let steps = ROUND.map(|minutes| minutes * MINUTE).into_iter();
        let round = steps.flat_map(|step| (1..=longest / step).rev().map(move |multiple| multiple * step));
        for time in round.filter(|time| *time < longest) {
            if times.len() + 1 == POPULAR {
                break;
            }
            times.insert(time);
        }
        std::iter::once(longest).chain(times).collect()
    }

    /// Returns the other values, from short to long, in whole minutes; moved by at most half a minute if that value is popular.
    fn tail_times(&self, count: usize, head: &[u32]) -> Vec<u32> {
        let values = count as f64;
        let [p, q] = TIMES;
        let a = 1.0 + p * libm::pow((values + head.len() as f64).max(1.0), q);
        let mut times = BTreeSet::new();
        for rank in 1..=count {
            let x = rank as f64 / values;
            let share = (a - 1.0) * x / (a - x);
            #[expect(clippy::cast_possible_truncation, reason = "at most the longest estimate")]
            let minutes = libm::floor(share * f64::from(self.0) / 60.0 + 0.5) as i64;
            let free = [0, 30, -30, 20, -20, 10, -10]
                .into_iter()
                .filter_map(|offset| u32::try_from(60 * minutes + offset).ok())
                .find(|time| *time > 0 && *time < self.0 && !times.contains(time) && !head.contains(time));
            times.extend(free);
        }
        times.into_iter().collect()
    }
}

/// Draws shares of the `count` popular values, in the order of [`Tsafrir::head_times`].
fn head_shares(count: usize, stream: &mut Stream) -> Vec<f64> {
    let [a, b, c] = HEAD;
    let of_rank = |rank: usize| (a * libm::exp(b * rank as f64) + c) / 100.0;
    let of_longest = HEAD_SHARE - (2..=count).map(of_rank).sum::<f64>();
    popularity(count, stream).into_iter().map(|rank| if rank == 1 { of_longest } else { of_rank(rank) }).collect()
}

/// Draws shares of the other values, in random order.
fn tail_shares(count: usize, stream: &mut Stream) -> Vec<f64> {
    let mut shares: Vec<f64> = (POPULAR + 1..=POPULAR + count).map(|rank| libm::pow(rank as f64, TAIL_POWER)).collect();
    let sum: f64 = shares.iter().sum();
    for share in &mut shares {
        *share *= (1.0 - HEAD_SHARE) / sum;
    }
    for last in (1..shares.len()).rev() {
        shares.swap(last, stream.random_range(0..=last));
    }
    shares
}

/// Draws a popularity rank for each of the `count` popular values, in the order of [`Tsafrir::head_times`]. The longest
/// is the most popular. Every other gets a rank that a value at its place or before had in one of the four logs,
/// preferably a popular one, and no rank is kept beyond the last place it had.
fn popularity(count: usize, stream: &mut Stream) -> Vec<usize> {
    let last_place = |rank: usize| {
        let has = |place: &usize| RANKS.iter().any(|of_log| of_log[*place] == rank);
        (0..POPULAR).rev().find(has).expect("every rank is in the table")
    };
    let mut left: BTreeSet<usize> = (2..=count).collect();
    let mut pool: Vec<usize> = RANKS.map(|of_log| of_log[0]).to_vec();
    let mut ranks = vec![1];
    for place in 1..count.min(POPULAR) {
        pool.extend(RANKS.map(|of_log| of_log[place]));
        pool.retain(|rank| left.contains(rank));
        let due = left.iter().copied().find(|rank| last_place(*rank) <= place);
        let rank = due.unwrap_or_else(|| {
            if pool.is_empty() {
                return *left.first().expect("as many ranks as places");
            }
            let mut one = || pool[stream.random_range(0..pool.len())];
            one().min(one())
        });
        left.remove(&rank);
        ranks.push(rank);
    }
    ranks
}

fn values_of(jobs: u32) -> u32 {
    let above = VALUES.partition_point(|(known, _)| *known < jobs);
    match (above.checked_sub(1).map(|below| VALUES[below]), VALUES.get(above)) {
        (None, _) => 0,
        (Some((_, most)), None) => most,
        (Some((from, low)), Some((to, high))) => {
            // Rounded to the nearest whole number.
            let (step, width) = (u64::from(jobs - from) * u64::from(high - low), u64::from(to - from));
            low + u32::try_from((2 * step + width) / (2 * width)).expect("at most the table's last entry")
        }
    }
}

/// Divides `jobs` in proportion to `shares`, by the largest remainders.
fn apportioned(jobs: u32, shares: &[f64]) -> Vec<u32> {
    let sum: f64 = shares.iter().sum();
    let exact: Vec<f64> = shares.iter().map(|share| f64::from(jobs) * share / sum).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the number of jobs")]
    let mut counts: Vec<u32> = exact.iter().map(|count| *count as u32).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()).then(a.cmp(b)));
    let missing = jobs.saturating_sub(counts.iter().sum());
    for at in order.into_iter().take(missing as usize) {
        counts[at] += 1;
    }
    counts
}
