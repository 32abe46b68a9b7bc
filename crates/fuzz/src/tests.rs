use super::*;

/// Every input of these fails, in another way.
fn broken(check: Check) -> Target {
    Target { name: "broken", about: "", extension: "txt", make: |_| b"one\ntwo\nthree\n".to_vec(), check }
}

#[test]
fn a_case_is_made_again_from_its_seed_and_number() {
    for target in targets() {
        let make = |case| {
            let mut entropy = Vec::new();
            dice::fill(&mut entropy, target.name, 7, case);
            (target.make)(&mut Dice::new(&entropy))
        };
        let inputs: Vec<Vec<u8>> = (0..200).map(make).collect();
        assert_eq!(inputs, (0..200).map(make).collect::<Vec<_>>(), "{}", target.name);
        let different: std::collections::BTreeSet<_> = inputs.iter().collect();
        assert!(different.len() > 40, "{}: {} inputs of 200 differ", target.name, different.len());
    }
}

#[test]
fn every_target_accepts_some_inputs_and_refuses_others() {
    for target in targets() {
        let mut entropy = Vec::new();
        let (mut accepted, mut refused) = (0, 0);
        for case in 0..400 {
            dice::fill(&mut entropy, target.name, 1, case);
            match (target.check)(&(target.make)(&mut Dice::new(&entropy))) {
                Ok(true) => accepted += 1,
                Ok(false) => refused += 1,
                Err(what) => panic!("{}, case {case}: {what}", target.name),
            }
        }
        assert!(accepted > 4 && refused > 4, "{}: {accepted} accepted, {refused} refused", target.name);
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
fn a_panic_and_a_broken_promise_are_findings() {
    let guard = Guard::new();
    let panics = broken(|input| Ok(input[usize::MAX - 1] == 0));
    assert!(guard.judged(&panics, b"x").expect_err("a panic").contains("index out of bounds"));
    let overflows = broken(|input| Ok(std::hint::black_box(255_u8) + input[0] == 0));
    assert!(guard.judged(&overflows, b"x").expect_err("a panic").contains("overflow"));
    let breaks = broken(|_| Err("it is not so".to_owned()));
    assert_eq!(guard.judged(&breaks, b"x"), Err("it is not so".to_owned()));
}

#[test]
fn a_case_that_takes_longer_than_a_second_is_a_finding() {
    let busy = broken(|_| {
        let begin = now();
        while begin.elapsed() < Duration::from_millis(1_300) {}
        Ok(true)
    });
    // By the processor's clock, so that a busy machine is no finding: a case that only waits is none either.
    let found = Guard::new().judged(&busy, b"x");
    let waits = broken(|_| {
        std::thread::sleep(Duration::from_millis(1_300));
        Ok(true)
    });
    assert_eq!(Guard::new().judged(&waits, b"x"), Ok(true));
    assert!(found.is_ok() || found.expect_err("told").starts_with("it took "), "busy, and told in other words");
}

#[test]
fn the_input_of_a_finding_is_made_shorter() {
    let needs = |input: &[u8]| input.windows(2).any(|two| two == b"!?") && input.contains(&b'x');
    let long = [&b"a line\n".repeat(40)[..], b"x", &b"another\n".repeat(40), b"!?", &b"the last".repeat(9)].concat();
    assert_eq!(finding::shorter(long, needs), b"x!?");
}
