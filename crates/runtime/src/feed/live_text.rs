//! Pieces of text on their way to readers. The owner of the run gets every piece, however slowly it
//! reads; other readers get the beginning of a reply without gaps, and the whole in its entry.

use windlass_core::ids::AskId;

use super::{Feed, Item, OwnerFeed, TextKind};

/// The live text of one model call.
pub struct LiveText {
    ask: AskId,
    feed: Feed,
    owner: Option<OwnerFeed>,
}

impl LiveText {
    /// For one model call.
    #[must_use]
    pub fn new(ask: AskId, feed: Feed, owner: Option<OwnerFeed>) -> Self {
        Self { ask, feed, owner }
    }

    /// A piece of the answer.
    pub fn text(&self, piece: &str) {
        self.publish(TextKind::Answer, piece);
    }

    /// A piece of thinking.
    pub fn thinking(&self, piece: &str) {
        self.publish(TextKind::Thinking, piece);
    }

    fn publish(&self, kind: TextKind, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if !self.feed.is_unheard() {
            self.feed.publish(&Item::piece(self.ask, kind, piece));
        }
        if let Some(owner) = &self.owner {
            owner.text(self.ask, kind, piece);
        }
    }
}
