use crate::tidy::source_tree::SourceTree;

use super::SpecLedger;

const TEST: &str = "crates/core/src/stop_tests.rs";

fn ledger(spec: &str, test: &str) -> SpecLedger {
    SpecLedger::from_tree(&SourceTree::from([("spec/stop.md", spec), (TEST, test)]))
}

fn found(spec: &str, test: &str) -> Vec<String> {
    ledger(spec, test).findings().iter().map(ToString::to_string).collect()
}

#[test]
fn kept_and_proven_or_open_and_unnamed_is_right() {
    let spec = "- [x] **STOP-01** a\n- [ ] **STOP-02** b\n";
    assert!(found(spec, "// spec: STOP-01\n").is_empty());
}

#[test]
fn kept_without_a_test_is_found_in_the_spec() {
    let found = found("\n- [x] **STOP-01** a\n", "");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("spec/stop.md:2: STOP-01 is implemented and no test names it"));
}

#[test]
fn a_test_of_an_unknown_item_is_found_in_the_test() {
    let found = found("", "\n\n// spec: STOP-09\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(&format!("{TEST}:3: STOP-09 is not in spec/")), "{found:?}");
}

#[test]
fn a_test_of_an_open_item_is_found_in_the_test() {
    let found = found("- [ ] **STOP-01** a\n", "// spec: STOP-01\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(&format!("{TEST}:1: STOP-01 is still `[ ]`")), "{found:?}");
}

#[test]
fn an_id_used_twice_is_found_at_the_second() {
    let found = found("- [x] **STOP-01** a\n- [x] **STOP-01** b\n", "// spec: STOP-01\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("spec/stop.md:2: STOP-01 is already at spec/stop.md:1"));
}

#[test]
fn lines_that_cannot_be_read_are_found_on_both_sides() {
    assert_eq!(found("- [x] a\n", "// spec: nothing\n").len(), 2);
}

#[test]
fn the_summary_counts() {
    let spec = "- [x] **STOP-01** a\n- [x] **STOP-02** b\n- [ ] **STOP-03** c\n";
    let summary = ledger(spec, "// spec: STOP-01\n// spec: STOP-01, STOP-03\n").summary();
    assert_eq!(summary, "spec: 2 of 3 items implemented, 1 proven by tests");
}

#[test]
fn the_listing_names_each_file_once() {
    let spec = "- [x] **STOP-01** a\n- [ ] **STOP-02** b\n";
    let listing = ledger(spec, "// spec: STOP-01\n// spec: STOP-01\n").listing();
    assert_eq!(listing, [format!("[x] STOP-01      {TEST}"), "[ ] STOP-02      no test".into()]);
}
