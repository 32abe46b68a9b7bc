//! What the paper leaves open of its own policy: [`Readings`].

use serde::{Deserialize, Serialize};

/// One way to read Swift Gap: gap filling and a search, decided by a weight of completion times,
/// Σⱼ (Aⱼ − Bⱼ) / Aⱼ > 0 over the jobs of the plan, where A is the plan as it stands and B the one that is tried.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Readings {
    /// R1: from when completion is measured.
    pub completion: Completion,
    /// R2: what is weighed.
    pub weight: Weight,
    /// R3: where the search may put a job.
    pub moves: Moves,
    /// R4: which job it takes.
    pub pick: Pick,
    /// R5: when it runs, and for how long.
    pub rounds: Rounds,
    /// R6: whether an early end compresses the plan of its cluster.
    pub compression: Compression,
    /// R7: what is accepted or put back.
    pub acceptance: Acceptance,
}

/// R1: from when completion is measured.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Completion {
    /// From the job's submission.
    #[default]
    FromSubmission,
    /// From the start of the simulation.
    AbsoluteClock,
}

/// R2: what is weighed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Each job's own gain relative to its own completion, summed.
    #[default]
    SumOfRatios,
    /// The gain of all relative to the completion of all.
    RatioOfSums,
    /// The sum of ratios, added to the decision of Best Gap.
    AddedToDecision,
}

/// R3: where the search may put a job.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moves {
    /// On another cluster: "among the clusters rather than … within".
    #[default]
    BetweenClusters,
    /// On any cluster, its own included.
    Any,
}

/// R4: which job the search takes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// A random one of a random cluster.
    #[default]
    Random,
    /// One after the other: "select non-optimized job".
    ListOrder,
    /// The one that completes worst, then the next.
    WorstFirst,
}

/// R5: when the search runs, and for how long.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounds {
    /// Every 300 s, four times as many rounds as jobs wait.
    #[default]
    FourTimes,
    /// Every 300 s, until as many rounds in a row as jobs wait have improved nothing; at most 64 times as many in all.
    UntilNoGain,
    /// At each arrival, four times as many rounds as jobs wait.
    PerArrival,
}

/// R6: whether an early end compresses the plan of its cluster, as under CONS.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// It does, as the paper's text has it.
    #[default]
    On,
    /// It does not, as under Best Gap.
    Off,
}

/// R7: what is accepted or put back.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// Each move.
    #[default]
    EachMove,
    /// All moves of a pass together.
    WholePass,
}

impl Readings {
    /// All combinations.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for completion in [Completion::FromSubmission, Completion::AbsoluteClock] {
            for weight in [Weight::SumOfRatios, Weight::RatioOfSums, Weight::AddedToDecision] {
                for moves in [Moves::BetweenClusters, Moves::Any] {
                    for pick in [Pick::Random, Pick::ListOrder, Pick::WorstFirst] {
                        for rounds in [Rounds::FourTimes, Rounds::UntilNoGain, Rounds::PerArrival] {
                            for compression in [Compression::On, Compression::Off] {
                                for acceptance in [Acceptance::EachMove, Acceptance::WholePass] {
                                    all.push(Self { completion, weight, moves, pick, rounds, compression, acceptance });
                                }
                            }
                        }
                    }
                }
            }
        }
        all
    }
}
