//! What the service refuses in a conversation.

use super::super::body::quoted;
use super::super::content::{self, Content};
use super::super::refusal::Refusal;
use super::request::{Message, Role, ToolCall};

/// Refuses what the service would refuse.
pub(super) fn check(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let mut left = messages;
    let mut place = 0_usize;
    while let Some((message, rest)) = left.split_first() {
        readable(place, message)?;
        match message.role {
            Role::Tool => return Err(stray(place)),
            Role::Instructions | Role::User | Role::Assistant => {}
        }
        let answers = answers(rest);
        fits(place, message, answers)?;
        let taken = answers.len();
        left = rest.get(taken..).unwrap_or_default();
        place = place.saturating_add(taken).saturating_add(1);
    }
    Ok(())
}

/// The tool messages directly at the beginning.
fn answers<'a, 'b>(messages: &'a [Message<'b>]) -> &'a [Message<'b>] {
    let count = messages.iter().take_while(|message| message.role == Role::Tool).count();
    messages.get(..count).unwrap_or_default()
}

/// The answers after a message are those to its calls.
fn fits(place: usize, message: &Message<'_>, answers: &[Message<'_>]) -> Result<(), Refusal> {
    let called = |answer: &Message<'_>| message.calls.iter().any(|call| call.id == answer.answers);
    for (at, answer) in answers.iter().enumerate() {
        let place = place.saturating_add(at).saturating_add(1);
        readable(place, answer)?;
        match &answer.answers {
            None => return Err(without_id(place)),
            Some(_) if !called(answer) => return Err(stray(place)),
            Some(_) => {}
        }
    }
    let answered = |call: &&ToolCall| answers.iter().any(|answer| answer.answers == call.id);
    let open = message.calls.iter().filter(|call| !answered(call));
    let open: Vec<&str> = open.filter_map(|call| call.id.as_deref()).collect();
    if open.is_empty() { Ok(()) } else { Err(left_open(place, &open)) }
}

/// Content is a text, a list of parts, or nothing at all where calls stand for it.
fn readable(place: usize, message: &Message<'_>) -> Result<(), Refusal> {
    let param = format!("messages[{place}].content");
    let Some(content) = message.content else {
        return match message.role {
            Role::Assistant => Ok(()),
            Role::Instructions | Role::User | Role::Tool => {
                let says = format!("Missing required parameter: '{param}'.");
                Err(Refusal::invalid(says).about(param).coded("missing_required_parameter"))
            }
        };
    };
    match content::read::<serde::de::IgnoredAny>(content) {
        Ok(Content::Text(_) | Content::Parts(_)) => Ok(()),
        Err(error) => Err(Refusal::invalid(format!("Invalid type for '{param}': {error}"))
            .about(param)
            .coded("invalid_type")),
    }
}

fn without_id(place: usize) -> Refusal {
    let param = format!("messages[{place}].tool_call_id");
    Refusal::invalid(format!("Missing required parameter: '{param}'."))
        .about(param)
        .coded("missing_required_parameter")
}

fn stray(place: usize) -> Refusal {
    Refusal::invalid(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message \
         with 'tool_calls'.",
    )
    .about(format!("messages.[{place}].role"))
}

fn left_open(place: usize, ids: &[&str]) -> Refusal {
    let ids = quoted(&ids.join(", "));
    Refusal::invalid(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
    ))
    .about(format!("messages.[{place}].role"))
}
