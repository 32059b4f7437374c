//! The conversation as lines: messages in, finished lines and the lines in progress out. Pure; it
//! knows neither the log nor the terminal.

use serde_json::Value;
use windlass::messages::{
    AssistantMessage, CompactionStatus, ContentBlock, Message, SystemEvent, UserMessage,
};

use super::call_view::last_lines;
use super::folded_items::FoldedItems;
use super::rows::{accent, paint, split_columns};
use crate::output::markdown::MarkdownRenderer;
use crate::terminal::number_format::count_noun;
use crate::terminal::{Color, escape_invisible, sanitize_text, to_one_line, wrap_words};

/// The columns before the text of the model.
const INDENT: usize = 2;

/// Maximum lines of a prompt that are repeated in the scrollback.
const MAX_PROMPT_LINES: usize = 20;

/// Maximum lines of a history that are shown again.
const MAX_HISTORY_LINES: usize = 400;

/// A call that is running.
#[derive(Debug, Clone)]
pub(super) struct RunningCall {
    pub(super) id: String,
    /// The name of the tool and its most important argument.
    pub(super) line: String,
    /// What its sub-agent does.
    pub(super) activity: Option<String>,
    pub(super) tasks: Option<Vec<String>>,
}

/// The block of the reply that is arriving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LiveBlock {
    None,
    Text,
    Thinking,
    Call,
}

/// Turns messages into lines.
pub(super) struct ConversationView {
    pub(super) width: usize,
    markdown: MarkdownRenderer,
    /// The line of the reply that is not finished.
    open_line: String,
    /// Whether the next line of text begins a text of the model.
    begins_text: bool,
    pub(super) finished: Vec<String>,
    block: LiveBlock,
    live_text: String,
    /// Texts that were streamed, and whose messages have not arrived yet.
    streamed: Vec<String>,
    /// Thoughts that were streamed and shown, and whose messages have not arrived yet.
    shown_thoughts: Vec<String>,
    pub(super) thinking: String,
    pub(super) calls: Vec<RunningCall>,
    pub(super) tasks: Vec<String>,
    /// What the provider is waited for.
    pub(super) retry: Option<String>,
    /// Characters of the reply in progress, for an estimate of its tokens.
    pub(super) live_chars: usize,
    /// What Ctrl-O unfolds, the newest first.
    pub(super) folded: FoldedItems,
}

impl ConversationView {
    pub(super) fn new(columns: usize) -> Self {
        let width = text_width(columns);
        Self {
            width,
            markdown: MarkdownRenderer::new(width),
            open_line: String::new(),
            begins_text: false,
            finished: Vec::new(),
            block: LiveBlock::None,
            live_text: String::new(),
            streamed: Vec::new(),
            shown_thoughts: Vec::new(),
            thinking: String::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            retry: None,
            live_chars: 0,
            folded: FoldedItems::default(),
        }
    }

    /// The lines that are finished since the last time.
    pub(super) fn take_finished(&mut self) -> Vec<String> {
        std::mem::take(&mut self.finished)
    }

    /// The line in progress.
    pub(super) fn open_line(&self) -> Option<String> {
        let mark = if self.begins_text { accent("●") } else { " ".to_owned() };
        (!self.open_line.is_empty()).then(|| format!("{mark} {}", self.open_line))
    }

    /// The screen has another width: applies from the next text on.
    pub(super) fn resize(&mut self, columns: usize) {
        self.width = text_width(columns);
        if self.block != LiveBlock::Text {
            self.markdown = MarkdownRenderer::new(self.width);
        }
    }

    /// Adds a line of our own.
    pub(super) fn add_note(&mut self, color: Color, text: &str) {
        self.end_text();
        for line in sanitize_text(text).lines() {
            let wrapped = wrap_words(line, self.width, 2);
            self.finished.extend(wrapped.lines().map(|row| paint(color, row)));
        }
    }

    /// Puts the command above the lines that it has added since `begin`, unless they begin with a
    /// prompt.
    pub(super) fn head_output(&mut self, begin: usize, command: &str) {
        let added = self.finished.get(begin..).unwrap_or_default();
        if added.is_empty() || added.iter().any(|line| line.starts_with(&accent("❯"))) {
            return;
        }
        let command = to_one_line(command, self.width.saturating_sub(INDENT));
        let head = paint(Color::Dim, &format!("❯ {command}"));
        self.finished.splice(begin..begin, [String::new(), head]);
    }

    /// Adds a line that a command of the user has printed.
    pub(super) fn add_output_line(&mut self, line: &str) {
        self.end_text();
        let line = sanitize_text(line);
        self.finished.extend(split_columns(&line, self.width).iter().map(|row| format!("  {row}")));
    }

