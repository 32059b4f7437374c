//! The transcript of the conversation, and its copy for a session store of the program.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use windlass::Session;
use windlass::core::log::ids::LaneId;

use super::frame_writer::{FrameWriter, OutputClosed};
use crate::transcript::{TranscriptMirror, TranscriptRecorder};

/// Entries that wait to be written to standard output, by the file that they are in.
type MirroredEntries = Arc<Mutex<Vec<(PathBuf, Vec<Value>)>>>;

/// Writes the transcripts of the channel's conversations.
#[derive(Default)]
pub(super) struct Transcripts {
    /// Whether transcripts are written at all.
    is_kept: bool,
    /// Whether entries are written to standard output too.
    is_mirrored: bool,
    mirrored: MirroredEntries,
    open: Option<(LaneId, TranscriptRecorder)>,
}

impl Transcripts {
    pub(super) fn new(is_kept: bool, is_mirrored: bool) -> Self {
        Self { is_kept, is_mirrored, ..Self::default() }
    }

    /// Opens the transcript of a conversation; it stays open until another one is opened.
    pub(super) async fn open(
        &mut self,
        session: &Session,
        workspace: &Path,
    ) -> anyhow::Result<Option<TranscriptRecorder>> {
        if !self.is_kept {
            return Ok(None);
        }
        if let Some((lane, recorder)) = &self.open
            && lane == session.lane()
        {
            return Ok(Some(recorder.clone()));
        }
        let recorder = TranscriptRecorder::open(session, workspace, self.mirror()).await?;
        self.open = recorder.clone().map(|recorder| (session.lane().clone(), recorder));
        Ok(recorder)
    }

    fn mirror(&self) -> Option<TranscriptMirror> {
        let mirrored = Arc::clone(&self.mirrored);
        let mirror = move |file: &Path, entries: Vec<Value>| {
            mirrored
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((file.to_path_buf(), entries));
        };
        self.is_mirrored.then(|| Box::new(mirror) as TranscriptMirror)
    }

    /// Writes the entries that wait to standard output.
    pub(super) async fn write_mirror(&self, writer: &FrameWriter) -> Result<(), OutputClosed> {
        let waiting =
            std::mem::take(&mut *self.mirrored.lock().unwrap_or_else(PoisonError::into_inner));
        for (file, entries) in join_entries(waiting) {
            writer
                .send(&json!({"type": "transcript_mirror", "filePath": file, "entries": entries}))
                .await?;
        }
        Ok(())
    }
}

/// Joins neighbouring entries of the same file.
fn join_entries(waiting: Vec<(PathBuf, Vec<Value>)>) -> Vec<(PathBuf, Vec<Value>)> {
    let mut joined: Vec<(PathBuf, Vec<Value>)> = Vec::new();
    for (file, entries) in waiting {
        match joined.last_mut() {
            Some((last, known)) if *last == file => known.extend(entries),
            _ => joined.push((file, entries)),
        }
    }
    joined
}
