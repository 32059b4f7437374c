//! Calls, their results and content blocks as text, on one line or whole.

use windlass::core::call::outcome::{CallResult, OutcomeKind};
use windlass::core::log::ids::CallId;
use windlass::core::message::content_block::{BlockKind, ContentBlock, ToolUse};
use windlass::core::message::raw_json::RawJson;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;

use super::call_summary;
use crate::terminal::{escape_invisible, to_one_line, truncate};

/// Maximum characters of a call on its line.
pub(super) const MAX_CALL_CHARS: usize = 72;

/// Maximum characters of a call's arguments.
const MAX_INPUT_CHARS: usize = 500;

/// The running calls.
pub(crate) fn running_calls(first: &str, others: usize) -> String {
    match others {
        0 => first.to_owned(),
        _ => format!("{first} and {others} more"),
    }
}

/// The line of a call that ended without a result of its tool.
pub(crate) fn call_without_result(name: &str, kind: OutcomeKind, reason: &str) -> Option<String> {
    let reason = first_line(reason);
    match kind {
        OutcomeKind::Failed => Some(format!("  ✗ {name}: {reason}")),
        OutcomeKind::Denied => Some(format!("  ✗ {name}: denied, {reason}")),
        OutcomeKind::Skipped => Some(format!("  - {name}: not run, {reason}")),
        OutcomeKind::Deferred => Some(format!("  - {name}: deferred by a hook")),
        OutcomeKind::Interrupted => Some(format!("  ✗ {name}: interrupted")),
        OutcomeKind::TimedOut => Some(format!("  ✗ {name}: timed out")),
        OutcomeKind::Answered => {
            Some(format!("  ✓ {name}: {}", to_one_line(reason, MAX_CALL_CHARS)))
        }
        OutcomeKind::Done => None,
    }
}

/// A call on one line, for people.
pub(crate) fn call_line(call: &ToolUse) -> String {
    let text = call_summary(call);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = escape_invisible(&text);
    let mut cut: String = text.chars().take(MAX_CALL_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("{} {cut}", escape_invisible(&call.name)).trim_end().to_owned()
}

/// The line of a call that sub-agents answered.
pub(crate) fn sub_agent_finished(name: &str) -> String {
    format!("  ← {name}: sub-agent finished")
}

/// The first line of a text.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A call as people read it: the tool and its arguments.
pub(crate) fn call_text(id: CallId, now: &Conversation) -> String {
    let round = now.run.as_ref().and_then(Run::round);
    match round.and_then(|round| round.call(id)) {
        Some(call) => format_tool_use(&call.tool_use.name, &call.tool_use.input),
        None => format!("call {id}"),
    }
}

/// A tool with its arguments, on one line.
pub(crate) fn format_tool_use(name: &str, input: &RawJson) -> String {
    // Escape sequences are decoded before they are shown.
    let decoded = input.read::<serde_json::Value>().ok().filter(|_| input.text().contains("\\u"));
    let input = decoded.map_or_else(|| input.text().to_owned(), |value| value.to_string());
    let whole: Vec<String> = [name, &input].iter().map(|text| escape_invisible(text)).collect();
    truncate(&whole.join(" ").replace('\n', "\\n"), MAX_INPUT_CHARS)
}

/// The text of content blocks; blocks that are not text are named.
pub(crate) fn blocks_text(blocks: &[ContentBlock]) -> String {
    let piece = |block: &ContentBlock| match block.kind() {
        BlockKind::Text(text) => text.to_string(),
        BlockKind::ToolUse(call) => format_tool_use(&call.name, &call.input),
        BlockKind::ToolResult { .. } => block.raw().text().to_owned(),
        BlockKind::Other(kind) => format!("[{kind}]"),
    };
    blocks.iter().map(piece).collect::<Vec<_>>().join("\n")
}

/// The result of a call, as text.
pub(crate) fn result_text(result: &CallResult) -> String {
    if let Ok(text) = result.content.read::<String>() {
        return text;
    }
    match result.content.read::<Vec<ContentBlock>>() {
        Ok(found) => blocks_text(&found),
        Err(_) => result.content.text().to_owned(),
    }
}

/// The message of an error result; the whole text of any other result.
pub(crate) fn error_message(result: &CallResult) -> String {
    let text = result_text(result);
    let object = serde_json::from_str::<serde_json::Value>(&text).ok();
    let message = object.as_ref().and_then(|object| object.get("message"));
    message.and_then(serde_json::Value::as_str).map_or(text.clone(), str::to_owned)
}
