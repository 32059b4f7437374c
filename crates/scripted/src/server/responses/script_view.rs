//! What a script sees of a Responses conversation.

use super::request_parser::{InputItem, InputItemKind};
use crate::request_view::{OwnedRequestView, OwnedToolResult, content_text, without_result_marks};
use crate::server::content::is_error_text;

pub(super) fn view_of_items(items: &[InputItem<'_>], tools: Vec<String>) -> OwnedRequestView {
    let mut users = items.iter().rev().filter(|item| item.kind() == Some(InputItemKind::User));
    let user = users.find_map(|user| without_result_marks(&content_text(user.content)));
    OwnedRequestView {
        ask: count_replies(items).saturating_add(1),
        last_user_text: user.unwrap_or_default(),
        results: unanswered_results(items),
        tools,
        older_bytes: 0,
    }
}

/// Counts replies. One reply may be many items: adjacent reasoning, texts and calls are one reply.
fn count_replies(items: &[InputItem<'_>]) -> u32 {
    let mut replies = 0_u32;
    let mut before = InputItemKind::User;
    for kind in items.iter().filter_map(InputItem::kind) {
        if is_reply(kind) && !is_reply(before) {
            replies = replies.saturating_add(1);
        }
        before = kind;
    }
    replies
}

fn is_reply(kind: InputItemKind) -> bool {
    match kind {
        InputItemKind::Model | InputItemKind::Call => true,
        InputItemKind::Instructions | InputItemKind::User | InputItemKind::Result => false,
    }
}

/// The results since the last reply, whatever came after them.
fn unanswered_results(items: &[InputItem<'_>]) -> Vec<OwnedToolResult> {
    let is_answered = |item: &&InputItem<'_>| item.kind().is_some_and(is_reply);
    let unanswered = items.iter().rev().take_while(|item| !is_answered(item));
    let mut results: Vec<_> =
        unanswered.filter(|item| item.kind() == Some(InputItemKind::Result)).collect();
    results.reverse();
    results.into_iter().map(|result| result_view(items, result)).collect()
}

fn result_view(items: &[InputItem<'_>], result: &InputItem<'_>) -> OwnedToolResult {
    let mut newest_first = items.iter().rev();
    let call = newest_first
        .find(|item| item.kind() == Some(InputItemKind::Call) && item.call_id == result.call_id);
    let text = content_text(result.output);
    OwnedToolResult {
        tool: call.and_then(|call| call.name.clone()).unwrap_or_default(),
        is_error: is_error_text(&text),
        text,
    }
}
