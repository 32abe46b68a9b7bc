use super::*;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn a_case_is_made_again_from_its_seed_and_number() {
    for target in TARGETS {
        let inputs: Vec<Vec<u8>> = (0..200).map(|case| input(&target, 7, case)).collect();
        assert!((0..200).map(|case| input(&target, 7, case)).eq(inputs.iter().cloned()), "{}", target.name);
        let different: BTreeSet<_> = inputs.iter().collect();
        assert!(different.len() > 100, "{}: {} inputs of 200 differ", target.name, different.len());
    }
}

#[test]
fn every_target_accepts_its_samples_and_refuses_some_inputs_made_of_them() {
    for Target { name, samples, read } in TARGETS {
        samples.iter().for_each(|sample| assert_eq!(read(sample), Ok(true), "{name}"));
        let outcome = run(&Target { name, samples, read }, 1, 0..400, None).expect("a run");
        assert_eq!(outcome.finding, None);
        assert!((8..392).contains(&outcome.accepted), "{name}: {} of 400 accepted", outcome.accepted);
    }
}

#[test]
fn files_that_once_were_trouble_are_none() {
    let mut files = 0;
    for Target { name, read, .. } in TARGETS {
        let mut worker = Worker::start(read);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let judged = worker.judge(&std::fs::read(&path).expect("a file"));
            judged.unwrap_or_else(|what| panic!("{}: {what}", path.display()));
            files += 1;
        }
    }
    assert!(files > 10, "only {files} files were found: the corpus lies elsewhere");
}

#[test]
fn a_panic_a_broken_promise_and_a_second_of_work_are_findings() {
    let judged = |read| Worker::start(read).judge(b"x");
    assert!(judged(|input| Ok(input[usize::MAX - 1] == 0)).expect_err("a panic").contains("index out of bounds"));
    let overflow = judged(|input| Ok(std::hint::black_box(255_u8) + input[0] == 0));
    assert!(overflow.expect_err("a panic").contains("overflow"));
    assert_eq!(judged(|_| Err("it is not so".to_owned())), Err("it is not so".to_owned()));
    let waits = judged(|_| {
        std::thread::sleep(Duration::from_millis(1_300));
        Ok(true)
    });
    assert_eq!(waits, Ok(true), "waiting takes no processor time");
    let works = judged(|_| {
        let begin = now();
        while begin.elapsed() < Duration::from_millis(2_500) {}
        Ok(true)
    });
    // On a busy machine the same loop may get less than a second of processor time.
    assert!(works.is_ok() || works.expect_err("a finding").starts_with("it took "));
}

#[test]
fn the_input_of_a_finding_is_made_shorter() {
    let needs = |input: &[u8]| input.windows(2).any(|two| two == b"!?") && input.contains(&b'x');
    let long = [&b"a line\n".repeat(40)[..], b"x", &b"another\n".repeat(40), b"!?", &b"the last".repeat(9)].concat();
    assert_eq!(shorter(long, needs), b"x!?");
}
