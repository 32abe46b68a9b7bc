//! Figure 1, the compressing function: a plan of CONS before and after an early end of a job, from a simulated run.

use super::source::Workload;
use super::{Policy as Name, SwiftGapPaper};
use alea31::{Clock, Cons, GridState, JobIndex, Policy};
use lab::chart::{Bar, Gantt, significant};
use lab::paper::Shown;
use lab::shown::seen;
use sim_core::{Sim, SiteId, Span, Streams, Time};
use std::collections::BTreeMap;

/// Number of waiting jobs in the picture: more are hard to follow, fewer show little.
const WAITING: std::ops::RangeInclusive<usize> = 6..=24;

/// Draws the moment at which an early end moved the waiting jobs furthest, relative to the time range of the picture.
pub(super) fn schedule(paper: &SwiftGapPaper, streams: &Streams) -> Shown {
    let records = *paper.records.last().expect("there is one");
    let jobs = paper.jobs(Workload::Wagap, records, streams);
    let clusters = paper.file.clusters.processors(Workload::Wagap);
    let world = paper.world(&clusters, WatchedCons::default(), jobs);
    let (world, ()) = Sim::new(world, ()).run();
    let Some(moment) = &world.policy().best else { return Shown::default() };
    let caption = format!("{} on {}: {}", Name::Cons.name(), paper.short_name(Workload::Wagap), moment.story);
    let mut made = Shown::default();
    for (what, bars) in ["before", "after"].into_iter().zip(&moment.plans) {
        for bar in bars {
            let processors: u32 = bar.processors.iter().map(|(_, count)| count).sum();
            for (metric, value) in [("start", bar.start), ("end", bar.end), ("processors", processors.into())] {
                made.rows.push((what.to_owned(), bar.job.clone(), metric.to_owned(), seen(value)));
            }
        }
        let gantt = Gantt {
            id: format!("fig1-{what}"),
            title: format!("Figure 1. The plan {what} the compressing function"),
            time: "hours since the early end".to_owned(),
            processors: moment.processors,
            bars: bars.clone(),
            ..Gantt::default()
        };
        made.pictures.push((gantt.into(), caption.clone()));
    }
    made
}

type JobStart = (JobIndex, Time);

fn hours(span: Span) -> f64 {
    span.as_secs_f64() / 3600.0
}

#[derive(Default)]
struct WatchedCons {
    cons: Cons,
    /// Cluster and start of the running jobs.
    running: BTreeMap<JobIndex, (SiteId, Time)>,
    best: Option<Moment>,
}

struct Moment {
    /// Shift of the waiting jobs, relative to the time range of the picture.
    shift: f64,
    story: String,
    processors: u32,
    /// Before and after.
    plans: [Vec<Bar>; 2],
}

impl WatchedCons {
    fn planned(&self, cluster: SiteId) -> Vec<JobStart> {
        self.cons.planned().filter(|(_, other, _)| *other == cluster).map(|(job, _, start)| (job, start)).collect()
    }

