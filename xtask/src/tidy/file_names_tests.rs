use super::file_names::findings;
use super::source_tree::SourceTree;

fn found(path: &str, text: &str) -> Vec<String> {
    findings(&SourceTree::from([(path, text)])).iter().map(ToString::to_string).collect()
}

#[test]
fn names_that_say_something_pass() {
    assert!(found("crates/core/src/stop.rs", "mod table;\nmod futile { }\n").is_empty());
    assert!(found("docs/utils.md", "").is_empty());
}

#[test]
fn files_and_folders_that_say_nothing_are_found() {
    for path in ["a/src/utils.rs", "a/src/util/x.rs", "a/src/test_helpers.rs", "a/manager.rs"] {
        let found = found(path, "");
        assert_eq!(found.len(), 1, "{path}");
        assert!(found[0].starts_with(&format!("{path}:1: ")));
    }
}

#[test]
fn modules_that_say_nothing_are_found_at_their_line() {
    assert!(found("a/src/x.rs", "\nmod helpers {\n}\n")[0].starts_with("a/src/x.rs:2: `helpers`"));
}

#[test]
fn a_mod_rs_may_declare() {
    let text = "//! Why.\n\n#![deny(missing_docs)]\n#[cfg(test)]\nmod a_tests;\npub(crate) mod a;\n\
                // A word.\nuse a::{B, C};\npub use a::D;\npub(in crate::x) use a::E;\n";
    assert!(found("a/src/x/mod.rs", text).is_empty(), "{:?}", found("a/src/x/mod.rs", text));
}

#[test]
fn a_mod_rs_may_not_do() {
    for logic in ["fn go() {}", "pub struct A;", "mod b { }", "const A: u8 = 1;", "pub enum E {}"] {
        let text = format!("//! Why.\nmod a;\n\n{logic}\n");
        let found = found("a/src/x/mod.rs", &text);
        assert_eq!(found.len(), 1, "{logic}");
        assert!(found[0].starts_with("a/src/x/mod.rs:4: "), "{}", found[0]);
    }
}

#[test]
fn other_files_may_do() {
    assert!(found("a/src/x.rs", "fn go() {}").is_empty());
}
