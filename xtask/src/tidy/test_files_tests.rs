use super::source_tree::SourceTree;
use super::test_files::findings;

fn found_in(path: &str, text: &str) -> Vec<String> {
    findings(&SourceTree::from([(path, text)])).iter().map(ToString::to_string).collect()
}

fn found(text: &str) -> Vec<String> {
    found_in("crates/core/src/stop.rs", text)
}

#[test]
fn declaring_a_sibling_passes() {
    assert!(found("#[cfg(test)]\nmod stop_tests;\n").is_empty());
    assert!(found("#[cfg(test)]\n#[path = \"stop_tests.rs\"]\nmod tests;\n").is_empty());
}

#[test]
fn an_inline_module_is_found_once_and_told_where_to_go() {
    let found = found("fn f() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn g() {}\n}\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("crates/core/src/stop.rs:4: "), "{found:?}");
    assert!(found[0].contains("stop_tests.rs"));
}

#[test]
fn another_name_does_not_hide_it() {
    assert_eq!(found("#[cfg(test)]\nmod checks {\n}\n").len(), 1);
    assert_eq!(found("mod stop_tests {\n}\n").len(), 1);
}

#[test]
fn a_loose_test_is_found() {
    assert_eq!(found("fn f() {}\n#[test]\nfn g() {}\n").len(), 1);
    assert_eq!(found("#[tokio::test(start_paused = true)]\nasync fn g() {}\n").len(), 1);
}

#[test]
fn test_files_are_where_tests_belong() {
    let text = "#[test]\nfn f() {}\nmod tests {\n}\n";
    assert!(found_in("crates/core/src/stop_tests.rs", text).is_empty());
    assert!(found_in("crates/core/tests/golden.rs", text).is_empty());
}

#[test]
fn ordinary_modules_pass() {
    assert!(found("mod table {\n}\nmod contest {\n}\n").is_empty());
}
