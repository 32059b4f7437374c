//! The items that readers of a feed receive.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::ModelCallId;
use windlass_core::run::conversation::RunEnd;

use super::TextKind;

/// An item of a stream: something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamItem {
    /// An entry was committed to the log.
    Entry(Arc<Entry>),
    /// A run ended with the entry before this item.
    RunEnded(Arc<RunEnd>),
    /// The model produced a piece of text; the reply in the log will contain it again.
    TextDelta {
        /// The model call that produced the text.
        model_call: ModelCallId,
        /// The piece of text.
        text: Arc<str>,
    },
    /// The model produced a piece of thinking.
    ThinkingDelta {
        /// The model call that produced the thinking.
        model_call: ModelCallId,
        /// The piece of thinking.
        text: Arc<str>,
    },
}

impl StreamItem {
    /// Creates the item for a piece of text or thinking.
    pub(super) fn from_delta(model_call: ModelCallId, kind: TextKind, chunk: &str) -> Self {
        let text = Arc::from(chunk);
        match kind {
            TextKind::Answer => Self::TextDelta { model_call, text },
            TextKind::Thinking => Self::ThinkingDelta { model_call, text },
        }
    }
}
