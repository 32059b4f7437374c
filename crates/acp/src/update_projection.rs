//! Session updates for messages. Text and thoughts are shown while they arrive, and not again when
//! their reply is recorded.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    ContentBlock as ShownBlock, ContentChunk, CurrentModeUpdate, Plan, SessionUpdate, TextContent,
    ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use serde_json::{Map, Value, json};
use windlass::messages::{
    AssistantMessage, ContentBlock, Message, StreamEventMessage, SystemEvent, ToolProgressMessage,
    ToolResultBlock, ToolUseBlock, UserMessage,
};

use crate::tool_call_view::{
    ToolCallView, image_content, patch_diff, plan_entries, result_content,
};

/// Maximum size of a raw result in bytes.
const MAX_RAW_BYTES: usize = 256 << 10;

/// Maximum size of the output of a running call that is shown, in bytes.
const MAX_LIVE_BYTES: usize = 16 << 10;

/// The tool that sets the task list, which is shown as the plan.
const TASK_LIST_TOOL: &str = "TodoWrite";

/// Turns messages into session updates.
#[derive(Debug)]
pub(crate) struct UpdateProjection {
    folder: PathBuf,
    /// The blocks of the reply that arrives: what was shown of each.
    streamed: VecDeque<StreamedBlock>,
    /// The calls that have no result yet.
    open_calls: BTreeMap<String, OpenCall>,
}

/// A call that has no result yet.
#[derive(Debug, Default)]
struct OpenCall {
    tool: String,
    /// The end of what it has printed.
    output: String,
}

/// A block that was shown while it arrived.
#[derive(Debug, Default)]
struct StreamedBlock {
    index: u64,
    text: String,
}

