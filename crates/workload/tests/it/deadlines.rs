//! Deadlines of the jobs of a log.

use crate::data::{check_option, line, reader};
use sim_core::Time;
use workload::{Deadlines, Estimates, Intake, Options};

/// Returns the deadlines of a log's jobs in seconds, or the first error.
fn deadlines(log: String, options: Options) -> Result<Vec<Option<f64>>, String> {
    Intake::new(reader(log).expect("a log"), options)
        .map(|job| job.map(|job| job.job.request.deadline.map(Time::as_secs_f64)).map_err(|error| error.to_string()))
        .collect()
}

fn due(deadlines: Deadlines) -> Options {
    Options { deadlines, ..Options::default() }
}

#[test]
fn a_factor_stretches_the_limit_whatever_policies_see() {
    let log =
        line(1, "5", "9", "1", "1", "60") + &line(2, "10", "90", "1", "1", "60") + &line(3, "10", "9", "1", "1", "-1");
    for estimates in ["exact", "user", "factor:3", "f-model:2", "mean-of-user:2"] {
        let estimates: Estimates = estimates.parse().expect("a kind of estimates");
        let options = Options { estimates, ..due(Deadlines::Factor(1.5)) };
        assert_eq!(deadlines(log.clone(), options), Ok(vec![Some(90.0), Some(95.0), Some(18.5)]));
    }
    // An absurd product stays within the range of time.
    let log = line(1, "5", "9", "1", "1", "4000000000");
    assert_eq!(deadlines(log, due(Deadlines::Factor(1e6))), Ok(vec![Some(4_294_967_295.0)]));
}

#[test]
fn a_column_holds_seconds_after_submission() {
    let record = |number, submit, deadline: &str| {
        line(number, submit, "9", "1", "1", "60").replace('\n', &format!(" {deadline}\n"))
    };
    let log = record(1, "7", "20") + &record(2, "8", "-1") + &record(3, "9", "12.5");
    assert_eq!(deadlines(log.clone(), due(Deadlines::Column(19))), Ok(vec![Some(20.0), None, Some(14.5)]));
    assert_eq!(deadlines(log.clone(), due(Deadlines::Column(9))), Ok(vec![Some(60.0), Some(61.0), Some(62.0)]));
    let message = "a.swf:4: field 19 (deadline): expected seconds, at most 4294967295, or -1 if there is none, found \
                   \"end of line after 18 columns\"; choose the column that holds it, or write -1 there where there is none";
    assert_eq!(deadlines(log + &record(4, "9", ""), due(Deadlines::Column(19))), Err(message.to_owned()));
}

#[test]
fn a_column_that_holds_something_else_is_an_error() {
    for bad in ["soon", "-5", "1e12"] {
        let log = line(1, "0", "9", "1", "1", "60").replace('\n', " -1\n")
            + &line(2, "0", "-1", "1", "1", "60").replace('\n', " never-ran\n")
            + &line(3, "7", "9", "1", "1", "60").replace('\n', &format!(" {bad}\n"));
        let message = format!(
            "a.swf:3: field 19 (deadline): expected seconds, at most 4294967295, or -1 if there is none, found {bad:?}; \
             write a plain number such as 90 or 12.5, or choose the column that holds it"
        );
        assert_eq!(deadlines(log, due(Deadlines::Column(19))), Err(message));
    }
}

#[test]
fn deadlines_are_read_and_printed() {
    check_option::<Deadlines>(
        "none|factor:0.5|factor:2|column:1|column:19",
        "|None|factor:0|factor:nan|factor:-1|factor:1e7|column:0|column:256|column:-1",
        "deadlines: expected none, factor:F with F above 0 and up to 1000000, or column:N with N from 1 to 255,",
    );
}
