//! What readers of a feed see.

use std::sync::Arc;

use windlass_core::conversation::Ended;
use windlass_core::ids::AskId;
use windlass_core::log::Entry;

use super::TextKind;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An entry was committed.
    Entry(Arc<Entry>),
    /// A run ended with that entry.
    Ended(Arc<Ended>),
    /// The model said something; the reply will say it again, whole.
    Text {
        /// Which model call.
        ask: AskId,
        /// The piece.
        piece: Arc<str>,
    },
    /// The model thought something.
    Thinking {
        /// Which model call.
        ask: AskId,
        /// The piece.
        piece: Arc<str>,
    },
}

impl Item {
    /// A piece of what the model says or thinks.
    pub(super) fn piece(ask: AskId, kind: TextKind, piece: &str) -> Self {
        let piece = Arc::from(piece);
        match kind {
            TextKind::Answer => Self::Text { ask, piece },
            TextKind::Thinking => Self::Thinking { ask, piece },
        }
    }
}
