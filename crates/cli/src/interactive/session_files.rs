//! Files of the session in the state folder: the draft that is not sent yet, and the history of
//! prompts. Failures are not errors: a session works without them.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass::core::log::ids::LaneId;
use windlass::core::message::raw_json::sha256_hex;

use super::composer::{Draft, MAX_HISTORY};
use crate::config::paths;
use crate::prompt::environment::read_git_state;

/// Bytes at the end of the history that are read.
const MAX_HISTORY_BYTES: u64 = 1 << 20;

/// Maximum bytes of a prompt that is remembered.
const MAX_PROMPT_BYTES: usize = 16 << 10;

/// Maximum bytes of a draft that is read.
const MAX_DRAFT_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct HistoryLine {
    prompt: String,
}

/// The prompts of earlier sessions, oldest first.
pub(super) fn read_history() -> Vec<String> {
    let Ok(file) = history_file() else { return Vec::new() };
    let text = read_end(&file, MAX_HISTORY_BYTES).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<HistoryLine>(line).ok());
    let mut prompts: Vec<String> = lines.map(|line| line.prompt).collect();
    prompts.dedup();
    let too_many = prompts.len().saturating_sub(MAX_HISTORY);
    prompts.drain(..too_many);
    prompts
}

fn read_end(file: &Path, bytes: u64) -> std::io::Result<String> {
    let mut file = std::fs::File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut text = Vec::new();
    file.take(bytes).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Adds a prompt to the history.
pub(super) fn append_history(prompt: &str) {
    if prompt.trim().is_empty() || prompt.len() > MAX_PROMPT_BYTES {
        return;
    }
    let line = serde_json::to_string(&HistoryLine { prompt: prompt.to_owned() });
    let (Ok(file), Ok(line)) = (history_file(), line) else { return };
    // Prompts are private.
    let opened = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(file);
    let _ = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}

fn history_file() -> anyhow::Result<PathBuf> {
    Ok(paths::state_folder()?.join("prompt-history.jsonl"))
}

/// Where the draft of a conversation is kept; one that has no entries yet shares a file with every
/// new conversation of the folder.
pub(super) fn draft_file(workspace: &Path, lane: Option<&LaneId>) -> Option<PathBuf> {
    let name = match lane {
        Some(lane) => format!("conversation {lane}"),
        None => format!("folder {}", workspace.display()),
    };
    let hash = sha256_hex(name.as_bytes());
    Some(paths::state_folder().ok()?.join("drafts").join(hash.get(..32).unwrap_or(&hash)))
}

pub(super) fn read_draft(file: &Path) -> Option<Draft> {
    let file = std::fs::File::open(file).ok()?;
    let mut text = Vec::new();
    file.take(MAX_DRAFT_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Writes the draft; an empty one has no file. A crash in the middle leaves the older one.
pub(super) fn write_draft(file: &Path, draft: &Draft) {
    if draft.is_empty() {
        let _ = std::fs::remove_file(file);
        return;
    }
    let Ok(text) = serde_json::to_vec(draft) else { return };
    let next = file.with_extension("new");
    let folder = file.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut options = std::fs::OpenOptions::new();
        let options = options.create(true).write(true).truncate(true).mode(0o600);
        options.open(&next)?.write_all(&text)
    });
    let _ = written.and_then(|()| std::fs::rename(&next, file));
}

#[derive(Default, Serialize, Deserialize)]
struct TerminalChoices {
    #[serde(default)]
    vi_keys: bool,
}

/// Whether vi keys were switched on.
pub(super) fn read_vi_keys() -> bool {
    let text = choices_file().and_then(|file| std::fs::read(file).ok());
    let choices = text.and_then(|text| serde_json::from_slice::<TerminalChoices>(&text).ok());
    choices.unwrap_or_default().vi_keys
}

/// Remembers whether vi keys are on.
pub(super) fn write_vi_keys(vi_keys: bool) {
    let Ok(text) = serde_json::to_vec(&TerminalChoices { vi_keys }) else { return };
    if let Some(file) = choices_file() {
        let _ = std::fs::write(file, text);
    }
}

fn choices_file() -> Option<PathBuf> {
    Some(paths::state_folder().ok()?.join("terminal.json"))
}

/// The branch of the repository that a folder is in, or the commit if there is no branch.
pub(super) fn git_branch(folder: &Path) -> Option<String> {
    let state = read_git_state(folder)?;
    state.branch.or(state.commit)
}

/// Maximum names of a folder that are read.
const MAX_NAMES: usize = 5_000;

/// Maximum paths that are offered.
const MAX_PATHS: usize = 100;

/// Paths below the folder that begin like this, folders with a slash at their end.
pub(super) fn complete_path(folder: &Path, typed: &str) -> Vec<String> {
    let (parent, name) =
        typed.rsplit_once('/').map_or(("", typed), |(parent, name)| (parent, name));
    let parent_path = match typed.contains('/') {
        true if parent.is_empty() => PathBuf::from("/"),
        _ => folder.join(parent),
    };
    let Ok(found) = std::fs::read_dir(parent_path) else { return Vec::new() };
    let lower = name.to_lowercase();
    let mut paths: Vec<String> = found
        .take(MAX_NAMES)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let is_hidden = found.starts_with('.') && !name.starts_with('.');
            let is_meant = found.to_lowercase().starts_with(&lower) && !is_hidden;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            let before = if typed.contains('/') { format!("{parent}/") } else { String::new() };
            is_meant.then(|| format!("{before}{found}{slash}"))
        })
        .collect();
    paths.sort();
    paths.truncate(MAX_PATHS);
    paths
}
