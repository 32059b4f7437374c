//! The live feed of a lane: entries once they are committed, and what happens in between while it
//! happens.
//!
//! There may be any number of readers; each has a bounded queue, and a reader that is too slow
//! continues from the log by sequence number. The owner of the run may be slow on purpose: then the
//! run waits for it (backpressure). Events of replies are published only while a reader wants them
//! ([`StreamOptions`]).

mod joined_delta;
mod lane_feed;
mod lane_readers;
mod live_reply;
mod owner_feed;
mod pending_items;
mod stream_item;
mod stream_options;
mod subscription;

pub use lane_feed::{LaneFeed, LaneFeedReader};
pub(crate) use lane_readers::LaneReaders;
pub use live_reply::LiveReplyPublisher;
pub use owner_feed::{OwnerFeed, OwnerFeedReceiver, OwnerGone, TextKind};
pub use stream_item::StreamItem;
pub use stream_options::StreamOptions;
pub use subscription::{Subscription, SubscriptionError};

/// Items that a reader may lag behind before it must continue from the log.
pub const READER_QUEUE_ITEMS: usize = 256;

/// Items that a reader with [`StreamOptions`] may lag behind: it gets several for each piece of text.
pub const DETAILED_QUEUE_ITEMS: usize = 1_024;

/// Items that the owner may leave unread before the run waits for it.
pub const OWNER_QUEUE_ITEMS: usize = 16;
