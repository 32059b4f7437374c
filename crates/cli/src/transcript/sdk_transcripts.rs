//! The transcripts in the SDKs' own folder. Programs rename and delete them with helpers that never
//! start this program; a note in the state folder says where each transcript was written, so that
//! one that is gone can be told from one that was never there.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use windlass::core::log::ids::LaneId;

use super::transcript_files::{TranscriptFiles, ignore_missing, root_folder};
use crate::config::paths;
use crate::inspect::id_lookup::LANE_PREFIX;
use crate::sdk;

/// Maximum number of transcripts that are searched for a title, newest first.
const MAX_SEARCHED: usize = 1_000;

/// Maximum number of notes that are checked at once.
const MAX_NOTES: usize = 10_000;

/// A line that gives the conversation a title.
#[derive(Deserialize)]
struct TitleLine {
    #[serde(rename = "customTitle")]
    title: String,
}

/// The transcript of a conversation, if there is one.
pub(crate) fn find_transcript(workspace: &Path, session_id: &str) -> Option<PathBuf> {
    let file = TranscriptFiles::of_conversation(workspace, &lane_of(session_id))?.main_file();
    file.is_file().then_some(file)
}

/// The conversations of a folder with this title, the newest first.
pub(crate) fn sessions_with_title(workspace: &Path, title: &str) -> Vec<String> {
    let Some(folder) = TranscriptFiles::folder_of(workspace) else { return Vec::new() };
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(SystemTime, PathBuf)> = files
        .filter_map(|file| {
            let file = file.ok()?;
            let path = file.path();
            let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
            Some((file.metadata().ok()?.modified().ok()?, path)).filter(|_| is_transcript)
        })
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    let titled = files.into_iter().take(MAX_SEARCHED).map(|(_, path)| path).filter(|path| {
        read_title(path).ok().flatten().is_some_and(|found| found.trim() == title.trim())
    });
    titled.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

/// The title of a transcript: the last one counts.
fn read_title(path: &Path) -> io::Result<Option<String>> {
    let mut title = None;
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        if line.contains("\"custom-title\"")
            && let Ok(found) = serde_json::from_str::<TitleLine>(&line)
        {
            title = Some(found.title);
        }
    }
    Ok(title)
}

/// Notes that the transcript of a conversation is in the SDKs' folder.
pub(super) fn note_transcript(session_id: &str, transcript: &Path) -> io::Result<()> {
    let Some(folder) = notes_folder().filter(|_| sdk::is_sdk_host()) else { return Ok(()) };
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(session_id), transcript.as_os_str().as_encoded_bytes())
}

/// Returns whether a program has deleted the transcript of a conversation.
pub(crate) fn is_deleted(session_id: &str) -> bool {
    let transcript = notes_folder().and_then(|notes| noted_transcript(&notes.join(session_id)));
    transcript.is_some_and(|transcript| is_gone(&transcript))
}

/// The conversations whose transcripts programs have deleted.
pub(crate) fn deleted_conversations() -> Vec<LaneId> {
    let Some(notes) = notes_folder().and_then(|folder| std::fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let gone = notes.take(MAX_NOTES).filter_map(|note| {
        let note = note.ok()?;
        let transcript = noted_transcript(&note.path())?;
        is_gone(&transcript).then(|| note.file_name().into_string().ok())?
    });
    gone.map(|session_id| lane_of(&session_id)).collect()
}

/// Removes the transcript of a conversation in the SDKs' folder, and the note about it.
pub(super) fn remove_noted(session_id: &str) -> io::Result<()> {
    let Some(note) = notes_folder().map(|folder| folder.join(session_id)) else { return Ok(()) };
    if let Some(transcript) = noted_transcript(&note) {
        ignore_missing(std::fs::remove_file(&transcript))?;
        ignore_missing(std::fs::remove_dir_all(transcript.with_extension("")))?;
    }
    ignore_missing(std::fs::remove_file(note))
}

fn noted_transcript(note: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(String::from_utf8(std::fs::read(note).ok()?).ok()?);
    let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
    (path.is_absolute() && is_transcript).then_some(path)
}

/// Returns whether a transcript was deleted. A folder that is gone as a whole was a temporary one,
/// or is not there at the moment.
fn is_gone(transcript: &Path) -> bool {
    let is_of_this_root = root_folder().is_some_and(|root| transcript.starts_with(root));
    let has_folder = transcript.parent().is_some_and(Path::is_dir);
    is_of_this_root && has_folder && matches!(transcript.try_exists(), Ok(false))
}

fn notes_folder() -> Option<PathBuf> {
    paths::state_folder().ok().map(|state| state.join("transcripts").join("elsewhere"))
}

fn lane_of(session_id: &str) -> LaneId {
    LaneId::from(format!("{LANE_PREFIX}{session_id}"))
}
