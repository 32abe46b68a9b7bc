//! Logs of real machines, where the variable `GRID_TRACES` names the folder that holds them.

use workload::{
    Estimates, InputError, Intake, Machines, Options, PredictsimIntake, Repairs, Rule, SwfReader, capacity,
};

/// What is known of a log: its records, those that never ran, those without an estimate, those that ran beyond it, and
/// the size of the machine.
struct Known {
    name: &'static str,
    jobs: u64,
    bad: u64,
    without_estimate: u64,
    beyond_estimate: u64,
    capacity: Capacity,
}

/// How large the machine was, by the log.
#[derive(Debug, PartialEq)]
enum Capacity {
    Known(u32, Option<Rule>),
    /// All that it tells is how wide the widest job was.
    Unknown(u32),
}

const fn known(
    name: &'static str,
    [jobs, bad, without_estimate, beyond_estimate]: [u64; 4],
    capacity: Capacity,
) -> Known {
    Known { name, jobs, bad, without_estimate, beyond_estimate, capacity }
}

const LOGS: [Known; 11] = [
    known("SDSC-SP2-1998-4.2-cln.swf.gz", [59_715, 5_681, 66, 4_134], Capacity::Known(128, None)),
    known("CTC-SP2-1996-3.1-cln.swf.gz", [77_222, 17, 6, 7_174], Capacity::Known(338, None)),
    known("KTH-SP2-1996-2.1-cln.swf.gz", [28_476, 8, 0, 475], Capacity::Known(100, None)),
    known("HPC2N-2002-2.2-cln.swf.gz", [202_871, 0, 0, 14_817], Capacity::Known(240, None)),
    known("SDSC-BLUE-2000-4.2-cln.swf.gz", [243_306, 10_770, 0, 23_434], Capacity::Known(1_152, None)),
    known("CEA-Curie-2011-2.1-cln.swf.gz", [312_826, 17_286, 3, 5_416], Capacity::Known(93_312, None)),
    known("LPC-EGEE-2004-1.2-cln.swf.gz", [234_889, 20_567, 14_194, 755], Capacity::Known(140, None)),
    known("METACENTRUM-2009-2.swf.gz", [103_656, 3_712, 103_656, 0], Capacity::Unknown(60)),
    known("wagap-2013.swf.gz", [17_900, 2, 2, 702], Capacity::Unknown(256)),
    known("hpc2n-excerpt.swf.gz", [3_170, 25, 0, 320], Capacity::Known(240, None)),
    known("lublin_256.swf.gz", [10_000, 0, 10_000, 0], Capacity::Known(256, Some(Rule::CapacityFromNodes))),
];

#[test]
fn every_log_is_read_without_an_error_and_holds_what_is_known_of_it() {
    let Some(folder) = test_data::traces() else { return };
    for log in &LOGS {
        let path = folder.join(log.name);
        let reader = SwfReader::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let found = match capacity(reader.header(), &path) {
            Ok((processors, rule)) => Capacity::Known(processors, rule),
            Err(InputError::NoCapacity { widest, .. }) => Capacity::Unknown(widest.expect("jobs have processors")),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, log.capacity, "{}", log.name);
        let (mut jobs, mut bad, mut without_estimate, mut beyond_estimate) = (0, 0, 0, 0);
        for record in reader {
            let record = record.unwrap_or_else(|error| panic!("{error}"));
            let (runtime, estimate) = (record.runtime.unwrap_or_default(), record.requested_time.unwrap_or_default());
            jobs += 1;
            bad += u64::from(runtime.is_zero());
            without_estimate += u64::from(estimate.is_zero());
            beyond_estimate += u64::from(!estimate.is_zero() && runtime > estimate);
        }
        assert_eq!(
            (jobs, bad, without_estimate, beyond_estimate),
            (log.jobs, log.bad, log.without_estimate, log.beyond_estimate),
            "{}",
            log.name
        );
    }
}

