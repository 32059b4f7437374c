//! Transcripts: the messages of a conversation as the lines of a file, in the form that the Agent
//! SDKs read. Each line names the line before it; a sub-agent has a file of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::message::{
    AssistantMessage, CompactMetadata, ContentBlock, Message, SystemEvent, SystemMessage,
    UserMessage,
};

/// Characters of the prompt that a list of sessions shows.
const MAX_LISTED_CHARS: usize = 200;

/// What every line of a transcript says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptContext {
    /// The workspace.
    pub cwd: String,
    /// The version of the SDK protocol.
    pub version: String,
    /// The branch of the workspace; empty if it has none.
    pub git_branch: String,
    /// What started the process: `cli`, `sdk-py`, `sdk-ts`.
    pub entrypoint: String,
}

/// Turns messages into the lines of a transcript.
#[derive(Debug, Default)]
pub struct TranscriptProjection {
    context: TranscriptContext,
    /// The last line of the chain.
    leaf: Option<String>,
    /// Which assistant message made each call that has no result yet.
    callers: BTreeMap<String, String>,
}

impl TranscriptProjection {
    /// Creates the projection of a new transcript.
    #[must_use]
    pub fn new(context: TranscriptContext) -> Self {
        Self { context, ..Self::default() }
    }

    /// Continues after the line with this id.
    #[must_use]
    pub fn after(mut self, leaf: Option<String>) -> Self {
        self.leaf = leaf;
        self
    }

    /// Returns the lines for a message; most system messages have none.
    pub fn lines(&mut self, message: &Message) -> Vec<Value> {
        match message {
            Message::Assistant(message) => vec![self.assistant_line(message)],
            Message::User(message) => self.user_lines(message),
            Message::System(SystemMessage {
                event: SystemEvent::CompactBoundary { compact_metadata },
                session_id,
                uuid,
            }) => vec![self.boundary_line(compact_metadata, session_id, uuid)],
            Message::System(SystemMessage {
                event:
                    SystemEvent::ConversationRewound { last_message }
                    | SystemEvent::ConversationImported { last_message },
                ..
            }) => {
                self.leaf = Some(last_message.clone());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Continues after a message that the transcript has already.
    pub fn skip(&mut self, message: &Message) {
        match message {
            Message::Assistant(AssistantMessage { uuid, .. })
            | Message::User(UserMessage { uuid, .. })
            | Message::System(SystemMessage {
                event: SystemEvent::CompactBoundary { .. },
                uuid,
                ..
            }) => self.leaf = Some(uuid.clone()),
            _ => {}
        }
    }

    fn assistant_line(&mut self, message: &AssistantMessage) -> Value {
        for block in &message.message.content {
            if let ContentBlock::ToolUse(call) = block {
                self.callers.insert(call.id.clone(), message.uuid.clone());
            }
        }
        let mut body = message.message.clone();
        body.stop_reason.clone_from(&message.final_stop_reason);
        let origin = LineOrigin {
            session_id: &message.session_id,
            uuid: &message.uuid,
            timestamp: message.timestamp.as_deref(),
            agent_id: message.agent_id.as_deref(),
        };
        let mut line = self.line("assistant", &origin);
        line.insert("message".to_owned(), json!(body));
        if let Some(error) = &message.error {
            line.insert("isApiErrorMessage".to_owned(), Value::Bool(true));
            line.insert("error".to_owned(), json!(error));
        }
        self.leaf = Some(message.uuid.clone());
        Value::Object(line)
    }

    fn user_lines(&mut self, message: &UserMessage) -> Vec<Value> {
        let origin = LineOrigin {
            session_id: &message.session_id,
            uuid: &message.uuid,
            timestamp: message.timestamp.as_deref(),
            agent_id: message.agent_id.as_deref(),
        };
        let mut line = self.line("user", &origin);
        line.insert("message".to_owned(), user_body(message));
        if message.is_compact_summary {
            line.insert("isCompactSummary".to_owned(), Value::Bool(true));
        } else if message.is_synthetic {
            line.insert("isMeta".to_owned(), Value::Bool(true));
        }
        if let Some(ContentBlock::ToolResult(result)) = message.message.content.first() {
            if let Some(caller) = self.callers.remove(&result.tool_use_id) {
                line.insert("sourceToolAssistantUUID".to_owned(), Value::from(caller));
            }
            line.insert("toolUseResult".to_owned(), json!(message.tool_use_result));
        }
        self.leaf = Some(message.uuid.clone());
        let mut lines = vec![Value::Object(line)];
        lines.extend(self.prompt_line(message));
        lines
    }

    /// The line by which a list of sessions shows the last prompt.
    fn prompt_line(&self, message: &UserMessage) -> Option<Value> {
        let is_prompt = message.is_replay && message.agent_id.is_none();
        let text = message.message.content.iter().filter(|_| is_prompt);
        let text = text.filter_map(ContentBlock::as_text).next()?;
        let text: String = text.chars().take(MAX_LISTED_CHARS).collect();
        Some(json!({
            "type": "last-prompt", "lastPrompt": text, "leafUuid": message.uuid,
            "sessionId": message.session_id,
        }))
    }

    fn boundary_line(&mut self, metadata: &CompactMetadata, session_id: &str, uuid: &str) -> Value {
        let origin = LineOrigin { session_id, uuid, timestamp: None, agent_id: None };
        let mut line = self.line("system", &origin);
        line.insert("subtype".to_owned(), Value::from("compact_boundary"));
        line.insert("content".to_owned(), Value::from("Conversation compacted"));
        line.insert("logicalParentUuid".to_owned(), json!(self.leaf));
        line.insert("parentUuid".to_owned(), Value::Null);
        let compacted = json!({"trigger": metadata.trigger, "preTokens": metadata.pre_tokens});
        line.insert("compactMetadata".to_owned(), compacted);
        self.leaf = Some(uuid.to_owned());
        Value::Object(line)
    }

    fn line(&self, kind: &str, origin: &LineOrigin<'_>) -> Map<String, Value> {
        let TranscriptContext { cwd, version, git_branch, entrypoint } = &self.context;
        let mut line = Map::new();
        let mut put = |name: &str, value: Value| line.insert(name.to_owned(), value);
        put("parentUuid", json!(self.leaf));
        put("isSidechain", Value::Bool(origin.agent_id.is_some()));
        put("userType", Value::from("external"));
        put("cwd", json!(cwd));
        put("sessionId", json!(origin.session_id));
        put("version", json!(version));
        put("gitBranch", json!(git_branch));
        put("entrypoint", json!(entrypoint));
        put("type", json!(kind));
        put("uuid", json!(origin.uuid));
        if let Some(timestamp) = origin.timestamp {
            put("timestamp", json!(timestamp));
        }
        if let Some(agent_id) = origin.agent_id {
            put("agentId", json!(agent_id));
        }
        line
    }
}

/// The content of a user message. A prompt of one text is that text, as programs look for it.
fn user_body(message: &UserMessage) -> Value {
    match message.message.content.as_slice() {
        [ContentBlock::Text(text)] => json!({"role": message.message.role, "content": text.text}),
        _ => json!(message.message),
    }
}

/// Which message a line is about.
struct LineOrigin<'a> {
    session_id: &'a str,
    uuid: &'a str,
    timestamp: Option<&'a str>,
    agent_id: Option<&'a str>,
}
