//! The live stream of a lane: entries once they are committed, and pieces of text on the way.
//!
//! Any number of readers follow; each has a bounded queue, and one that is too slow finds its place
//! again by sequence number in the log. The one that owns the run may be slow on purpose: then the
//! run waits for it.

mod item;
mod live_text;
mod subscription;

pub use item::Item;
pub use live_text::LiveText;
pub use subscription::{Subscription, SubscriptionError};

use std::sync::{Arc, OnceLock};

use tokio::sync::{broadcast, mpsc};
use windlass_core::ids::RunId;

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

/// The end of the feed that owns the run. Sending waits until the owner has room.
#[derive(Clone)]
pub struct OwnerFeed {
    items: mpsc::Sender<Item>,
    run: Option<RunId>,
}

impl OwnerFeed {
    /// A feed for the owner of `run`, and the stream that reads it.
    #[must_use]
    pub fn new(run: Option<RunId>) -> (Self, mpsc::Receiver<Item>) {
        let (items, receiver) = mpsc::channel(OWNER_ITEMS);
        (Self { items, run }, receiver)
    }

    /// The run it owns.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Gives an item to the owner; waits for room. `Err` if the owner is gone.
    pub async fn item(&self, item: Item) -> Result<(), Gone> {
        self.items.send(item).await.map_err(|_| Gone)
    }

    /// Gives a piece of text if there is room now.
    pub fn try_item(&self, item: Item) -> Result<(), Item> {
        self.items.try_send(item).map_err(mpsc::error::TrySendError::into_inner)
    }

    /// Resolves when the owner dropped its stream.
    pub async fn closed(&self) {
        self.items.closed().await;
    }
}

/// The owner dropped its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;
