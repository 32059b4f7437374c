//! The live stream of a lane: entries once they are committed, and pieces of text on the way.
//!
//! Any number of readers follow; each has a bounded queue, and one that is too slow finds its place
//! again by sequence number in the log. The one that owns the run may be slow on purpose: then the
//! run waits for it.

mod item;
mod live_text;
mod owner;
mod subscription;

pub use item::Item;
pub use live_text::LiveText;
pub use owner::{Gone, OwnerFeed, OwnerItems, TextKind};
pub use subscription::{Subscription, SubscriptionError};

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;

/// Items a reader may lag behind before it must find its place again.
pub const READER_ITEMS: usize = 256;

/// Items the owner may leave unread before the run waits for it.
pub const OWNER_ITEMS: usize = 16;

/// The sending side. Most lanes are never listened to: the queue is made for the first reader.
#[derive(Clone, Default)]
pub struct Feed {
    readers: Arc<OnceLock<broadcast::Sender<Item>>>,
}

impl Feed {
    /// A reader of what comes from here on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Item> {
        self.readers.get_or_init(|| broadcast::channel(READER_ITEMS).0).subscribe()
    }

    /// Whether nobody listens.
    #[must_use]
    pub fn is_unheard(&self) -> bool {
        self.readers.get().is_none_or(|readers| readers.receiver_count() == 0)
    }

    /// Gives an item to every reader; none of them can hold it up.
    pub fn publish(&self, item: &Item) {
        if let Some(readers) = self.readers.get().filter(|_| !self.is_unheard()) {
            let _ = readers.send(item.clone());
        }
    }
}
