//! Checks that tests are in sibling files, so that a source file has only what it does.

use super::finding::TidyFinding;
use super::rust_lexer;
use super::source_tree::{SourceFile, SourceTree};
use super::text_search::{find_words, leading_name, line_of};

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    let sources = tree.rust_files().filter(|file| file.folders().any(|name| name == "src"));
    sources.filter(|file| !file.is_test()).flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<TidyFinding> {
    let code = rust_lexer::code_only(&file.text);
    let says = format!("tests in a source file: move them to {}_tests.rs beside it", file.stem());
    let places = find_inline_modules(&code).chain(find_loose_tests(&code));
    places.map(|at| TidyFinding::new(&file.path, line_of(&code, at), says.as_str())).collect()
}

fn find_inline_modules(code: &str) -> impl Iterator<Item = usize> {
    find_words(code, "mod").filter(move |&at| {
        let (before, rest) = code.split_at_checked(at).unwrap_or_default();
        let declared = rest.strip_prefix("mod ").unwrap_or_default();
        let name = leading_name(declared);
        let body = declared.strip_prefix(name).unwrap_or_default().trim_start();
        body.starts_with('{') && (is_test_name(name) || is_cfg_test(before))
    })
}

fn is_test_name(name: &str) -> bool {
    name.split('_').any(|word| matches!(word, "test" | "tests"))
}

fn is_cfg_test(before: &str) -> bool {
    before.trim_end().ends_with("#[cfg(test)]")
}

/// Finds tests between the functions they test, of any test runtime.
fn find_loose_tests(code: &str) -> impl Iterator<Item = usize> {
    let tests = ["#[test]", "#[tokio::test"].into_iter();
    tests
        .flat_map(move |attribute| code.match_indices(attribute).map(|(at, _)| at))
        .filter(move |&at| !is_inside_test_module(code, at))
}

/// Returns whether the test is inside a test module, which is a finding already; one is enough.
fn is_inside_test_module(code: &str, at: usize) -> bool {
    find_inline_modules(code).any(|module| module < at)
}
