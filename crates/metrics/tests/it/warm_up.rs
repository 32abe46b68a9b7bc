//! Length of the warm-up to leave out.

use metrics::warm_up::mser;

#[test]
fn a_level_series_loses_nothing_with_a_ripple_or_without_and_one_that_climbs_for_ever_never_settles() {
    assert_eq!(mser(&[3.0; 200]), Some(0));
    // Leaving out more always lowers the spread; the criterion is the error of the mean, which fewer values raise.
    let rippling: Vec<f64> = (0..400).map(|i| f64::from(i / 5 % 2)).collect();
    assert_eq!(mser(&rippling), Some(0));
    // Only the two batches at the beginning that are far off should be left out.
    let late: Vec<f64> = (0..400).map(|i| if i < 10 { 50.0 } else { f64::from(i / 5 % 2) }).collect();
    assert_eq!(mser(&late), Some(10));
    let climbing: Vec<f64> = (0..400).map(f64::from).collect();
    assert_eq!(mser(&climbing), None);
    assert_eq!(mser(&[1.0; 40]), None, "eight batches tell nothing");
    assert_eq!(mser(&[1.0; 50]), Some(0), "ten do");
}
