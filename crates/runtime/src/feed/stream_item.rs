//! The items that readers of a feed receive.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, ModelCallId};
use windlass_core::run::conversation::RunEnd;

use super::TextKind;
use crate::ports::{CallProgress, HookMessage};

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
    /// An event of a reply arrived, for readers with
    /// [`StreamOptions::reply_events`](super::StreamOptions::reply_events). All events of a reply
    /// come before the entry that contains it.
    ReplyEvent {
        /// The model call whose reply the event belongs to.
        model_call: ModelCallId,
        /// The event as JSON on one line, in the form of Anthropic's stream: `message_start`,
        /// `content_block_start`, `content_block_delta`, `content_block_stop`, `message_delta` or
        /// `message_stop`. Deltas of one block that wait for a slow reader are joined.
        event: Arc<str>,
    },
    /// A call that is still running has printed something or is further than before, for readers
    /// with [`StreamOptions::call_progress`](super::StreamOptions::call_progress). It is not
    /// recorded.
    CallProgress {
        /// The call.
        call: CallId,
        /// How long it has been running, in milliseconds.
        elapsed_ms: u64,
        /// What it has reported since the last item.
        progress: Arc<CallProgress>,
    },
    /// A line about the tool calls of a closed round, for readers with
    /// [`StreamOptions::call_summaries`](super::StreamOptions::call_summaries). It comes some time
    /// after their results, is not recorded, and is left out if the run ends before it is there.
    CallSummary {
        /// The provider's ids of the calls.
        tool_use_ids: Arc<[String]>,
        /// The summary, in one line.
        summary: Arc<str>,
    },
    /// A hook has a message for the user. It is not recorded.
    HookMessage(Arc<HookMessage>),
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
