//! Length of the warm-up to leave out: [`mser`].

/// Returns the number of values to leave out at the beginning of a series that starts empty and settles, by MSER-5.
///
/// The series is cut into batches of five values. The chosen beginning is the one whose
/// remaining batch means have the smallest marginal standard error, Σ (x − x̄)² / n²: leaving out the transient lowers the
/// spread, leaving out more lowers n (K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
/// heuristics for simulation", Winter Simulation Conference 2000; batches of five are the best in most comparisons).
/// At most half of the series is examined. A minimum at that border means that the run is too short or never settles,
/// and gives `None`. The result is also `None` for fewer than ten batches.
///
/// ```
/// // Forty values that climb, then level off with a ripple.
/// let series: Vec<f64> = (0..400).map(|i| f64::from(i.min(40)) + f64::from(i % 2)).collect();
/// let left_out = metrics::warm_up::mser(&series).expect("it settles");
/// assert!((35..=50).contains(&left_out));
/// ```
pub fn mser(values: &[f64]) -> Option<usize> {
    const BATCH: usize = 5;
    let means: Vec<f64> = values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if means.len() < 10 {
        return None;
    }
    // From the back: sums over the remaining batches, updated batch by batch (Welford).
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (left_out, value) in means.iter().enumerate().rev() {
        n += 1.0;
        let gap = value - mean;
        mean += gap / n;
        squares += gap * (value - mean);
        if left_out <= means.len() / 2 {
            let error = squares / (n * n);
            // The shorter of equal beginnings.
            if error <= best.0 {
                best = (error, left_out);
            }
        }
    }
    (best.1 < means.len() / 2).then_some(best.1 * BATCH)
}
