//! Small logs, and functions to read them.

use sim_core::testkit::mean_and_stderr;
use std::fmt::{Debug, Display};
use std::io::Cursor;
use std::str::FromStr;
use workload::{Estimates, InputError, Intake, LogJob, Options, SwfReader, SwfRecord, TextError};

/// Returns a line in which only the first five fields, the requested processors and the requested time vary.
pub(crate) fn line(number: u64, submit: &str, runtime: &str, allocated: &str, requested: &str, time: &str) -> String {
    format!("{number} {submit} 0 {runtime} {allocated} -1 -1 {requested} {time} -1 1 7 1 -1 2 3 -1 -1\n")
}

pub(crate) fn reader(log: impl Into<Vec<u8>>) -> Result<SwfReader, InputError> {
    SwfReader::from_read("a.swf", Cursor::new(log.into()))
}

pub(crate) fn records(log: impl Into<Vec<u8>>) -> Vec<SwfRecord> {
    reader(log).and_then(Iterator::collect).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the jobs of `log`, and the intake after them.
pub(crate) fn take_in(log: impl Into<Vec<u8>>, options: Options) -> (Vec<LogJob>, Intake) {
    let mut intake = Intake::new(reader(log).expect("a log"), options);
    let jobs = intake.by_ref().collect::<Result<_, _>>().expect("no faulty line");
    (jobs, intake)
}

pub(crate) fn with(estimates: Estimates) -> Options {
    Options { estimates, ..Options::default() }
}

/// Returns the first error in reading `log`.
pub(crate) fn error(log: impl Into<Vec<u8>>) -> InputError {
    match reader(log) {
        Err(error) => error,
        Ok(reader) => reader.filter_map(Result::err).next().expect("the log is faulty"),
    }
}

/// Checks that the sample mean lies within four standard errors of `expected`.
pub(crate) fn check_mean(what: &str, values: &[f64], expected: f64) {
    let (mean, stderr) = mean_and_stderr(values);
    assert!((mean - expected).abs() < 4.0 * stderr, "{what}: {mean} ± {stderr}, expected {expected}");
}

/// Checks that values of an option, separated by `|`, are printed as they are read, and that others are refused with `expected`.
pub(crate) fn check_option<T: FromStr<Err = TextError> + Display + Debug>(good: &str, refused: &str, expected: &str) {
    for text in good.split('|') {
        assert_eq!(text.parse::<T>().map(|value| value.to_string()).as_deref(), Ok(text));
    }
    for text in refused.split('|') {
        assert_eq!(text.parse::<T>().expect_err(text).to_string(), format!("{expected} found {text:?}"));
    }
}
