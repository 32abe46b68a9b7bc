//! The papers, one module each: their design points, figures and claims.

mod eg_edf;
mod hierarchical;
mod metaloras;
mod multi_site;
mod swift_gap;

#[cfg(test)]
#[path = "../build/sources.rs"]
mod sources;

use lab::registry::Entry;
pub use swift_gap::search as search_swift_gap;

/// The papers, in the order in which they were built.
pub const ALL: [Entry; 5] = [
    Entry::of::<multi_site::MultiSite>(),
    Entry::of::<eg_edf::EgEdfPaper>(),
    Entry::of::<swift_gap::SwiftGapPaper>(),
    Entry::of::<metaloras::MetaLorasPaper>(),
    Entry::of::<hierarchical::Hierarchical>(),
];

/// SHA-256 of the code that simulates, made at build time: see `build.rs`.
const MODELS: &str = env!("GRIDPROOF_MODELS");

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result};
    use lab::paper::{Effort, Paper};
    use sim_core::Streams;

    fn answers_are_scenarios<P: Paper>() -> Result<()> {
        for reading in P::READINGS {
            let scenario = P::scenario()?;
            let parameter = scenario.parameters().iter().find(|parameter| parameter.key == reading.key());
            let parameter = parameter.with_context(|| format!("{} is no parameter", reading.key()))?;
            assert_eq!(parameter.value.trim_matches('"'), reading.answers[0], "{}: the default", reading.key());
            assert!(parameter.source.starts_with(reading.id), "{} is {}", reading.key(), reading.id);
            for answer in reading.answers {
                let mut scenario = scenario.clone();
                scenario.set(&format!("{}={answer}", reading.key()))?;
                P::new(&scenario, Effort::Full).with_context(|| format!("{}={answer}", reading.key()))?;
            }
        }
        Ok(())
    }

    fn claims_point_to_figures<P: Paper>() -> Result<()> {
        let slug = P::ABOUT.slug;
        let paper = P::new(&P::scenario()?, Effort::Full)?;
        let mut figures: Vec<&str> = paper.figures().iter().map(|figure| figure.id).collect();
        for table in paper.tables() {
            assert!(figures.contains(&table.id), "{slug}: table {} goes with no figure", table.id);
        }
        for extra in paper.extras(&Streams::new(0, 0)) {
            assert!(figures.contains(&extra.figure), "{slug}: something goes with {}, no figure", extra.figure);
        }
        figures.extend(P::DRAWINGS.iter().chain(P::SCHEDULES));
        for claim in paper.claims() {
            let known = claim.figures.iter().all(|figure| figures.contains(figure));
            assert!(known, "{slug} {} points to {:?}", claim.id, claim.figures);
        }
        Ok(())
    }

    /// Does `check` for every paper.
    macro_rules! each_paper {
        ($check:ident) => {{
            let results = [
                ("multi-site", $check::<super::multi_site::MultiSite>()),
                ("eg-edf", $check::<super::eg_edf::EgEdfPaper>()),
                ("swift-gap", $check::<super::swift_gap::SwiftGapPaper>()),
                ("metaloras", $check::<super::metaloras::MetaLorasPaper>()),
                ("hierarchical", $check::<super::hierarchical::Hierarchical>()),
            ];
            assert_eq!(results.len(), super::ALL.len());
            for (slug, result) in results {
                result.unwrap_or_else(|error| panic!("{slug}: {error:#}"));
            }
        }};
    }

    #[test]
    fn every_answer_to_a_reading_makes_a_scenario_and_the_first_is_the_default() {
        each_paper!(answers_are_scenarios);
    }

    #[test]
    fn every_claim_points_to_figures_that_there_are() {
        each_paper!(claims_point_to_figures);
    }
}
