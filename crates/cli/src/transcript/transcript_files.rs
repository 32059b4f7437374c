//! Where transcripts are: `projects/<key of the folder>/<session>.jsonl` below a root.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use windlass::core::log::ids::LaneId;
use windlass::core::run::child_runs::{root_lane, sub_agent_id};

use super::sdk_transcripts;
use crate::config::paths;
use crate::sdk;

#[cfg(test)]
#[path = "transcript_files_tests.rs"]
mod transcript_files_tests;

/// Characters of a folder's key before its hash.
const MAX_KEY_CHARS: usize = 200;

/// The files of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptFiles {
    folder: PathBuf,
    session_id: String,
}

/// What a line of a transcript says about its place.
#[derive(Deserialize)]
struct LinePlace {
    #[serde(default)]
    uuid: Option<String>,
}

/// What a transcript holds already.
#[derive(Debug, Default)]
pub(crate) struct WrittenLines {
    pub(crate) uuids: BTreeSet<String>,
    pub(crate) leaf: Option<String>,
}

impl TranscriptFiles {
    /// The files of a conversation that works in `workspace`; `None` if there is no place for them.
    pub(crate) fn of_conversation(workspace: &Path, lane: &LaneId) -> Option<Self> {
        let folder = Self::folder_of(workspace)?;
        let session_id = lane.session_id();
        // A name that is not a UUID may be a path; SDKs ignore such files anyway.
        is_plain(session_id).then(|| Self { folder, session_id: session_id.to_owned() })
    }

    /// The folder with the transcripts of a workspace.
    pub(super) fn folder_of(workspace: &Path) -> Option<PathBuf> {
        Some(root_folder()?.join("projects").join(project_key(workspace)))
    }

    /// The session that the files are about.
    pub(super) fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The file of the conversation or of the sub-agent on a lane.
    pub(crate) fn file_of(workspace: &Path, lane: &LaneId) -> Option<PathBuf> {
        let root = root_lane(lane);
        let files = Self::of_conversation(workspace, &root)?;
        match *lane == root {
            true => Some(files.main_file()),
            false => Some(files.agent_file(&sub_agent_id(lane))),
        }
    }

    /// The file of the conversation itself.
    pub(crate) fn main_file(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.session_id))
    }

    /// The file of a sub-agent.
    pub(crate) fn agent_file(&self, agent_id: &str) -> PathBuf {
        self.agents_folder().join(format!("agent-{agent_id}.jsonl"))
    }

    fn agents_folder(&self) -> PathBuf {
        self.folder.join(&self.session_id).join("subagents")
    }

    /// Reads which lines a file has. A file that does not exist has none; a line that a crash tore
    /// is skipped.
    pub(crate) fn read_written(path: &Path) -> io::Result<WrittenLines> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(WrittenLines::default());
            }
            Err(error) => return Err(error),
        };
        let mut written = WrittenLines::default();
        for line in BufReader::new(file).lines() {
            if let Ok(LinePlace { uuid: Some(uuid) }) = serde_json::from_str(&line?) {
                written.leaf = Some(uuid.clone());
                written.uuids.insert(uuid);
            }
        }
        Ok(written)
    }

    /// Appends lines to a file, which is created with its folders if it does not exist.
    pub(crate) fn append(path: &Path, lines: &[Value]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let mut file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_folder(path)?;
                open()?
            }
            opened => opened?,
        };
        file.write_all(text.as_bytes())
    }
}

fn is_plain(session_id: &str) -> bool {
    session_id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn create_private_folder(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The folder above all transcripts: the SDKs' own if one of them started this process.
pub(super) fn root_folder() -> Option<PathBuf> {
    match sdk::is_sdk_host() {
        true => paths::user_settings_folder(),
        false => paths::state_folder().ok().map(|state| state.join("transcripts")),
    }
}

/// Removes the transcripts of conversations.
pub(crate) fn remove_transcripts(lanes: &[LaneId]) -> io::Result<()> {
    for lane in lanes.iter().filter(|lane| is_plain(lane.session_id())) {
        sdk_transcripts::remove_noted(lane.session_id())?;
    }
    let Ok(state) = paths::state_folder() else { return Ok(()) };
    let projects = match std::fs::read_dir(state.join("transcripts").join("projects")) {
        Ok(projects) => projects,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for project in projects {
        let folder = project?.path();
        for lane in lanes.iter().filter(|lane| !lane.as_str().contains('/')) {
            let files = TranscriptFiles {
                folder: folder.clone(),
                session_id: lane.session_id().to_owned(),
            };
            ignore_missing(std::fs::remove_file(files.main_file()))?;
            ignore_missing(std::fs::remove_dir_all(folder.join(&files.session_id)))?;
        }
    }
    Ok(())
}

pub(super) fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The key of a folder: its path with everything but letters and digits replaced, and a hash if it
/// is long. The SDKs compute the same key.
fn project_key(workspace: &Path) -> String {
    let path = workspace.to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let key: String = path.chars().map(plain).collect();
    match key.get(..MAX_KEY_CHARS).filter(|_| key.len() > MAX_KEY_CHARS) {
        Some(start) => format!("{start}-{}", path_hash(&path)),
        None => key,
    }
}

/// The hash of a long path: 31-fold of the one before plus the next unit, as a signed number.
fn path_hash(path: &str) -> String {
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    to_base_36(path.encode_utf16().fold(0, add).unsigned_abs())
}

fn to_base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
