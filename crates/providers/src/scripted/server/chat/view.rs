//! What a script sees of a conversation.

use super::super::super::view::{View, ViewedResult, content_text};
use super::super::content::tells_of_an_error;
use super::request::{Message, Role, ToolCall};

pub(super) fn of(messages: &[Message<'_>], tools: Vec<String>) -> View {
    let replies = messages.iter().filter(|message| message.role == Role::Assistant).count();
    let user = messages.iter().rev().find(|message| message.role == Role::User);
    View {
        ask: u32::try_from(replies).unwrap_or(u32::MAX).saturating_add(1),
        last_user_text: user.map(|user| content_text(user.content)).unwrap_or_default(),
        results: results(messages),
        tools,
        older_bytes: 0,
    }
}

/// The tool messages since the last reply. A user's text after them stands beside them, as it
/// would in the one message that Anthropic's format makes of both.
fn results(messages: &[Message<'_>]) -> Vec<ViewedResult> {
    let is_reply = |message: &&Message<'_>| message.role == Role::Assistant;
    let unanswered = messages.iter().rev().take_while(|message| !is_reply(message));
    let mut results: Vec<_> = unanswered.filter(|message| message.role == Role::Tool).collect();
    results.reverse();
    let reply = messages.iter().rev().find(is_reply);
    let calls = reply.map(|reply| reply.calls.as_slice()).unwrap_or_default();
    results.into_iter().enumerate().map(|(place, result)| viewed(calls, place, result)).collect()
}

/// The place decides first which call a result answers, because ids may repeat.
fn viewed(calls: &[ToolCall], place: usize, result: &Message<'_>) -> ViewedResult {
    let answered = |call: &&ToolCall| call.id == result.answers;
    let call = calls.get(place).filter(answered).or_else(|| calls.iter().find(answered));
    let function = call.and_then(|call| call.function.as_ref());
    let text = content_text(result.content);
    ViewedResult {
        tool: function.and_then(|function| function.name.clone()).unwrap_or_default(),
        is_error: tells_of_an_error(&text),
        text,
    }
}
