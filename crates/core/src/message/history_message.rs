//! The messages of a history as commands carry them: what another conversation, or this one at an
//! earlier time, showed to the model.

use serde::{Deserialize, Serialize};

use crate::message::content_block::ContentBlock;
use crate::message::transcript::{Role, SegmentKind, Transcript, TranscriptSegment};

/// A message of a history.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HistoryMessage {
    /// Role of the message.
    pub role: Role,
    /// Kind of the message.
    pub kind: SegmentKind,
    /// Its blocks.
    pub blocks: Vec<ContentBlock>,
}

impl From<&TranscriptSegment> for HistoryMessage {
    fn from(segment: &TranscriptSegment) -> Self {
        Self { role: segment.role, kind: segment.kind, blocks: segment.blocks.to_vec() }
    }
}

/// Builds a transcript. Calls that do not have their results right after them are left out, and so
/// are results without their calls: whoever wrote the messages, a request can be made of them.
pub(super) fn build_transcript(messages: &[HistoryMessage]) -> Transcript {
    let mut transcript = Transcript::default();
    let mut rest = messages.iter().peekable();
    while let Some(message) = rest.next() {
        match message.role {
            Role::Assistant => {
                let results = rest.next_if(|next| next.kind == SegmentKind::Results);
                let is_round = results.is_some_and(|results| {
                    transcript.push_round(&message.blocks, results.blocks.clone()).is_ok()
                });
                if !is_round {
                    transcript.push_assistant(message.kind, &message.blocks);
                }
            }
            Role::User => transcript.push_user(message.kind, &message.blocks),
        }
    }
    transcript
}
