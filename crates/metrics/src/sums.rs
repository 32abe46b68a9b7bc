//! Sums over the jobs of one run, by user and by class: the input of the formulas of metrics.

use crate::backlog::Trend;
use crate::job::{bounded_slowdown, weight};
use crate::job_class::JobClass;
use crate::mean::{Mean, Sum, as_f64};
use crate::summary::Summary;
use sim_core::JobRecord;
use std::collections::BTreeMap;

/// Wait times and bounded slowdowns of some jobs of a run.
#[derive(Clone, Debug, Default)]
pub struct Fared {
    /// Wait time, in seconds.
    pub wait: Mean,
    /// Bounded slowdown, with the bound [`Summary::THRESHOLD`].
    pub bounded_slowdown: Mean,
}

/// Jobs of one user.
#[derive(Clone, Debug, Default)]
pub struct User {
    /// Work, in processor-seconds.
    pub work: f64,
    /// Wait times and bounded slowdowns, one value per job.
    pub fared: Fared,
}

/// Jobs by user.
#[derive(Clone, Debug, Default)]
pub struct Users(BTreeMap<Option<u32>, User>);

impl Users {
    /// The user with this number; `None` stands for all jobs without a user in the log.
    pub fn get(&self, number: Option<u32>) -> Option<&User> {
        self.0.get(&number)
    }

    /// The `most` users with the largest work, largest first.
    pub fn heaviest(&self, most: usize) -> Vec<(Option<u32>, &User)> {
        let mut users: Vec<_> = self.0.iter().map(|(number, user)| (*number, user)).collect();
        users.sort_by(|(_, a), (_, b)| b.work.total_cmp(&a.work));
        users.truncate(most);
        users
    }

    /// Number of users; jobs without a user count as one.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if no job was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mean of every known user, smallest first.
    fn means(&self, of: fn(&Fared) -> &Mean) -> Vec<f64> {
        let known = self.0.iter().filter(|(number, _)| number.is_some());
        let mut means: Vec<f64> = known.filter_map(|(_, user)| of(&user.fared).mean()).collect();
        means.sort_by(f64::total_cmp);
        means
    }

    /// Median over users of the users' means, by nearest rank.
    pub fn median(&self, of: fn(&Fared) -> &Mean) -> Option<f64> {
        let means = self.means(of);
        means.get(means.len().saturating_sub(1) / 2).copied()
    }

    /// Largest of the users' means.
    pub fn worst(&self, of: fn(&Fared) -> &Mean) -> Option<f64> {
        self.means(of).last().copied()
    }

    /// Jain's index over the users' means, (Σ x)² / (n Σ x²): 1 if all are equal, 1 / n if one user has everything.
    ///
    /// R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared
    /// computer systems", DEC-TR-301, 1984.
    pub(crate) fn jain(&self, of: fn(&Fared) -> &Mean) -> Option<f64> {
        let means = self.means(of);
        let (sum, squares) = means.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        (squares > 0.0).then(|| sum * sum / (as_f64(means.len() as u64) * squares))
    }
}

/// Sums over the jobs of one run.
#[derive(Clone, Debug)]
pub struct Sums {
    /// All jobs.
    pub summary: Summary,
    /// Sums by user.
    pub users: Users,
    /// Classes, in the order of [`JobClass::ALL`].
    pub classes: [Fared; 4],
    /// Number of jobs that fit no place.
    pub rejected: u64,
    /// Trend of the waiting work; `None` until the run is over.
    pub trend: Option<Trend>,
    /// Processors of the system.
    pub processors: u32,
    /// Response times × areas, and areas: processors × run time.
    area_weighted: (Sum, Sum),
}

impl Sums {
    /// Sums over no jobs.
    pub fn new(processors: u32) -> Self {
        Self {
            summary: Summary::new(),
            users: Users::default(),
            classes: Default::default(),
            rejected: 0,
            trend: None,
            processors,
            area_weighted: Default::default(),
        }
    }

    /// Adds the record of one finished job.
    pub fn add(&mut self, record: &JobRecord) {
        self.summary.add(record);
        let (wait, slowdown) = (record.wait().as_secs_f64(), bounded_slowdown(record, Summary::THRESHOLD));
        let user = self.users.0.entry(record.job.request.user).or_default();
        user.work += f64::from(record.processors) * record.finish.since(record.start).as_secs_f64();
        for fared in [&mut self.classes[JobClass::of(record) as usize], &mut user.fared] {
            fared.wait.add(wait);
            fared.bounded_slowdown.add(slowdown);
        }
        let area = f64::from(weight(record)) * record.job.runtime.as_secs_f64();
        self.area_weighted.0.add(record.response().as_secs_f64() * area);
        self.area_weighted.1.add(area);
    }

    /// Mean response time weighted by processors × run time; `None` if all areas are zero.
    pub(crate) fn area_weighted_response(&self) -> Option<f64> {
        let (products, areas) = (self.area_weighted.0.total(), self.area_weighted.1.total());
        (areas > 0.0).then(|| products / areas)
    }

    /// Number of jobs of a class.
    pub const fn jobs_of(&self, class: JobClass) -> u64 {
        self.classes[class as usize].wait.count()
    }
}
