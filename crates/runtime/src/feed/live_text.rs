//! Pieces of text on their way to readers. Where the owner has no room, pieces are joined and wait,
//! so a slow owner sees every word and holds at most one reply of them.

use std::sync::{Mutex, PoisonError};

use windlass_core::ids::AskId;

use super::{Feed, Item, OwnerFeed};

/// The live text of one model call.
pub struct LiveText {
    ask: AskId,
    feed: Feed,
    owner: Option<OwnerFeed>,
    waiting: Mutex<String>,
}

impl LiveText {
    /// For one model call.
    #[must_use]
    pub fn new(ask: AskId, feed: Feed, owner: Option<OwnerFeed>) -> Self {
        Self { ask, feed, owner, waiting: Mutex::new(String::new()) }
    }

    /// A piece of the answer.
    pub fn text(&self, piece: &str) {
        if !self.feed.is_unheard() {
            self.feed.publish(&self.item(piece));
        }
        if let Some(owner) = &self.owner {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push_str(piece);
            if owner.try_item(self.item(&waiting)).is_ok() {
                waiting.clear();
            }
        }
    }

    /// A piece of thinking: shown if there is room, never waited for.
    pub fn thinking(&self, piece: &str) {
        let item = Item::Thinking { ask: self.ask, piece: piece.into() };
        self.feed.publish(&item);
        if let Some(owner) = &self.owner {
            let _ = owner.try_item(item);
        }
    }

    fn item(&self, piece: &str) -> Item {
        Item::Text { ask: self.ask, piece: piece.into() }
    }
}