    /// Adds a prompt of the user.
    pub(super) fn add_prompt(&mut self, text: &str) {
        self.end_text();
        self.blank_line();
        let text = escape_invisible(text.trim_end());
        let rows: Vec<String> =
            text.lines().flat_map(|line| split_columns(line, self.width)).collect();
        for (at, row) in rows.iter().take(MAX_PROMPT_LINES).enumerate() {
            let mark = if at == 0 { accent("❯") } else { " ".to_owned() };
            self.finished.push(format!("{mark} {}", paint(Color::Bold, row)));
        }
        if let Some(more) = rows.len().checked_sub(MAX_PROMPT_LINES).filter(|more| *more > 0) {
            self.finished
                .push(paint(Color::Dim, &format!("  … {}", count_noun(more as u64, "more line"))));
        }
        self.blank_line();
    }

    pub(super) fn blank_line(&mut self) {
        if self.finished.last().is_none_or(|line| !line.is_empty()) {
            self.finished.push(String::new());
        }
    }

    pub(super) fn on_message(&mut self, message: &Message) {
        match message {
            Message::StreamEvent(event) if event.parent_tool_use_id.is_none() => {
                self.on_stream_event(&event.event);
            }
            Message::Assistant(message) => match &message.parent_tool_use_id {
                None => self.on_assistant(message),
                Some(parent) => self.on_sub_agent(parent, message),
            },
            Message::User(message) if message.parent_tool_use_id.is_none() => {
                self.on_user(message);
            }
            Message::System(message) => self.on_system(&message.event),
            Message::Tombstone(stone) if stone.parent_tool_use_id.is_none() => self.on_tombstone(),
            Message::ToolProgress(progress) => {
                let text =
                    progress.status.clone().or_else(|| last_lines(progress.output.as_deref()));
                self.set_activity(&progress.tool_use_id, text);
            }
            Message::Result(_)
            | Message::StreamEvent(_)
            | Message::User(_)
            | Message::Tombstone(_)
            | Message::ToolUseSummary(_)
            | Message::ConversationReset(_)
            | Message::Other(_) => {}
        }
    }

