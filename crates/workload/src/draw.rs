//! Draws from continuous distributions, with the same bits on every machine.
//!
//! Logarithms and powers come from `libm`, because those of the standard library depend on the platform in the last bit.

use rand::RngExt;
use sim_core::Stream;

/// Draws uniformly from [0, 1).
#[inline]
pub(crate) fn unit(stream: &mut Stream) -> f64 {
    stream.random()
}

#[inline]
pub(crate) fn uniform(stream: &mut Stream, [low, high]: [f64; 2]) -> f64 {
    low + unit(stream) * (high - low)
}

/// Draws from the exponential distribution with mean 1; at most 37, as a uniform draw has 53 bits.
#[inline]
pub(crate) fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(1.0 - unit(stream))
}

/// Draws from the normal distribution with mean 0 and variance 1, by the polar method. The second number of each pair
/// is not used, so that draws carry no state.
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    loop {
        let (x, y) = (uniform(stream, [-1.0, 1.0]), uniform(stream, [-1.0, 1.0]));
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * libm::sqrt(-2.0 * libm::log(square) / square);
        }
    }
}

/// Draws from the gamma distribution with mean `shape · scale` and variance `shape · scale²`.
///
/// Marsaglia & Tsang, "A Simple Method for Generating Gamma Variables", ACM TOMS 26(3), 2000; a shape below 1 by §6.
pub(crate) fn gamma(stream: &mut Stream, shape: f64, scale: f64) -> f64 {
    if shape < 1.0 {
        let power = libm::pow(1.0 - unit(stream), 1.0 / shape);
        return power * gamma(stream, shape + 1.0, scale);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(stream);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log(1.0 - unit(stream)) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v * scale;
        }
    }
}

/// Draws a position with probability proportional to its weight; no weight is below zero, and one is above.
pub(crate) fn pick(stream: &mut Stream, weights: impl Iterator<Item = f64> + Clone) -> usize {
    let sum: f64 = weights.clone().sum();
    let mut left = unit(stream) * sum;
    let mut last = 0;
    for (position, weight) in weights.enumerate() {
        if weight > 0.0 {
            last = position;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}

/// Returns the share of a gamma distribution of that shape and of scale 1 that lies below `x`: the regularised lower
/// incomplete gamma function.
///
/// Computed by its series below `shape + 1` and by its continued fraction above (Abramowitz & Stegun, 6.5.29 and 6.5.31).
pub(crate) fn gamma_below(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return front * sum;
    }
    // Lentz's method; the denominators stay above zero for x > shape + 1.
    let mut b = x + 1.0 - shape;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    let mut i = 0.0;
    loop {
        i += 1.0;
        let a = -i * (i - shape);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 4.0 * f64::EPSILON {
            return 1.0 - front * fraction;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::function::gamma::gamma_lr;

    #[test]
    fn the_incomplete_gamma_function_is_that_of_its_twin() {
        for shape in [0.3, 1.0, 6.1271, 8.1737, 312.0] {
            for tenths in 0_u32..4_000 {
                let x = f64::from(tenths) / 10.0;
                let twin = if tenths == 0 { 0.0 } else { gamma_lr(shape, x) };
                assert!((gamma_below(shape, x) - twin).abs() < 1e-10, "shape {shape} at {x}");
            }
        }
    }
}
