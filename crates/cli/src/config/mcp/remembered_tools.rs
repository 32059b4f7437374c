//! What servers offered when they were last connected, so that a run need not wait for them. Only
//! approved definitions are remembered; without the files every server is waited for.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use windlass::core::message::raw_json::sha256_hex;
use windlass::mcp::ToolDefinition;
use windlass::tools::read_following_links;

use super::private_file;
use crate::config::paths;

/// Maximum size of what is remembered of one server, in bytes.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Number of servers that are remembered; the ones that were not used for longest are forgotten.
const MAX_SERVERS: usize = 200;

/// Returns the tools that are remembered under a key.
pub(super) fn read(key: &str) -> Vec<ToolDefinition> {
    let Some(path) = path_of(key) else { return Vec::new() };
    let file = read_following_links(&path, MAX_FILE_BYTES).ok().flatten();
    let text = file.and_then(|file| file.into_text(MAX_FILE_BYTES).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Remembers the tools of a server under a key. What cannot be written is not remembered.
pub(super) fn remember(key: &str, tools: &[ToolDefinition]) {
    let Some(path) = path_of(key) else { return };
    if read(key) == tools {
        return;
    }
    let Ok(text) = serde_json::to_string(tools) else { return };
    if u64::try_from(text.len()).is_ok_and(|bytes| bytes <= MAX_FILE_BYTES)
        && private_file::write(&path, &text).is_ok()
    {
        path.parent().map(forget_oldest);
    }
}

fn path_of(key: &str) -> Option<PathBuf> {
    let folder = paths::state_folder().ok()?.join("mcp-tools");
    Some(folder.join(format!("{}.json", sha256_hex(key.as_bytes()))))
}

fn forget_oldest(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let written = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let at = entry.metadata().ok()?.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some((at, entry.path()))
    };
    let mut files: Vec<_> = entries.filter_map(written).collect();
    files.sort();
    let surplus = files.len().saturating_sub(MAX_SERVERS);
    for (_, path) in files.into_iter().take(surplus) {
        // Another process may have removed it.
        drop(std::fs::remove_file(path));
    }
}
