use super::source_tree::{SourceFile, SourceTree};

/// A tree in memory, on which every rule is tested.
impl<const N: usize> From<[(&str, &str); N]> for SourceTree {
    fn from(files: [(&str, &str); N]) -> Self {
        Self::new(files.map(|(path, text)| file(path, text)).into())
    }
}

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn tests_are_known_by_name_or_folder() {
    let tests = ["a/src/stop_tests.rs", "a/src/x/tests.rs", "a/tests/golden.rs", "tests/a.rs"];
    assert!(tests.iter().all(|path| file(path, "").is_test()));
    let others = ["a/src/stop.rs", "a/src/contests.rs", "a/tests.d/b.rs"];
    assert!(!others.iter().any(|path| file(path, "").is_test()));
}

#[test]
fn a_stem_has_neither_folder_nor_extension() {
    assert_eq!(file("a/b/stop.rs", "").stem(), "stop");
    assert_eq!(file("README", "").stem(), "README");
}

#[test]
fn files_are_in_order_of_path_and_rust_is_told_by_extension() {
    let tree = SourceTree::from([("b.rs", ""), ("a.md", ""), ("a.rs", "")]);
    let paths: Vec<_> = tree.files().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.md", "a.rs", "b.rs"]);
    assert_eq!(tree.rust_files().count(), 2);
}
