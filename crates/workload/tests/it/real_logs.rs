//! Logs of real machines, if the variable `GRID_TRACES` names their folder.

use workload::{Estimates, InputError, Intake, Machines, Options, Rule, SwfReader, capacity};

/// Size of the machine, by the log.
#[derive(Debug, PartialEq)]
enum Capacity {
    Known(u32, Option<Rule>),
    /// Unknown; the width of the widest job is given.
    Unknown(u32),
}

/// Logs: name, records, records that never ran, without an estimate, and that ran beyond it, and the size of the machine.
const LOGS: [(&str, [u64; 4], Capacity); 11] = [
    ("SDSC-SP2-1998-4.2-cln.swf.gz", [59_715, 5_681, 66, 4_134], Capacity::Known(128, None)),
    ("CTC-SP2-1996-3.1-cln.swf.gz", [77_222, 17, 6, 7_174], Capacity::Known(338, None)),
    ("KTH-SP2-1996-2.1-cln.swf.gz", [28_476, 8, 0, 475], Capacity::Known(100, None)),
    ("HPC2N-2002-2.2-cln.swf.gz", [202_871, 0, 0, 14_817], Capacity::Known(240, None)),
    ("SDSC-BLUE-2000-4.2-cln.swf.gz", [243_306, 10_770, 0, 23_434], Capacity::Known(1_152, None)),
    ("CEA-Curie-2011-2.1-cln.swf.gz", [312_826, 17_286, 3, 5_416], Capacity::Known(93_312, None)),
    ("LPC-EGEE-2004-1.2-cln.swf.gz", [234_889, 20_567, 14_194, 755], Capacity::Known(140, None)),
    ("METACENTRUM-2009-2.swf.gz", [103_656, 3_712, 103_656, 0], Capacity::Unknown(60)),
    ("wagap-2013.swf.gz", [17_900, 2, 2, 702], Capacity::Unknown(256)),
    ("hpc2n-excerpt.swf.gz", [3_170, 25, 0, 320], Capacity::Known(240, None)),
    ("lublin_256.swf.gz", [10_000, 0, 10_000, 0], Capacity::Known(256, Some(Rule::CapacityFromNodes))),
];

#[test]
fn every_log_is_read_without_an_error_and_holds_what_is_known_of_it() {
    let Some(folder) = test_data::traces() else { return };
    for (name, counts, machine) in LOGS {
        let path = folder.join(name);
        let reader = SwfReader::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let found = match capacity(reader.header(), &path) {
            Ok((processors, rule)) => Capacity::Known(processors, rule),
            Err(InputError::NoCapacity { widest, .. }) => Capacity::Unknown(widest.expect("jobs have processors")),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, machine, "{name}");
        let mut found = [0; 4];
        for record in reader {
            let record = record.unwrap_or_else(|error| panic!("{error}"));
            let (runtime, estimate) = (record.runtime.unwrap_or_default(), record.requested_time.unwrap_or_default());
            let beyond = !estimate.is_zero() && runtime > estimate;
            let counted = [true, runtime.is_zero(), estimate.is_zero(), beyond];
            found.iter_mut().zip(counted).for_each(|(count, is_one)| *count += u64::from(is_one));
        }
        assert_eq!(found, counts, "{name}");
    }
}

/// Delivered and skipped records add up to all, and every repair of a log is reported.
#[test]
fn every_log_is_taken_in_under_named_rules() {
    let Some(folder) = test_data::traces() else { return };
    for (name, [jobs, bad, _, beyond_estimate], machine) in LOGS {
        let reader = SwfReader::open(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
        let (Capacity::Known(processors, _) | Capacity::Unknown(processors)) = machine;
        let options = Options { estimates: Estimates::User, capacity: Some(processors), ..Options::default() };
        let mut intake = Intake::new(reader, options);
        let (mut delivered, mut last) = (0, sim_core::Time::ZERO);
        for job in intake.by_ref() {
            let job = job.unwrap_or_else(|error| panic!("{error}")).job;
            assert!(job.submit >= last && job.request.estimate >= Some(job.runtime));
            (delivered, last) = (delivered + 1, job.submit);
        }
        let repairs = intake.repairs();
        assert_eq!(delivered + repairs.skipped(), jobs, "{name}");
        let rules = [Rule::NoRuntime, Rule::CutAtEstimate, Rule::SubmitOutOfOrder, Rule::WiderThanMachine];
        assert_eq!(rules.map(|rule| repairs.count(rule)), [bad, beyond_estimate, 0, 0], "{name}");
    }
}

#[test]
fn the_machine_files_hold_what_is_known_of_them() {
    let Some(folder) = test_data::traces() else { return };
    for (name, clusters, processors) in [("wagap-2013.swf.machines", 2, 2_176), ("hpc2n-excerpt.swf.machines", 1, 240)]
    {
        let machines = Machines::open(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((machines.clusters().len(), machines.total_processors()), (clusters, processors), "{name}");
    }
}
