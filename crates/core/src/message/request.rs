//! The request of the next model call: cheap to build, because it shares the transcript.

use std::borrow::Cow;
use std::sync::Arc;

use crate::log::ids::ModelCallId;
use crate::log::record::ToolChoice;
use crate::message::content_block::ContentBlock;
use crate::message::loaded_tools::{LoadedTools, OfferedTool, ToolLoading};
use crate::message::transcript::{Role, Transcript, TranscriptSegment};
use crate::settings::conversation_settings::Settings;

/// A request to the model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Id of the model call.
    pub model_call: ModelCallId,
    /// Model, system prompt, tools, stop strings.
    pub settings: Arc<Settings>,
    /// The transcript so far.
    pub transcript: Transcript,
    /// Deferred tools that were loaded.
    pub loaded_tools: LoadedTools,
    /// Output tokens that the call may use.
    pub max_tokens: u64,
    /// Which tools it may call.
    pub choice: ToolChoice,
    /// Digest of the journal in a few lines; part of the system prompt.
    pub journal_digest: Arc<str>,
    /// What is left of the task budget, where the model cannot see it any more.
    pub task_remaining_tokens: Option<u64>,
}

/// One message of a request: neighbouring segments of the same role, joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMessage<'a> {
    /// Role of the message.
    pub role: Role,
    /// Blocks of the message.
    pub blocks: Vec<&'a ContentBlock>,
}

impl ModelRequest {
    /// Returns the system prompt, with the note about plan mode and the journal digest.
    #[must_use]
    pub fn system_prompt(&self) -> Cow<'_, str> {
        let parts = [
            &*self.settings.system,
            self.settings.plan_mode_note().unwrap_or(""),
            &*self.journal_digest,
        ];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => Cow::Borrowed(""),
            [only] => Cow::Borrowed(only),
            parts => Cow::Owned(parts.join("\n\n")),
        }
    }

    /// Returns the tools of the request.
    #[must_use]
    pub fn offered_tools(&self, loading: ToolLoading) -> Vec<OfferedTool<'_>> {
        let required = match &self.choice {
            ToolChoice::Tool(tool) => Some(&**tool),
            ToolChoice::Auto | ToolChoice::NoTools => None,
        };
        self.settings.offered_tools(&self.loaded_tools, loading, required)
    }

    /// Returns the messages as the API requires them: roles alternate, the user first.
    #[must_use]
    pub fn messages(&self) -> Vec<RequestMessage<'_>> {
        join_segments(self.transcript.segments().iter())
    }
}

/// Joins neighbouring segments of the same role.
pub fn join_segments<'a>(
    segments: impl Iterator<Item = &'a TranscriptSegment>,
) -> Vec<RequestMessage<'a>> {
    let mut out: Vec<RequestMessage<'a>> = Vec::new();
    for segment in segments {
        match out.last_mut() {
            Some(last) if last.role == segment.role => last.blocks.extend(segment.blocks.iter()),
            Some(_) | None => {
                out.push(RequestMessage {
                    role: segment.role,
                    blocks: segment.blocks.iter().collect(),
                });
            }
        }
    }
    out
}
