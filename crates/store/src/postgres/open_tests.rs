use windlass_runtime::ports::StoreError;

use super::open::check_description;

fn check_result(number: &str, version: &str, encoding: &str, read_only: &str) -> String {
    match check_description("p", number, version, encoding, read_only) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_old_server_is_refused_with_what_to_do() {
    assert_eq!(check_result("150000", "PostgreSQL 15.0", "UTF8", "off"), "");
    assert_eq!(check_result("180004", "PostgreSQL 18.4", "UTF8", "off"), "");
    let old = check_result("140012", "PostgreSQL 14.12", "UTF8", "off");
    assert_eq!(old, "p runs PostgreSQL 14; version 15 or newer is required");
}

#[test]
fn others_count_their_versions_differently() {
    assert_eq!(check_result("130000", "CockroachDB CCL v25.2.0", "UTF8", "off"), "");
    assert_eq!(check_result("110002", "PostgreSQL 11.2-YB-2.25.0.0-b0", "UTF8", "off"), "");
}

#[test]
fn encodings_that_lose_text_are_refused() {
    let latin = check_result("150000", "PostgreSQL 15.0", "LATIN1", "off");
    assert!(latin.contains("LATIN1") && latin.contains("UTF8"), "{latin}");
}

#[test]
fn a_server_that_only_reads_is_refused() {
    let error = check_description("p", "150000", "PostgreSQL 15.0", "UTF8", "on");
    assert_eq!(error, Err(StoreError::ReadOnly { location: "p".to_owned() }));
}
