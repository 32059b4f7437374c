//! What was changed in a foreign history, and where.

use std::fmt;
use std::sync::Arc;

/// A change, with the index of the message it was made in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// Not a message at all; left out.
    NotAMessage {
        /// Which message.
        at: usize,
    },
    /// A message without content; left out.
    NoContent {
        /// Which message.
        at: usize,
    },
    /// Content that was a bare string became a text block.
    TextMadeBlock {
        /// Which message.
        at: usize,
    },
    /// A role that has no place in a history; its words stay, on the user's side.
    RoleMadeUser {
        /// Which message.
        at: usize,
        /// The role.
        role: Arc<str>,
    },
    /// The message has the role of the one before; joined with it.
    Joined {
        /// Which message.
        at: usize,
    },
    /// The history began with the model; a note was put before it.
    NotePut {
        /// Which message.
        at: usize,
    },
    /// A blank text block was left out.
    BlankDropped {
        /// Which message.
        at: usize,
    },
    /// Something that is no content block, or a broken one, was left out.
    BrokenDropped {
        /// Which message.
        at: usize,
    },
    /// Thinking that led nowhere was left out.
    ThoughtDropped {
        /// Which message.
        at: usize,
    },
    /// A call with an id that stands in the turn already was left out.
    CallDropped {
        /// Which message.
        at: usize,
        /// The id.
        id: Arc<str>,
    },
    /// A call on the user's side became text.
    CallMadeText {
        /// Which message.
        at: usize,
        /// The id.
        id: Arc<str>,
    },
    /// A call had no result; one was made that says so.
    ResultMade {
        /// Which message.
        at: usize,
        /// The id.
        id: Arc<str>,
    },
    /// A second result for a call was left out.
    ResultDropped {
        /// Which message.
        at: usize,
        /// The id.
        id: Arc<str>,
    },
    /// A result that answers nothing became text.
    ResultMadeText {
        /// Which message.
        at: usize,
        /// The id.
        id: Arc<str>,
    },
    /// Results were put first, in the order of their calls.
    ResultsMoved {
        /// Which message.
        at: usize,
    },
}

impl Repair {
    /// Which message.
    #[must_use]
    pub fn at(&self) -> usize {
        match self {
            Self::NotAMessage { at }
            | Self::NoContent { at }
            | Self::TextMadeBlock { at }
            | Self::RoleMadeUser { at, .. }
            | Self::Joined { at }
            | Self::NotePut { at }
            | Self::BlankDropped { at }
            | Self::BrokenDropped { at }
            | Self::ThoughtDropped { at }
            | Self::CallDropped { at, .. }
            | Self::CallMadeText { at, .. }
            | Self::ResultMade { at, .. }
            | Self::ResultDropped { at, .. }
            | Self::ResultMadeText { at, .. }
            | Self::ResultsMoved { at } => *at,
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: ", self.at())?;
        match self {
            Self::NotAMessage { .. } => f.write_str("no message; left out"),
            Self::NoContent { .. } => f.write_str("no content; left out"),
            Self::TextMadeBlock { .. } => f.write_str("a bare string became a text block"),
            Self::RoleMadeUser { role, .. } => write!(f, "the role {role:?} became the user's"),
            Self::Joined { .. } => f.write_str("joined with the message before"),
            Self::NotePut { .. } => f.write_str("a note was put before the model's first words"),
            Self::BlankDropped { .. } => f.write_str("a blank block was left out"),
            Self::BrokenDropped { .. } => f.write_str("a broken block was left out"),
            Self::ThoughtDropped { .. } => f.write_str("thinking that led nowhere was left out"),
            Self::CallDropped { id, .. } => write!(f, "a second call {id:?} was left out"),
            Self::CallMadeText { id, .. } => write!(f, "the user's call {id:?} became text"),
            Self::ResultMade { id, .. } => write!(f, "the call {id:?} got a result"),
            Self::ResultDropped { id, .. } => write!(f, "a second result of {id:?} was left out"),
            Self::ResultMadeText { id, .. } => write!(f, "a stray result of {id:?} became text"),
            Self::ResultsMoved { .. } => f.write_str("results were put first, in call order"),
        }
    }
}
