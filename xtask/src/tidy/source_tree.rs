//! The text files of the repository: those that git tracks, or would track.

use std::path::Path;

use anyhow::{Context, Result};

use crate::invocation::Invocation;
use crate::{process, workspace};

/// One text file; the path is relative to the repository, with `/`.
#[derive(Debug, Clone)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) text: String,
}

impl SourceFile {
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns whether the file has tests: `x_tests.rs`, `tests.rs` and everything below a folder
    /// `tests`.
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
pub(super) struct SourceTree {
    files: Vec<SourceFile>,
}

impl SourceTree {
    pub(super) fn new(mut files: Vec<SourceFile>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    pub(super) fn from_git() -> Result<Self> {
        let root = workspace::root()?;
        let paths = list_git_files(&root)?;
        Ok(Self::new(paths.iter().filter_map(|path| read_text_file(&root, path)).collect()))
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files().filter(|file| file.is_rust())
    }
}

fn list_git_files(root: &Path) -> Result<Vec<String>> {
    let root = root.display().to_string();
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let git = Invocation::new("git", &["-C", &root]).with_arguments(&list.map(str::to_owned));
    let output = process::output_of(&git).context("tidy looks only at what git would track")?;
    let names = output.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// Reads a file; `None` if git still lists it but it is gone, or if it is not text.
fn read_text_file(root: &Path, path: &str) -> Option<SourceFile> {
    let text = std::fs::read_to_string(root.join(path)).ok()?;
    Some(SourceFile { path: path.to_owned(), text })
}