impl UpdateProjection {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, streamed: VecDeque::new(), open_calls: BTreeMap::new() }
    }

    /// Returns the updates for a message.
    pub(crate) fn updates(&mut self, message: &Message) -> Vec<SessionUpdate> {
        match message {
            Message::StreamEvent(event) => self.stream_updates(event),
            Message::Assistant(message) => self.assistant_updates(message),
            Message::User(message) => self.user_updates(message),
            Message::System(message) => system_update(&message.event).into_iter().collect(),
            Message::Tombstone(_) => self.retract(),
            Message::ToolProgress(progress) => self.progress_update(progress).into_iter().collect(),
            Message::Result(_)
            | Message::ToolUseSummary(_)
            | Message::ConversationReset(_)
            | Message::Other(_) => Vec::new(),
        }
    }

    /// Forgets what was shown of a reply that does not count.
    pub(crate) fn forget_reply(&mut self) {
        self.streamed.clear();
    }

    /// Returns updates for the calls that got no result, because their run has ended.
    pub(crate) fn close_calls(&mut self) -> Vec<SessionUpdate> {
        let failed = |id: String| {
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
        };
        std::mem::take(&mut self.open_calls).into_keys().map(failed).collect()
    }

    fn stream_updates(&mut self, message: &StreamEventMessage) -> Vec<SessionUpdate> {
        if message.parent_tool_use_id.is_some() {
            return Vec::new();
        }
        let event = &message.event;
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                self.streamed.clear();
                Vec::new()
            }
            Some("content_block_start") => {
                self.begin_block(event);
                self.show_delta(event.pointer("/content_block/text"), Self::text_chunk)
            }
            Some("content_block_delta") => {
                let text = event.pointer("/delta/text");
                let mut updates = self.show_delta(text, Self::text_chunk);
                let thought = event.pointer("/delta/thinking");
                updates.extend(self.show_delta(thought, Self::thought_chunk));
                updates
            }
            _ => Vec::new(),
        }
    }

    fn begin_block(&mut self, event: &Value) {
        let kind = event.pointer("/content_block/type").and_then(Value::as_str);
        if matches!(kind, Some("text" | "thinking")) {
            let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
            self.streamed.push_back(StreamedBlock { index, text: String::new() });
        }
    }

    fn show_delta(
        &mut self,
        text: Option<&Value>,
        chunk: fn(&str) -> SessionUpdate,
    ) -> Vec<SessionUpdate> {
        let Some(text) = text.and_then(Value::as_str).filter(|text| !text.is_empty()) else {
            return Vec::new();
        };
        if let Some(block) = self.streamed.back_mut() {
            block.text.push_str(text);
        }
        vec![chunk(text)]
    }

    fn text_chunk(text: &str) -> SessionUpdate {
        SessionUpdate::AgentMessageChunk(text_chunk(text))
    }

    fn thought_chunk(text: &str) -> SessionUpdate {
        SessionUpdate::AgentThoughtChunk(text_chunk(text))
    }

    /// What was shown of a reply does not count. It cannot be taken back, so the reader is told.
    fn retract(&mut self) -> Vec<SessionUpdate> {
        let was_shown = self.streamed.drain(..).any(|block| !block.text.is_empty());
        let note = "\n\n*The reply was interrupted; what is above of it does not count.*\n\n";
        was_shown.then(|| Self::text_chunk(note)).into_iter().collect()
    }

    fn assistant_updates(&mut self, message: &AssistantMessage) -> Vec<SessionUpdate> {
        let parent = message.parent_tool_use_id.as_deref();
        let show = |block: &ContentBlock| match block {
            ContentBlock::Text(text) if parent.is_none() => {
                self.rest_of(&text.text, Self::text_chunk)
            }
            ContentBlock::Thinking(thinking) if parent.is_none() => {
                self.rest_of(&thinking.thinking, Self::thought_chunk)
            }
            ContentBlock::ToolUse(call) => Some(self.call_update(call, parent)),
            ContentBlock::Text(_)
            | ContentBlock::Thinking(_)
            | ContentBlock::ToolResult(_)
            | ContentBlock::Other(_) => None,
        };
        message.message.content.iter().filter_map(show).collect()
    }

    /// What was not shown of a text while it arrived.
    fn rest_of(&mut self, text: &str, chunk: fn(&str) -> SessionUpdate) -> Option<SessionUpdate> {
        let shown = self.streamed.pop_front().unwrap_or_default();
        let rest = match text.strip_prefix(shown.text.as_str()) {
            Some(rest) => rest,
            // The recorded text is another one, for example without a secret.
            None => text,
        };
        tracing::trace!(block = shown.index, rest = rest.len(), "a block is recorded");
        (!rest.is_empty()).then(|| chunk(rest))
    }

    fn call_update(&mut self, call: &ToolUseBlock, parent: Option<&str>) -> SessionUpdate {
        if call.name == TASK_LIST_TOOL && parent.is_none() {
            return SessionUpdate::Plan(Plan::new(plan_entries(&call.input)));
        }
        let open = OpenCall { tool: call.name.clone(), output: String::new() };
        self.open_calls.insert(call.id.clone(), open);
        let view = ToolCallView::new(&call.name, &call.input, &self.folder);
        let mut meta = Map::new();
        meta.insert("windlass/toolName".to_owned(), json!(call.name));
        if let Some(parent) = parent {
            meta.insert("windlass/parentToolCallId".to_owned(), json!(parent));
        }
        let update = ToolCall::new(call.id.clone(), view.title)
            .kind(view.kind)
            .status(ToolCallStatus::InProgress)
            .content(view.content)
            .locations(view.locations)
            .raw_input(call.input.clone())
            .meta(meta);
        SessionUpdate::ToolCall(update)
    }

    fn user_updates(&mut self, message: &UserMessage) -> Vec<SessionUpdate> {
        let is_prompt = message.parent_tool_use_id.is_none() && !message.is_synthetic;
        let mut updates = Vec::new();
        for block in &message.message.content {
            let update = match block {
                ContentBlock::ToolResult(result) => {
                    self.result_update(result, message.tool_use_result.as_ref())
                }
                ContentBlock::Text(text) if is_prompt => {
                    Some(SessionUpdate::UserMessageChunk(text_chunk(&text.text)))
                }
                ContentBlock::Other(block) if is_prompt => image_content(block).map(|image| {
                    let chunk = ContentChunk::new(ShownBlock::Image(image));
                    SessionUpdate::UserMessageChunk(chunk)
                }),
                ContentBlock::Text(_)
                | ContentBlock::Thinking(_)
                | ContentBlock::ToolUse(_)
                | ContentBlock::Other(_) => None,
            };
            updates.extend(update);
        }
        updates
    }

    /// Shows what a running call has printed so far, as far as it is recent.
    fn progress_update(&mut self, progress: &ToolProgressMessage) -> Option<SessionUpdate> {
        let call = self.open_calls.get_mut(&progress.tool_use_id)?;
        let output = progress.output.as_deref()?;
        if progress.omitted_bytes.is_some() {
            call.output.clear();
        }
        call.output.push_str(output);
        let begins = call.output.len().saturating_sub(MAX_LIVE_BYTES);
        let begins = call.output.ceil_char_boundary(begins);
        call.output.drain(..begins);
        let content = result_content(&call.tool, &Value::from(call.output.as_str()));
        let fields = ToolCallUpdateFields::new().content(content);
        let update = ToolCallUpdate::new(progress.tool_use_id.clone(), fields);
        Some(SessionUpdate::ToolCallUpdate(update))
    }

    fn result_update(
        &mut self,
        result: &ToolResultBlock,
        object: Option<&Value>,
    ) -> Option<SessionUpdate> {
        let OpenCall { tool, .. } = self.open_calls.remove(&result.tool_use_id)?;
        let status = match result.is_error {
            true => ToolCallStatus::Failed,
            false => ToolCallStatus::Completed,
        };
        let raw = object.unwrap_or(&result.content);
        let raw = Some(raw.clone()).filter(|raw| raw.to_string().len() <= MAX_RAW_BYTES);
        let mut fields = ToolCallUpdateFields::new().status(status).raw_output(raw);
        // The diff of a change says more than the sentence about it.
        let is_change = !result.is_error && matches!(tool.as_str(), "Edit" | "Write");
        let content = match is_change {
            true => patch_diff(object, &self.folder).into_iter().collect(),
            false => result_content(&tool, &result.content),
        };
        if !content.is_empty() {
            fields = fields.content(content);
        }
        Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(result.tool_use_id.clone(), fields)))
    }
}

/// Returns a chunk of text.
pub(crate) fn text_chunk(text: &str) -> ContentChunk {
    ContentChunk::new(ShownBlock::Text(TextContent::new(text)))
}

fn system_update(event: &SystemEvent) -> Option<SessionUpdate> {
    match event {
        SystemEvent::Status { permission_mode: Some(mode), .. } => {
            Some(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode.clone())))
        }
        _ => None,
    }
}
