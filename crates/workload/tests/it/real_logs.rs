//! Logs of real machines, if the variable `GRID_TRACES` names their folder.

use workload::{Estimates, InputError, Intake, Options, Rule, SwfReader, capacity};

/// Logs: name, records, records that never ran, that ran without an estimate, and beyond it, and the size of the
/// machine by the log; an error if it is unknown, with the width of the widest job.
type RealLog = (&'static str, [u64; 4], Result<(u32, Option<Rule>), u32>);

const LOGS: [RealLog; 11] = [
    ("SDSC-SP2-1998-4.2-cln.swf.gz", [59_715, 5_681, 35, 4_134], Ok((128, None))),
    ("CTC-SP2-1996-3.1-cln.swf.gz", [77_222, 17, 6, 7_174], Ok((338, None))),
    ("KTH-SP2-1996-2.1-cln.swf.gz", [28_476, 8, 0, 475], Ok((100, None))),
    ("HPC2N-2002-2.2-cln.swf.gz", [202_871, 0, 0, 14_817], Ok((240, None))),
    ("SDSC-BLUE-2000-4.2-cln.swf.gz", [243_306, 10_770, 0, 23_434], Ok((1_152, None))),
    ("CEA-Curie-2011-2.1-cln.swf.gz", [312_826, 17_286, 0, 5_416], Ok((93_312, None))),
    ("LPC-EGEE-2004-1.2-cln.swf.gz", [234_889, 20_567, 0, 755], Ok((140, None))),
    ("METACENTRUM-2009-2.swf.gz", [103_656, 3_712, 99_944, 0], Err(60)),
    ("wagap-2013.swf.gz", [17_900, 2, 0, 702], Err(256)),
    ("hpc2n-excerpt.swf.gz", [3_170, 25, 0, 320], Ok((240, None))),
    ("lublin_256.swf.gz", [10_000, 0, 10_000, 0], Ok((256, Some(Rule::CapacityFromNodes)))),
];

/// Delivered and skipped records add up to all, and every repair of a log is reported.
#[test]
fn every_log_is_taken_in_under_named_rules() {
    let Some(folder) = test_data::traces() else { return };
    for (name, counts, machine) in LOGS {
        let path = folder.join(name);
        let reader = SwfReader::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let found = capacity(reader.header(), &path).map_err(|error| match error {
            InputError::NoCapacity { widest, .. } => widest.expect("jobs have processors"),
            error => panic!("{error}"),
        });
        assert_eq!(found, machine, "{name}");
        let (Ok((processors, _)) | Err(processors)) = machine;
        let options = Options { estimates: Estimates::User, capacity: Some(processors), ..Options::default() };
        let mut intake = Intake::new(reader, options);
        let (mut delivered, mut last) = (0, sim_core::Time::ZERO);
        for job in intake.by_ref() {
            let job = job.unwrap_or_else(|error| panic!("{error}")).job;
            assert!(job.submit >= last && job.request.estimate >= Some(job.runtime));
            (delivered, last) = (delivered + 1, job.submit);
        }
        let repairs = intake.repairs();
        let count = |rule| repairs.count(rule);
        let repaired = [Rule::NoRuntime, Rule::EstimateFromRuntime, Rule::CutAtEstimate].map(count);
        assert_eq!([&[delivered + repairs.skipped()], &repaired[..]].concat(), counts, "{name}");
        assert_eq!([Rule::SubmitOutOfOrder, Rule::WiderThanMachine].map(count), [0, 0], "{name}");
    }
}
