use super::core_purity::findings;
use super::source_tree::SourceTree;

fn found_in(path: &str, text: &str) -> Vec<String> {
    findings(&SourceTree::from([(path, text)])).iter().map(ToString::to_string).collect()
}

fn found(text: &str) -> Vec<String> {
    found_in("crates/core/src/decide.rs", text)
}

#[test]
fn pure_code_passes() {
    let text = "use std::time::Duration;\nuse std::{collections::BTreeMap, fmt};\nfn decide() {}\n";
    assert!(found(text).is_empty());
}

#[test]
fn every_impurity_is_found() {
    for text in [
        "async fn f() {}",
        "use tokio::sync::mpsc;",
        "use std::time::{Duration, Instant};",
        "let now = std::time::SystemTime::now();",
        "let x = rand::random();",
        "use std::fs;",
        "use std::{collections::BTreeMap, net::TcpStream};",
        "std::process::exit(1);",
        "println!(\"x\");",
    ] {
        assert_eq!(found(text).len(), 1, "{text}: {:?}", found(text));
    }
}

#[test]
fn the_line_is_named() {
    let found = found("//! Docs.\n\nuse std::fs::File;\n");
    assert!(found[0].starts_with("crates/core/src/decide.rs:3: `std::fs`"), "{found:?}");
}

#[test]
fn words_about_impurity_are_not_impure() {
    assert!(found("// no async, no tokio, no std::fs\nlet s = \"println!\";").is_empty());
    assert!(found("let operand = async_is_not_here;").is_empty());
}

#[test]
fn other_crates_and_tests_of_the_core_are_free() {
    let text = "async fn f() { std::fs::read(x); }";
    assert!(found_in("crates/runtime/src/driver.rs", text).is_empty());
    assert!(found_in("crates/core/src/decide_tests.rs", text).is_empty());
    assert!(found_in("crates/core/tests/golden.rs", text).is_empty());
}
