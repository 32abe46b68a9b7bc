//! Sums over the jobs of one run, by user and by class: the input of the formulas of metrics.

use crate::backlog::Trend;
use crate::job::{JobClass, bounded_slowdown};
use crate::mean::{Mean, Sum, as_f64};
use crate::summary::Summary;
use sim_core::JobRecord;
use std::collections::BTreeMap;

/// Some jobs of a run: those of a user, a class, or several.
#[derive(Clone, Debug, Default)]
pub struct Portion {
    /// Work, in processor-seconds.
    pub work: f64,
    /// Waits in seconds; their number is that of the jobs.
    pub wait: Mean,
    /// Bounded slowdowns, at [`Summary::THRESHOLD`].
    pub bounded_slowdown: Mean,
}

/// Jobs by the number of their user, group, partition or class; `None` stands for all jobs without one.
#[derive(Clone, Debug, Default)]
pub struct Breakdown(BTreeMap<Option<u32>, Portion>);

impl Breakdown {
    /// Takes in the record of one finished job.
    pub fn add(&mut self, number: Option<u32>, record: &JobRecord) {
        let portion = self.0.entry(number).or_default();
        portion.work += f64::from(record.processors) * record.finish.since(record.start).as_secs_f64();
        portion.wait.add(record.wait().as_secs_f64());
        portion.bounded_slowdown.add(bounded_slowdown(record, Summary::THRESHOLD));
    }

    /// The jobs of these numbers.
    pub fn together(&self, numbers: &[Option<u32>]) -> Portion {
        let mut all = Portion::default();
        for portion in numbers.iter().filter_map(|number| self.0.get(number)) {
            all.work += portion.work;
            all.wait.append(&portion.wait);
            all.bounded_slowdown.append(&portion.bounded_slowdown);
        }
        all
    }

    /// The numbers in order of their work, largest first.
    pub fn heaviest(&self) -> Vec<Option<u32>> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by(|(_, a), (_, b)| b.work.total_cmp(&a.work));
        all.into_iter().map(|(number, _)| *number).collect()
    }

    /// The mean of every known user, smallest first.
    fn means(&self, of: fn(&Portion) -> &Mean) -> Vec<f64> {
        let known = self.0.iter().filter(|(number, _)| number.is_some());
        let mut means: Vec<f64> = known.filter_map(|(_, user)| of(user).mean()).collect();
        means.sort_by(f64::total_cmp);
        means
    }

    /// Median over users of the users' means, by nearest rank.
    pub(crate) fn median(&self, of: fn(&Portion) -> &Mean) -> Option<f64> {
        let means = self.means(of);
        means.get(means.len().saturating_sub(1) / 2).copied()
    }

    pub(crate) fn worst(&self, of: fn(&Portion) -> &Mean) -> Option<f64> {
        self.means(of).last().copied()
    }

    /// Jain's index over the users' means, (Σ x)² / (n Σ x²): 1 if all are equal, 1 / n if one user has everything.
    ///
    /// R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared
    /// computer systems", DEC-TR-301, 1984.
    pub(crate) fn jain(&self, of: fn(&Portion) -> &Mean) -> Option<f64> {
        let means = self.means(of);
        let (sum, squares) = means.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        (squares > 0.0).then(|| sum * sum / (as_f64(means.len() as u64) * squares))
    }
}

/// Sums over the jobs of one run.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// All jobs.
    pub summary: Summary,
    /// Sums by user.
    pub users: Breakdown,
    /// By number of [`JobClass`].
    pub classes: Breakdown,
    /// Number of jobs that fit no place.
    pub rejected: u64,
    /// Trend of the waiting work; `None` until the run is over.
    pub trend: Option<Trend>,
    /// Processors of the system.
    pub processors: u32,
    /// Response times × areas, and areas: processors × run time.
    pub(crate) area_weighted: (Sum, Sum),
}

impl Sums {
    pub(crate) fn add(&mut self, record: &JobRecord) {
        self.summary.add(record);
        self.users.add(record.job.request.user, record);
        self.classes.add(Some(JobClass::of(record) as u32), record);
        let area = f64::from(record.processors) * record.job.runtime.as_secs_f64();
        self.area_weighted.0.add(record.response().as_secs_f64() * area);
        self.area_weighted.1.add(area);
    }

    /// Mean response time weighted by processors × run time; `None` if all areas are zero.
    pub(crate) fn area_weighted_response(&self) -> Option<f64> {
        let (products, areas) = (self.area_weighted.0.total(), self.area_weighted.1.total());
        (areas > 0.0).then(|| products / areas)
    }

    /// Jobs of a class.
    pub fn of_class(&self, class: JobClass) -> Portion {
        self.classes.together(&[Some(class as u32)])
    }
}
