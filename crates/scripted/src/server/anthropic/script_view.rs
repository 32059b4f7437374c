//! What a script sees of a Messages conversation.

use super::request_parser::{MessagesInput, MessagesInputBlock, MessagesRole};
use crate::request_view::{OwnedRequestView, OwnedToolResult, content_text, without_result_marks};

pub(super) fn view_of_messages(
    messages: &[MessagesInput<'_>],
    tools: Vec<String>,
) -> OwnedRequestView {
    let replies = messages.iter().filter(|message| message.role == MessagesRole::Assistant).count();
    OwnedRequestView {
        ask: u32::try_from(replies).unwrap_or(u32::MAX).saturating_add(1),
        last_user_text: messages.iter().rev().find_map(message_user_text).unwrap_or_default(),
        results: unanswered_results(messages),
        tools,
        older_bytes: 0,
    }
}

fn message_user_text(message: &MessagesInput<'_>) -> Option<String> {
    let texts: Vec<&str> = match message.role {
        MessagesRole::User => message.blocks.iter().filter_map(block_text).collect(),
        MessagesRole::Assistant => return None,
    };
    if texts.is_empty() { None } else { without_result_marks(&texts.join("\n")) }
}

fn block_text<'a>(block: &'a MessagesInputBlock<'_>) -> Option<&'a str> {
    block.text.as_deref().filter(|_| block.r#type == "text")
}

/// The results since the last reply; a text after them is part of the same message.
fn unanswered_results(messages: &[MessagesInput<'_>]) -> Vec<OwnedToolResult> {
    let is_reply = |message: &&MessagesInput<'_>| message.role == MessagesRole::Assistant;
    let of_type = |kind: &'static str| move |block: &&MessagesInputBlock<'_>| block.r#type == kind;
    let reply = messages.iter().rev().find(is_reply);
    let made = reply.map(|reply| reply.blocks.as_slice()).unwrap_or_default();
    let calls: Vec<&MessagesInputBlock<'_>> = made.iter().filter(of_type("tool_use")).collect();
    let unanswered = messages.iter().rposition(|message| is_reply(&message));
    let unanswered = messages.get(unanswered.map_or(0, |at| at.saturating_add(1))..);
    let blocks = unanswered.unwrap_or_default().iter().flat_map(|message| &message.blocks);
    let results = blocks.filter(of_type("tool_result")).enumerate();
    results.map(|(index, block)| result_view(&calls, index, block)).collect()
}

/// The result with its tool. The position decides first which call a result belongs to, because ids
/// may repeat.
fn result_view(
    calls: &[&MessagesInputBlock<'_>],
    index: usize,
    result: &MessagesInputBlock<'_>,
) -> OwnedToolResult {
    let answered = |call: &&&MessagesInputBlock<'_>| call.id == result.tool_use_id;
    let here = calls.get(index).filter(answered);
    let call = here.or_else(|| calls.iter().find(answered));
    OwnedToolResult {
        tool: call.and_then(|call| call.name.clone()).unwrap_or_default(),
        text: content_text(result.content),
        is_error: result.is_error.unwrap_or(false),
    }
}
