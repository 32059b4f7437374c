//! The Messages API's rules, written a second time and on their own: properties, explorer and
//! simulator ask this module whether a request would be accepted.

use std::collections::BTreeSet;

use crate::block::Kind;
use crate::request::Message;
use crate::transcript::Role;

/// Why the API would refuse a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is nothing to answer.
    #[error("the request has no messages")]
    Empty,
    /// The first message is not the user's.
    #[error("the first message is not the user's")]
    NotUserFirst,
    /// A message has no blocks, or a blank text block.
    #[error("message {0} has an empty block")]
    Blank(usize),
    /// Two neighbouring messages have one role.
    #[error("messages {0} and the one before have the same role")]
    SameRole(usize),
    /// A tool use is not answered in the very next message.
    #[error("message {at} calls {id} and the next message does not answer it")]
    Unanswered {
        /// Which message.
        at: usize,
        /// The call's id.
        id: String,
    },
    /// A result answers nothing.
    #[error("message {at} answers {id}, which the message before did not call")]
    Orphan {
        /// Which message.
        at: usize,
        /// The id it names.
        id: String,
    },
    /// Results come after other blocks.
    #[error("message {0} has a tool result after another block")]
    ResultNotFirst(usize),
    /// An id stands twice in one message.
    #[error("message {at} uses the id {id} twice")]
    RepeatedId {
        /// Which message.
        at: usize,
        /// The id.
        id: String,
    },
    /// An assistant's message ends in thinking.
    #[error("message {0} ends in thinking")]
    EndsInThought(usize),
    /// A call in a user's message or a result in the model's.
    #[error("message {0} has a block of the other side")]
    WrongSide(usize),
}

/// Whether the API would accept these messages.
pub fn audit(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let first = messages.first().ok_or(Refusal::Empty)?;
    if first.role != Role::User {
        return Err(Refusal::NotUserFirst);
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| messages.get(before));
        if before.is_some_and(|before| before.role == message.role) {
            return Err(Refusal::SameRole(at));
        }
        if message.blocks.is_empty() || message.blocks.iter().any(|block| block.is_blank()) {
            return Err(Refusal::Blank(at));
        }
        open = match message.role {
            Role::Assistant => calls(at, message)?,
            Role::User => answers(at, message, open)?,
        };
    }
    open.first().map_or(Ok(()), |id| unanswered(messages.len(), id))
}

fn calls<'a>(at: usize, message: &Message<'a>) -> Result<BTreeSet<&'a str>, Refusal> {
    let mut open = BTreeSet::new();
    if message.blocks.last().is_some_and(|last| last.is_thought()) {
        return Err(Refusal::EndsInThought(at));
    }
    for block in &message.blocks {
        match block.kind() {
            Kind::ToolUse(call) if !open.insert(&*call.id) => {
                return Err(Refusal::RepeatedId { at, id: call.id.to_string() });
            }
            Kind::ToolResult { .. } => return Err(Refusal::WrongSide(at)),
            Kind::ToolUse(_) | Kind::Text(_) | Kind::Other(_) => {}
        }
    }
    Ok(open)
}

fn answers<'a>(
    at: usize,
    message: &Message<'a>,
    mut open: BTreeSet<&'a str>,
) -> Result<BTreeSet<&'a str>, Refusal> {
    let mut spoke = false;
    for block in &message.blocks {
        match block.kind() {
            Kind::ToolResult { .. } if spoke => return Err(Refusal::ResultNotFirst(at)),
            Kind::ToolResult { tool_use_id } if !open.remove(&**tool_use_id) => {
                return Err(Refusal::Orphan { at, id: tool_use_id.to_string() });
            }
            Kind::ToolResult { .. } => {}
            Kind::ToolUse(_) => return Err(Refusal::WrongSide(at)),
            Kind::Text(_) | Kind::Other(_) => spoke = true,
        }
    }
    match open.first() {
        Some(id) => unanswered(at, id).map(|()| open.clone()),
        None => Ok(open),
    }
}

fn unanswered(after: usize, id: &str) -> Result<(), Refusal> {
    Err(Refusal::Unanswered { at: after.saturating_sub(1), id: id.to_owned() })
}
