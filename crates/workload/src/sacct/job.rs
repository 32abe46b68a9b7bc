//! Single values: states, memory, processors.

use super::SacctRule;
use crate::swf::Status;

/// Parses a state such as `COMPLETED` or `CANCELLED by 1001`: the end of the job, `None` if that state has no place in a log, or
/// the rule under which the job is left out.
pub(super) fn state(text: &str) -> Result<Option<Status>, SacctRule> {
    let word = text.split_ascii_whitespace().next().unwrap_or_default().trim_end_matches('+');
    match word {
        "COMPLETED" => Ok(Some(Status::Completed)),
        "CANCELLED" | "PREEMPTED" => Ok(Some(Status::Cancelled)),
        "FAILED" | "TIMEOUT" | "NODE_FAIL" | "OUT_OF_MEMORY" | "BOOT_FAIL" | "DEADLINE" | "LAUNCH_FAILED"
        | "RECONFIG_FAIL" | "REQUEUED" => Ok(Some(Status::Failed)),
        "PENDING" | "RUNNING" | "SUSPENDED" | "COMPLETING" | "CONFIGURING" | "RESIZING" | "STAGE_OUT" | "STOPPED"
        | "SIGNALING" | "REQUEUE_HOLD" | "REQUEUE_FED" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" | "POWER_UP_NODE"
        | "EXPEDITING" => Err(SacctRule::Unfinished),
        "REVOKED" => Err(SacctRule::Revoked),
        _ => Ok(None),
    }
}

/// Returns the value of `cpu=` in `billing=8,cpu=8,mem=16G,node=1`.
pub(super) fn cpus_of_tres(text: &str) -> Option<&str> {
    text.split(',').find_map(|part| part.strip_prefix("cpu="))
}

/// Returns true if `cpu=8,gres/gpu=2`, or `gpu:a100:2` of older versions, includes a GPU.
pub(super) fn has_gpu(text: &str) -> bool {
    let is_gpu = |part: &str| part.starts_with("gpu:") || part == "gpu" || part.starts_with("gres/gpu");
    text.split(',').any(|part| is_gpu(part) && !part.ends_with("=0") && !part.ends_with(":0"))
}

/// Parses requested memory per node (`4000Mn`), per processor (`2Gc`) or in all (`16G`, `0`); without a unit, MiB. Returns KiB for
/// each processor, which is `None` if nothing was requested or it is unknown; `None` for other text.
pub(super) fn memory(text: &str, processors: Option<u32>, nodes: Option<u32>) -> Option<Option<u64>> {
    let amount = text.strip_suffix(['n', 'c']).unwrap_or(text);
    let (number, power) = match "KMGTP".find(amount.chars().last()?) {
        Some(power) => (&amount[..amount.len() - 1], power),
        None => (amount, 1),
    };
    let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was looked at; `as` saturates")]
    let kib = (number * 1024_f64.powi(i32::try_from(power).ok()?)).round() as u64;
    let per_processor = |processors: u64| match &text[amount.len()..] {
        "c" => Some(kib),
        "n" => Some(kib.saturating_mul(nodes?.into()) / processors),
        _ => Some(kib / processors),
    };
    Some(processors.and_then(|processors| per_processor(u64::from(processors).max(1))).filter(|kib| *kib > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_mapped_by_their_first_word() {
        for (text, expected) in [
            ("COMPLETED", Ok(Some(Status::Completed))),
            ("CANCELLED by 1001", Ok(Some(Status::Cancelled))),
            ("TIMEOUT", Ok(Some(Status::Failed))),
            ("RUNNING", Err(SacctRule::Unfinished)),
            ("REVOKED", Err(SacctRule::Revoked)),
            ("SLEEPY", Ok(None)),
            ("", Ok(None)),
        ] {
            assert_eq!(state(text), expected, "{text}");
        }
    }

    #[test]
    fn memory_is_per_node_per_processor_or_total() {
        for (text, processors, nodes, expected) in [
            ("4000Mn", Some(8), Some(2), Some(1_024_000)),
            ("4000Mn", Some(8), None, None),
            ("2Gc", Some(8), None, Some(2 << 20)),
            ("1.50T", Some(1), None, Some(3 << 29)),
            ("512", Some(8), None, Some(64 << 10)),
            ("512", None, None, None),
            ("0", Some(8), None, None),
        ] {
            assert_eq!(memory(text, processors, nodes), Some(expected), "{text}");
        }
        assert_eq!(["", "n", "G", "x", "-1G"].map(|text| memory(text, Some(8), Some(2))), [None; 5]);
    }

    #[test]
    fn processors_stand_among_other_resources() {
        assert_eq!(cpus_of_tres("billing=8,cpu=12,mem=16G,node=1"), Some("12"));
        assert_eq!(cpus_of_tres("gres/gpu=2"), None);
        for (resources, expected) in [
            ("billing=8,cpu=12,gres/gpu=2,node=1", true),
            ("cpu=12,gres/gpu:a100=4", true),
            ("gpu:tesla:1", true),
            ("gpu", true),
            ("cpu=12,gres/gpu=0", false),
            ("craynetwork:1,gpu:0", false),
            ("cpu=12,mem=16G", false),
        ] {
            assert_eq!(has_gpu(resources), expected, "{resources}");
        }
    }
}
