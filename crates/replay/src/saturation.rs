//! Saturation of a policy in words.

use lab::chart::fixed;
use metrics::backlog::Trend;

/// Sentence about a policy that is saturated; none about another.
pub(crate) fn in_words(policy: &str, trend: &Trend) -> Option<String> {
    let Trend { span, largest, stretch, drain, .. } = *trend;
    trend.is_saturated().then(|| {
        format!(
            "{policy} is saturated: work comes faster than {policy} can do it. Up to {} of work waited, for {} of {} without a break, \
             and the last job ended {} after the last submission. Its means grow with the length of the log.",
            rounded(largest),
            rounded(stretch),
            rounded(span),
            rounded(drain)
        )
    })
}

/// `12.0 days`, `3.4 h`, `20 s`.
fn rounded(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 2.0 * 86_400.0 => format!("{} days", fixed(seconds / 86_400.0, 1)),
        _ if seconds >= 7_200.0 => format!("{} h", fixed(seconds / 3_600.0, 1)),
        _ => format!("{} s", fixed(seconds, 0)),
    }
}
