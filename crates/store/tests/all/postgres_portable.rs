//! The SQL is what PostgreSQL, CockroachDB and YugabyteDB share.

use std::fs;
use std::path::Path;

/// SQL that one of these engines lacks, or interprets differently.
const NOT_SHARED: [&str; 12] = [
    "advisory_lock",
    "create trigger",
    "create function",
    "create rule",
    "create unlogged",
    "merge into",
    "tablesample",
    "ctid",
    "xmin",
    "exclude using",
    "lock table",
    "deferrable",
];

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if !path.to_string_lossy().ends_with("_tests.rs") {
            let text = fs::read_to_string(&path).unwrap().to_lowercase();
            found.push((path.display().to_string(), text));
        }
    }
}

// spec: SCALE-07
#[test]
fn nothing_is_said_that_only_one_engine_knows() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/postgres"), &mut found);
    assert!(found.iter().any(|(path, _)| path.ends_with("101_tables.sql")));
    for (path, text) in &found {
        let odd: Vec<&str> = NOT_SHARED.into_iter().filter(|word| text.contains(word)).collect();
        assert!(odd.is_empty(), "{path}: {odd:?}");
    }
    let notices = found.iter().filter(|(_, text)| text.contains("pg_notify"));
    let places: Vec<&str> = notices.map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
    assert_eq!(places, ["notifications.rs"], "a wake-up is sent with an append");
}
