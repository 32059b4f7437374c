//! The folders of the workspace and of its build output.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder of the workspace manifest, searched upwards from the current folder.
pub(crate) fn root() -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    let found = here.ancestors().find(|folder| is_workspace(folder));
    found.map(Path::to_path_buf).context("no workspace here: run this inside the repository")
}

/// The folder of cargo's build output.
pub(crate) fn target_folder() -> Result<PathBuf> {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => Ok(root()?.join("target")),
    }
}

fn is_workspace(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.trim() == "[workspace]")
}
