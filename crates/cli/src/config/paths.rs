//! Paths of state and configuration files: `windlass doctor` prints each of them.

use std::path::{Path, PathBuf};

use anyhow::bail;
use rustix::fs::{Access, access};
use windlass::core::message::raw_json::sha256_hex;

use crate::exit::{OrUsageError, UsageError};

/// Characters of the hash that tells workspaces of the same name apart.
const WORKSPACE_HASH_CHARS: usize = 12;

fn env_path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Reads an environment variable that must be an absolute path. A path relative to the current
/// folder would let a project provide the user's own files.
fn env_absolute_path(name: &str) -> Option<PathBuf> {
    env_path(name).filter(|path| path.is_absolute())
}

/// The home folder.
pub(crate) fn home_folder() -> Option<PathBuf> {
    env_absolute_path("HOME")
}

/// The state folder: `$WINDLASS_HOME`, else the XDG state folder.
pub(crate) fn state_folder() -> anyhow::Result<PathBuf> {
    if let Some(folder) = env_path("WINDLASS_HOME") {
        return Ok(folder);
    }
    if let Some(state) = env_absolute_path("XDG_STATE_HOME") {
        return Ok(state.join("windlass"));
    }
    match home_folder() {
        Some(home) => Ok(home.join(".local/state/windlass")),
        None => bail!("no home folder found; set HOME or WINDLASS_HOME to an absolute path"),
    }
}

/// The folder of the state that tools keep between runs, in the state folder.
pub(crate) fn tool_state_folder(state: &Path) -> PathBuf {
    state.join("tool-state")
}

/// The folder of the git worktrees of sub-agents in a workspace. It is not in the state folder, which
/// no tool can write.
pub(crate) fn worktrees_folder(workspace: &Path) -> Option<PathBuf> {
    let data = env_absolute_path("XDG_DATA_HOME")
        .or_else(|| home_folder().map(|home| home.join(".local/share")))?;
    let name = workspace.file_name().unwrap_or_default().to_string_lossy();
    let hash = sha256_hex(workspace.as_os_str().as_encoded_bytes());
    let name = format!("{name}-{}", hash.get(..WORKSPACE_HASH_CHARS).unwrap_or_default());
    Some(data.join("windlass/worktrees").join(name))
}

/// The path of our own configuration: `$WINDLASS_HOME/config.toml`, else in the XDG configuration
/// folder.
pub(crate) fn config_path() -> Option<PathBuf> {
    let folder = env_path("WINDLASS_HOME")
        .or_else(|| env_absolute_path("XDG_CONFIG_HOME").map(|config| config.join("windlass")))
        .or_else(|| home_folder().map(|home| home.join(".config/windlass")))?;
    Some(folder.join("config.toml"))
}

/// The user's settings folder, which other agents use as well.
pub(crate) fn user_settings_folder() -> Option<PathBuf> {
    env_path("CLAUDE_CONFIG_DIR").or_else(|| home_folder().map(|home| home.join(".claude")))
}

/// Resolves a folder to its canonical path. A name before it, as in `shop=/srv/shop`, is left out.
pub(crate) fn resolve_folder(path: &Path, flag: &str) -> anyhow::Result<PathBuf> {
    let (_, path) = super::workspace_arg::split_name(path);
    let real = path.canonicalize().map_err(|error| {
        let path = path.display();
        anyhow::anyhow!("cannot open the folder {path} ({error}); give another with {flag}")
    });
    let real = real.or_usage_error()?;
    if !real.is_dir() {
        let what = format!("{} is not a folder; give one with {flag}", path.display());
        return Err(UsageError::wrap(anyhow::anyhow!(what)));
    }
    Ok(real)
}

/// Returns whether files can be created in a folder that exists or can be created.
pub(crate) fn can_be_written(folder: &Path) -> bool {
    let there = folder.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    let is_writable = |folder: &Path| {
        folder.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
    };
    there.is_some_and(is_writable)
}

/// The user's file of Claude Code with the MCP servers for every folder.
pub(crate) fn user_claude_file() -> Option<PathBuf> {
    let folder = env_path("CLAUDE_CONFIG_DIR").or_else(home_folder)?;
    Some(folder.join(".claude.json"))
}
