use crate::tidy::source_tree::SourceTree;

use super::citation::find_citations;

/// The citations as `id@line`, or the finding.
fn read(path: &str, text: &str) -> Vec<String> {
    let citations = find_citations(&SourceTree::from([(path, text)])).into_iter();
    let shown = citations.map(|citation| match citation {
        Ok(citation) => format!("{}@{}", citation.id, citation.line),
        Err(finding) => finding.to_string(),
    });
    shown.collect()
}

fn in_rust(text: &str) -> Vec<String> {
    read("crates/core/src/stop_tests.rs", text)
}

#[test]
fn comments_and_docs_of_code_are_read() {
    let text =
        "// spec: STOP-01\n#[test]\nfn a() {}\n\n    /// spec: STOP-02, STOP-03.\nfn b() {}\n";
    assert_eq!(in_rust(text), ["STOP-01@1", "STOP-02@5", "STOP-03@5"]);
    assert_eq!(in_rust("//! spec: STOP-01\n/* spec: STOP-02 */"), ["STOP-01@1", "STOP-02@2"]);
    assert_eq!(in_rust("row(1), // spec: STOP-04"), ["STOP-04@1"]);
}

#[test]
fn scenarios_are_read_whole() {
    let text = "# A story\n\nspec: STOP-01\n- spec: STOP-02\n<!-- spec: STOP-03 -->\n";
    assert_eq!(read("scenarios/cut.md", text), ["STOP-01@3", "STOP-02@4", "STOP-03@5"]);
}

#[test]
fn comments_of_browser_tests_are_read() {
    let text = "import x;\n// spec: STOP-01\ntest(\"a\");\nspec: STOP-02\n";
    assert_eq!(read("tests/dashboard/src/run.test.ts", text), ["STOP-01@2"]);
    assert!(read("dashboard/src/main.tsx", text).is_empty());
}

#[test]
fn comments_of_python_tests_are_read() {
    let text = "# spec: STOP-01\nasync def test_a():\n    \"spec: STOP-02\"\n";
    assert_eq!(read("tests/python/sdk/test_results.py", text), ["STOP-01@1"]);
    assert!(read("tests/python/sdk/harness.py", text).is_empty());
}

#[test]
fn code_strings_and_other_pages_prove_nothing() {
    assert!(in_rust("let s = \"// spec: STOP-01\";").is_empty());
    assert!(in_rust("// see the spec: STOP-01 says so").is_empty());
    assert!(read("README.md", "spec: STOP-01").is_empty());
}

#[test]
fn a_list_of_anything_but_ids_is_wrong() {
    for text in ["// spec: stop-01", "// spec: STOP-01 and more", "// spec:", "// spec: STOP-01,"] {
        let read = in_rust(text);
        let wrong = read.iter().filter(|shown| shown.contains("is not an id"));
        assert_eq!(wrong.count(), 1, "{text}: {read:?}");
    }
}