/// Delivered and skipped make the whole, and every repair of a log is reported.
#[test]
fn every_log_is_taken_in_under_named_rules() {
    let Some(folder) = test_data::traces() else { return };
    for log in &LOGS {
        let reader = SwfReader::open(&folder.join(log.name)).unwrap_or_else(|error| panic!("{error}"));
        let (Capacity::Known(processors, _) | Capacity::Unknown(processors)) = log.capacity;
        let options = Options { estimates: Estimates::User, capacity: Some(processors), ..Options::default() };
        let mut intake = Intake::new(reader, options);
        let (mut delivered, mut last) = (0, sim_core::Time::ZERO);
        for job in intake.by_ref() {
            let job = job.unwrap_or_else(|error| panic!("{error}")).job;
            assert!(job.submit >= last && job.request.estimate >= Some(job.runtime));
            (delivered, last) = (delivered + 1, job.submit);
        }
        let repairs = intake.repairs();
        assert_eq!(delivered + repairs.skipped(), log.jobs, "{}", log.name);
        assert_eq!(repairs.count(Rule::NoRuntime), log.bad, "{}", log.name);
        assert_eq!(repairs.count(Rule::CutAtEstimate), log.beyond_estimate, "{}", log.name);
        assert_eq!(repairs.count(Rule::SubmitOutOfOrder), 0, "{}", log.name);
        assert_eq!(repairs.count(Rule::WiderThanMachine), 0, "{}", log.name);
    }
}

#[test]
fn the_repairs_of_lpc_egee_are_these() {
    let Some(folder) = test_data::traces() else { return };
    let repairs = |estimates| -> Repairs {
        let reader = SwfReader::open(&folder.join("LPC-EGEE-2004-1.2-cln.swf.gz")).expect("a log");
        let mut intake = Intake::new(reader, Options { estimates, ..Options::default() });
        intake.by_ref().for_each(drop);
        intake.repairs().clone()
    };
    let told = |repairs: &Repairs| -> Vec<String> {
        repairs.iter().map(|repair| format!("{} {}", repair.rule, repair.count)).collect()
    };
    assert_eq!(told(&repairs(Estimates::Exact)), ["no-runtime 20567"]);
    assert_eq!(told(&repairs(Estimates::User)), ["no-runtime 20567", "cut-at-estimate 755"]);
}

#[test]
fn the_node_specification_of_wagap_is_at_hand() {
    let Some(folder) = test_data::traces() else { return };
    let records = SwfReader::open(&folder.join("wagap-2013.swf.gz")).expect("a log");
    let (mut zewura, mut zegox) = (0, 0);
    for record in records {
        let record = record.expect("no faulty line");
        let spec = record.node_spec().unwrap_or_else(|| panic!("job {} has no specification", record.number));
        zewura += u32::from(spec.contains("cl_zewura"));
        zegox += u32::from(spec.contains("cl_zegox"));
    }
    assert_eq!((zewura, zegox), (576, 320));
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

#[test]
fn the_experiments_on_predictions_leave_the_published_jobs_of_the_cleaned_logs() {
    let Some(folder) = test_data::traces() else { return };
    // Processors, jobs, and of how many more results were published: the authors had other versions of two of these.
    for (name, processors, jobs, more) in [
        ("KTH-SP2-1996-2.1-cln.swf.gz", 100, 28_467, 14),
        ("SDSC-SP2-1998-4.2-cln.swf.gz", 128, 53_999, 7),
        ("CTC-SP2-1996-3.1-cln.swf.gz", 338, 77_199, 0),
        ("CEA-Curie-2011-2.1-cln.swf.gz", 80_640, 295_540, 0),
        ("SDSC-BLUE-2000-4.2-cln.swf.gz", 1_152, 232_536, 6),
    ] {
        let records = SwfReader::open(&folder.join(name)).expect("the log is there");
        let intake = PredictsimIntake::new(records, processors);
        let found = intake.inspect(|job| assert!(job.is_ok(), "{name}: {job:?}")).count();
        assert_eq!(found, jobs, "{name}: published for {}", jobs + more);
    }
}
