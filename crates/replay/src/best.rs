//! Policies that may be the best by a metric, in tables and in words.

use metrics::best::Standing;

/// The value of the column `may_be_best`: empty where no interval says.
pub(crate) const fn may_be_best(standing: Standing) -> &'static str {
    match standing {
        Standing::Best | Standing::MayBeBest => "yes",
        Standing::Worse => "no",
        Standing::Unknown => "",
    }
}

/// `Best by mean wait: a; no significant difference from it: b. No interval for c.`; none where no policy has a value.
pub(crate) fn in_words(metric: &str, names: &[&str], standings: &[Standing]) -> Option<String> {
    let of = |wanted: Standing| -> Vec<&str> {
        let found = names.iter().zip(standings).filter(|(_, standing)| **standing == wanted);
        found.map(|(name, _)| *name).collect()
    };
    let [best] = of(Standing::Best)[..] else { return None };
    let (near, unknown) = (of(Standing::MayBeBest), of(Standing::Unknown));
    let near = match (near.is_empty(), of(Standing::Worse).is_empty()) {
        (false, _) => format!("; no significant difference from it: {}.", near.join(", ")),
        (true, false) if unknown.is_empty() => "; all others are significantly worse.".to_owned(),
        (true, false) => format!("; significantly worse: {}.", of(Standing::Worse).join(", ")),
        (true, true) => ".".to_owned(),
    };
    let unknown = if unknown.is_empty() { String::new() } else { format!(" No interval for {}.", unknown.join(", ")) };
    Some(format!("Best by {metric}: {best}{near}{unknown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_policy_is_named_with_those_that_do_not_differ_from_it() {
        use Standing::{Best, MayBeBest, Unknown, Worse};
        let check = |standings: [Standing; 3], expected: &str| {
            let words = in_words("mean wait", &["a", "b", "c"], &standings).expect("a best one");
            assert_eq!(words, format!("Best by mean wait: {expected}"));
        };
        check([Best, MayBeBest, Worse], "a; no significant difference from it: b.");
        check([Best, Worse, Worse], "a; all others are significantly worse.");
        check([Unknown, Best, Worse], "b; significantly worse: c. No interval for a.");
        check([Unknown, Best, MayBeBest], "b; no significant difference from it: c. No interval for a.");
        check([Unknown, Unknown, Best], "c. No interval for a, b.");
        assert_eq!(in_words("mean wait", &["a"], &[Unknown]), None);
    }
}
