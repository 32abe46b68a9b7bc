//! Measurement of the parameters of a session model in a log.

use super::jobs::whole;
use super::{EstimateShares, Quantiles, RuntimeParts, SessionModel, Shape, SizeShare};
use crate::error::InputError;
use crate::format::swf::{SwfReader, SwfRecord};
use crate::inspect::{LogClock, Spread};
use crate::intake::estimates::Estimates;
use crate::intake::{Intake, Options};
use sim_core::Span;
use std::collections::BTreeMap;

/// Longest gap within a session: jobs of one user that follow each other within twenty minutes belong to one session, by
/// submissions alone, as Zakay & Feitelson advise ("On Identifying User Session Boundaries in Parallel Workload Logs", JSSPP 2012).
const SESSION_GAP: Span = Span::from_secs(20 * 60);

/// Bounds of the entries of [`SessionModel::estimates`], in processors.
const SIZE_CLASSES: [u32; 6] = [1, 4, 8, 16, 32, u32::MAX];

/// Bounds of the entries of [`SessionModel::runtimes`], in seconds: two and four hours, a day, two, four, a week, more.
const ESTIMATE_CLASSES: [u32; 7] = [7_200, 14_400, 86_400, 172_800, 345_600, 604_800, u32::MAX];

/// Numbers of sizes, shapes of a size, and estimates of a class that are kept, the most frequent ones.
const KEPT: [usize; 3] = [200, 8, 40];

/// Measures a session model in `records`. `utc_offset` is the number of seconds by which the machine's local time was ahead
/// of UTC, used if the header does not state it. Jobs without an estimate are taken to have been estimated exactly.
///
/// Memory follows the users, the sizes and the different estimates, not the length of the log.
///
/// # Errors
///
/// If the log is faulty, or has fewer than a hundred jobs.
pub fn fit(records: SwfReader, utc_offset: Option<i32>) -> Result<SessionModel, InputError> {
    let path = records.path().to_owned();
    let clock = LogClock::new(records.header(), utc_offset);
    let mut seen = LogSums::default();
    let mut intake = Intake::new(records, Options { estimates: Estimates::Exact, ..Options::default() });
    while let Some(item) = intake.next_record() {
        if let (record, Some((_, job))) = item? {
            seen.take_in(&record, job.processors, &clock);
        }
    }
    if seen.jobs < 100 {
        return Err(InputError::of_file(&path, format!("expected at least 100 jobs that ran, found {}", seen.jobs)));
    }
    Ok(seen.finish())
}

#[derive(Default)]
struct LogSums {
    jobs: u64,
    first: Option<Span>,
    last: Span,
    by_hour: [f64; 24],
    by_weekday: [f64; 7],
    session_jobs: Spread,
    session_gap: Spread,
    repeats: u64,
    /// Sums of the products and of the squares of the logarithms of successive fractions, about the mean of their class.
    correlation: [f64; 3],
    users: BTreeMap<u32, SessionSums>,
    sizes: BTreeMap<u32, Shapes>,
    estimates: [BTreeMap<u32, f64>; SIZE_CLASSES.len()],
    parts: [Spread; ESTIMATE_CLASSES.len()],
    /// Sum, and number, of the logarithms of the fractions in each class.
    logarithms: [(f64, f64); ESTIMATE_CLASSES.len()],
}

#[derive(Default)]
struct SessionSums {
    jobs: f64,
    session_jobs: u64,
    last: Option<LastJob>,
}

struct LastJob {
    submit: Span,
    request: (u32, u32, Option<Box<str>>),
    class: usize,
    logarithm: f64,
}

impl LogSums {
    fn take_in(&mut self, record: &SwfRecord, processors: u32, clock: &LogClock) {
        let submit = record.submit.unwrap_or_default().max(self.last);
        let runtime = record.runtime.unwrap_or_default();
        let estimate = record.requested_time.filter(|estimate| !estimate.is_zero()).unwrap_or(runtime);
        let seconds = u32::try_from(estimate.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX);
        self.jobs += 1;
        self.first.get_or_insert(submit);
        self.last = submit;

        let (ppn, cluster) = nodes(record.node_spec(), processors);
        *self.sizes.entry(processors).or_default().entry((ppn, cluster)).or_default() += 1.0;
        let size_class = SIZE_CLASSES.partition_point(|bound| *bound < processors);
        *self.estimates[size_class].entry(seconds).or_default() += 1.0;
        let class = ESTIMATE_CLASSES.partition_point(|bound| *bound < seconds);
        let part = (runtime.as_secs_f64() / f64::from(seconds)).min(1e6);
        self.parts[class].add(part);
        let logarithm = libm::log(part);
        let (sum, number) = &mut self.logarithms[class];
        (*sum, *number) = (*sum + logarithm, *number + 1.0);
        let mean = *sum / *number;

        // Jobs without a user count as one user's.
        let user = self.users.entry(record.user.unwrap_or(u32::MAX)).or_default();
        user.jobs += 1.0;
        let request = (processors, seconds, record.node_spec().map(Into::into));
        match user.last.take() {
            Some(last) if submit.saturating_sub(last.submit) <= SESSION_GAP => {
                user.session_jobs += 1;
                self.session_gap.add(submit.saturating_sub(last.submit).as_secs_f64());
                self.repeats += u64::from(last.request == request);
                if last.class == class {
                    let (a, b) = (last.logarithm - mean, logarithm - mean);
                    let [products, firsts, seconds] = &mut self.correlation;
                    (*products, *firsts, *seconds) = (*products + a * b, *firsts + a * a, *seconds + b * b);
                }
            }
            last => {
                if last.is_some() {
                    self.session_jobs.add(user.session_jobs.min(1_000_000) as f64);
                }
                user.session_jobs = 1;
                let (hour, _) = clock.hour_of_week(submit);
                self.by_hour[hour % 24] += 1.0;
                self.by_weekday[hour / 24] += 1.0;
            }
        }
        user.last = Some(LastJob { submit, request, class, logarithm });
    }

