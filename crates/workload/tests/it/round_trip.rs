//! Writing and reading are inverse.

use crate::data::{reader, records};
use proptest::option;
use proptest::prelude::*;
use sim_core::Span;
use workload::swf::Status;
use workload::{SwfRecord, SwfWriter};

fn time() -> impl Strategy<Value = Option<Span>> {
    let seconds = prop_oneof![0..100_000_u64, 0..=u64::from(u32::MAX)];
    let nanos = prop_oneof![Just(0), (0..100_u64).prop_map(|hundredths| 10_000_000 * hundredths), 0..1_000_000_000_u64];
    option::of((seconds, nanos).prop_map(|(seconds, nanos)| Span::from_nanos(1_000_000_000 * seconds + nanos)))
}

fn status() -> impl Strategy<Value = Option<Status>> {
    use Status::{Cancelled, Completed, Failed, LastPartCompleted, LastPartFailed, PartToBeContinued};
    let all = vec![Failed, Completed, PartToBeContinued, LastPartCompleted, LastPartFailed, Cancelled];
    option::of(prop::sample::select(all))
}

fn further() -> impl Strategy<Value = Option<Box<str>>> {
    option::of("[a-z_0-9]{1,8}( [0-9]:ppn=[0-9]{1,2}(:cl_[a-z]{1,6})?)?".prop_map(String::into_boxed_str))
}

prop_compose! {
    pub(crate) fn record()(
        number: u64,
        times in (time(), time(), time(), time(), time(), time()),
        processors: (Option<u32>, Option<u32>),
        memory: (Option<u64>, Option<u64>),
        status in status(),
        ids: (Option<u32>, Option<u32>, Option<u32>, Option<u32>, Option<u32>),
        preceding_job: Option<u64>,
        further in further(),
        name in prop::option::of("[!-~]([ -~]{0,8}[!-~])?"),
    ) -> SwfRecord {
        SwfRecord {
            number,
            submit: times.0,
            wait: times.1,
            runtime: times.2,
            allocated_processors: processors.0,
            cpu_time: times.3,
            memory: memory.0,
            requested_processors: processors.1,
            requested_time: times.4,
            requested_memory: memory.1,
            status,
            user: ids.0,
            group: ids.1,
            executable: ids.2,
            queue: ids.3,
            partition: ids.4,
            preceding_job,
            think_time: times.5,
            further,
            name: name.map(Into::into),
        }
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(written in prop::collection::vec(record(), 1..20)) {
        let mut log = SwfWriter::new(Vec::new());
        log.comment("MaxProcs: 64\nNote: two lines").expect("memory does not fail");
        for record in &written {
            log.record(record).expect("memory does not fail");
        }
        let text = log.into_inner();
        prop_assert_eq!(reader(text.clone()).expect("a log").header().max_procs, Some(64));
        prop_assert_eq!(records(text), written);
    }
}
