//! The text of the repository: what git tracks, or would track.

use std::path::Path;

use anyhow::{Context, Result};

use crate::invocation::Invocation;
use crate::{process, workspace};

/// One text file; the path is relative to the repository, with `/`.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// `x_tests.rs`, `tests.rs` and everything below a folder `tests`.
    pub(super) fn is_test(&self) -> bool {
        let stem = self.stem();
        stem == "tests" || stem.ends_with("_tests") || self.folders().any(|name| name == "tests")
    }

    /// The name without folders and extension.
    pub(super) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        let (folders, _) = self.path.rsplit_once('/').unwrap_or_default();
        folders.split('/')
    }
}

/// All text files, by path.
#[derive(Debug)]
pub(super) struct Tree {
    files: Vec<File>,
}

impl Tree {
    pub(super) fn new(mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    pub(super) fn of_the_repository() -> Result<Self> {
        let root = workspace::root()?;
        let paths = listed_by_git(&root)?;
        Ok(Self::new(paths.iter().filter_map(|path| read(&root, path)).collect()))
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.is_rust())
    }
}

fn listed_by_git(root: &Path) -> Result<Vec<String>> {
    let root = root.display().to_string();
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let git = Invocation::new("git", &["-C", &root]).with(&list.map(str::to_owned));
    let output = process::output_of(&git).context("tidy looks only at what git would track")?;
    let names = output.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// Nothing for a file that git still lists but is gone, and for one that is not text.
fn read(root: &Path, path: &str) -> Option<File> {
    let text = std::fs::read_to_string(root.join(path)).ok()?;
    Some(File { path: path.to_owned(), text })
}
