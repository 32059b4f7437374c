//! The repairs of an imported history: what was changed, and where.

use std::fmt;
use std::sync::Arc;

/// A change, with the index of the message it was made in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryRepair {
    /// Not a message at all; dropped.
    NotAMessage {
        /// Index of the message.
        at: usize,
    },
    /// A message without content; dropped.
    NoContent {
        /// Index of the message.
        at: usize,
    },
    /// Content that was a bare string became a text block.
    TextMadeBlock {
        /// Index of the message.
        at: usize,
    },
    /// A role that is not allowed in a history; the message is kept on the user's side.
    RoleMadeUser {
        /// Index of the message.
        at: usize,
        /// The role.
        role: Arc<str>,
    },
    /// The message has the same role as the previous one; joined with it.
    Joined {
        /// Index of the message.
        at: usize,
    },
    /// The history started with a reply; a note was inserted before it.
    NoteInserted {
        /// Index of the message.
        at: usize,
    },
    /// A blank text block was dropped.
    BlankDropped {
        /// Index of the message.
        at: usize,
    },
    /// A malformed content block was dropped.
    MalformedDropped {
        /// Index of the message.
        at: usize,
    },
    /// Trailing thinking was dropped.
    ThinkingDropped {
        /// Index of the message.
        at: usize,
    },
    /// A call with an id that is already used in the turn was dropped.
    CallDropped {
        /// Index of the message.
        at: usize,
        /// Id of the call.
        id: Arc<str>,
    },
    /// A call on the user's side became text.
    CallMadeText {
        /// Index of the message.
        at: usize,
        /// Id of the call.
        id: Arc<str>,
    },
    /// A call had no result; one was added that says so.
    ResultAdded {
        /// Index of the message.
        at: usize,
        /// Id of the call.
        id: Arc<str>,
    },
    /// A second result for a call was dropped.
    ResultDropped {
        /// Index of the message.
        at: usize,
        /// Id of the call.
        id: Arc<str>,
    },
    /// A result without a call was converted to text.
    ResultMadeText {
        /// Index of the message.
        at: usize,
        /// Id of the call.
        id: Arc<str>,
    },
    /// Results were moved to the front, in the order of their calls.
    ResultsMoved {
        /// Index of the message.
        at: usize,
    },
}

impl HistoryRepair {
    /// Returns the index of the message.
    #[must_use]
    pub fn message_index(&self) -> usize {
        match self {
            Self::NotAMessage { at }
            | Self::NoContent { at }
            | Self::TextMadeBlock { at }
            | Self::RoleMadeUser { at, .. }
            | Self::Joined { at }
            | Self::NoteInserted { at }
            | Self::BlankDropped { at }
            | Self::MalformedDropped { at }
            | Self::ThinkingDropped { at }
            | Self::CallDropped { at, .. }
            | Self::CallMadeText { at, .. }
            | Self::ResultAdded { at, .. }
            | Self::ResultDropped { at, .. }
            | Self::ResultMadeText { at, .. }
            | Self::ResultsMoved { at } => *at,
        }
    }
}

impl fmt::Display for HistoryRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: ", self.message_index())?;
        match self {
            Self::NotAMessage { .. } => f.write_str("not a message; dropped"),
            Self::NoContent { .. } => f.write_str("no content; dropped"),
            Self::TextMadeBlock { .. } => {
                f.write_str("a bare string was converted to a text block")
            }
            Self::RoleMadeUser { role, .. } => write!(f, "role {role:?} changed to user"),
            Self::Joined { .. } => f.write_str("joined with the previous message"),
            Self::NoteInserted { .. } => f.write_str("a note was inserted before the first reply"),
            Self::BlankDropped { .. } => f.write_str("a blank block was dropped"),
            Self::MalformedDropped { .. } => f.write_str("a malformed block was dropped"),
            Self::ThinkingDropped { .. } => f.write_str("trailing thinking was dropped"),
            Self::CallDropped { id, .. } => write!(f, "a repeated call {id:?} was dropped"),
            Self::CallMadeText { id, .. } => {
                write!(f, "a call {id:?} of the user was converted to text")
            }
            Self::ResultAdded { id, .. } => write!(f, "a result was added for the call {id:?}"),
            Self::ResultDropped { id, .. } => write!(f, "a repeated result of {id:?} was dropped"),
            Self::ResultMadeText { id, .. } => {
                write!(f, "an orphan result of {id:?} was converted to text")
            }
            Self::ResultsMoved { .. } => {
                f.write_str("results were moved to the front, in call order")
            }
        }
    }
}
