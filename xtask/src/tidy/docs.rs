//! Every crate and every binary begins by saying what it is for.

use super::finding::Finding;
use super::tree::{File, Tree};

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let roots = tree.rust_files().filter(|file| is_root(file));
    roots.filter(|file| !file.text.starts_with("//!")).map(undocumented).collect()
}

fn is_root(file: &File) -> bool {
    let mut folders: Vec<&str> = file.folders().collect();
    match folders.pop() {
        Some("src") => matches!(file.stem(), "lib" | "main"),
        Some("bin") => folders.last() == Some(&"src"),
        _ => file.stem() == "main",
    }
}

fn undocumented(file: &File) -> Finding {
    Finding::new(
        &file.path,
        1,
        "a crate begins with `//!`: say what it is for, and what is not here",
    )
}