    fn on_stream_event(&mut self, event: &Value) {
        self.retry = None;
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                self.streamed.clear();
                self.shown_thoughts.clear();
                self.live_chars = 0;
            }
            Some("content_block_start") => {
                self.end_live_block();
                let kind = event.pointer("/content_block/type").and_then(Value::as_str);
                self.block = match kind {
                    Some("text") => LiveBlock::Text,
                    Some("thinking") => LiveBlock::Thinking,
                    Some("tool_use") => LiveBlock::Call,
                    _ => LiveBlock::None,
                };
                if self.block == LiveBlock::Text {
                    self.begin_text();
                    let text = event.pointer("/content_block/text").and_then(Value::as_str);
                    self.push_live_text(text.unwrap_or_default());
                }
            }
            Some("content_block_delta") => self.on_delta(event),
            Some("content_block_stop") if self.block == LiveBlock::Thinking => {
                self.end_live_block();
            }
            _ => {}
        }
    }

    fn on_delta(&mut self, event: &Value) {
        let piece = |name: &str| event.pointer(name).and_then(Value::as_str).unwrap_or_default();
        match self.block {
            LiveBlock::Text => self.push_live_text(piece("/delta/text")),
            LiveBlock::Thinking => {
                let piece = piece("/delta/thinking");
                self.live_chars += piece.len();
                self.thinking.push_str(piece);
            }
            LiveBlock::Call => self.live_chars += piece("/delta/partial_json").len(),
            LiveBlock::None => {}
        }
    }

    fn push_live_text(&mut self, piece: &str) {
        self.live_chars += piece.len();
        self.live_text.push_str(piece);
        self.push_text(piece);
    }

    fn end_live_block(&mut self) {
        if self.block == LiveBlock::Text {
            self.end_text();
            self.streamed.push(std::mem::take(&mut self.live_text));
        }
        if self.block == LiveBlock::Thinking {
            // Before the text that follows it.
            let thought = std::mem::take(&mut self.thinking);
            self.show_thought(&thought);
            self.shown_thoughts.push(thought);
        }
        self.block = LiveBlock::None;
    }

    fn begin_text(&mut self) {
        self.end_text();
        self.blank_line();
        self.begins_text = true;
    }

    fn push_text(&mut self, piece: &str) {
        let rendered = self.markdown.push(&sanitize_text(piece));
        self.add_rendered(&rendered);
    }

    fn add_rendered(&mut self, rendered: &str) {
        let mut lines = rendered.split('\n');
        self.open_line.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.finish_line();
            self.open_line.push_str(line);
        }
    }

    fn finish_line(&mut self) {
        let line = std::mem::take(&mut self.open_line);
        if line.is_empty() {
            // A text does not begin with blank lines, and two are one.
            if !self.begins_text {
                self.blank_line();
            }
            return;
        }
        let mark = match std::mem::take(&mut self.begins_text) {
            true => accent("●"),
            false => " ".to_owned(),
        };
        self.finished.push(format!("{mark} {line}"));
    }

    /// Ends the text of the model: the next line is something else.
    pub(super) fn end_text(&mut self) {
        let rendered = self.markdown.end();
        self.add_rendered(&rendered);
        if !self.open_line.is_empty() {
            self.finish_line();
        }
        self.begins_text = false;
        self.markdown = MarkdownRenderer::new(self.width);
    }

    fn on_assistant(&mut self, message: &AssistantMessage) {
        self.end_live_block();
        self.retry = None;
        for block in &message.message.content {
            match block {
                ContentBlock::Text(text) => self.add_text(&text.text),
                ContentBlock::Thinking(thinking) => self.add_thinking(&thinking.thinking),
                ContentBlock::ToolUse(call) => self.begin_call(call),
                ContentBlock::ToolResult(_) | ContentBlock::Other(_) => {}
            }
        }
    }

    /// Adds a complete text, of which a beginning may have been streamed.
    fn add_text(&mut self, text: &str) {
        let shown = match self.streamed.is_empty() {
            true => String::new(),
            false => self.streamed.remove(0),
        };
        match text.strip_prefix(&shown) {
            Some("") => {}
            Some(rest) => {
                if shown.is_empty() {
                    self.begin_text();
                }
                self.push_text(rest);
                self.end_text();
            }
            None => {
                self.begin_text();
                self.push_text(text);
                self.end_text();
            }
        }
    }

    /// Adds a complete thought, unless it was shown as it was streamed.
    fn add_thinking(&mut self, text: &str) {
        self.thinking.clear();
        match self.shown_thoughts.iter().position(|shown| shown.trim() == text.trim()) {
            Some(at) => drop(self.shown_thoughts.remove(at)),
            None => self.show_thought(text),
        }
    }

    fn show_thought(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.end_text();
        self.blank_line();
        let first = to_one_line(text, self.width.saturating_sub(12));
        self.finished.push(paint(Color::Dim, &format!("∴ {first}")));
        self.folded.add("Thinking", text);
    }

    fn on_user(&mut self, message: &UserMessage) {
        if message.is_compact_summary {
            return;
        }
        for block in &message.message.content {
            if let ContentBlock::ToolResult(result) = block {
                self.finish_call(result, message.tool_use_result.as_ref());
            }
        }
        if message.is_replay {
            // Mentioned files come before the text of the prompt.
            let text = message.message.content.iter().rev().find_map(ContentBlock::as_text);
            self.add_prompt(text.unwrap_or_default());
        }
    }

    fn on_tombstone(&mut self) {
        let was_shown = !self.live_text.trim().is_empty()
            || self.streamed.iter().any(|text| !text.trim().is_empty());
        self.end_live_block();
        self.streamed.clear();
        self.shown_thoughts.clear();
        self.thinking.clear();
        if was_shown {
            self.add_note(Color::Dim, "  (the text above was discarded)");
        }
    }

    fn on_system(&mut self, event: &SystemEvent) {
        match event {
            SystemEvent::CompactBoundary { compact_metadata } => {
                let (before, after) = (compact_metadata.pre_tokens, compact_metadata.post_tokens);
                self.add_note(
                    Color::Dim,
                    &format!("─ context compacted: {before} to {after} tokens ─"),
                );
            }
            SystemEvent::Status { compact_result: Some(CompactionStatus::Failed), .. } => {
                self.add_note(Color::Yellow, "The context could not be compacted.");
            }
            SystemEvent::ApiRetry { attempt, retry_delay_ms, error, .. } => {
                let seconds = retry_delay_ms.div_ceil(1_000);
                self.retry = Some(format!("{error}; attempt {} in {seconds} s", attempt + 1));
            }
            SystemEvent::ModelFallback { content, .. } => self.add_note(Color::Yellow, content),
            SystemEvent::Informational { content, level, .. } => {
                let color = if level == "warning" { Color::Yellow } else { Color::Dim };
                self.add_note(color, content);
            }
            SystemEvent::Init(_)
            | SystemEvent::Status { .. }
            | SystemEvent::PermissionDenied { .. }
            | SystemEvent::HookStarted { .. }
            | SystemEvent::HookResponse { .. }
            | SystemEvent::TaskStarted { .. }
            | SystemEvent::TaskProgress { .. }
            | SystemEvent::TaskUpdated { .. }
            | SystemEvent::TaskNotification { .. }
            | SystemEvent::SessionStateChanged { .. }
            | SystemEvent::ConversationRewound { .. }
            | SystemEvent::ConversationImported { .. }
            | SystemEvent::Other(_) => {}
        }
    }

    /// Keeps the end of what was shown: the rest of a long history is in the store.
    pub(super) fn keep_last_lines(&mut self) {
        let too_many = self.finished.len().saturating_sub(MAX_HISTORY_LINES);
        if too_many > 0 {
            self.finished.drain(..too_many);
            let note = format!("  … {} before", count_noun(too_many as u64, "line"));
            self.finished.insert(0, paint(Color::Dim, &note));
        }
    }

    /// The run is over: nothing is in progress.
    pub(super) fn end_run(&mut self) {
        self.end_live_block();
        self.end_text();
        self.streamed.clear();
        self.shown_thoughts.clear();
        self.thinking.clear();
        self.calls.clear();
        self.tasks.clear();
        self.retry = None;
        self.live_chars = 0;
    }
}

fn text_width(columns: usize) -> usize {
    columns.saturating_sub(INDENT).clamp(20, 120)
}
