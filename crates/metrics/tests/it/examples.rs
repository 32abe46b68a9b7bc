//! The examples print their expected output.

#[path = "../../examples/summary.rs"]
#[expect(dead_code, reason = "an example's `main`")]
mod summary;

#[test]
fn the_summary_of_five_jobs() {
    assert_eq!(summary::report(), include_str!("golden/summary.txt"));
}
