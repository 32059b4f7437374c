//! Checks a request against the rules of the Messages API, independently of the transcript; used by
//! properties, explorer and simulator.

use std::collections::BTreeSet;

use crate::message::content_block::BlockKind;
use crate::message::request::RequestMessage;
use crate::message::transcript::Role;

/// Why the API would reject a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestViolation {
    /// The request has no messages.
    #[error("the request has no messages")]
    Empty,
    /// The first message is not the user's.
    #[error("the first message is not the user's")]
    NotUserFirst,
    /// A message has no blocks, or a blank text block.
    #[error("message {0} has an empty block")]
    BlankBlock(usize),
    /// Two neighbouring messages have the same role.
    #[error("messages {0} and the one before have the same role")]
    SameRole(usize),
    /// A tool use has no result in the next message.
    #[error("message {at} calls {id} and the next message does not answer it")]
    UnansweredCall {
        /// Index of the message.
        at: usize,
        /// Id of the call.
        id: String,
    },
    /// A result has no tool use.
    #[error("message {at} answers {id}, which the message before did not call")]
    OrphanResult {
        /// Index of the message.
        at: usize,
        /// The id that the result names.
        id: String,
    },
    /// Results come after other blocks.
    #[error("message {0} has a tool result after another block")]
    ResultNotFirst(usize),
    /// An id is used twice in one message.
    #[error("message {at} uses the id {id} twice")]
    RepeatedId {
        /// Index of the message.
        at: usize,
        /// The repeated id.
        id: String,
    },
    /// An assistant message ends in thinking.
    #[error("message {0} ends in thinking")]
    EndsInThought(usize),
    /// A call in a user message, or a result in an assistant message.
    #[error("message {0} contains a block that only the other role may send")]
    WrongSide(usize),
}

/// Checks whether the API would accept these messages.
pub fn check_messages(messages: &[RequestMessage<'_>]) -> Result<(), RequestViolation> {
    let first = messages.first().ok_or(RequestViolation::Empty)?;
    if first.role != Role::User {
        return Err(RequestViolation::NotUserFirst);
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| messages.get(before));
        if before.is_some_and(|before| before.role == message.role) {
            return Err(RequestViolation::SameRole(at));
        }
        if message.blocks.is_empty() || message.blocks.iter().any(|block| block.is_blank()) {
            return Err(RequestViolation::BlankBlock(at));
        }
        open = match message.role {
            Role::Assistant => check_assistant_message(at, message)?,
            Role::User => check_user_message(at, message, open)?,
        };
    }
    open.first().map_or(Ok(()), |id| unanswered_call(messages.len(), id))
}

fn check_assistant_message<'a>(
    at: usize,
    message: &RequestMessage<'a>,
) -> Result<BTreeSet<&'a str>, RequestViolation> {
    let mut open = BTreeSet::new();
    if message.blocks.last().is_some_and(|last| last.is_thinking()) {
        return Err(RequestViolation::EndsInThought(at));
    }
    for block in &message.blocks {
        match block.kind() {
            BlockKind::ToolUse(call) if !open.insert(&*call.id) => {
                return Err(RequestViolation::RepeatedId { at, id: call.id.to_string() });
            }
            BlockKind::ToolResult { .. } => return Err(RequestViolation::WrongSide(at)),
            BlockKind::ToolUse(_) | BlockKind::Text(_) | BlockKind::Other(_) => {}
        }
    }
    Ok(open)
}

fn check_user_message<'a>(
    at: usize,
    message: &RequestMessage<'a>,
    mut open: BTreeSet<&'a str>,
) -> Result<BTreeSet<&'a str>, RequestViolation> {
    let mut spoke = false;
    for block in &message.blocks {
        match block.kind() {
            BlockKind::ToolResult { .. } if spoke => {
                return Err(RequestViolation::ResultNotFirst(at));
            }
            BlockKind::ToolResult { tool_use_id } if !open.remove(&**tool_use_id) => {
                return Err(RequestViolation::OrphanResult { at, id: tool_use_id.to_string() });
            }
            BlockKind::ToolResult { .. } => {}
            BlockKind::ToolUse(_) => return Err(RequestViolation::WrongSide(at)),
            BlockKind::Text(_) | BlockKind::Other(_) => spoke = true,
        }
    }
    match open.first() {
        Some(id) => unanswered_call(at, id).map(|()| open.clone()),
        None => Ok(open),
    }
}

fn unanswered_call(after: usize, id: &str) -> Result<(), RequestViolation> {
    Err(RequestViolation::UnansweredCall { at: after.saturating_sub(1), id: id.to_owned() })
}