    fn finish(mut self) -> SessionModel {
        for user in self.users.values() {
            self.session_jobs.add(user.session_jobs.min(1_000_000) as f64);
        }
        let days = (self.last.saturating_sub(self.first.unwrap_or_default()).as_secs_f64() / 86_400.0).max(1e-3);
        let session_jobs = table(&self.session_jobs);
        // The table's mean differs from the log's; this keeps the jobs per day.
        let steps = 10_000;
        let jobs_at = |step: u32| whole(session_jobs.at((f64::from(step) + 0.5) / f64::from(steps))) as f64;
        let mean = (0..steps).map(jobs_at).sum::<f64>() / f64::from(steps);
        let [products, firsts, seconds] = self.correlation;
        let spread = libm::sqrt(firsts * seconds);
        let mut users: Vec<f64> = self.users.values().map(|user| user.jobs).collect();
        users.sort_by(|a, b| b.total_cmp(a));
        let estimates = SIZE_CLASSES.into_iter().zip(self.estimates).filter(|(_, values)| !values.is_empty());
        let estimates = estimates.map(|(up_to, values)| EstimateShares { up_to, values: frequent(values, KEPT[2]) });
        let runtimes = ESTIMATE_CLASSES.into_iter().zip(&self.parts).filter(|(_, parts)| parts.count > 0);
        let runtimes = runtimes.map(|(up_to, parts)| RuntimeParts { up_to, parts: table(parts) });
        SessionModel {
            sessions_per_day: short(self.jobs as f64 / days / mean).clamp(1e-6, 1e6),
            by_hour: self.by_hour,
            by_weekday: self.by_weekday,
            start_hour: 0,
            session_jobs,
            session_gap: table(&self.session_gap),
            repeat: short(self.repeats as f64 / self.session_gap.count.max(1) as f64),
            persistence: if spread > 0.0 { short((products / spread).clamp(-1.0, 1.0)) } else { 0.0 },
            runtime_factor: 1.0,
            users,
            sizes: sizes(self.sizes),
            estimates: estimates.collect(),
            runtimes: runtimes.collect(),
        }
    }
}

/// Number of jobs by processors per node and demanded cluster.
type Shapes = BTreeMap<(u32, Option<String>), f64>;

fn sizes(mut sizes: BTreeMap<u32, Shapes>) -> Vec<SizeShare> {
    let weights = sizes.iter().map(|(processors, shapes)| (*processors, shapes.values().sum())).collect();
    let share = |(processors, weight)| {
        let shapes = frequent(sizes.remove(&processors).unwrap_or_default(), KEPT[1]).into_iter();
        let shapes = shapes.map(|((ppn, cluster), weight)| Shape { ppn, cluster, weight }).collect();
        SizeShare { processors, weight, shapes }
    };
    frequent(weights, KEPT[0]).into_iter().map(share).collect()
}

/// Returns the most frequent keys, in their own order.
fn frequent<K: Ord>(counts: BTreeMap<K, f64>, kept: usize) -> Vec<(K, f64)> {
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(kept);
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Parses processors per node and the demanded cluster from `2:ppn=8:x86_64:cl_zegox#excl`. One processor per node if
/// no number fits the size.
fn nodes(spec: Option<&str>, processors: u32) -> (u32, Option<String>) {
    let spec = spec.unwrap_or_default();
    let first = spec.split(['+', '#']).next().unwrap_or_default();
    let properties = || first.split(':');
    let ppn = properties().rev().find_map(|property| property.strip_prefix("ppn=")?.parse().ok());
    let ppn = ppn.filter(|ppn: &u32| *ppn > 0 && processors.is_multiple_of(*ppn)).unwrap_or(1);
    let cluster = properties().find_map(|property| property.strip_prefix("cl_")).filter(|name| !name.is_empty());
    (ppn, cluster.map(str::to_owned))
}

fn table(values: &Spread) -> Quantiles {
    let mut table = Quantiles::AT.map(|share| short(values.quantile(share)));
    // Means of similar values may be out of order in the last digit.
    for at in 1..table.len() {
        table[at] = table[at].max(table[at - 1]);
    }
    Quantiles(table)
}

/// Rounds to six digits, so that the table stays readable.
fn short(number: f64) -> f64 {
    format!("{number:.5e}").parse().expect("printed so")
}