    /// Keeps the picture of this early end if the plan shifted more from `before` to `after` than in the best one so far.
    fn consider(&mut self, ended: JobStart, cluster: SiteId, now: Time, before: &[JobStart], state: &GridState) {
        let after = self.planned(cluster);
        let end = |&(job, start): &JobStart| start + state.request(job).planned_time;
        let Some(horizon) = before.iter().map(end).max() else { return };
        let starts: BTreeMap<JobIndex, Time> = after.iter().copied().collect();
        let moved: f64 =
            before.iter().map(|(job, start)| start.saturating_since(starts[job].max(now)).as_secs_f64()).sum();
        let span = horizon.saturating_since(now).as_secs_f64();
        let shift = moved / span;
        if self.best.as_ref().is_some_and(|best| best.shift >= shift) || shift <= 0.0 {
            return;
        }
        let on_cluster = self.running.iter().filter(|(_, (other, _))| *other == cluster);
        let mut running: Vec<JobStart> = on_cluster.map(|(job, (_, start))| (*job, *start)).collect();
        running.sort_by_key(|(job, start)| (*start, *job));
        let (others, processors) = (running.clone(), state.cluster(cluster).processors);
        // The ended job is placed after the running ones, so that these keep their places.
        running.push(ended);
        let draw = |running: &[JobStart], planned: &[JobStart]| {
            let mut rows = vec![Time::ZERO; processors as usize];
            let running = running.iter().map(|&(job, start)| (job, now, start + state.request(job).limit));
            let planned = planned.iter().map(|&(job, start)| (job, start.max(now), end(&(job, start))));
            let mut bars: Vec<(bool, JobIndex, Bar)> = running
                .chain(planned)
                .map(|(job, start, end)| {
                    let end = end.max(start).min(horizon);
                    let processors = take(&mut rows, state.request(job).processors, start, end);
                    let (start, end) = (hours(start.since(now)), hours(end.saturating_since(now)));
                    let facts = facts(start, end, &processors);
                    (job == ended.0, job, Bar { job: name(job), start, end, processors, facts, slot: None })
                })
                .collect();
            // The same order before and after, so that jobs keep their colours; the ended job is only in the first.
            bars.sort_by_key(|(has_ended, job, _)| (*has_ended, *job));
            bars.into_iter().map(|(.., bar)| bar).collect()
        };
        let early = (ended.1 + state.request(ended.0).limit).saturating_since(now);
        let story = format!(
            "job {} ended {:.1} hours before its limit, and the {} jobs that waited for its cluster of {processors} \
             processors were taken out of the plan and put back. Running jobs are drawn to their limits.",
            name(ended.0),
            hours(early),
            before.len(),
        );
        self.best = Some(Moment { shift, story, processors, plans: [draw(&running, before), draw(&others, &after)] });
    }
}

/// Returns the text of a job under the pointer: its times in hours, and its processors as blocks of first processor and size.
fn facts(start: f64, end: f64, processors: &[(u32, u32)]) -> Vec<String> {
    let [from, to, ran] = [start, end, end - start].map(significant);
    let blocks = processors.iter().map(|&(first, count)| match count {
        1 => first.to_string(),
        _ => format!("{first}–{}", first + (count - 1)),
    });
    let blocks: Vec<String> = blocks.collect();
    let times = format!("started at {from} h, ended at {to} h (ran {ran} h)");
    vec![times, format!("processors {}", blocks.join(", "))]
}

/// Returns the name of a job: its position in the log, from 1, without the jobs that never ran.
fn name(job: JobIndex) -> String {
    (job.0 + 1).to_string()
}

impl Policy for WatchedCons {
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        self.cons.submit(job, now, state);
    }

    fn select(&mut self, now: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        self.cons.select(now, state, sent);
    }

    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, state: &GridState) {
        self.running.insert(job, (cluster, now.time));
        self.cons.start(job, cluster, now, state);
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        self.running.remove(&job);
        let before = self.planned(cluster);
        self.cons.finish(job, cluster, start, now, state);
        if WAITING.contains(&before.len()) {
            self.consider((job, start.time), cluster, now.time, &before, state);
        }
    }
}

/// Takes `processors` from `start` to `end`, as blocks: the lowest free ones and, if they do not suffice (limits are rounded), those that
/// become free next. `free` holds the time from which each is free; the simulator does not distinguish them, since a cluster is a pool.
fn take(free: &mut [Time], processors: u32, start: Time, end: Time) -> Vec<(u32, u32)> {
    let mut order: Vec<usize> = (0..free.len()).collect();
    order.sort_by_key(|row| (free[*row].max(start), *row));
    order.truncate(processors as usize);
    order.sort_unstable();
    let mut blocks: Vec<(u32, u32)> = Vec::new();
    for row in order {
        free[row] = end;
        let row = u32::try_from(row).expect("a cluster has fewer than 4 billion processors");
        match blocks.last_mut() {
            Some((first, count)) if *first + *count == row => *count += 1,
            _ => blocks.push((row, 1)),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_drawn_on_the_lowest_processors_that_are_free() {
        let (at, mut free) = (Time::from_secs, [Time::ZERO; 5]);
        for (processors, start, end, block) in [(2, 0, 10, (0, 2)), (1, 0, 5, (2, 1)), (2, 10, 30, (0, 2))] {
            assert_eq!(take(&mut free, processors, at(start), at(end)), [block]);
        }
    }
}
