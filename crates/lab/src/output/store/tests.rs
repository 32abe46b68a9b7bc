use super::*;

const CELL: &str = r#"{"load":1.25,"policy":"easy","estimates":[1e300,-0.0,18446744073709551615]}"#;

fn cell() -> serde_json::Value {
    serde_json::from_str(CELL).expect("JSON")
}

fn identity(cell: &serde_json::Value, replication: u32) -> Identity<'_> {
    Identity { paper: "p", models: "m", cell, seed: u64::MAX, replication }
}

fn names() -> [String; 2] {
    ["a", "b"].map(str::to_owned)
}

fn values(replication: u32) -> [f64; 2] {
    [(f64::from(replication) + 0.1) / 3.0, f64::NAN]
}

fn opened(folder: &Path) -> Store {
    Store::open(folder).expect("it can be read")
}

/// Stores three replications, each with a third of a tenth and an undefined value. Returns their file.
fn filled(folder: &Path) -> PathBuf {
    let store = opened(folder);
    for replication in 0..3_u32 {
        store.save(&identity(&cell(), replication), &names(), &values(replication)).expect("it is written");
    }
    store.settle().expect("it is written");
    folder.join(FILE)
}

/// Counts the stored ones of the three replications; fails if one has another value.
fn assert_true_or_missing(store: &Store) -> usize {
    let right = |replication: u32| {
        let found = store.load(&identity(&cell(), replication), &names())?;
        assert!(found.into_iter().map(f64::to_bits).eq(values(replication).map(f64::to_bits)));
        Some(())
    };
    (0..3).filter_map(right).count()
}

#[test]
fn of_all_single_bit_flips_of_a_stored_file_none_is_accepted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = fs::read(filled(folder.path())).expect("it is there");
    let sound = |content: &[u8]| -> BTreeMap<Key, String> {
        lines_of(content).filter_map(|(_, line)| line).map(|(key, _, line)| (key, line.to_owned())).collect()
    };
    let all = sound(&content);
    assert_eq!(all.len(), 3);
    for bit in 0..8 * content.len() {
        let mut flipped = content.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let believed = sound(&flipped);
        assert!(believed.len() < 3, "bit {bit} is not noticed");
        for (key, line) in believed {
            assert_eq!(all[&key], line, "bit {bit} is accepted");
        }
    }
}

#[test]
fn a_last_line_that_a_kill_cut_off_is_no_damage() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = filled(folder.path());
    let content = fs::read(&path).expect("it is there");
    let ends: Vec<usize> = (1..=content.len()).filter(|end| content[end - 1] == b'\n').collect();
    for length in (0..content.len()).step_by(7).chain(ends.iter().copied()) {
        fs::write(&path, &content[..length]).expect("it can be cut off");
        let whole = ends.iter().filter(|end| **end <= length).count();
        assert_eq!(Store::census(folder.path()).expect("it can be read"), (whole as u64, 0), "{length}");
        let store = opened(folder.path());
        assert_eq!((assert_true_or_missing(&store), store.damaged), (whole, 0), "{length}");
        assert!(!folder.path().join("damaged").exists(), "{length}");
        // The next line is separate.
        store.save(&identity(&cell(), 9), &names(), &[9.0, 3.0]).expect("it is written");
        drop(store);
        let again = opened(folder.path());
        assert_eq!((assert_true_or_missing(&again), again.damaged), (whole, 0), "{length}");
        assert!(again.load(&identity(&cell(), 9), &names()).is_some(), "{length}");
        assert!(again.load(&identity(&cell(), 9), &["c".to_owned()]).is_none(), "it lacks a metric");
    }
}
