//! What the paper on Swift Gap leaves open, as far as it matters where reservations stay as they are.

/// R1: from when completion is measured.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// From the job's submission.
    #[default]
    FromSubmission,
    /// From the start of the simulation.
    AbsoluteClock,
}

/// R2: what is weighed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Moves {
    /// On another machine: "among the clusters rather than … within".
    #[default]
    BetweenClusters,
    /// On any machine, its own included.
    Any,
}
