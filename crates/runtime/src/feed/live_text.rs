//! Live text: pieces of a reply on their way to the readers. The owner of the run gets every piece,
//! however slowly it reads; other readers get the beginning of a reply without gaps, and the whole
//! reply in its entry.

use windlass_core::log::ids::ModelCallId;

use super::{LaneFeed, OwnerFeed, StreamItem, TextKind};

/// The live text of one model call.
pub struct LiveTextPublisher {
    model_call: ModelCallId,
    feed: LaneFeed,
    owner: Option<OwnerFeed>,
}

impl LiveTextPublisher {
    /// Creates the publisher for one model call.
    #[must_use]
    pub fn new(model_call: ModelCallId, feed: LaneFeed, owner: Option<OwnerFeed>) -> Self {
        Self { model_call, feed, owner }
    }

    /// Publishes a piece of the answer.
    pub fn publish_text(&self, chunk: &str) {
        self.publish_delta(TextKind::Answer, chunk);
    }

    /// Publishes a piece of thinking.
    pub fn publish_thinking(&self, chunk: &str) {
        self.publish_delta(TextKind::Thinking, chunk);
    }

    fn publish_delta(&self, kind: TextKind, chunk: &str) {
        if chunk.is_empty() {
            return;
        }
        if !self.feed.has_no_readers() {
            self.feed.publish(&StreamItem::from_delta(self.model_call, kind, chunk));
        }
        if let Some(owner) = &self.owner {
            owner.send_text(self.model_call, kind, chunk);
        }
    }
}
