//! The papers, one module each: their design points, figures and claims.

/// Declares tables of a scenario file. An unknown key is refused.
macro_rules! tables {
    ($($(#[$doc:meta])* $visibility:vis struct $Table:ident { $($fields:tt)* })+) => {$(
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $(#[$doc])*
        $visibility struct $Table { $($fields)* }
    )+};
}

/// Declares the values of an axis, each with its name in files and figures.
macro_rules! named {
    ($(#[$meta:meta])* $visibility:vis enum $Axis:ident { $($(#[$doc:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, ::serde::Serialize)]
        $visibility enum $Axis { $($(#[$doc])* #[serde(rename = $name)] $value,)+ }

        impl $Axis {
            $visibility const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }
    };
}

mod eg_edf;
mod hierarchical;
mod metaloras;
mod multi_site;
mod predictions;
mod rlscheduler;
mod swift_gap;

use anyhow::{Result, ensure};
use lab::claim::Claim;
use lab::quantity::{DesignPoint, Quantity};
use lab::registry::Entry;
use lab::scenario::Scenario;
pub use rlscheduler::rlscheduler_jobs;
use serde::Serialize;

/// Calls `$each!` with the types of all papers, in the order in which they were added.
macro_rules! papers {
    ($each:ident $($more:tt)*) => {
        $each! { [
            multi_site::MultiSite
            eg_edf::EgEdfPaper
            swift_gap::SwiftGapPaper
            metaloras::MetaLorasPaper
            hierarchical::Hierarchical
            predictions::PredictionsPaper
            rlscheduler::RlScheduler
        ] $($more)* }
    };
}

/// Returns the values of a list, or the one value, of each parameter whose key is `key` or lies in the table of this name.
fn values<'a>(scenario: &'a Scenario, key: &str) -> impl Iterator<Item = (&'a str, Vec<toml::Value>)> {
    let is_meant =
        move |other: &str| other.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let parameters = scenario.parameters().iter().filter(move |parameter| is_meant(&parameter.key));
    parameters.map(|parameter| {
        let values = match parameter.value.parse() {
            Ok(toml::Value::Array(list)) => list,
            other => other.into_iter().collect(),
        };
        (parameter.key.as_str(), values)
    })
}

/// Checks that the numbers of a value, a list or a table lie in a range, from the least to the most, and that lists are not empty.
fn within(scenario: &Scenario, ranges: &[(&str, f64, f64)]) -> Result<()> {
    for &(key, least, most) in ranges {
        for (key, values) in values(scenario, key) {
            ensure!(!values.is_empty(), "{key} is empty; give at least one value");
            for number in values.into_iter().filter_map(|value| value.try_into::<f64>().ok()) {
                let expected =
                    if most.is_finite() { format!("{least} to {most}") } else { format!("at least {least}") };
                ensure!((least..=most).contains(&number), "{key} is {number}; expected {expected}");
            }
        }
    }
    Ok(())
}

fn distinct(scenario: &Scenario, keys: &[&str]) -> Result<()> {
    for (key, values) in keys.iter().flat_map(|key| values(scenario, key)) {
        for (i, value) in values.iter().enumerate() {
            ensure!(!values[..i].contains(value), "{key} holds {value} twice; name each value once");
        }
    }
    Ok(())
}

fn equally_long(scenario: &Scenario, pairs: &[[&str; 2]]) -> Result<()> {
    for &[key, other] in pairs {
        let [found, wanted] =
            [key, other].map(|key| values(scenario, key).map(|(_, values)| values.len()).sum::<usize>());
        ensure!(found == wanted, "{key} has {found} numbers and {other} has {wanted}; give as many");
    }
    Ok(())
}

/// Returns the answers to the readings that a cell depends on. Other answers do not change its runs, which are simulated once for all of
/// them.
fn answers(readings: &impl Serialize, asks: impl Fn(&str) -> bool) -> serde_json::Value {
    let mut answers = serde_json::to_value(readings).expect("readings are plain data");
    answers.as_object_mut().expect("a table").retain(|field, _| asks(field));
    answers
}

/// Returns the positions of the values, that of the smallest first.
fn ascending(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut values: Vec<(usize, f64)> = values.enumerate().collect();
    values.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    values.into_iter().map(|(place, _)| place).collect()
}

/// Keeps the checks all of whose cells satisfy `exists`, and the claims that still have checks.
fn with_cells<C: DesignPoint>(mut claims: Vec<Claim<C>>, exists: impl Fn(&C) -> bool) -> Vec<Claim<C>> {
    for claim in &mut claims {
        claim.checks.retain(|check| check.quantity.cells().iter().all(&exists));
    }
    lab::claim::with_checks(claims)
}

/// Returns the mean of quantities, if there are any: their sum times 1 / n.
fn mean<C: DesignPoint>(quantities: impl IntoIterator<Item = Quantity<C>>) -> Option<Quantity<C>> {
    let mut quantities = quantities.into_iter();
    let first = quantities.next()?;
    let (sum, count) = quantities.fold((first, 1.0), |(sum, count), next| (sum + next, count + 1.0));
    Some(sum * (1.0 / count))
}

macro_rules! entries {
    ([$($module:ident::$Paper:ident)+]) => { &[$(Entry::of::<$module::$Paper>()),+] };
}

/// All papers, in the order in which they were added.
pub const ALL: &[Entry] = papers!(entries);

/// SHA-256 of the simulation code, made at build time; empty in a package of a registry: see `build.rs`.
const MODELS: &str = env!("GRIDPROOF_MODELS");

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result};
    use lab::claim::Claim;
    use lab::exhibit;
    use lab::paper::{Effort, Paper};
    use lab::scenario::Scenario;
    use sim_core::Streams;
    use std::collections::BTreeSet;

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
        let exhibits = paper.exhibits();
        let figures = exhibit::ids(&exhibits);
        // Exhibits with one id are adjacent, so the list is in the order of the page.
        let mut apart: Vec<&str> = exhibits.iter().map(|exhibit| exhibit.id.as_str()).collect();
        apart.dedup();
        assert_eq!(apart, figures, "{slug}: exhibits of one id");
        for claim in paper.claims() {
            let known = claim.figures.iter().all(|figure| figures.iter().any(|known| known == *figure));
            assert!(known, "{slug} {} points to {:?}", claim.id, claim.figures);
        }
        Ok(())
    }

    pub(crate) fn paper<P: Paper>(assignments: &[&str], effort: Effort) -> Result<P> {
        let mut scenario = P::scenario()?;
        assignments.iter().try_for_each(|assignment| scenario.set(assignment))?;
        P::new(&scenario, effort)
    }

    /// Checks that an answer that does not change a cell's determinants does not change its runs, which the store would reuse. Returns the
    /// number of comparisons.
    fn check_identities<P: Paper>(settings: &[&str]) -> Result<usize> {
        // Small runs: the checks do not depend on their size.
        let paper: P = paper(settings, Effort::Quick)?;
        let cells: BTreeSet<P::Cell> = paper.claims().iter().flat_map(Claim::cells).collect();
        // A dozen cells spread over the experiments.
        let cells: Vec<P::Cell> = cells.iter().step_by(cells.len().div_ceil(12)).cloned().collect();
        let streams = Streams::new(5, 0);
        let bits = |paper: &P, cell: &P::Cell| -> Vec<u64> {
            paper.simulate(cell, &streams).in_order(&paper.metrics()).into_iter().map(f64::to_bits).collect()
        };
        let own: Vec<Vec<u64>> = cells.iter().map(|cell| bits(&paper, cell)).collect();
        let mut compared = 0;
        for reading in P::READINGS {
            for answer in &reading.answers[1..] {
                let assignment = format!("{}={answer}", reading.key());
                let other: P = self::paper(&[settings, &[&assignment]].concat(), Effort::Quick)?;
                for (cell, own) in cells.iter().zip(&own) {
                    if other.determinants(cell) == paper.determinants(cell) {
                        assert_eq!(bits(&other, cell), *own, "{assignment}: {:?}", paper.parameters(cell));
                        compared += 1;
                    }
                }
            }
        }
        Ok(compared)
    }

    #[test]
    fn an_answer_that_is_no_part_of_a_run_s_identity_changes_no_number() -> Result<()> {
        let queues = check_identities::<super::eg_edf::EgEdfPaper>(&["run.quick_jobs=120"])?;
        let trees = check_identities::<super::hierarchical::Hierarchical>(&[
            "run.quick_jobs=[20, 40]",
            "run.quick_interval_jobs=20",
            "run.quick_batch=2",
        ])?;
        let clusters = check_identities::<super::metaloras::MetaLorasPaper>(&["workload.copies=1"])?;
        assert!(queues > 100 && trees > 50 && clusters > 0, "{queues} {trees} {clusters}");
        Ok(())
    }

    macro_rules! checked {
        ([$($module:ident::$Paper:ident)+] $check:ident) => {
            $($check::<crate::$module::$Paper>().unwrap_or_else(|error| panic!("{}: {error:#}", stringify!($module)));)+
        };
    }

    /// Checks that an unknown key is refused at the head of the file and in each of its tables.
    fn unknown_keys_are_refused<P: Paper>() -> Result<()> {
        let slug = P::ABOUT.slug;
        let heads = P::SCENARIO.match_indices("\n[").map(|(at, _)| at + 1);
        for head in heads.chain([0]) {
            let (before, table) = P::SCENARIO.split_at(head);
            let (heading, rest) = if head > 0 { table.split_once('\n').expect("a line") } else { ("", table) };
            let text = format!("{before}{heading}\nno_such_key = 1\n{rest}");
            let refusal = Scenario::of_paper(slug, &text).and_then(|scenario| P::new(&scenario, Effort::Quick)).err();
            let refusal = refusal.unwrap_or_else(|| panic!("{slug}: no_such_key is taken under {heading:?}"));
            let message = format!("{refusal:#}");
            assert!(message.contains("unknown field `no_such_key`"), "{slug}, {heading}: {message}");
        }
        Ok(())
    }

    #[test]
    fn every_answer_is_a_scenario_unknown_keys_are_refused_and_claims_point_to_figures_that_there_are() {
        papers!(checked answers_are_scenarios);
        papers!(checked unknown_keys_are_refused);
        papers!(checked claims_point_to_figures);
    }
}
