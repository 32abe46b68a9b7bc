//! Single values: states, memory, processors.

use super::SacctRule;
use crate::format::swf::Status;

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
