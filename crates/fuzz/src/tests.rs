use super::*;
use std::collections::BTreeSet;

/// Returns a target whose inputs `check` judges.
fn target(check: fn(&[u8]) -> Result<bool, String>) -> Target {
    Target { name: "test", about: "", samples: Vec::new, make: |_, _| Vec::new(), check }
}

#[test]
fn a_case_is_made_again_from_its_seed_and_number() {
    for target in targets() {
        let samples = (target.samples)();
        let inputs: Vec<Vec<u8>> = (0..200).map(|case| input(&target, &samples, 7, case)).collect();
        assert!((0..200).map(|case| input(&target, &samples, 7, case)).eq(inputs.iter().cloned()), "{}", target.name);
        let different: BTreeSet<_> = inputs.iter().collect();
        assert!(different.len() > 100, "{}: {} inputs of 200 differ", target.name, different.len());
    }
}

#[test]
fn every_target_accepts_its_samples_and_refuses_some_inputs_made_of_them() {
    for target in targets() {
        let (samples, mut accepted) = ((target.samples)(), 0);
        let is_sound = samples.iter().any(|sample| (target.check)(sample) == Ok(true));
        assert!(is_sound, "{}: no sample is accepted: {:?}", target.name, (target.check)(&samples[0]));
        for case in 0..400 {
            match (target.check)(&input(&target, &samples, 1, case)) {
                Ok(is_accepted) => accepted += u32::from(is_accepted),
                Err(what) => panic!("{}, case {case}: {what}", target.name),
            }
        }
        assert!((8..392).contains(&accepted), "{}: {accepted} of 400 accepted", target.name);
    }
}

#[test]
fn files_that_once_were_trouble_are_none() {
    let mut files = 0;
    for target in targets() {
        for file in corpus(&target).expect("a folder") {
            let input = std::fs::read(&file).expect("a file");
            (target.check)(&input).unwrap_or_else(|what| panic!("{}: {what}", file.display()));
            files += 1;
        }
    }
    assert!(files > 10, "only {files} files were found: the corpus lies elsewhere");
}

#[test]
fn a_panic_a_broken_promise_and_a_second_of_work_are_findings() {
    let _guard = Guard::new();
    let panics = target(|input| Ok(input[usize::MAX - 1] == 0));
    assert!(guard::judged(&panics, b"x").expect_err("a panic").contains("index out of bounds"));
    let overflows = target(|input| Ok(std::hint::black_box(255_u8) + input[0] == 0));
    assert!(guard::judged(&overflows, b"x").expect_err("a panic").contains("overflow"));
    let breaks = target(|_| Err("it is not so".to_owned()));
    assert_eq!(guard::judged(&breaks, b"x"), Err("it is not so".to_owned()));
    let waits = target(|_| {
        std::thread::sleep(Duration::from_millis(1_300));
        Ok(true)
    });
    assert_eq!(guard::judged(&waits, b"x"), Ok(true), "waiting takes no processor time");
    let works = target(|_| {
        let begin = now();
        while begin.elapsed() < Duration::from_millis(2_500) {}
        Ok(true)
    });
    // On a busy machine the same loop may get less than a second of processor time.
    let found = guard::judged(&works, b"x");
    assert!(found.is_ok() || found.expect_err("a finding").starts_with("it took "));
}

#[test]
fn the_input_of_a_finding_is_made_shorter() {
    let needs = |input: &[u8]| input.windows(2).any(|two| two == b"!?") && input.contains(&b'x');
    let long = [&b"a line\n".repeat(40)[..], b"x", &b"another\n".repeat(40), b"!?", &b"the last".repeat(9)].concat();
    assert_eq!(shorter(long, needs), b"x!?");
}
