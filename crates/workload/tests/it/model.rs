//! Published models, compared marginal by marginal with the distributions of their papers.

mod lublin;
mod session;
mod tsafrir;

use sim_core::Streams;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use workload::model::{Lublin, ModelJob, WorkloadModel, models};

/// Returns the first jobs of a model.
fn jobs(model: &impl WorkloadModel, count: usize) -> Vec<ModelJob> {
    model.jobs(&Streams::new(42, 0)).take(count).collect()
}

/// The first draws are part of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    fn check(model: &impl WorkloadModel, expected: &[(f64, u32, f64)]) {
        let drawn = jobs(model, expected.len())
            .into_iter()
            .map(|ModelJob { job, .. }| (job.submit.as_secs_f64(), job.processors, job.runtime.as_secs_f64()));
        assert_eq!(drawn.collect::<Vec<_>>(), expected);
    }
    check(
        &Lublin::default(),
        &[(160.0, 3, 7.0), (2258.0, 4, 20.0), (2307.0, 4, 5.0), (2854.0, 1, 8.0), (3755.0, 2, 10.0)],
    );
}

fn check_refused(model: &impl WorkloadModel, message: &str) {
    assert_eq!(model.validate().expect_err(message).to_string(), message);
}

#[test]
fn every_model_of_the_list_draws_in_order_for_its_machine_and_again_from_its_preset() {
    for (at, model) in models().iter().enumerate() {
        let name = model.name;
        assert!(models()[..at].iter().all(|other| other.name != name), "{name} is the name of two");
        assert!(name.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'-'), "{name}");
        for text in [model.summary, model.origin] {
            assert!(text.len() > 5 && !text.ends_with('.'), "{name}: {text:?}");
        }
        let general = models().iter().find(|other| Some(other.name) == model.preset_of);
        assert!(model.preset_of.is_none() || general.is_some_and(|general| general.preset_of.is_none()), "{name}");
        for machine in [None, model.least_processors, model.least_processors.map(|_| 128)] {
            let Some(parameters) = model.defaults.map(|make| make(machine)) else {
                assert_eq!(name, "session", "it has no parameters, and no log to measure them in");
                continue;
            };
            parameters.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
            let processors = parameters.processors();
            assert!(machine.is_none_or(|machine| machine == processors), "{name} on {machine:?}: {processors}");
            let jobs: Vec<_> = parameters.jobs(&Streams::new(1, 0)).take(500).collect();
            assert!(jobs.is_sorted_by_key(|job| job.job.submit), "{name}");
            assert!(jobs.iter().zip(1..).all(|(job, number)| job.job.number == number), "{name}");
            assert!(jobs.iter().all(|job| (1..=processors).contains(&job.job.processors)), "{name}");

            let preset = parameters.to_toml().expect("a preset");
            let value = toml::from_str(&preset).expect("a tree");
            let (read, same) = ((model.of_toml)(&preset).expect("a preset"), (model.of_value)(value).expect("a tree"));
            for parameters in [read, same] {
                let again: Vec<_> = parameters.jobs(&Streams::new(1, 0)).take(500).collect();
                assert_eq!(jobs, again, "{name}");
            }
            assert!((model.of_toml)(&format!("nonsense = 1\n{preset}")).is_err(), "{name} takes any parameter");
        }
    }
}

/// Checks that counts may be a sample of these probabilities: the statistic lies below the 99.9 % quantile of the
/// chi-square distribution. Cells with an expectation below ten are merged.
pub(crate) fn check_counts(what: &str, counts: &[u32], probabilities: &[f64]) {
    assert_eq!(counts.len(), probabilities.len());
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let sum: f64 = probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{what}: probabilities sum to {sum}");
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut rare = (0.0, 0.0);
    for (count, probability) in counts.iter().zip(probabilities) {
        let expected = total * probability;
        if expected < 10.0 {
            rare = (rare.0 + f64::from(*count), rare.1 + expected);
        } else {
            cells.push((f64::from(*count), expected));
        }
    }
    if rare.1 >= 10.0 {
        cells.push(rare);
    } else {
        assert!(rare.0 <= 40.0, "{what}: {} where {} were expected", rare.0, rare.1);
    }
    if cells.len() == 1 {
        return; // there is no other value
    }
    let statistic: f64 = cells.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum();
    let freedom = f64::from(u32::try_from(cells.len() - 1).expect("few"));
    let quantile = ChiSquared::new(freedom).expect("several cells").inverse_cdf(0.999);
    assert!(statistic < quantile, "{what}: chi-square {statistic} with {freedom} degrees of freedom, above {quantile}");
}

/// Checks that values, exact or rounded up to whole numbers, may be a sample of the distribution `below`: the largest
/// distance between both, at the values, is below 1.95 / √n. The Kolmogorov-Smirnov statistic exceeds it once in a
/// thousand samples, and less often at fewer points.
pub(crate) fn check_distribution(what: &str, mut values: Vec<f64>, below: impl Fn(f64) -> f64) {
    values.sort_by(f64::total_cmp);
    let count = f64::from(u32::try_from(values.len()).expect("few"));
    let distance = (1_u32..)
        .zip(&values)
        .zip(values.iter().skip(1).chain([&f64::INFINITY]))
        .filter(|((_, value), next)| value < next)
        .map(|((rank, value), _)| (below(*value) - f64::from(rank) / count).abs())
        .fold(0.0, f64::max);
    assert!(distance < 1.95 / count.sqrt(), "{what}: {distance}");
}
