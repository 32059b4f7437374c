//! Rejects conversations that the Messages API would reject.

use super::request_parser::{MessagesInput, MessagesInputBlock, MessagesRole};
use crate::server::rejection::RequestRejection;
use crate::server::request_body::truncate_quoted;

/// Rejects what the service would reject.
///
/// Not checked: that ids are unique over the whole conversation. A script may give the same id
/// twice, and rejecting its own id would be of no use.
pub(super) fn check_messages(messages: &[MessagesInput<'_>]) -> Result<(), RequestRejection> {
    if messages.first().is_some_and(|first| first.role != MessagesRole::User) {
        return Err(RequestRejection::invalid(
            "messages: first message must use the \"user\" role",
        ));
    }
    let mut before: Option<&MessagesInput<'_>> = None;
    for (index, message) in messages.iter().enumerate() {
        let is_last = index.saturating_add(1) == messages.len();
        check_not_empty(index, message, is_last)?;
        check_required_fields(index, message)?;
        check_results_match(index, before, message)?;
        before = Some(message);
    }
    check_calls_answered(messages)
}

fn check_not_empty(
    index: usize,
    message: &MessagesInput<'_>,
    is_last: bool,
) -> Result<(), RequestRejection> {
    let may_be_empty = is_last && message.role == MessagesRole::Assistant;
    let is_empty = |block: &MessagesInputBlock<'_>| {
        block.r#type == "text" && block.text.as_deref() == Some("")
    };
    if message.blocks.iter().any(is_empty) {
        return Err(RequestRejection::invalid("messages: text content blocks must be non-empty"));
    }
    match message.blocks.is_empty() && !may_be_empty {
        true => Err(RequestRejection::invalid(format!(
            "messages.{index}: all messages must have non-empty content except for the optional \
             final assistant message"
        ))),
        false => Ok(()),
    }
}

/// Checks that every block has the fields that its type requires.
fn check_required_fields(
    index: usize,
    message: &MessagesInput<'_>,
) -> Result<(), RequestRejection> {
    let missing = message.blocks.iter().enumerate().find_map(|(at, block)| {
        let field = missing_field(block)?;
        let kind = truncate_quoted(&block.r#type);
        Some(format!("messages.{index}.content.{at}.{kind}.{field}: Field required"))
    });
    missing.map_or(Ok(()), |message| Err(RequestRejection::invalid(message)))
}

fn missing_field(block: &MessagesInputBlock<'_>) -> Option<&'static str> {
    match block.r#type.as_str() {
        "text" if block.text.is_none() => Some("text"),
        "tool_use" if block.id.is_none() => Some("id"),
        "tool_use" if block.name.is_none() => Some("name"),
        "tool_result" if block.tool_use_id.is_none() => Some("tool_use_id"),
        "thinking" if block.signature.is_none() => Some("signature"),
        _ => None,
    }
}

/// Checks that every result belongs to a call of the message before.
fn check_results_match(
    index: usize,
    before: Option<&MessagesInput<'_>>,
    message: &MessagesInput<'_>,
) -> Result<(), RequestRejection> {
    let called: Vec<&str> = before.map(tool_use_ids).unwrap_or_default();
    let stray = message.blocks.iter().enumerate().find_map(|(at, block)| {
        let id = tool_result_id(block).filter(|id| !called.contains(id))?;
        let id = truncate_quoted(id);
        Some(format!(
            "messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` \
             blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in \
             the previous message."
        ))
    });
    stray.map_or(Ok(()), |message| Err(RequestRejection::invalid(message)))
}

/// Checks that every call is answered at the beginning of the next message.
fn check_calls_answered(messages: &[MessagesInput<'_>]) -> Result<(), RequestRejection> {
    for (index, message) in messages.iter().enumerate() {
        let after = messages.get(index.saturating_add(1));
        let answered: Vec<&str> = after.map(leading_result_ids).unwrap_or_default();
        let calls = tool_use_ids(message).into_iter();
        let unanswered: Vec<&str> = calls.filter(|id| !answered.contains(id)).collect();
        if !unanswered.is_empty() {
            return Err(unanswered_calls_rejection(index, &unanswered));
        }
    }
    Ok(())
}

fn unanswered_calls_rejection(index: usize, ids: &[&str]) -> RequestRejection {
    let ids = truncate_quoted(&ids.join(", "));
    RequestRejection::invalid(format!(
        "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately \
         after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the \
         next message."
    ))
}

fn tool_use_ids<'a>(message: &'a MessagesInput<'_>) -> Vec<&'a str> {
    let calls = message.blocks.iter().filter(|block| block.r#type == "tool_use");
    calls.filter_map(|block| block.id.as_deref()).collect()
}

fn leading_result_ids<'a>(message: &'a MessagesInput<'_>) -> Vec<&'a str> {
    message.blocks.iter().map_while(tool_result_id).collect()
}

fn tool_result_id<'a>(block: &'a MessagesInputBlock<'_>) -> Option<&'a str> {
    block.tool_use_id.as_deref().filter(|_| block.r#type == "tool_result")
}
