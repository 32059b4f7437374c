//! What a script sees of a conversation.

use super::super::super::view::{View, ViewedResult, content_text};
use super::super::content::tells_of_an_error;
use super::request::{Item, Kind};

pub(super) fn of(items: &[Item<'_>], tools: Vec<String>) -> View {
    let user = items.iter().rev().find(|item| item.kind() == Some(Kind::User));
    View {
        ask: replies(items).saturating_add(1),
        last_user_text: user.map(|user| content_text(user.content)).unwrap_or_default(),
        results: results(items),
        tools,
        older_bytes: 0,
    }
}

/// One reply may be many items: thoughts, texts and calls that follow each other are one.
fn replies(items: &[Item<'_>]) -> u32 {
    let mut replies = 0_u32;
    let mut before = Kind::User;
    for kind in items.iter().filter_map(Item::kind) {
        if is_reply(kind) && !is_reply(before) {
            replies = replies.saturating_add(1);
        }
        before = kind;
    }
    replies
}

fn is_reply(kind: Kind) -> bool {
    match kind {
        Kind::Model | Kind::Call => true,
        Kind::Instructions | Kind::User | Kind::Result => false,
    }
}

/// The results since the last reply, whatever was said after them.
fn results(items: &[Item<'_>]) -> Vec<ViewedResult> {
    let is_answered = |item: &&Item<'_>| item.kind().is_some_and(is_reply);
    let unanswered = items.iter().rev().take_while(|item| !is_answered(item));
    let mut results: Vec<_> = unanswered.filter(|item| item.kind() == Some(Kind::Result)).collect();
    results.reverse();
    results.into_iter().map(|result| viewed(items, result)).collect()
}

fn viewed(items: &[Item<'_>], result: &Item<'_>) -> ViewedResult {
    let mut newest_first = items.iter().rev();
    let call =
        newest_first.find(|item| item.kind() == Some(Kind::Call) && item.call_id == result.call_id);
    let text = content_text(result.output);
    ViewedResult {
        tool: call.and_then(|call| call.name.clone()).unwrap_or_default(),
        is_error: tells_of_an_error(&text),
        text,
    }
}
