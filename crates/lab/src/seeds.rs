//! Number of seeds under which a verdict is unchanged.

use crate::claim::Judged;
use crate::verdict::Verdict;

/// The claims of a paper, judged under other seeds: each seed with its claims, in the order of the run.
#[derive(Clone, Debug)]
pub struct Seeds(pub(crate) Vec<(u64, Vec<Judged>)>);

impl Seeds {
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the results of a claim, seed by seed.
    pub fn of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (u64, &'a Judged)> {
        let found = move |(seed, judged): &'a (u64, Vec<Judged>)| Some((*seed, judged.iter().find(|it| it.id == id)?));
        self.0.iter().filter_map(found)
    }

    /// Formats the number of seeds under which a claim has the verdict of the run: `9 of 10`.
    pub fn stays(&self, judged: &Judged) -> String {
        let same = self.of(&judged.id).filter(|(_, other)| other.verdict == judged.verdict).count();
        format!("{same} of {}", self.count())
    }

    /// Lists the seeds under which the verdict is another: `contradicted: 2, 7; inconclusive: 1`.
    pub fn others(&self, judged: &Judged) -> String {
        let others = Verdict::ALL.into_iter().filter(|verdict| *verdict != judged.verdict).filter_map(|verdict| {
            let seeds = self.of(&judged.id).filter(|(_, other)| other.verdict == verdict);
            let seeds: Vec<String> = seeds.map(|(seed, _)| seed.to_string()).collect();
            (!seeds.is_empty()).then(|| format!("{verdict}: {}", seeds.join(", ")))
        });
        others.collect::<Vec<_>>().join("; ")
    }
}
