use super::source_tree::SourceTree;
use super::{all_findings, closing_line};

#[test]
fn a_tidy_tree_has_no_findings() {
    let tree = SourceTree::from([("crates/core/src/lib.rs", "//! Pure.\n")]);
    assert_eq!(closing_line(&all_findings(&tree)), "tidy: 8 rules, 0 findings");
}

#[test]
fn findings_of_all_rules_are_sorted_by_place() {
    let tree = SourceTree::from([
        ("crates/tools/src/utils.rs", "//! A drawer.\n"),
        ("crates/core/src/lib.rs", "use std::fs;\nasync fn go() {}\n"),
    ]);
    let places: Vec<String> = all_findings(&tree).iter().map(ToString::to_string).collect();
    assert_eq!(places.len(), 4, "{places:#?}");
    assert!(places[0].starts_with("crates/core/src/lib.rs:1: "));
    assert!(places[2].starts_with("crates/core/src/lib.rs:2: "));
    assert!(places[3].starts_with("crates/tools/src/utils.rs:1: "));
}
