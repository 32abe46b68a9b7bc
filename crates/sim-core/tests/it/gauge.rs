//! The level of a gauge and its mean over time.

use sim_core::{Gauge, Time};

#[test]
fn the_mean_weighs_each_level_with_its_time() {
    assert_eq!(Gauge::new(Time::ZERO, 3).mean(Time::ZERO).to_bits(), 3.0_f64.to_bits());
    let mut gauge = Gauge::new(Time::from_secs(10), 0);
    gauge.raise(Time::from_secs(11), 4);
    gauge.lower(Time::from_secs(13), 3);
    assert_eq!((gauge.level(), gauge.mean(Time::from_secs(15)).to_bits()), (1, 2.0_f64.to_bits()));
}

#[test]
#[should_panic(expected = "cannot be lowered")]
fn a_level_is_never_negative() {
    Gauge::new(Time::ZERO, 1).lower(Time::ZERO, 2);
}
