//! Alternatives to try: other answers to a paper's readings.

use super::Request;
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
    /// Returns the alternative that answers the readings at these places.
    pub(crate) fn of(readings: &[Reading], answers: &[(usize, &str)]) -> Self {
        let joined = |separator: &str, text: &dyn Fn(&Reading, &str) -> String| {
            answers.iter().map(|(place, answer)| text(&readings[*place], answer)).collect::<Vec<_>>().join(separator)
        };
        Self {
            reading: joined("+", &|reading, _| reading.id.to_owned()),
            field: joined("+", &|reading, _| reading.field.to_owned()),
            answer: joined("+", &|_, answer| answer.to_owned()),
            name: joined(" with ", &|reading, answer| named(readings, reading, answer)),
            assignments: answers.iter().map(|(place, answer)| format!("{}={answer}", readings[*place].key())).collect(),
            places: answers.iter().map(|(place, _)| *place).collect(),
        }
    }
}

/// Names an answer: `R2 = gang-end`; `R12 tabu_length = 5` if several fields answer one reading.
pub(super) fn named(readings: &[Reading], Reading { id, field, .. }: &Reading, answer: &str) -> String {
    if readings.iter().filter(|other| other.id == *id).count() > 1 {
        format!("{id} {field} = {answer}")
    } else {
        format!("{id} = {answer}")
    }
}

/// Returns every other answer to each requested reading, and with `product` also every pair of them; fails for a name that no reading has, and
/// for pairs of fewer than two readings.
pub(super) fn all(readings: &[Reading], scenario: &Scenario, request: &Request) -> Result<Vec<Alternative>> {
    let Request { readings: chosen, product, .. } = request;
    let is_called = |reading: &Reading, name: &String| [reading.id, reading.field].contains(&name.as_str());
    if let Some(name) = chosen.iter().find(|name| !readings.iter().any(|reading| is_called(reading, name))) {
        let hint = did_you_mean(name, readings.iter().flat_map(|reading| [reading.id, reading.field]));
        let mut ids: Vec<&str> = readings.iter().map(|reading| reading.id).collect();
        ids.dedup();
        bail!("--reading {name}: no such reading{hint}; there are {}", ids.join(", "));
    }
    let is_chosen = |reading: &Reading| chosen.is_empty() || chosen.iter().any(|name| is_called(reading, name));
    let places = (0..readings.len()).filter(|place| is_chosen(&readings[*place]));
    let others = |place: usize| -> Vec<(usize, &str)> {
        let (own, all) = (scenario.answer(&readings[place]), readings[place].answers);
        all.iter().filter(|answer| **answer != own).map(|answer| (place, *answer)).collect()
    };
    let by_reading: Vec<Vec<(usize, &str)>> = places.map(others).collect();
    let mut all: Vec<Alternative> = by_reading.iter().flatten().map(|one| Alternative::of(readings, &[*one])).collect();
    if *product {
        ensure!(by_reading.len() > 1, "--product: pairs need two readings; name them as in --reading R3,R4");
        for (i, one) in by_reading.iter().enumerate().flat_map(|(i, ones)| ones.iter().map(move |one| (i, one))) {
            let others = by_reading[i + 1..].iter().flatten();
            all.extend(others.map(|other| Alternative::of(readings, &[*one, *other])));
        }
    }
    Ok(all)
}
