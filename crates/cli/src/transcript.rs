//! Transcripts: conversations as files in the layout of the Agent SDKs. They are a projection of the
//! log: what a crash kept from being written is written when the conversation is opened again.

mod recorder;
mod sdk_transcripts;
mod transcript_chain;
mod transcript_files;

pub(crate) use recorder::{TranscriptMirror, TranscriptRecorder};
pub(crate) use sdk_transcripts::{
    deleted_conversations, find_transcript, is_deleted, sessions_with_title,
};
pub(crate) use transcript_chain::TranscriptChain;
pub(crate) use transcript_files::{TranscriptFiles, remove_transcripts};
