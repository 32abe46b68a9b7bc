//! Instants and spans at the edges of their range.

use sim_core::{Span, Time};

#[test]
fn a_variate_and_a_product_become_the_nearest_nanosecond() {
    assert_eq!(Span::from_secs_f64(1.000_000_000_6).to_string(), "1.000000001");
    assert_eq!(Span::from_nanos(3).scaled(0.5), Span::from_nanos(2));
}

#[test]
#[should_panic(expected = "a span cannot be NaN s")]
fn a_span_is_never_nan() {
    let _ = Span::from_secs_f64(f64::NAN);
}

#[test]
#[should_panic(expected = "time runs backwards")]
fn a_span_is_never_negative() {
    let _ = Time::from_secs(1).since(Time::from_secs(2));
}

#[test]
#[should_panic(expected = "584 years")]
fn time_never_wraps() {
    let _ = Time::MAX + Span::from_nanos(1);
}
