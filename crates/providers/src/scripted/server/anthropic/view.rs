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

/// The results in the last message; a text in the same message stands beside them.
fn results(messages: &[Message<'_>]) -> Vec<ViewedResult> {
    let mut newest_first = messages.iter().rev();
    match (newest_first.next(), newest_first.next()) {
        (Some(results), Some(reply)) => paired(reply, results),
        (Some(_) | None, _) => Vec::new(),
    }
}

fn paired(reply: &Message<'_>, results: &Message<'_>) -> Vec<ViewedResult> {
    let of_type = |kind: &'static str| move |block: &&Block<'_>| block.r#type == kind;
    let calls: Vec<&Block<'_>> = reply.blocks.iter().filter(of_type("tool_use")).collect();
    let results = results.blocks.iter().filter(of_type("tool_result")).enumerate();
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
