use super::size_limits::{SizeException, findings, findings_except};
use super::source_tree::SourceTree;

const PATH: &str = "crates/core/src/stop.rs";

/// A function of this many lines, including signature and closing brace.
fn function(lines: usize) -> String {
    format!("fn go() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
}

fn found(path: &str, text: &str) -> Vec<String> {
    findings(&SourceTree::from([(path, text)])).iter().map(ToString::to_string).collect()
}

fn found_except(text: &str, exception: SizeException) -> Vec<String> {
    let tree = SourceTree::from([(PATH, text)]);
    findings_except(&tree, &[exception]).iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_may_have_500_lines_and_not_one_more() {
    assert!(found(PATH, &"//\n".repeat(500)).is_empty());
    let found = found(PATH, &"//\n".repeat(501));
    assert!(found[0].starts_with("crates/core/src/stop.rs:1: "), "{found:?}");
    assert!(found[0].contains("501 lines"), "{found:?}");
}

#[test]
fn a_function_may_have_90_lines_and_not_one_more() {
    assert!(found(PATH, &function(90)).is_empty());
    let found = found(PATH, &format!("//! Docs.\n{}", function(91)));
    assert!(found[0].starts_with("crates/core/src/stop.rs:2: `crates/core/src/stop.rs::go`"));
}

#[test]
fn tests_and_other_text_may_be_long() {
    assert!(found("crates/core/src/stop_tests.rs", &function(600)).is_empty());
    assert!(found("README.md", &"x\n".repeat(600)).is_empty());
}

#[test]
fn an_exception_with_a_reason_is_honoured() {
    let exception = ("crates/core/src/stop.rs::go", "a table");
    assert!(found_except(&function(91), exception).is_empty());
}

#[test]
fn an_exception_covers_only_what_it_names() {
    let exception = ("crates/core/src/stop.rs::other", "a table");
    assert_eq!(found_except(&function(91), exception).len(), 2);
}

#[test]
fn an_exception_that_is_not_needed_must_go() {
    let found = found_except(&function(9), (PATH, "was long once"));
    assert!(found[0].contains("remove it from tidy/size_limits.rs"), "{found:?}");
}
