//! The live feed of a lane: entries once they are committed, and pieces of text while they arrive.
//!
//! There may be any number of readers; each has a bounded queue, and a reader that is too slow
//! continues from the log by sequence number. The owner of the run may be slow on purpose: then the
//! run waits for it (backpressure).

mod live_text;
mod owner_feed;
mod stream_item;
mod subscription;

pub use live_text::LiveTextPublisher;
pub use owner_feed::{OwnerFeed, OwnerFeedReceiver, OwnerGone, TextKind};
pub use stream_item::StreamItem;
pub use subscription::{Subscription, SubscriptionError};

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;

/// Items that a reader may lag behind before it must continue from the log.
pub const READER_QUEUE_ITEMS: usize = 256;

/// Items that the owner may leave unread before the run waits for it.
pub const OWNER_QUEUE_ITEMS: usize = 16;

/// The sending side of a lane's feed. Most lanes never have a reader: the queue is created for the
/// first one.
#[derive(Clone, Default)]
pub struct LaneFeed {
    readers: Arc<OnceLock<broadcast::Sender<StreamItem>>>,
}

impl LaneFeed {
    /// Returns a reader of the items published from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<StreamItem> {
        self.readers.get_or_init(|| broadcast::channel(READER_QUEUE_ITEMS).0).subscribe()
    }

    /// Returns whether there are no readers.
    #[must_use]
    pub fn has_no_readers(&self) -> bool {
        self.readers.get().is_none_or(|readers| readers.receiver_count() == 0)
    }

    /// Sends an item to every reader; a slow reader cannot delay it.
    pub fn publish(&self, item: &StreamItem) {
        if let Some(readers) = self.readers.get().filter(|_| !self.has_no_readers()) {
            let _ = readers.send(item.clone());
        }
    }
}
