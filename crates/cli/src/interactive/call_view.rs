//! Calls in the conversation: those that run, and the line of each that has ended, with its diff.

use serde_json::Value;
use windlass::core::message::content_block::ToolUse;
use windlass::core::message::raw_json::RawJson;
use windlass::messages::{AssistantMessage, ContentBlock, ToolResultBlock, ToolUseBlock};
use windlass::tools::{DiffHunk, background_command_id};

use super::conversation_view::{ConversationView, RunningCall};
use super::rows::paint;
use crate::messages;
use crate::output::diff_view;
use crate::terminal::number_format::count_noun;
use crate::terminal::{Color, ColorSupport, fit_columns, sanitize_text};

/// Maximum lines of the output of a failed call that are shown.
const MAX_ERROR_LINES: usize = 4;

/// Lines at the end of the output of a running command that are shown.
const TAIL_LINES: usize = 4;

impl ConversationView {
    pub(super) fn begin_call(&mut self, block: &ToolUseBlock) {
        self.end_text();
        let Some(call) = core_call(block) else { return };
        let is_plan = block.name == "ExitPlanMode" || block.name == "AskUserQuestion";
        let tasks = (block.name == "TodoWrite").then(|| messages::task_lines(&call.input));
        if !is_plan || self.calls.iter().all(|known| known.id != block.id) {
            let line = messages::call_line(&call);
            self.calls.push(RunningCall { id: block.id.clone(), line, activity: None, tasks });
        }
    }

    pub(super) fn on_sub_agent(&mut self, parent: &str, message: &AssistantMessage) {
        let call = message.message.content.iter().find_map(|block| match block {
            ContentBlock::ToolUse(call) => core_call(call),
            _ => None,
        });
        self.set_activity(parent, call.map(|call| messages::call_line(&call)));
    }

    pub(super) fn set_activity(&mut self, id: &str, activity: Option<String>) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id)
            && let Some(activity) = activity
        {
            call.activity = Some(activity);
        }
    }

    pub(super) fn finish_call(&mut self, result: &ToolResultBlock, view: Option<&Value>) {
        let Some(at) = self.calls.iter().position(|call| call.id == result.tool_use_id) else {
            return;
        };
        let call = self.calls.remove(at);
        self.end_text();
        let text = result_text(&result.content);
        let (mark, color) =
            if result.is_error { ("✗", Color::Red) } else { ("✓", Color::Green) };
        let (name, rest) = call.line.split_once(' ').unwrap_or((&call.line, ""));
        let room = self.width.saturating_sub(name.chars().count() + 1);
        let rest = fit_columns(rest, room);
        let line = format!("{} {} {}", paint(color, mark), paint(Color::Bold, name), rest);
        self.finished.push(line.trim_end().to_owned());
        if result.is_error {
            self.add_error_lines(&text);
        }
        if let Some(id) = background_command_id(&text).filter(|_| name == "Bash") {
            let note =
                format!("    runs in the background as {}; /tasks shows it", sanitize_text(id));
            self.finished.push(paint(Color::Dim, &note));
        }
        let hunks = view.map(read_hunks).unwrap_or_default();
        self.finished.extend(diff_view::diff_lines(&hunks, ColorSupport::Enabled));
        if let Some(tasks) = call.tasks.filter(|_| !result.is_error) {
            let is_done = |task: &String| task.trim_start().starts_with('☒');
            self.tasks = if tasks.iter().all(is_done) { Vec::new() } else { tasks };
        }
        self.folded.add(&call.line, &text);
    }

    fn add_error_lines(&mut self, text: &str) {
        let text = sanitize_text(&error_sentence(text).unwrap_or_else(|| text.to_owned()));
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().take(MAX_ERROR_LINES) {
            let line = fit_columns(line, self.width.saturating_sub(2));
            self.finished.push(paint(Color::Dim, &format!("    {line}")));
        }
        if let Some(more) = lines.len().checked_sub(MAX_ERROR_LINES).filter(|more| *more > 0) {
            let more = format!("    … {} (Ctrl-O)", count_noun(more as u64, "more line"));
            self.finished.push(paint(Color::Dim, &more));
        }
    }

    /// Prints the newest of what is folded; again: the one before. Returns whether there is one.
    pub(super) fn unfold(&mut self) -> bool {
        let lines = self.folded.unfold_next();
        let is_something = !lines.is_empty();
        self.finished.extend(lines.iter().map(|line| paint(Color::Dim, line)));
        is_something
    }
}

/// What a result for the model says of an error: the sentence, and the output of a command.
fn error_sentence(text: &str) -> Option<String> {
    let error: Value = serde_json::from_str(text).ok()?;
    let message = error.get("message")?.as_str()?;
    Some(match error.get("output").and_then(Value::as_str) {
        Some(output) => format!("{message}\n{output}"),
        None => message.to_owned(),
    })
}

/// The end of the output of a running command.
pub(super) fn last_lines(text: Option<&str>) -> Option<String> {
    let lines = text?.lines().filter(|line| !line.trim().is_empty());
    let mut last: Vec<&str> =
        lines.collect::<Vec<_>>().into_iter().rev().take(TAIL_LINES).collect();
    last.reverse();
    (!last.is_empty()).then(|| sanitize_text(&last.join("\n")))
}

fn core_call(block: &ToolUseBlock) -> Option<ToolUse> {
    let input = RawJson::parse(block.input.to_string()).ok()?;
    Some(ToolUse { id: block.id.as_str().into(), name: block.name.as_str().into(), input })
}

/// The text of a result: a text, or the texts of its blocks.
fn result_text(content: &Value) -> String {
    let text_of = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(text_of).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The hunks of a file change, from the object for the SDKs.
fn read_hunks(view: &Value) -> Vec<DiffHunk> {
    let patch = view.get("structuredPatch").cloned();
    patch.and_then(|patch| serde_json::from_value(patch).ok()).unwrap_or_default()
}
