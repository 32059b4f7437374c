//! Checks that every crate and every binary starts with docs about its purpose.

use super::finding::TidyFinding;
use super::source_tree::{SourceFile, SourceTree};

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    let roots = tree.rust_files().filter(|file| is_crate_root(file));
    roots.filter(|file| !file.text.starts_with("//!")).map(missing_docs).collect()
}

fn is_crate_root(file: &SourceFile) -> bool {
    let mut folders: Vec<&str> = file.folders().collect();
    match folders.pop() {
        Some("src") => matches!(file.stem(), "lib" | "main"),
        Some("bin") => folders.last() == Some(&"src"),
        _ => file.stem() == "main",
    }
}

fn missing_docs(file: &SourceFile) -> TidyFinding {
    TidyFinding::new(
        &file.path,
        1,
        "a crate begins with `//!`: say what it is for, and what is not here",
    )
}
