//! What several sections of the page are made of.

use super::report::Report;
use lab::chart::Picture;
use lab::page::{Figure, Part};

/// A picture with its caption and the files beside it.
pub(super) fn figure(picture: impl Into<Picture>, caption: &str) -> Part {
    let picture = picture.into();
    let stem = picture.id().to_owned();
    let mut figure = Figure::new(picture, &stem);
    caption.clone_into(&mut figure.caption);
    if stem.starts_with("messages-") {
        figure.files.retain(|(label, _)| label != "CSV");
    }
    if let Some(policy) = stem.strip_prefix("gantt-") {
        figure.files.retain(|(label, _)| label != "CSV");
        figure.files.push(("CSV".to_owned(), format!("{policy}/jobs.csv")));
    }
    Part::Figure(Box::new(figure))
}

/// The unit of time axes, and its seconds: days for a log, seconds for an example.
pub(super) fn unit_of_time(report: &Report<'_>) -> (&'static str, f64) {
    let ends = report.runs.iter().filter_map(|run| run.outcome.watched.busy.last());
    let longest = ends.map(|(at, _)| at.as_secs_f64()).fold(0.0, f64::max);
    if longest > 3.0 * 86_400.0 { ("days", 86_400.0) } else { ("s", 1.0) }
}
