//! What the service refuses in a conversation.

use super::super::body::quoted;
use super::super::refusal::Refusal;
use super::request::{Block, Message, Role};

/// Refuses what the service would refuse.
///
/// Not checked: that ids are unique over the whole conversation. A script may give the same id
/// twice, and refusing its own id would help nobody.
pub(super) fn check(messages: &[Message<'_>]) -> Result<(), Refusal> {
    if messages.first().is_some_and(|first| first.role != Role::User) {
        return Err(Refusal::invalid("messages: first message must use the \"user\" role"));
    }
    let mut before: Option<&Message<'_>> = None;
    for (place, message) in messages.iter().enumerate() {
        let is_last = place.saturating_add(1) == messages.len();
        not_empty(place, message, is_last)?;
        complete(place, message)?;
        results_fit(place, before, message)?;
        before = Some(message);
    }
    calls_answered(messages)
}

fn not_empty(place: usize, message: &Message<'_>, is_last: bool) -> Result<(), Refusal> {
    let may_be_empty = is_last && message.role == Role::Assistant;
    let is_empty = |block: &Block<'_>| block.r#type == "text" && block.text.as_deref() == Some("");
    if message.blocks.iter().any(is_empty) {
        return Err(Refusal::invalid("messages: text content blocks must be non-empty"));
    }
    match message.blocks.is_empty() && !may_be_empty {
        true => Err(Refusal::invalid(format!(
            "messages.{place}: all messages must have non-empty content except for the optional \
             final assistant message"
        ))),
        false => Ok(()),
    }
}

/// Every block has what its type needs.
fn complete(place: usize, message: &Message<'_>) -> Result<(), Refusal> {
    let missing = message.blocks.iter().enumerate().find_map(|(at, block)| {
        let field = missing_field(block)?;
        let kind = quoted(&block.r#type);
        Some(format!("messages.{place}.content.{at}.{kind}.{field}: Field required"))
    });
    missing.map_or(Ok(()), |message| Err(Refusal::invalid(message)))
}

fn missing_field(block: &Block<'_>) -> Option<&'static str> {
    match block.r#type.as_str() {
        "text" if block.text.is_none() => Some("text"),
        "tool_use" if block.id.is_none() => Some("id"),
        "tool_use" if block.name.is_none() => Some("name"),
        "tool_result" if block.tool_use_id.is_none() => Some("tool_use_id"),
        "thinking" if block.signature.is_none() => Some("signature"),
        _ => None,
    }
}

/// Every result answers a call of the message before.
fn results_fit(
    place: usize,
    before: Option<&Message<'_>>,
    message: &Message<'_>,
) -> Result<(), Refusal> {
    let called: Vec<&str> = before.map(calls).unwrap_or_default();
    let stray = message.blocks.iter().enumerate().find_map(|(at, block)| {
        let id = result(block).filter(|id| !called.contains(id))?;
        let id = quoted(id);
        Some(format!(
            "messages.{place}.content.{at}: unexpected `tool_use_id` found in `tool_result` \
             blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in \
             the previous message."
        ))
    });
    stray.map_or(Ok(()), |message| Err(Refusal::invalid(message)))
}

/// Every call is answered at the beginning of the next message.
fn calls_answered(messages: &[Message<'_>]) -> Result<(), Refusal> {
    for (place, message) in messages.iter().enumerate() {
        let after = messages.get(place.saturating_add(1));
        let answered: Vec<&str> = after.map(leading_results).unwrap_or_default();
        let calls = calls(message).into_iter();
        let unanswered: Vec<&str> = calls.filter(|id| !answered.contains(id)).collect();
        if !unanswered.is_empty() {
            return Err(left_open(place, &unanswered));
        }
    }
    Ok(())
}

fn left_open(place: usize, ids: &[&str]) -> Refusal {
    let ids = quoted(&ids.join(", "));
    Refusal::invalid(format!(
        "messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately \
         after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the \
         next message."
    ))
}

fn calls<'a>(message: &'a Message<'_>) -> Vec<&'a str> {
    let calls = message.blocks.iter().filter(|block| block.r#type == "tool_use");
    calls.filter_map(|block| block.id.as_deref()).collect()
}

fn leading_results<'a>(message: &'a Message<'_>) -> Vec<&'a str> {
    message.blocks.iter().map_while(result).collect()
}

fn result<'a>(block: &'a Block<'_>) -> Option<&'a str> {
    block.tool_use_id.as_deref().filter(|_| block.r#type == "tool_result")
}
