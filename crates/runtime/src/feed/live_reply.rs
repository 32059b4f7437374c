//! A live reply: its pieces of text and its events on their way to the readers. The owner of the run
//! gets all of them, however slowly it reads; other readers get the beginning of a reply without
//! gaps, and the whole reply in its entry.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_core::log::ids::ModelCallId;

use super::{LaneFeed, OwnerFeed, StreamItem, TextKind};

/// Publishes the reply to one model call while it arrives.
pub struct LiveReplyPublisher {
    model_call: ModelCallId,
    feed: LaneFeed,
    owner: Option<OwnerFeed>,
    /// Whether a reader wants events. Decided once: a reader that joins in the middle of a reply
    /// gets nothing of it but its entry.
    wants_events: bool,
    /// Whether the model has sent an event: from then on, events replace pieces of text.
    has_events: AtomicBool,
}

impl LiveReplyPublisher {
    /// Creates the publisher for one model call, whose start was published already.
    #[must_use]
    pub fn new(model_call: ModelCallId, feed: LaneFeed, owner: Option<OwnerFeed>) -> Self {
        let wants_events =
            feed.has_event_readers() || owner.as_ref().is_some_and(OwnerFeed::wants_reply_events);
        Self { model_call, feed, owner, wants_events, has_events: AtomicBool::new(false) }
    }

    /// Returns whether a reader wants events.
    #[must_use]
    pub fn wants_events(&self) -> bool {
        self.wants_events
    }

    /// Publishes a piece of the answer.
    pub fn publish_text(&self, chunk: &str) {
        self.publish_delta(TextKind::Answer, chunk);
    }

    /// Publishes a piece of thinking.
    pub fn publish_thinking(&self, chunk: &str) {
        self.publish_delta(TextKind::Thinking, chunk);
    }

    /// Publishes an event, for the readers that want events.
    pub fn publish_event(&self, event: &str) {
        if !self.wants_events {
            return;
        }
        self.has_events.store(true, Ordering::Relaxed);
        let (model_call, event) = (self.model_call, Arc::from(event));
        if let Some(owner) = self.owner.as_ref().filter(|owner| owner.wants_reply_events()) {
            owner.send_event(model_call, Arc::clone(&event));
        }
        self.feed.publish(&StreamItem::ReplyEvent { model_call, event });
    }

    fn publish_delta(&self, kind: TextKind, chunk: &str) {
        if chunk.is_empty() {
            return;
        }
        if !self.feed.has_no_readers() {
            self.feed.publish(&StreamItem::from_delta(self.model_call, kind, chunk));
        }
        if let Some(owner) = self.owner.as_ref().filter(|owner| self.should_send_text(owner)) {
            owner.send_text(self.model_call, kind, chunk);
        }
    }

    /// Returns whether the owner reads this reply as text.
    fn should_send_text(&self, owner: &OwnerFeed) -> bool {
        !(owner.wants_reply_events() && self.has_events.load(Ordering::Relaxed))
    }
}
