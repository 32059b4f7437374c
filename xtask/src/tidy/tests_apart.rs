//! Tests live in sibling files: a source file is read for what it does.

use super::finding::Finding;
use super::nesting::{leading_name, line_of, whole_words};
use super::rust;
use super::tree::{File, Tree};

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let sources = tree.rust_files().filter(|file| file.folders().any(|name| name == "src"));
    sources.filter(|file| !file.is_test()).flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Finding> {
    let code = rust::code(&file.text);
    let says = format!("tests in a source file: move them to {}_tests.rs beside it", file.stem());
    let places = inline_modules(&code).chain(loose_tests(&code));
    places.map(|at| Finding::new(&file.path, line_of(&code, at), says.as_str())).collect()
}

fn inline_modules(code: &str) -> impl Iterator<Item = usize> {
    whole_words(code, "mod").filter(move |&at| {
        let (before, rest) = code.split_at_checked(at).unwrap_or_default();
        let declared = rest.strip_prefix("mod ").unwrap_or_default();
        let name = leading_name(declared);
        let body = declared.strip_prefix(name).unwrap_or_default().trim_start();
        body.starts_with('{') && (is_about_tests(name) || is_only_for_tests(before))
    })
}

fn is_about_tests(name: &str) -> bool {
    name.split('_').any(|word| matches!(word, "test" | "tests"))
}

fn is_only_for_tests(before: &str) -> bool {
    before.trim_end().ends_with("#[cfg(test)]")
}

/// A test that stands between the functions it tests, of whatever runtime.
fn loose_tests(code: &str) -> impl Iterator<Item = usize> {
    let tests = ["#[test]", "#[tokio::test"].into_iter();
    tests
        .flat_map(move |attribute| code.match_indices(attribute).map(|(at, _)| at))
        .filter(move |&at| !inside_a_test_module(code, at))
}

/// The module is found already; one finding is enough.
fn inside_a_test_module(code: &str, at: usize) -> bool {
    inline_modules(code).any(|module| module < at)
}
