//! Alternatives to try: other answers to a paper's readings.

use crate::paper::Reading;
use crate::scenario::{Scenario, did_you_mean};
use anyhow::{Result, bail, ensure};

/// Another answer to one reading, or other answers to two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Id of the reading: `R3`; of two: `R3+R4`.
    pub reading: String,
    /// Field in the scenario's table `readings`; two are joined by a plus.
    pub field: String,
    /// Answer, as the scenario writes it; two are joined by a plus.
    pub answer: String,
    /// Name in words: `R3 = idle`; of two: `R3 = idle with R4 = none-waiting`.
    pub name: String,
    /// Arguments of `--set`, one for each reading.
    pub assignments: Vec<String>,
    /// Positions of these readings in the paper's list.
    pub(crate) places: Vec<usize>,
}

impl Alternative {
    /// Returns the alternative that answers the reading at `place` with `answer`.
    pub(crate) fn one(readings: &[Reading], place: usize, answer: &str) -> Self {
        let reading = &readings[place];
        Self {
            reading: reading.id.to_owned(),
            field: reading.field.to_owned(),
            answer: answer.to_owned(),
            name: named(readings, place, answer),
            assignments: vec![format!("{}={answer}", reading.key())],
            places: vec![place],
        }
    }

    /// Combines two alternatives.
    fn with(&self, other: &Self) -> Self {
        Self {
            reading: format!("{}+{}", self.reading, other.reading),
            field: format!("{}+{}", self.field, other.field),
            answer: format!("{}+{}", self.answer, other.answer),
            name: format!("{} with {}", self.name, other.name),
            assignments: [&self.assignments[..], &other.assignments].concat(),
            places: [&self.places[..], &other.places].concat(),
        }
    }
}

/// Names an answer: `R2 = gang-end`; `R12 tabu_length = 5` if several fields answer one reading.
pub(super) fn named(readings: &[Reading], place: usize, answer: &str) -> String {
    let Reading { id, field, .. } = readings[place];
    if readings.iter().filter(|other| other.id == id).count() > 1 {
        format!("{id} {field} = {answer}")
    } else {
        format!("{id} = {answer}")
    }
}

/// Returns every other answer to each chosen reading, and with `product` also every pair of them; fails for a name that no reading has, and
/// for pairs of fewer than two readings.
pub(super) fn all(
    readings: &[Reading],
    scenario: &Scenario,
    chosen: &[String],
    product: bool,
) -> Result<Vec<Alternative>> {
    let is_called = |reading: &Reading, name: &String| [reading.id, reading.field].contains(&name.as_str());
    if let Some(name) = chosen.iter().find(|name| !readings.iter().any(|reading| is_called(reading, name))) {
        let hint = did_you_mean(name, readings.iter().flat_map(|reading| [reading.id, reading.field]));
        let mut ids: Vec<&str> = readings.iter().map(|reading| reading.id).collect();
        ids.dedup();
        bail!("--reading {name}: no such reading{hint}; there are {}", ids.join(", "));
    }
    let is_chosen = |reading: &Reading| chosen.is_empty() || chosen.iter().any(|name| is_called(reading, name));
    let places = (0..readings.len()).filter(|place| is_chosen(&readings[*place]));
    let others = |place: usize| -> Vec<Alternative> {
        let own = scenario.answer(&readings[place]);
        let others = readings[place].answers.iter().filter(|answer| **answer != own);
        others.map(|answer| Alternative::one(readings, place, answer)).collect()
    };
    let by_reading: Vec<Vec<Alternative>> = places.map(others).collect();
    let mut all = by_reading.concat();
    if product {
        ensure!(by_reading.len() > 1, "--product: pairs need two readings; name them as in --reading R3,R4");
        for (i, ones) in by_reading.iter().enumerate() {
            let others = || by_reading[i + 1..].iter().flatten();
            all.extend(ones.iter().flat_map(|one| others().map(|other| one.with(other))));
        }
    }
    Ok(all)
}
