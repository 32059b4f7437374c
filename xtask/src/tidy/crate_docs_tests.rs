use super::crate_docs::findings;
use super::source_tree::SourceTree;

fn found(path: &str, text: &str) -> Vec<String> {
    findings(&SourceTree::from([(path, text)])).iter().map(ToString::to_string).collect()
}

const ROOTS: [&str; 5] = [
    "crates/core/src/lib.rs",
    "xtask/src/main.rs",
    "src/lib.rs",
    "sim/src/bin/explore.rs",
    "bench/src/bin/store/main.rs",
];

#[test]
fn a_root_with_docs_passes() {
    assert!(ROOTS.iter().all(|root| found(root, "//! Why.\nmod a;\n").is_empty()));
}

#[test]
fn a_root_without_docs_is_found() {
    for root in ROOTS {
        assert!(found(root, "mod a;\n//! Late.\n")[0].starts_with(&format!("{root}:1: ")));
        assert_eq!(found(root, "").len(), 1);
    }
}

#[test]
fn other_files_are_left_to_the_compiler() {
    assert!(found("crates/core/src/stop.rs", "fn f() {}").is_empty());
    assert!(found("crates/core/src/domain.rs", "fn f() {}").is_empty());
}
