//! Rejects conversations that the Chat Completions API would reject.

use super::request_parser::{ChatInput, ChatRole, ChatToolCall};
use crate::server::content::{self, MessageContent};
use crate::server::rejection::RequestRejection;
use crate::server::request_body::truncate_quoted;

/// Rejects what the service would reject.
pub(super) fn check_messages(messages: &[ChatInput<'_>]) -> Result<(), RequestRejection> {
    let mut left = messages;
    let mut index = 0_usize;
    while let Some((message, rest)) = left.split_first() {
        check_content(index, message)?;
        match message.role {
            ChatRole::Tool => return Err(stray_tool_message_rejection(index)),
            ChatRole::Instructions | ChatRole::User | ChatRole::Assistant => {}
        }
        let answers = leading_tool_messages(rest);
        check_answers_match(index, message, answers)?;
        let taken = answers.len();
        left = rest.get(taken..).unwrap_or_default();
        index = index.saturating_add(taken).saturating_add(1);
    }
    Ok(())
}

/// The tool messages at the beginning.
fn leading_tool_messages<'a, 'b>(messages: &'a [ChatInput<'b>]) -> &'a [ChatInput<'b>] {
    let count = messages.iter().take_while(|message| message.role == ChatRole::Tool).count();
    messages.get(..count).unwrap_or_default()
}

/// Checks that the tool messages after a message answer its calls.
fn check_answers_match(
    message_index: usize,
    message: &ChatInput<'_>,
    answers: &[ChatInput<'_>],
) -> Result<(), RequestRejection> {
    let called = |answer: &ChatInput<'_>| {
        message.calls.iter().any(|call| call.id == answer.answered_call_id)
    };
    for (at, answer) in answers.iter().enumerate() {
        let index = message_index.saturating_add(at).saturating_add(1);
        check_content(index, answer)?;
        match &answer.answered_call_id {
            None => return Err(missing_id_rejection(index)),
            Some(_) if !called(answer) => return Err(stray_tool_message_rejection(index)),
            Some(_) => {}
        }
    }
    let answered =
        |call: &&ChatToolCall| answers.iter().any(|answer| answer.answered_call_id == call.id);
    let open = message.calls.iter().filter(|call| !answered(call));
    let open: Vec<&str> = open.filter_map(|call| call.id.as_deref()).collect();
    if open.is_empty() { Ok(()) } else { Err(unanswered_calls_rejection(message_index, &open)) }
}

/// Checks that the content is a text or a list of parts, or missing where there are calls.
fn check_content(index: usize, message: &ChatInput<'_>) -> Result<(), RequestRejection> {
    let param = format!("messages[{index}].content");
    let Some(content) = message.content else {
        return match message.role {
            ChatRole::Assistant => Ok(()),
            ChatRole::Instructions | ChatRole::User | ChatRole::Tool => {
                let says = format!("Missing required parameter: '{param}'.");
                Err(RequestRejection::invalid(says)
                    .with_param(param)
                    .with_code("missing_required_parameter"))
            }
        };
    };
    match content::parse_content::<serde::de::IgnoredAny>(content) {
        Ok(MessageContent::Text(_) | MessageContent::Parts(_)) => Ok(()),
        Err(error) => {
            Err(RequestRejection::invalid(format!("Invalid type for '{param}': {error}"))
                .with_param(param)
                .with_code("invalid_type"))
        }
    }
}

fn missing_id_rejection(index: usize) -> RequestRejection {
    let param = format!("messages[{index}].tool_call_id");
    RequestRejection::invalid(format!("Missing required parameter: '{param}'."))
        .with_param(param)
        .with_code("missing_required_parameter")
}

fn stray_tool_message_rejection(index: usize) -> RequestRejection {
    RequestRejection::invalid(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message \
         with 'tool_calls'.",
    )
    .with_param(format!("messages.[{index}].role"))
}

fn unanswered_calls_rejection(index: usize, ids: &[&str]) -> RequestRejection {
    let ids = truncate_quoted(&ids.join(", "));
    RequestRejection::invalid(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
    ))
    .with_param(format!("messages.[{index}].role"))
}
