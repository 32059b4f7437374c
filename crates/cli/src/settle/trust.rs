//! Folders somebody trusts. What an untrusted folder says can only forbid.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::paths;

/// Whether a folder is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Somebody said so.
    Given,
    /// Nobody did.
    Missing,
}

fn file() -> anyhow::Result<PathBuf> {
    Ok(paths::state()?.join("trusted"))
}

fn read() -> Vec<PathBuf> {
    let text = file().ok().and_then(|file| std::fs::read_to_string(file).ok());
    text.unwrap_or_default().lines().map(PathBuf::from).collect()
}

/// Whether `folder`, or one above it, is trusted.
pub(crate) fn of(folder: &Path) -> Trust {
    let trusted = read().iter().any(|trusted| folder.starts_with(trusted));
    if trusted { Trust::Given } else { Trust::Missing }
}

/// Trusts a folder from now on, or no longer.
pub(crate) fn write(folder: &Path, trust: Trust) -> anyhow::Result<()> {
    let mut folders = read();
    folders.retain(|known| known != folder);
    if trust == Trust::Given {
        folders.push(folder.to_path_buf());
    }
    let lines: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let file = file()?;
    let parent = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(&file, lines.join("\n") + "\n"))
        .with_context(|| format!("{} cannot be written; make it writable", file.display()))
}
