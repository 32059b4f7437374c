//! The next model call: cheap to build, because it shares the transcript.

use std::borrow::Cow;
use std::sync::Arc;

use crate::block::Block;
use crate::ids::AskId;
use crate::record::ToolChoice;
use crate::settings::Settings;
use crate::transcript::{Role, Segment, Transcript};

/// A request to the model.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which model call this is.
    pub ask: AskId,
    /// Model, system prompt, tools, stop strings.
    pub settings: Arc<Settings>,
    /// What was said so far.
    pub transcript: Transcript,
    /// Output tokens it may use.
    pub max_tokens: u64,
    /// Which tools it may call.
    pub choice: ToolChoice,
    /// What the journal says, in a few lines; belongs to the system prompt.
    pub digest: Arc<str>,
    /// What is left of the task's budget, where the model cannot see it for itself any more.
    pub task_left_tokens: Option<u64>,
}

/// One message of a request: neighbouring segments of one role, joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// Its blocks.
    pub blocks: Vec<&'a Block>,
}

impl Request {
    /// The system prompt, with what there is to say about plan mode and what the journal says.
    #[must_use]
    pub fn system(&self) -> Cow<'_, str> {
        let parts =
            [&*self.settings.system, self.settings.plan_note().unwrap_or(""), &*self.digest];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => Cow::Borrowed(""),
            [only] => Cow::Borrowed(only),
            parts => Cow::Owned(parts.join("\n\n")),
        }
    }

    /// The messages as the API wants them: roles alternate, the user first.
    #[must_use]
    pub fn messages(&self) -> Vec<Message<'_>> {
        messages(self.transcript.segments().iter())
    }
}

/// Joins neighbouring segments of one role.
pub fn messages<'a>(segments: impl Iterator<Item = &'a Segment>) -> Vec<Message<'a>> {
    let mut out: Vec<Message<'a>> = Vec::new();
    for segment in segments {
        match out.last_mut() {
            Some(last) if last.role == segment.role => last.blocks.extend(segment.blocks.iter()),
            Some(_) | None => {
                out.push(Message { role: segment.role, blocks: segment.blocks.iter().collect() });
            }
        }
    }
    out
}
