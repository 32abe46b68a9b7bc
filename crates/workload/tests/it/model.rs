//! The published models, marginal by marginal against the distributions of their papers.

mod downey;
mod jann;
mod lublin;
mod session;
mod tsafrir;

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Whether counts may be a sample of these probabilities: the statistic lies below the 99.9 % quantile of the chi-square
/// distribution. Cells that expect fewer than ten are taken together.
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

/// Whether values that were rounded up to whole numbers may be a sample of the distribution `below`: the largest distance
/// between both, at the whole numbers, is below 1.95 / √n. The Kolmogorov-Smirnov statistic is above it once in a
/// thousand samples, and at fewer points rarer.
pub(crate) fn check_distribution(what: &str, mut rounded_up: Vec<f64>, below: impl Fn(f64) -> f64) {
    rounded_up.sort_by(f64::total_cmp);
    let count = f64::from(u32::try_from(rounded_up.len()).expect("few"));
    let distance = (1_u32..)
        .zip(&rounded_up)
        .zip(rounded_up.iter().skip(1).chain([&f64::INFINITY]))
        .filter(|((_, value), next)| value < next)
        .map(|((rank, value), _)| (below(*value) - f64::from(rank) / count).abs())
        .fold(0.0, f64::max);
    assert!(distance < 1.95 / count.sqrt(), "{what}: {distance}");
}
