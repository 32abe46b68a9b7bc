//! Output of the example.

#[path = "../../examples/ten_jobs.rs"]
#[expect(dead_code, reason = "its main function")]
mod ten_jobs;

const GOLDEN: &str = "\
job  procs  submit   FCFS   EASY
  0      4       0      0      0
  1      3      10     10     10
  2      2      20    310    310
  3      8      30    710    800
  4      1      40    910     40
  5      4      50    910    600
  6      1      60    910    290
  7      2      70    910   1000
  8      1      80    970    310
  9      6      90   1170    700
mean wait           636.0  361.0
";

#[test]
fn ten_jobs_are_scheduled_twice() {
    assert_eq!(ten_jobs::page(), GOLDEN);
}
