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

/// Requested memory in KiB: per node, per processor, or in all.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ReqMem {
    PerNode(u64),
    PerProcessor(u64),
    Total(u64),
}

impl ReqMem {
    /// Parses `4000Mn`, `2Gc`, `16G`, `0`; without a unit, MiB. `None` for other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (text, wrap): (&str, fn(u64) -> Self) = match text.as_bytes().last()? {
            b'n' => (&text[..text.len() - 1], Self::PerNode),
            b'c' => (&text[..text.len() - 1], Self::PerProcessor),
            _ => (text, Self::Total),
        };
        let units = [(b'K', 0), (b'M', 1), (b'G', 2), (b'T', 3), (b'P', 4)];
        let last = *text.as_bytes().last()?;
        let (number, power) = units
            .into_iter()
            .find(|(unit, _)| *unit == last)
            .map_or((text, 1), |(_, power)| (&text[..text.len() - 1], power));
        let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was looked at; `as` saturates")]
        Some(wrap((number * 1024_f64.powi(power)).round() as u64))
    }

    /// Returns KiB for each processor; `None` if nothing was requested, or it is unknown.
    pub(super) fn per_processor(self, processors: Option<u32>, nodes: Option<u32>) -> Option<u64> {
        let processors = u64::from(processors?).max(1);
        let kib = match self {
            Self::PerProcessor(kib) => kib,
            Self::Total(kib) => kib / processors,
            Self::PerNode(kib) => kib.saturating_mul(nodes?.into()) / processors,
        };
        Some(kib).filter(|kib| *kib > 0)
    }
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
        assert_eq!(ReqMem::parse("4000Mn"), Some(ReqMem::PerNode(4_096_000)));
        assert_eq!(ReqMem::parse("2Gc"), Some(ReqMem::PerProcessor(2 << 20)));
        assert_eq!(ReqMem::parse("1.50T"), Some(ReqMem::Total(3 << 29)));
        assert_eq!(ReqMem::parse("512"), Some(ReqMem::Total(512 << 10)));
        assert_eq!([ReqMem::parse(""), ReqMem::parse("G"), ReqMem::parse("x"), ReqMem::parse("-1G")], [None; 4]);
        assert_eq!(ReqMem::PerNode(1_000).per_processor(Some(8), Some(2)), Some(250));
        assert_eq!(ReqMem::Total(1_000).per_processor(Some(8), None), Some(125));
        assert_eq!(ReqMem::Total(0).per_processor(Some(8), None), None);
        assert_eq!(ReqMem::PerNode(1_000).per_processor(Some(8), None), None);
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
