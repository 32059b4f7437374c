//! What a script sees of a chat conversation.

use super::request_parser::{ChatInput, ChatRole, ChatToolCall};
use crate::request_view::{OwnedRequestView, OwnedToolResult, content_text, without_result_marks};
use crate::server::content::is_error_text;

pub(super) fn view_of_messages(messages: &[ChatInput<'_>], tools: Vec<String>) -> OwnedRequestView {
    let replies = messages.iter().filter(|message| message.role == ChatRole::Assistant).count();
    let mut users = messages.iter().rev().filter(|message| message.role == ChatRole::User);
    let user = users.find_map(|user| without_result_marks(&content_text(user.content)));
    OwnedRequestView {
        ask: u32::try_from(replies).unwrap_or(u32::MAX).saturating_add(1),
        last_user_text: user.unwrap_or_default(),
        results: unanswered_results(messages),
        tools,
        older_bytes: 0,
    }
}

/// The tool messages since the last reply. A user's text after them is part of the same turn, as it
/// would be in the one message that Anthropic's format makes of both.
fn unanswered_results(messages: &[ChatInput<'_>]) -> Vec<OwnedToolResult> {
    let is_reply = |message: &&ChatInput<'_>| message.role == ChatRole::Assistant;
    let unanswered = messages.iter().rev().take_while(|message| !is_reply(message));
    let mut results: Vec<_> = unanswered.filter(|message| message.role == ChatRole::Tool).collect();
    results.reverse();
    let reply = messages.iter().rev().find(is_reply);
    let calls = reply.map(|reply| reply.calls.as_slice()).unwrap_or_default();
    results
        .into_iter()
        .enumerate()
        .map(|(index, result)| result_view(calls, index, result))
        .collect()
}

/// The result with its tool. The position decides first which call a result belongs to, because ids
/// may repeat.
fn result_view(calls: &[ChatToolCall], index: usize, result: &ChatInput<'_>) -> OwnedToolResult {
    let answered = |call: &&ChatToolCall| call.id == result.answered_call_id;
    let call = calls.get(index).filter(answered).or_else(|| calls.iter().find(answered));
    let function = call.and_then(|call| call.function.as_ref());
    let text = content_text(result.content);
    OwnedToolResult {
        tool: function.and_then(|function| function.name.clone()).unwrap_or_default(),
        is_error: is_error_text(&text),
        text,
    }
}
