//! Transcripts: conversations as files in the layout of the Agent SDKs. They are a projection of the
//! log: what a crash kept from being written is written when the conversation is opened again.

mod recorder;
mod transcript_files;

pub(crate) use recorder::{TranscriptMirror, TranscriptRecorder};
pub(crate) use transcript_files::remove_transcripts;
