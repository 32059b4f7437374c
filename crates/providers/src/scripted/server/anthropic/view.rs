//! What a script sees of a conversation.

use super::super::super::view::{View, ViewedResult, content_text};
use super::request::{Block, Message, Role};

pub(super) fn of(messages: &[Message<'_>], tools: Vec<String>) -> View {
    let replies = messages.iter().filter(|message| message.role == Role::Assistant).count();
    View {
        ask: u32::try_from(replies).unwrap_or(u32::MAX).saturating_add(1),
        last_user_text: messages.iter().rev().find_map(user_text).unwrap_or_default(),
        results: results(messages),
        tools,
        older_bytes: 0,
    }
}

fn user_text(message: &Message<'_>) -> Option<String> {
    let texts: Vec<&str> = match message.role {
        Role::User => message.blocks.iter().filter_map(text).collect(),
        Role::Assistant => return None,
    };
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn text<'a>(block: &'a Block<'_>) -> Option<&'a str> {
    block.text.as_deref().filter(|_| block.r#type == "text")
}

/// The results since the last reply; a text after them stands beside them.
fn results(messages: &[Message<'_>]) -> Vec<ViewedResult> {
    let is_reply = |message: &&Message<'_>| message.role == Role::Assistant;
    let of_type = |kind: &'static str| move |block: &&Block<'_>| block.r#type == kind;
    let reply = messages.iter().rev().find(is_reply);
    let made = reply.map(|reply| reply.blocks.as_slice()).unwrap_or_default();
    let calls: Vec<&Block<'_>> = made.iter().filter(of_type("tool_use")).collect();
    let unanswered = messages.iter().rposition(|message| is_reply(&message));
    let unanswered = messages.get(unanswered.map_or(0, |at| at.saturating_add(1))..);
    let blocks = unanswered.unwrap_or_default().iter().flat_map(|message| &message.blocks);
    let results = blocks.filter(of_type("tool_result")).enumerate();
    results.map(|(place, block)| viewed(&calls, place, block)).collect()
}

/// The place decides first which call a result answers, because ids may repeat.
fn viewed(calls: &[&Block<'_>], place: usize, result: &Block<'_>) -> ViewedResult {
    let answered = |call: &&&Block<'_>| call.id == result.tool_use_id;
    let here = calls.get(place).filter(answered);
    let call = here.or_else(|| calls.iter().find(answered));
    ViewedResult {
        tool: call.and_then(|call| call.name.clone()).unwrap_or_default(),
        text: content_text(result.content),
        is_error: result.is_error.unwrap_or(false),
    }
}
