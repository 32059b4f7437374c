//! Where things are kept: `windlass doctor` prints every one of these.

use std::path::{Path, PathBuf};

use anyhow::bail;
use rustix::fs::{Access, access};

use crate::exit::{OrUsageError, UsageError};

fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A variable of the environment that must be a whole path. One that begins at the current folder
/// would let a project bring the user's own files.
fn set_whole(name: &str) -> Option<PathBuf> {
    set(name).filter(|path| path.is_absolute())
}

/// The home folder.
pub(crate) fn home() -> Option<PathBuf> {
    set_whole("HOME")
}

/// Where state lives: `$WINDLASS_HOME`, else the XDG state folder.
pub(crate) fn state() -> anyhow::Result<PathBuf> {
    if let Some(folder) = set("WINDLASS_HOME") {
        return Ok(folder);
    }
    if let Some(state) = set_whole("XDG_STATE_HOME") {
        return Ok(state.join("windlass"));
    }
    match home() {
        Some(home) => Ok(home.join(".local/state/windlass")),
        None => bail!("no home folder is known; set HOME or WINDLASS_HOME to a whole path"),
    }
}

/// Our own configuration: `$WINDLASS_HOME/config.toml`, else in the XDG configuration folder.
pub(crate) fn config() -> Option<PathBuf> {
    let folder = set("WINDLASS_HOME")
        .or_else(|| set_whole("XDG_CONFIG_HOME").map(|config| config.join("windlass")))
        .or_else(|| home().map(|home| home.join(".config/windlass")))?;
    Some(folder.join("config.toml"))
}

/// The folder of settings that people share with other agents.
pub(crate) fn shared_settings() -> Option<PathBuf> {
    set("CLAUDE_CONFIG_DIR").or_else(|| home().map(|home| home.join(".claude")))
}

/// A folder as it really is. A name that stands before it, as in `shop=/srv/shop`, is left out.
pub(crate) fn folder(path: &Path, flag: &str) -> anyhow::Result<PathBuf> {
    let (_, path) = super::workspace::split(path);
    let real = path.canonicalize().map_err(|error| {
        let path = path.display();
        anyhow::anyhow!("the folder {path} cannot be opened ({error}); give another with {flag}")
    });
    let real = real.or_usage_error()?;
    if !real.is_dir() {
        let what = format!("{} is not a folder; give one with {flag}", path.display());
        return Err(UsageError::of(anyhow::anyhow!(what)));
    }
    Ok(real)
}

/// Whether files can be made in a folder that is there or can be made.
pub(crate) fn can_be_written(folder: &Path) -> bool {
    let there = folder.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    let is_writable = |folder: &Path| {
        folder.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
    };
    there.is_some_and(is_writable)
}
